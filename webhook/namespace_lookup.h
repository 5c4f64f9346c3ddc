#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/log.h"
#include "base/time.h"
#include "kube/client.h"
#include "schemas/request.h"

namespace mindgate::webhook {

// The labels of the namespaces of a cluster, which no review has and policies of a site's own ask
// for (namespaceSelector, namespaceObject). One watch of the metadata feeds what is known, so that
// a review never waits for the API server. Not known are: all before the first list, one that was
// made a moment ago, and those for which there is no room. While the API server is away, what was
// known last stays.
//
// Safe from many threads.
class NamespaceLookup {
 public:
  // Texts of labels: of one namespace, and of all.
  struct Bounds {
    size_t bytes_of_one = 64 * 1024;
    size_t bytes_of_all = 8 * 1024 * 1024;
  };

  // Follows from a thread of its own until it ends. The arguments must outlive it.
  NamespaceLookup(kube::Client& client, kube::Sleeper& sleeper, const Clock& clock,
                  log::Logger& logger, const Bounds& bounds);
  NamespaceLookup(kube::Client& client, kube::Sleeper& sleeper, const Clock& clock,
                  log::Logger& logger)
      : NamespaceLookup(client, sleeper, clock, logger, Bounds()) {}
  ~NamespaceLookup();

  // Nothing: they are not known.
  std::optional<schemas::NamespaceLabels> LabelsOf(std::string_view ns) const;

  std::string Status() const;  // "12 Namespaces (lists 1)"

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace mindgate::webhook
