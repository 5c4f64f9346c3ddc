#include "what_if/settling.h"

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>

#include "base/small_optional.h"
#include "base/text.h"
#include "json/text_at.h"
#include "schemas/names.h"
#include "watcher/scaling/instances.h"
#include "watcher/scaling/service_index.h"
#include "what_if/losses.h"
#include "what_if/scheduler.h"

namespace mindgate::what_if {
namespace {

using InstanceKey = std::pair<std::string, std::string>;

// A job that goes whole may take room from another one, which then goes whole too. Where it does
// not end, the last round is what is told.
constexpr int kMaxRounds = 8;

// Pods that are placed, told and counted together.
struct Members {
  std::vector<size_t> pods;     // of the inventory
  const Gang* gang = nullptr;   // null: they are in no PodGroup
  std::vector<size_t> refused;  // what found no room the last time
  std::optional<Shortage> shortage;
};

bool HasStrategy(const Pod& pod) {
  const std::string value =
      json::TextAt(pod.entry, {"metadata", "labels", schemas::kSubHealthyStrategy});
  return value == "graceExit" || value == "forceExit" || value == "hotSwitch";
}

schemas::ElasticScaling ScalingOptions() {
  schemas::ElasticScaling options;
  // Nothing that runs is given up: whether the watcher may is not in a snapshot.
  options.rebalance = schemas::EnforcementMode::kOff;
  return options;
}

// What no round changes.
struct Ground {
  Ground(const ClusterSnapshot& of, const Hypothesis& hypothesis)
      : snapshot(of),
        inventory(TakeInventory(of)),
        reported(FaultsIn(of)),
        faults(WithHypothesis(hypothesis, inventory, reported)),
        drained(DrainedNodes(hypothesis)) {}

  const ClusterSnapshot& snapshot;
  Inventory inventory;
  SurveyedFaults reported;
  SurveyedFaults faults;
  std::set<std::string, std::less<>> drained;
};

class Settling {
 public:
  // `ground` must outlive it.
  Settling(const Ground& ground, const std::set<GroupName>& widened)
      : now_(ground.snapshot.taken), inventory_(ground.inventory) {
    const ClusterSnapshot& snapshot = ground.snapshot;
    losses_ = LossesOf(snapshot, inventory_, ground.faults, ground.drained, widened);
    std::vector<bool> stays;
    for (size_t i = 0; i < inventory_.pods.size(); ++i) stays.push_back(KeepsItsPlace(i));
    scheduler_.emplace(
        Scheduler::Floor{inventory_, ground.faults, ground.reported, ground.drained, stays});
    places_.resize(inventory_.pods.size());
    for (const json::Value* object : snapshot.scaling_rules) {
      const json::Value* metadata = json::Find(object, "metadata");
      if (!schemas::ScalingRuleText(*object)) continue;
      services_.RuleChanged(
          json::TextAt(metadata, {"namespace"}), json::TextAt(metadata, {"name"}),
          std::make_shared<const watcher::scaling::RuleState>(watcher::scaling::RuleOf(*object)));
    }
    // The phases of their PodGroups are those of before.
    std::set<GroupName> moved;
    for (size_t i = 0; i < inventory_.pods.size(); ++i) {
      const Pod& pod = inventory_.pods[i];
      if (!pod.pod_group.empty() && !stays[i]) moved.insert({pod.ns, pod.pod_group});
    }
    for (const json::Value* object : snapshot.pod_groups) {
      auto state = watcher::scaling::PodGroupOf(*object);
      if (state && !(state->has_room() && moved.contains({state->service.ns, state->name}))) {
        services_.Changed(
            nullptr, std::make_shared<const watcher::scaling::PodGroupState>(*std::move(state)));
      }
    }
  }

