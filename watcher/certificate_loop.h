#pragma once

#include <atomic>
#include <functional>
#include <stop_token>

#include "base/log.h"
#include "kube/wait.h"
#include "watcher/certificate_manager.h"

namespace mindgate::watcher {

// Runs the certificate manager periodically while this replica leads. One thread runs it, others
// ask for its state.
class CertificateLoop {
 public:
  // All must outlive it.
  CertificateLoop(CertificateManager& manager, kube::Sleeper& sleeper, log::Logger& logger)
      : manager_(manager), sleeper_(sleeper), logger_(logger) {}

  // Until `stop`.
  void Run(const std::function<bool()>& leading, const std::stop_token& stop);

  bool failing() const { return failing_; }

 private:
  CertificateManager& manager_;
  kube::Sleeper& sleeper_;
  log::Logger& logger_;
  std::atomic<bool> failing_ = false;
};

}  // namespace mindgate::watcher
