#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "base/log.h"
#include "kube/transport.h"

namespace mindgate::watcher {

// For the option `failed` of informers: a warning that `what` cannot be watched now. `logger` must
// outlive it; safe from any thread.
inline std::function<void(const kube::Fault&, std::chrono::milliseconds)> WarnOfWatchFaults(
    log::Logger& logger, std::string what) {
  return [&logger, what = std::move(what)](const kube::Fault& fault,
                                           std::chrono::milliseconds pause) {
    logger.Warning("cannot be watched now", {{"what", std::string_view(what)},
                                             {"reason", kube::ReasonName(fault.reason)},
                                             {"fault", fault.message},
                                             {"retry_ms", static_cast<int64_t>(pause.count())}});
  };
}

}  // namespace mindgate::watcher