  void Run() {
    GroupPods();
    for (size_t i = 0; i < inventory_.pods.size(); ++i) EnterService(i);
    for (bool waited = false;;) {
      bool changed = GrantAndWithdraw();
      changed = PlaceAll() || changed;
      if (changed) continue;
      if (waited) break;
      waited = true;
      now_ += options_.start_deadline;
    }
  }

  // Adds the jobs that lost only their faulty pods and do not run again. A pod behind a gate is
  // waited for.
  bool Widen(std::set<GroupName>& widened) const {
    bool any = false;
    for (const GroupName& job : losses_.may_widen) {
      const auto found = instances_.find(job);
      if (found == instances_.end() || IsComplete(found->second)) continue;
      any = widened.insert(job).second || any;
    }
    return any;
  }

  // All but the inventory.
  Settled Tell() {
    Settled settled;
    std::map<std::pair<watcher::scaling::ServiceKey, std::string>, std::string>
        reasons;  // by instance
    for (const watcher::scaling::ServiceKey& key : services_.services()) {
      const auto view = services_.Look(key);
      SettledService& service = settled.services[key];
      service.shapes = view.rule.rule ? view.rule.rule->tiers.size() : 0;
      service.decision = DecideAbout(view);
      for (const watcher::scaling::Outcome& outcome : service.decision.outcomes) {
        reasons[{key, outcome.instance}] = outcome.reason;
      }
    }
    for (const auto& [key, members] : instances_) {
      SettledInstance& instance = settled.instances[key];
      instance.told = Describe(members, instance.missing);
      if (instance.told.fate != Fate::kHeld) continue;
      for (const size_t pod : members.pods) {
        const auto state = states_.find(pod);
        if (state == states_.end() || !state->second->gate) continue;
        instance.told.why = reasons[{ServiceKeyOf(*state->second), state->second->instance}];
      }
    }
    for (size_t i = 0; i < inventory_.pods.size(); ++i) {
      const Loss loss = losses_.pods[i].loss;
      if (loss == Loss::kGoes || loss == Loss::kLost) settled.gone.push_back(i);
      if (!places_[i]) continue;
      settled.placed.push_back(
          {i, *places_[i], scheduler_->TakeChips(*places_[i], inventory_.pods[i])});
    }
    settled.others = losses_.others;
    return settled;
  }

 private:
  bool KeepsItsPlace(size_t pod) const {
    const Loss loss = losses_.pods[pod].loss;
    return loss == Loss::kStays || loss == Loss::kBroken;
  }
  bool NeedsAPlace(size_t pod) const {
    const Loss loss = losses_.pods[pod].loss;
    return (loss == Loss::kGoes || loss == Loss::kWaits) && !places_[pod];
  }
  bool IsHeld(size_t pod) const {
    const auto state = states_.find(pod);
    if (state != states_.end()) return state->second->gate.has_value();
    return losses_.pods[pod].loss == Loss::kWaits && inventory_.pods[pod].gated;
  }
  bool IsThere(size_t pod) const {
    const Loss loss = losses_.pods[pod].loss;
    return loss != Loss::kLost && loss != Loss::kIgnored;
  }

  // Whether it has a place for as many as are bound together, or waits for a gate.
  bool IsComplete(const Members& members) const {
    if (members.gang == nullptr) return true;
    int64_t there = 0;
    int64_t placed = 0;
    for (const size_t pod : members.pods) {
      if (!IsThere(pod)) continue;
      if (IsHeld(pod)) return true;
      ++there;
      placed += NeedsAPlace(pod) ? 0 : 1;
    }
    return placed >= std::min(members.gang->Together(there), there);
  }

  void GroupPods() {
    for (size_t i = 0; i < inventory_.pods.size(); ++i) {
      const Pod& pod = inventory_.pods[i];
      const auto gang = inventory_.gangs.find({pod.ns, pod.pod_group});
      // No two of them are the same: an owner has a '/', a PodGroup's name has none.
      const bool known = gang != inventory_.gangs.end();
      const std::string& key = known                   ? pod.pod_group
                               : pod.lws_group.empty() ? pod.owner
                                                       : pod.lws_group;
      Members& members = instances_[{pod.ns, key}];
      members.pods.push_back(i);
      if (known) members.gang = &gang->second;
    }
  }

