#pragma once

#include "admission/mutators/mutator.h"

// The mutators themselves, a file for each concern, and what only they share.
namespace mindgate::mutators {

void MindieLabels(const MutationContext& context, Edits& edits);     // runtime_labels.cc
void RuntimeLabels(const MutationContext& context, Edits& edits);    // runtime_labels.cc
void SchedulerName(const MutationContext& context, Edits& edits);    // gang_scheduling.cc
void NpuRequests(const MutationContext& context, Edits& edits);      // npus.cc
void VisibleDevices(const MutationContext& context, Edits& edits);   // npus.cc
void FaultScheduling(const MutationContext& context, Edits& edits);  // fault_labels.cc
void PodRescheduling(const MutationContext& context, Edits& edits);
void FaultRetryTimes(const MutationContext& context, Edits& edits);
void MinAvailable(const MutationContext& context, Edits& edits);   // gang_scheduling.cc
void RecoverPolicy(const MutationContext& context, Edits& edits);  // recovery.cc
void RestartPolicy(const MutationContext& context, Edits& edits);
void ScalingGate(const MutationContext& context, Edits& edits);  // recovery.cc

// Whether anything outside the templates of a job (its metadata, its spec.schedulerName) may be
// written: with MayEdit of any of its templates.
bool MayEditJob(const MutationContext& context);

// AscendJobs, vcjobs and kinds of mindgate.yaml that say so: their `spec` names the scheduler of
// all pods.
bool HasJobScheduler(const schemas::WorkloadView& view);

// Whether the watcher decides when these pods start: they are under a scaling rule, and it is
// enforced.
bool IsGated(const MutationContext& context, const Edits& edits,
             const schemas::PodTemplateView& pod);

// Whether the pods of the group live on independently, so that only the faulty one needs to move;
// pods with a common rank table do not (recovery.cc).
bool HasIndependentPods(const schemas::WorkloadView& view, const schemas::PodGroupView& group);
// Kinds that know nothing of NPUs: there, fault-scheduling without pod-rescheduling is a choice.
bool IsPlain(const schemas::WorkloadView& view);

// A pod that no controller owns: only its scheduler and environment are completed.
inline bool IsBarePod(const schemas::WorkloadView& view) {
  return schemas::kPods.Has(view.kind) && !view.controller;
}

// Whether the NPU plugin understands this value of fault-scheduling, pod-rescheduling or
// fault-retry-times.
bool IsUnderstood(std::string_view key, std::string_view value);

// False when the user switched rescheduling off for these pods, or another scheduler than Volcano
// places them: then nothing that only rescheduling reads is added.
bool UsesFaultScheduling(const MutationContext& context, const Edits& edits,
                         const schemas::PodTemplateView& pod);

}  // namespace mindgate::mutators
