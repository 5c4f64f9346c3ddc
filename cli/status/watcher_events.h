#pragma once

#include <string>
#include <vector>

#include "kube/client.h"

namespace mindgate::cli {

// A decision of the watcher, as its Event tells it.
struct WatcherEvent {
  std::string time;  // of the last occurrence, as written
  std::string ns;
  std::string about;   // "Job train"
  std::string reason;  // "JobRestarted"
  std::string note;
};

// So many are shown; Kubernetes itself keeps Events for an hour.
inline constexpr size_t kMaxWatcherEvents = 20;

// The newest Events of the watcher about faults, in all namespaces, the oldest first.
kube::Answer<std::vector<WatcherEvent>> ReadFaultEvents(kube::Client& client);

}  // namespace mindgate::cli
