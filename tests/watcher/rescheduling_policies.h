#pragma once

#include "watcher/rescheduling/policy.h"

// The policy of a job with these labels and annotations, for tests.
namespace mindgate::watcher::rescheduling {

inline FaultPolicy PolicyOf(const JobMetadata::Map& labels,
                            const JobMetadata::Map& annotations = {}) {
  JobMetadata metadata;
  metadata.AddLabels(labels);
  metadata.AddAnnotations(annotations);
  return metadata.Policy(true);
}

}  // namespace mindgate::watcher::rescheduling