  // --- elastic scaling ---------------------------------------------------------------------------

  void EnterService(size_t index) {
    const Pod& pod = inventory_.pods[index];
    const Loss loss = losses_.pods[index].loss;
    auto state = watcher::scaling::PodOf(*pod.entry);
    if (!state || !IsThere(index)) return;
    state->deleted = false;
    if (loss == Loss::kGoes) {
      // Its owner makes it behind the gate.
      state->node = nullptr;
      state->gate = 0;
      state->unschedulable.reset();
      state->created = now_;
    }
    state->running = loss == Loss::kStays;
    state->ready = state->running;
    Put(index, *std::move(state));
  }

  void Put(size_t index, watcher::scaling::PodState state) {
    auto& kept = states_[index];
    const watcher::scaling::PodPtr after =
        std::make_shared<const watcher::scaling::PodState>(std::move(state));
    services_.Changed(kept, after);
    kept = after;
    by_name_[{ServiceKeyOf(*after).ns, after->name}] = index;
  }

  watcher::scaling::Decision DecideAbout(const watcher::scaling::ServiceIndex::View& view) const {
    const schemas::ScalingRule* rule = view.rule.rule ? &*view.rule.rule : nullptr;
    watcher::scaling::Service service{view.rule.rule, view.rule.why_not, {}};
    for (const auto& observed : Observe(view.pods, rule, nullptr, view.pod_groups)) {
      service.instances.push_back(observed.instance);
    }
    return Decide(service, options_, now_);
  }

  // As the watcher does, whatever `rebalance` says.
  bool GrantAndWithdraw() {
    bool any = false;
    for (const watcher::scaling::ServiceKey& key : services_.services()) {
      const auto view = services_.Look(key);
      std::set<std::string> granted;
      std::set<std::string> withdrawn;
      for (const watcher::scaling::Outcome& outcome : DecideAbout(view).outcomes) {
        if (outcome.verdict == watcher::scaling::Verdict::kGrant) granted.insert(outcome.instance);
        if (outcome.verdict == watcher::scaling::Verdict::kWithdraw)
          withdrawn.insert(outcome.instance);
      }
      for (const watcher::scaling::PodPtr& pod : view.pods) {
        const bool opens = pod->gate && granted.contains(pod->instance);
        const bool returns = !pod->gate && withdrawn.contains(pod->instance);
        if (!opens && !returns) continue;
        watcher::scaling::PodState next = *pod;
        next.gate = opens ? SmallOptional<int32_t>() : SmallOptional<int32_t>(0);
        if (returns) next.unschedulable.reset();
        next.created = now_;
        Put(by_name_.at({key.ns, pod->name}), std::move(next));
        any = true;
      }
    }
    return any;
  }

  // --- placement ---------------------------------------------------------------------------------

  // By priority, the highest first, then by age.
  using Turn = std::tuple<int64_t, Time, InstanceKey>;

  Turn TurnOf(const InstanceKey& key, const Members& members) const {
    int64_t priority = 0;
    Time created = Time::max();
    for (const size_t i : members.pods) {
      priority = std::max(priority, inventory_.pods[i].priority);
      created = std::min(created, inventory_.pods[i].created);
    }
    if (members.gang != nullptr) created = members.gang->created;
    return {-priority, created, key};
  }

  bool PlaceAll() {
    std::set<Turn> turns;
    for (const auto& [key, members] : instances_) {
      const bool waits = std::any_of(members.pods.begin(), members.pods.end(), [this](size_t pod) {
        return NeedsAPlace(pod) && !IsHeld(pod);
      });
      if (waits) turns.insert(TurnOf(key, members));
    }
    bool any = false;
    for (const Turn& turn : turns) any = Place(instances_.at(std::get<InstanceKey>(turn))) || any;
    return any;
  }

