#pragma once

#include <memory>
#include <string>

#include "base/clock.h"
#include "base/log.h"
#include "kube/client.h"
#include "schemas/request.h"
#include "webhook/runtime_follower.h"

namespace mindgate::webhook {

// The ServingRuntimes and ClusterServingRuntimes of a cluster: an InferenceService seldom says
// itself that it wants NPUs, the runtime that it names does. Two watches feed what is known, so
// that a review never waits for the API server; before they have, or without the CRDs, nothing is
// known, and decisions rest on what the object says. They hold 16 MiB at most (RuntimeBounds): a
// runtime that is beyond is not found, and its kind not complete. That is logged once and told by
// Status.
//
// Safe from many threads.
class RuntimeLookup {
 public:
  // Follows from threads of its own until it ends. The arguments must outlive it.
  RuntimeLookup(kube::Client& client, kube::Sleeper& sleeper, const Clock& clock,
                log::Logger& logger, const RuntimeBounds& bounds = {});
  ~RuntimeLookup();

  // What is known at this moment; stays as it is. It claims to be complete only while the API
  // server is heard of: else what is missing may have come in the meantime.
  std::shared_ptr<const schemas::ObjectLookup> Get() const;

  std::string Status() const;  // "2 ServingRuntimes (lists 1), ..."
  size_t left_out() const;     // runtimes that are not kept, as they are too large or too many
  size_t bytes() const;        // of those kept

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace mindgate::webhook
