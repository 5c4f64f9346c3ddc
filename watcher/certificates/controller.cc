#include "watcher/certificates/controller.h"

#include <chrono>
#include <utility>

namespace mindgate::watcher {
namespace {

// How soon a changed field or a deleted Secret is restored. Three reads.
constexpr std::chrono::seconds kLookEvery(10);

}  // namespace

CertificateController::CertificateController(kube::Client& client, const Clock& clock,
                                             log::Logger& logger, Options options)
    : client_(client),
      logger_(logger),
      secret_{options.manager.ns, options.manager.secret},
      manager_(clock, logger, options.manager),
      loop_(clock,
            {.name = "certificates",
             .backoff = {.first = std::chrono::seconds(1), .max_wait = std::chrono::seconds(60)},
             .seed = options.seed,
             .term = std::move(options.term),
             .reconcile = [this](const Key&, const Term& term) { return Reconcile(term); },
             .forget = [this](const Key&) { failing_ = false; }}) {}

void CertificateController::Run(const std::stop_token& stop) {
  EnqueueAll();
  loop_.Run(stop);
}

ReconcileResult CertificateController::Reconcile(const Term& term) {
  LeaderClient client(client_, term);
  const auto next = manager_.Reconcile(client);
  if (!term.holds()) return {};
  failing_ = !next;
  if (next) return {.requeue_after = kLookEvery};
  logger_.Error(
      "certificates cannot be managed now: will retry",
      {{"reason", kube::ReasonName(next.error().reason)}, {"fault", next.error().message}});
  ReconcileResult result;
  result.Fail(next.error());
  return result;
}

}  // namespace mindgate::watcher
