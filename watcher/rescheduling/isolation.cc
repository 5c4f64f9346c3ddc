#include "watcher/rescheduling/isolation.h"

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>

#include "json/decode.h"
#include "json/value.h"
#include "schemas/names.h"
#include "schemas/raw_objects.h"

namespace mindgate::watcher::rescheduling {
namespace {

using json::Json;
using json::Value;

constexpr const char* kWhyIsolated = "NodeD or a switch calls it UnHealthy";
// When a look at what holds it comes again.
constexpr std::chrono::seconds kIsolateAgain{30};

std::string TaintText() { return std::string(schemas::kFaultyTaint); }

}  // namespace

std::optional<Json> TaintPatch(const Value& node, bool faulty) {
  const Value* taints = json::FindPath(node, {"spec", "taints"});
  const std::optional<size_t> ours = schemas::PlaceOfFaultyTaint(taints);
  if (faulty == ours.has_value()) return std::nullopt;
  Json patch = Json::array();
  patch.push_back({{"op", "test"},
                   {"path", "/metadata/resourceVersion"},
                   {"value", json::TextAt(node, {"metadata", "resourceVersion"})}});
  if (ours) {
    patch.push_back({{"op", "remove"}, {"path", "/spec/taints/" + std::to_string(*ours)}});
    return patch;
  }
  const Json taint = {{"key", schemas::kFaultyNode}, {"effect", schemas::kFaultyTaintEffect}};
  if (json::IsArray(taints)) {
    patch.push_back({{"op", "add"}, {"path", "/spec/taints/-"}, {"value", taint}});
  } else {
    patch.push_back({{"op", "add"}, {"path", "/spec/taints"}, {"value", Json::array({taint})}});
  }
  return patch;
}

ReconcileResult Isolation::Reconcile(const NodeKey& key, const Term& term) {
  const bool faulty = options_.wanted() && options_.is_unhealthy(key.name);
  if (!options_.writes()) {
    // Not even what a leader before left is taken away.
    if (!faulty) {
      IsNew(key.name, "");
    } else if (IsNew(key.name, "would")) {
      Tell(key.name, "", "would be isolated",
           key.name + " would get the taint " + TaintText() + ", as " + kWhyIsolated, false);
    }
    return {};
  }
  LeaderClient client(writer_, term);
  const auto answer = client.Get(kube::resources::kNodes, "", key.name);
  if (!answer) {
    if (answer.error().reason != kube::Reason::kNotFound) return NotChanged(key, answer.error());
    IsNew(key.name, "");
    return {};
  }
  const json::Document node(*answer);
  const auto patch = TaintPatch(node.root(), faulty);
  if (!patch) {
    IsNew(key.name, "");
    return {};
  }
  const std::string uid = json::TextAt(node.root(), {"metadata", "uid"});
  kube::Answer<void> patched;
  if (faulty) {
    const Refusal refusal =
        gate_.Send(term, {.still_so = [&](LeaderClient&) { return StillUnhealthy(key.name); }}, 1,
                   [&](DestructiveClient& destructive, size_t) {
                     patched = destructive.PatchNode(key.name, *patch);
                   });
    if (refusal.refused()) return Waits(key.name, uid, refusal);
  } else {
    patched = gate_.ReleaseNode(term, key.name, *patch);
  }
  if (!patched) return NotChanged(key, patched.error());
  {
    const MutexLock lock(mutex_);
    ++(faulty ? counts_.added : counts_.removed);
    said_.erase(key.name);
  }
  if (faulty) {
    Tell(key.name, uid, "isolated",
         key.name + " got the taint " + TaintText() + ", as " + kWhyIsolated, true);
  } else {
    Tell(key.name, uid, "no longer isolated",
         key.name + " has no longer the taint " + TaintText() + ", as " +
             (options_.wanted() ? "it is healthy again" : "isolateNodes is off"),
         true);
  }
  return {};
}

Refusal Isolation::StillUnhealthy(const std::string& node) const {
  if (options_.writes() && options_.wanted() && options_.is_unhealthy(node)) return {};
  return {.why = "it is no longer to be isolated", .brief = true};
}

ReconcileResult Isolation::Waits(const std::string& node, const std::string& uid,
                                 const Refusal& refusal) {
  if (refusal.is_over) return {.failed = true};
  if (!refusal.brief && IsNew(node, refusal.why)) {
    Tell(node, uid, "isolation waits",
         std::string(kWhyIsolated) + "; it waits, because " + refusal.why, false);
  }
  const Clock::Instant now = clock_.Now();
  return {.requeue_after = std::max(refusal.again.value_or(now + kIsolateAgain) - now,
                                    Clock::Instant::duration(0))};
}

// A permission that is missing comes with the next chart or never: asking again is of no use, and a
// person can do the same.
ReconcileResult Isolation::NotChanged(const NodeKey& key, const kube::Fault& fault) {
  if (fault.reason == kube::Reason::kStopped) return {.failed = true};
  // Of a node whose version is another one by now: again.
  const bool stale =
      fault.reason == kube::Reason::kInvalid || fault.reason == kube::Reason::kConflict;
  if (!stale) {
    const MutexLock lock(mutex_);
    ++counts_.failed;
  }
  if (!stale && IsNew(key.name, "failed " + std::string(kube::ReasonName(fault.reason)))) {
    logger_.Warning(
        "the taint of a node cannot be changed now",
        {{"node", std::string_view(key.name)},
         {"fault", fault.message},
         {"to_remove_it_run", "kubectl taint nodes " + key.name + " " + TaintText() + "-"}});
  }
  ReconcileResult result;
  if (fault.reason != kube::Reason::kForbidden) result.Fail(fault);
  return result;
}

// Whether it was not told the last time; empty: there is nothing to tell of the node.
bool Isolation::IsNew(const std::string& node, const std::string& saying) {
  const MutexLock lock(mutex_);
  if (saying.empty()) {
    said_.erase(node);
    return false;
  }
  std::string& said = said_[node];
  if (said == saying) return false;
  said = saying;
  return true;
}

void Isolation::Tell(const std::string& node, const std::string& uid, std::string_view what,
                     const std::string& reason, bool done) {
  const bool released = what == "no longer isolated";
  DecisionRecord record;
  record.controller = "rescheduling";
  record.about = {{"node", node}};
  record.what = what;
  record.reason = reason;
  record.enforced = done;
  record.regarding = {"v1", "Node", "", node, uid};
  record.type = released ? kube::EventRecord::Type::kNormal : kube::EventRecord::Type::kWarning;
  record.event_reason = released                    ? "NodeReleased"
                        : done                      ? "NodeIsolated"
                        : what == "isolation waits" ? "IsolationWaits"
                                                    : "WouldIsolate";
  record.event_action = released ? "Release" : "Isolate";
  decisions_.Tell(std::move(record));
}

Isolation::Counts Isolation::counts() const {
  const MutexLock lock(mutex_);
  return counts_;
}

}  // namespace mindgate::watcher::rescheduling
