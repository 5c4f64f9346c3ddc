#include "watcher/frame/disruption_gate.h"

#include <algorithm>
#include <functional>

#include "watcher/frame/disruption_limits.h"

namespace mindgate::watcher {
namespace {

using kube::Answer;
using kube::Json;

Refusal TermIsOver() { return {.why = "this replica no longer leads", .is_over = true}; }

Answer<void> Stopped() {
  return kube::Failed(kube::Reason::kStopped, "this replica no longer leads");
}

template <typename T>
Answer<void> WithoutBody(const Answer<T>& answer) {
  if (!answer) return tl::make_unexpected(answer.error());
  return {};
}

Refusal UsedUp(const DisruptionGate::Request& request, std::optional<Clock::Instant> again) {
  if (!again) return {};
  return {.why = "the share of namespace " + request.ns + " in " +
                 std::string(request.share->setting) + " (" +
                 std::to_string(request.share->per_minute) + ") is used up",
          .again = again};
}

}  // namespace

Answer<void> DestructiveClient::DeletePod(std::string_view ns, std::string_view name,
                                          const kube::DeleteOptions& options) {
  if (!term_.holds()) return Stopped();
  return client_.Delete(kube::resources::kPods, ns, name, options, term_.ended());
}

Answer<void> DestructiveClient::MarkPod(std::string_view ns, std::string_view name,
                                        const Json& patch) {
  if (!term_.holds()) return Stopped();
  return WithoutBody(
      client_.MergePatch(kube::resources::kPods, ns, name, patch, {}, {}, term_.ended()));
}

Answer<void> DestructiveClient::PatchNode(std::string_view name, const Json& operations) {
  if (!term_.holds()) return Stopped();
  return WithoutBody(
      client_.Patch(kube::resources::kNodes, "", name, operations, {}, {}, term_.ended()));
}

Refusal DisruptionGate::Paused(LeaderClient& client) const {
  OptOut paused = PauseOf(client, options_.ns, options_.lease);
  return {.why = std::move(paused.why), .unreadable = paused.unreadable};
}

Refusal DisruptionGate::NotYet(const Term& term, const Share& share) {
  if (share.inherited) return {};
  const auto left = term.since() + std::chrono::minutes(1) - term_clock_.Now(term);
  if (left <= left.zero()) return {};
  return {.why =
              "this replica has led for less than a minute, and does not know what the one "
              "before took of " +
              std::string(share.setting),
          .again = clock_.Now() + left};
}

Refusal DisruptionGate::Ask(const Term& term, const Request& request) {
  if (Refusal braked = Braked(); braked.refused()) return braked;
  if (request.share) {
    const Share& share = *request.share;
    if (Refusal not_yet = NotYet(term, share); not_yet.refused()) return not_yet;
    const auto again = budget_.Ask(request.ns, share.per_minute, clock_.Now(), share.count);
    if (again) return UsedUp(request, again);
  }
  LeaderClient client(writer_, term);
  return Paused(client);
}

// The quick questions come again after those that call the API server: it may be slow.
Refusal DisruptionGate::May(const Term& term, const Request& request, bool first) {
  if (!term.holds()) return TermIsOver();
  if (Refusal braked = Braked(); braked.refused()) return braked;
  LeaderClient client(writer_, term);
  if (request.still_so) {
    if (Refusal changed = request.still_so(client); changed.refused()) return changed;
  }
  if (Refusal paused = Paused(client); paused.refused()) return paused;
  if (Refusal braked = Braked(); braked.refused()) return braked;
  if (first && request.still_reported) {
    if (Refusal gone = request.still_reported(); gone.refused()) return gone;
  }
  if (!term.holds()) return TermIsOver();
  if (!first || !request.share) return {};
  const Share& share = *request.share;
  if (Refusal not_yet = NotYet(term, share); not_yet.refused()) return not_yet;
  return UsedUp(request, budget_.Take(request.ns, share.per_minute, clock_.Now(), share.count));
}

Refusal DisruptionGate::Send(const Term& term, const Request& request, size_t count,
                             const Call& call) {
  Mutex& sending = sending_[std::hash<std::string>()(request.ns) % kNamespaceLocks];
  for (size_t from = 0; from < count; from += kBatch) {
    const MutexLock lock(sending);
    if (Refusal refusal = May(term, request, from == 0); refusal.refused()) return refusal;
    DestructiveClient client(writer_, term);
    if (from == 0 && request.before_first) request.before_first();
    calls_.Run(
        std::min(kBatch, count - from), [&](size_t i) { call(client, from + i); }, request.at_once);
  }
  return {};
}

Answer<void> DisruptionGate::ReleaseNode(const Term& term, std::string_view name,
                                         const Json& operations) {
  return DestructiveClient(writer_, term).PatchNode(name, operations);
}

}  // namespace mindgate::watcher
