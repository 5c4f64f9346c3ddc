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
      manager_(clock, logger, options.manager),
      loop_(clock, {.name = "certificates",
                    .seed = options.seed,
                    .term = std::move(options.term),
                    .reconcile = [this](const Term& term) { return Reconcile(term); },
                    .forget = [this] { failing_ = false; }}) {}

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