  bool Place(Members& members) {
    Scheduler::Request request;
    int64_t there = 0;
    int64_t placed = 0;
    for (const size_t pod : members.pods) {
      if (!IsThere(pod)) continue;
      ++there;
      if (NeedsAPlace(pod)) {
        if (IsHeld(pod)) continue;
        request.pods.push_back(pod);
        request.refuses_sub_healthy |= HasStrategy(inventory_.pods[pod]);
      } else {
        ++placed;
        request.beside =
            places_[pod] ? places_[pod] : inventory_.FindNode(inventory_.pods[pod].node);
      }
    }
    // Room does not come back: what found none need not try again.
    if (request.pods == members.refused) return false;
    if (members.gang != nullptr) {
      const int64_t together = std::min(members.gang->Together(there), there);
      request.together = static_cast<size_t>(std::max<int64_t>(together - placed, 0));
      request.one_super_pod = members.gang->one_super_pod;
      // Those that it lacks are behind the gate.
      if (request.together > request.pods.size()) return false;
    }
    const Scheduler::Answer answer = scheduler_->Place(request);
    members.shortage = answer.shortage;
    members.refused.clear();
    for (size_t i = 0; i < request.pods.size(); ++i) {
      const size_t pod = request.pods[i];
      places_[pod] = answer.nodes[i];
      if (!answer.nodes[i]) members.refused.push_back(pod);
      const auto state = states_.find(pod);
      if (state == states_.end()) continue;
      watcher::scaling::PodState next = *state->second;
      if (answer.nodes[i]) {
        next.node = std::make_shared<const std::string>(inventory_.nodes[*answer.nodes[i]].name);
        next.running = true;
        next.ready = true;
      } else if (!next.unschedulable) {
        next.unschedulable = now_;
      }
      Put(pod, std::move(next));
    }
    return members.refused.size() < request.pods.size();
  }

  // --- what is told ------------------------------------------------------------------------------

  void AddStep(size_t pod, InstanceForecast& told) const {
    const PodLoss& loss = losses_.pods[pod];
    if (!loss.deed) return;
    auto step = std::find_if(told.steps.begin(), told.steps.end(), [&](const Step& one) {
      return one.deed == *loss.deed && one.why == loss.why;
    });
    if (step == told.steps.end()) step = told.steps.insert(step, {*loss.deed, {}, loss.why});
    step->pods.push_back(inventory_.pods[pod].name);
  }

  InstanceForecast Describe(const Members& members, size_t& missing) const {
    const Pod& first = inventory_.pods[members.pods.front()];
    InstanceForecast told{.ns = first.ns, .owner = first.owner, .pod_group = first.pod_group};
    if (members.gang == nullptr) told.pod_group.clear();
    size_t serving = 0;
    size_t homeless = 0;
    size_t held = 0;
    size_t broken = 0;
    size_t lost = 0;
    for (const size_t i : members.pods) {
      const Pod& pod = inventory_.pods[i];
      const PodLoss& loss = losses_.pods[i];
      told.is_new = told.is_new || pod.is_new;
      if (loss.loss != Loss::kIgnored) ++told.pods;
      if (!loss.hit.empty()) told.hits.push_back({pod.name, pod.node, loss.hit});
      AddStep(i, told);
      if (told.mend.empty()) told.mend = loss.mend;
      if (loss.loss == Loss::kGoes || loss.loss == Loss::kWaits) {
        const bool was_placed = loss.loss == Loss::kGoes;
        told.moves.push_back({pod.name, was_placed ? pod.node : "",
                              places_[i] ? inventory_.nodes[*places_[i]].name : ""});
        (places_[i] ? serving : IsHeld(i) ? held : homeless) += 1;
      }
      serving += loss.loss == Loss::kStays ? 1 : 0;
      broken += loss.loss == Loss::kBroken ? 1 : 0;
      lost += loss.loss == Loss::kLost ? 1 : 0;
    }
    // In the order in which they are taken.
    const auto turn = [](const Step& step) {
      const bool wider = step.why == kWithoutWholeJob || step.why == kWithoutRackBlock;
      return std::pair(step.deed, wider);
    };
    std::stable_sort(told.steps.begin(), told.steps.end(),
                     [&](const Step& a, const Step& b) { return turn(a) < turn(b); });
    missing = homeless + held + broken + lost;
    if (broken > 0) {
      told.fate = Fate::kBroken;
    } else if (lost > 0) {
      told.fate = Fate::kLost;
    } else if (homeless > 0) {
      const bool is_job = members.gang != nullptr && members.gang->of_job;
      told.fate = serving == 0 || is_job ? Fate::kNoRoom : Fate::kPartly;
      told.why = "there is no room for " + std::to_string(homeless) + " of its pods";
      if (members.shortage) told.mend = ShortageText(*members.shortage);
    } else if (held > 0) {
      told.fate = Fate::kHeld;
    }
    return told;
  }

