#include <utility>

#include "base/time.h"
#include "deploy/apply.h"
#include "deploy/cluster.h"
#include "deploy/render.h"
#include "json/value.h"
#include "kube/events.h"

namespace mindgate::deploy {
namespace {

using json::Json;
using kube::Reason;

constexpr std::chrono::milliseconds kPause{2000};
constexpr int kQuick = 5;  // tries without a pause

std::string TextIn(const Json& lease, std::string_view member) {
  return std::string(json::FindString(json::Find(lease, "spec"), member).value_or(""));
}

bool IsOver(const Json& lease, Time now) {
  if (TextIn(lease, "holderIdentity").empty()) return true;
  const auto renewed = ParseTimestamp(TextIn(lease, "renewTime"));
  const int64_t seconds =
      json::AsInt(json::FindPath(lease, {"spec", "leaseDurationSeconds"})).value_or(0);
  // A Lease that says no time is not one of ours.
  return !renewed || now - *renewed > std::chrono::seconds(seconds);
}

bool IsUnprotected(const kube::Fault& fault) {
  return fault.reason == Reason::kForbidden || fault.reason == Reason::kNotFound;
}

}  // namespace

Hold::Hold(kube::Client& client, kube::Sleeper& sleeper, const Clock& clock, std::string ns,
           const std::string& app, std::string identity)
    : client_(client),
      sleeper_(sleeper),
      clock_(clock),
      ns_(std::move(ns)),
      name_(std::string(kFieldManager) + "-" + app),
      identity_(std::move(identity)) {}

Hold::Taken Hold::Take(std::chrono::seconds limit,
                       const std::function<void(const Taken& other)>& waits,
                       const std::stop_token& stop) {
  const Clock::Instant deadline = clock_.Now() + limit;
  bool reported = false;
  while (true) {
    Taken taken = TakeOnce(stop);
    // The other one released it between two of our requests.
    for (int again = 0; taken.how == Taken::How::kByAnother && taken.who.empty() && again < kQuick;
         ++again) {
      taken = TakeOnce(stop);
    }
    if (taken.how != Taken::How::kByAnother || clock_.Now() >= deadline) return taken;
    if (!reported) waits(taken);
    reported = true;
    if (!sleeper_.Sleep(kPause, stop)) return {.how = Taken::How::kStopped};
  }
}

Hold::Taken Hold::TakeOnce(const std::stop_token& stop) {
  const kube::Resource& leases = kube::resources::kLeases;
  acquired_ = kube::FormatMicroTime(clock_.WallNow());
  const auto failed = [](const kube::Fault& fault) -> Taken {
    if (fault.reason == Reason::kStopped) return {.how = Taken::How::kStopped};
    return {.how = IsUnprotected(fault) ? Taken::How::kUnprotected : Taken::How::kFailed,
            .why = fault.message};
  };
  auto created = client_.Create(leases, ns_,
                                {{"apiVersion", leases.api_version()},
                                 {"kind", leases.kind},
                                 {"metadata", {{"name", name_}, {"namespace", ns_}}},
                                 {"spec", Spec()}},
                                {.field_manager = kFieldManager}, stop);
  if (created) {
    Remember(*std::move(created));
    return {};
  }
  if (created.error().reason != Reason::kAlreadyExists) {
    if (TookAllTheSame(created.error(), stop)) return {};
    return failed(created.error());
  }
  auto lease = client_.Get(leases, ns_, name_, stop);
  // It was released in between, and the next look takes it.
  if (!lease && lease.error().reason == Reason::kNotFound) return {.how = Taken::How::kByAnother};
  if (!lease) return failed(lease.error());
  if (IsTaken(*lease)) {
    Remember(*std::move(lease));
    return {};
  }
  const Taken other{.how = Taken::How::kByAnother,
                    .who = TextIn(*lease, "holderIdentity"),
                    .since = TextIn(*lease, "acquireTime").substr(0, 19) + "Z"};
  if (!IsOver(*lease, clock_.WallNow())) return other;
  // Its resourceVersion makes the server refuse it when somebody else was faster.
  (*lease)["spec"] = Spec();
  auto taken =
      client_.Update(leases, ns_, name_, *lease, {.field_manager = kFieldManager}, {}, stop);
  if (taken) {
    Remember(*std::move(taken));
    return {};
  }
  if (TookAllTheSame(taken.error(), stop)) return {};
  return taken.error().reason == Reason::kConflict ? other : failed(taken.error());
}

bool Hold::IsTaken(const Json& lease) const {
  const bool is_same = lease_.is_null() || UidOf(lease) == UidOf(lease_);
  return is_same && TextIn(lease, "holderIdentity") == identity_ &&
         TextIn(lease, "acquireTime") == acquired_;
}

bool Hold::TookAllTheSame(const kube::Fault& fault, const std::stop_token& stop) {
  // A conflict may be with our own write, which libcurl sends twice when a kept connection breaks.
  // Not after a time limit: who cannot be reached would be waited for twice.
  const bool is_open = fault.reason == Reason::kConflict || fault.reason == Reason::kUnreachable ||
                       fault.http >= 500;
  if (!is_open) return false;
  auto lease = client_.Get(kube::resources::kLeases, ns_, name_, stop);
  if (!lease || !IsTaken(*lease)) return false;
  Remember(*std::move(lease));
  return true;
}

Json Hold::Spec() const {
  return {{"holderIdentity", identity_},
          {"leaseDurationSeconds", kHoldTime.count()},
          {"acquireTime", acquired_},
          {"renewTime", kube::FormatMicroTime(clock_.WallNow())}};
}

void Hold::Remember(Json lease) {
  lease_ = std::move(lease);
  renewed_ = clock_.Now();
}

kube::Answer<Json> Hold::Renew() {
  Json lease = lease_;
  lease["spec"] = Spec();
  return client_.Update(kube::resources::kLeases, ns_, name_, lease,
                        {.field_manager = kFieldManager});
}

std::string Hold::Keep() {
  if (lease_.is_null() || clock_.Now() - renewed_ < kRenewTime) return lost_;
  auto renewed = Renew();
  if (!renewed && renewed.error().reason == Reason::kConflict) {
    auto live = client_.Get(kube::resources::kLeases, ns_, name_);
    if (!live) {
      renewed = tl::unexpected(live.error());
    } else if (IsTaken(*live)) {
      lease_ = *std::move(live);
      renewed = Renew();
    }
  }
  if (renewed) {
    Remember(*std::move(renewed));
    return "";
  }
  const Reason reason = renewed.error().reason;
  const bool is_anothers = reason == Reason::kConflict || reason == Reason::kNotFound;
  // An API server that is away lets nobody else take it either.
  if (!is_anothers && clock_.Now() - renewed_ < kHoldTime) return "";
  lease_ = nullptr;
  lost_ = is_anothers ? "somebody else took over the application or deleted Lease " + name_
                      : "Lease " + name_ + " could not be renewed: " + renewed.error().message;
  return lost_;
}

void Hold::Release() {
  // Whatever comes of it: it ends by itself. The second time is for a renewal whose answer was
  // lost.
  for (int tries = 0; tries < 2 && !lease_.is_null(); ++tries) {
    const auto text = [this](const char* member) {
      return json::TextAt(lease_, {"metadata", member});
    };
    const auto deleted = client_.Delete(
        kube::resources::kLeases, ns_, name_,
        {.preconditions = {.uid = text("uid"), .resource_version = text("resourceVersion")},
         .grace_seconds = {},
         .propagation = {}});
    if (deleted || deleted.error().reason != Reason::kConflict) break;
    auto live = client_.Get(kube::resources::kLeases, ns_, name_);
    if (!live || !IsTaken(*live)) break;
    lease_ = *std::move(live);
  }
  lease_ = nullptr;
}

}  // namespace mindgate::deploy
