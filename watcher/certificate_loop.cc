#include "watcher/certificate_loop.h"

#include <chrono>
#include <random>

namespace mindgate::watcher {
namespace {

// How soon a changed field or a deleted Secret is restored. Three reads.
constexpr std::chrono::seconds kLookEvery(10);

}  // namespace

void CertificateLoop::Run(const std::function<bool()>& leading, const std::stop_token& stop) {
  kube::Backoff backoff({.first = std::chrono::seconds(1), .max_wait = std::chrono::seconds(60)},
                        std::random_device()());
  while (!stop.stop_requested()) {
    std::chrono::milliseconds pause = std::chrono::seconds(1);
    if (leading()) {
      const auto next = manager_.Reconcile(stop);
      if (stop.stop_requested()) return;
      failing_ = !next;
      pause = next ? kLookEvery : backoff.Next();
      if (next) {
        backoff.Reset();
      } else {
        logger_.Error("certificates cannot be managed now",
                      {{"reason", kube::ReasonName(next.error().reason)},
                       {"fault", next.error().message},
                       {"retry_ms", static_cast<int64_t>(pause.count())}});
      }
    } else {
      failing_ = false;
    }
    if (!sleeper_.Sleep(pause, stop)) return;
  }
}

}  // namespace mindgate::watcher