  const schemas::ElasticScaling options_ = ScalingOptions();
  Time now_;
  const Inventory& inventory_;
  Losses losses_;
  std::optional<Scheduler> scheduler_;
  std::vector<std::optional<size_t>> places_;  // by pod: where it went
  std::map<InstanceKey, Members> instances_;
  watcher::scaling::ServiceIndex services_;
  std::map<size_t, watcher::scaling::PodPtr> states_;  // of pods under a scaling rule
  std::map<std::pair<std::string, std::string>, size_t> by_name_;
};

// The entry of a pod that runs on a node.
json::Json PlacedEntry(const json::Value& entry, const std::string& node,
                       const std::set<std::string>& chips) {
  json::Json placed = json::TreeOf(entry);
  placed["metadata"].erase("deletionTimestamp");
  placed["metadata"]["annotations"].erase(std::string(kPlanned));
  placed["spec"].erase("schedulingGates");
  placed["spec"]["nodeName"] = node;
  const std::vector<std::string> names(chips.begin(), chips.end());
  if (!names.empty()) {
    placed["metadata"]["annotations"][std::string(schemas::kAscendReal)] = Join(names, ",");
  }
  placed["status"] = {{"phase", "Running"}};
  return placed;
}

}  // namespace

Settled Settle(const ClusterSnapshot& snapshot, const Hypothesis& hypothesis) {
  Ground ground(snapshot, hypothesis);
  std::set<GroupName> widened;
  for (int round = 1;; ++round) {
    Settling settling(ground, widened);
    settling.Run();
    if (round < kMaxRounds && settling.Widen(widened)) continue;
    Settled settled = settling.Tell();
    settled.inventory = std::move(ground.inventory);
    return settled;
  }
}

ClusterSnapshot AfterSettling(const ClusterSnapshot& snapshot, const Settled& settled) {
  ClusterSnapshot after = snapshot;
  std::set<const json::Value*> replaced;
  for (const size_t pod : settled.gone) replaced.insert(settled.inventory.pods[pod].entry);
  json::Json entries = json::Json::array();
  for (const Placed& placed : settled.placed) {
    const Pod& pod = settled.inventory.pods[placed.pod];
    replaced.insert(pod.entry);
    entries.push_back(
        PlacedEntry(*pod.entry, settled.inventory.nodes[placed.node].name, placed.chips));
  }
  std::erase_if(after.pods, [&](const json::Value* pod) { return replaced.contains(pod); });
  const auto document = std::make_shared<const json::Document>(entries);
  for (const json::Value& entry : document->root()) after.pods.push_back(&entry);
  after.documents.push_back(document);
  return after;
}

}  // namespace mindgate::what_if
