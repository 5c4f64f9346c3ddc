#include "kube/election.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "kube/events.h"

namespace mindgate::kube {
namespace {

constexpr Clock::Instant::rep kNever = std::numeric_limits<Clock::Instant::rep>::min();

const Json* SpecOf(const Json& lease) { return json::Find(lease, "spec"); }

std::string_view HolderOf(const Json& lease) {
  return json::FindString(SpecOf(lease), "holderIdentity").value_or("");
}

std::chrono::seconds DurationOf(const Json& lease) {
  const int64_t count = json::AsInt(json::Find(SpecOf(lease), "leaseDurationSeconds")).value_or(0);
  // An int32 in the API, whatever a server sends.
  return std::chrono::seconds(std::clamp<int64_t>(count, 0, std::numeric_limits<int32_t>::max()));
}

}  // namespace

Elector::Elector(Client& client, Sleeper& sleeper, const Clock& clock, Options options,
                 uint64_t seed)
    : client_(client),
      sleeper_(sleeper),
      clock_(clock),
      options_(std::move(options)),
      random_(static_cast<std::minstd_rand::result_type>(seed)),
      until_(kNever) {}

void Elector::Run(const std::stop_token& stop, const std::function<void(bool)>& on_change) {
  bool reported = false;
  const Report report = [&](bool now) {
    if (now == reported) return;
    reported = now;
    on_change(now);
  };
  while (!stop.stop_requested()) {
    TryToLead(stop, report);
    report(leading());
    sleeper_.Sleep(NextPause(), stop);
    report(leading());
  }
  until_ = kNever;
  report(false);
  if (IsOurs()) Release();
}

bool Elector::leading() const {
  auto until = until_.load();
  while (until != kNever) {
    if (clock_.Now() < Clock::Instant(Clock::Instant::duration(until))) return true;
    if (until_.compare_exchange_weak(until, kNever)) return false;
  }
  return false;
}

// False when nobody may take it for the hold that there was before.
bool Elector::Extend(Clock::Instant until) {
  auto before = until_.load();
  return leading() && before != kNever &&
         until_.compare_exchange_strong(before, until.time_since_epoch().count());
}

void Elector::TryToLead(const std::stop_token& stop, const Report& report) {
  // From before the request, and so not later than the server's write, from which others count.
  const auto sent = clock_.Now();
  const auto held = Hold(stop);
  if (!held) {
    if (held.error().reason != Reason::kStopped && options_.failed) options_.failed(held.error());
    return;
  }
  if (!*held) {
    until_ = kNever;
    return;
  }
  const Clock::Instant until = sent + options_.renew_deadline;
  if (Extend(until)) return;
  // While the call was under way others saw that we did not lead, and dropped work for it, which
  // the next term takes up.
  report(false);
  until_ = until.time_since_epoch().count();
}

// Whether the Lease is ours now; a fault leaves that open.
Answer<bool> Elector::Hold(const std::stop_token& stop) {
  const auto now = clock_.Now();
  const bool led = leading();
  if (led && !lease_.is_null()) {
    // As it was last seen; the server reports when it has changed.
    const auto renewed = Update(OurSpec(), stop);
    if (renewed) return true;
    const Reason reason = renewed.error().reason;
    if (reason != Reason::kConflict && reason != Reason::kNotFound) {
      return tl::unexpected(renewed.error());
    }
  }
  const auto seen = Observe(client_.Get(resources::kLeases, options_.ns, options_.name, stop));
  if (!seen && seen.error().reason == Reason::kNotFound) return Create(stop);
  if (!seen) return tl::unexpected(seen.error());
  if (IsTaken(now)) return false;
  const auto taken = Update(OurSpec(), stop);
  if (taken) return true;
  if (taken.error().reason == Reason::kConflict && !led) return false;  // another one was faster
  return tl::unexpected(taken.error());
}

Answer<bool> Elector::Create(const std::stop_token& stop) {
  lease_ = nullptr;
  const Json lease = {{"apiVersion", resources::kLeases.api_version()},
                      {"kind", resources::kLeases.kind},
                      {"metadata", {{"name", options_.name}, {"namespace", options_.ns}}},
                      {"spec", OurSpec()}};
  const auto created = Observe(client_.Create(resources::kLeases, options_.ns, lease, {}, stop));
  if (created) return true;
  if (created.error().reason == Reason::kAlreadyExists) return false;
  return tl::unexpected(created.error());
}

// The resourceVersion in lease_ makes the server refuse it when another one has written since.
Answer<void> Elector::Update(Json spec, const std::stop_token& stop) {
  Json lease = lease_;
  lease["spec"] = std::move(spec);
  return Observe(
      client_.Update(resources::kLeases, options_.ns, options_.name, lease, {}, {}, stop));
}

Answer<void> Elector::Observe(Answer<Json> lease) {
  if (!lease) return tl::unexpected(std::move(lease).error());
  if (!json::IsObject(&*lease)) {
    return Failed(Reason::kGarbage, "the answer for Lease " + options_.ns + "/" + options_.name +
                                        " is not an object");
  }
  const Json* before = SpecOf(lease_);
  const Json* after = SpecOf(*lease);
  const bool same = before != nullptr && after != nullptr && *before == *after;
  if (!same) changed_ = clock_.Now();
  lease_ = *std::move(lease);
  return {};
}

bool Elector::IsOurs() const { return HolderOf(lease_) == options_.identity; }

bool Elector::IsTaken(Clock::Instant now) const {
  return !HolderOf(lease_).empty() && !IsOurs() && now < changed_ + DurationOf(lease_);
}

// With all that others have put into the spec.
Json Elector::OurSpec() const {
  const Json* seen = SpecOf(lease_);
  Json spec = json::IsObject(seen) ? *seen : Json::object();
  const std::string now = FormatMicroTime(clock_.WallNow());
  if (!IsOurs()) {
    const int64_t before = json::AsInt(json::Find(spec, "leaseTransitions")).value_or(0);
    spec["leaseTransitions"] = lease_.is_null() ? 0 : before + 1;
    spec["acquireTime"] = now;
  }
  spec["holderIdentity"] = options_.identity;
  spec["leaseDurationSeconds"] = options_.lease.count();
  spec["renewTime"] = now;
  return spec;
}

// Without a token to stop it: that has been asked already. The client's timeout bounds it.
void Elector::Release() {
  for (int tries = 0; tries < 2 && IsOurs(); ++tries) {
    Json spec = OurSpec();
    spec["holderIdentity"] = "";
    spec["leaseDurationSeconds"] = 1;
    spec["acquireTime"] = spec["renewTime"];
    auto released = Update(std::move(spec), {});
    if (!released && released.error().reason == Reason::kConflict) {
      released = Observe(client_.Get(resources::kLeases, options_.ns, options_.name));
    }
    if (released) continue;
    if (options_.failed) options_.failed(released.error());
    return;
  }
}

std::chrono::milliseconds Elector::NextPause() {
  using std::chrono::milliseconds;
  const milliseconds retry = options_.retry;
  std::uniform_int_distribution<int64_t> more(0, retry.count() / 5);
  const milliseconds pause = retry + milliseconds(more(random_));
  const auto until = until_.load();
  if (until == kNever) return pause;
  // The loss is reported when it comes.
  const auto left = Clock::Instant(Clock::Instant::duration(until)) - clock_.Now();
  return std::clamp(std::chrono::ceil<milliseconds>(left), milliseconds(0), pause);
}

}  // namespace mindgate::kube
