#include "what_if/convergence.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>

#include "base/compact.h"
#include "base/text.h"
#include "json/value.h"
#include "schemas/names.h"
#include "watcher/scaling/instances.h"
#include "what_if/forecast.h"
#include "what_if/scheduler.h"

namespace mindgate::what_if {
namespace {

// A job that goes whole may take room from another one, which then goes whole too. Where it does
// not end, the last round is what is reported.
constexpr int kMaxRounds = 8;

// What an instance asked of the scheduler.
struct Attempt {
  std::vector<size_t> refused{};  // what found no room the last time
  std::optional<Shortage> shortage{};
};

bool HasStrategy(const Pod& pod) {
  const std::string value =
      json::TextAt(pod.entry, {"metadata", "labels", schemas::kSubHealthyStrategy});
  return value == "graceExit" || value == "forceExit" || value == "hotSwitch";
}

// Nothing that runs is given up before all else has come to rest.
schemas::ElasticScaling ScalingOptions() {
  schemas::ElasticScaling options;
  options.rebalance = schemas::EnforcementMode::kOff;
  return options;
}

// Nodes on which a pod that goes leaves no room.
std::set<std::string, std::less<>> UnusableNodes(const Inventory& inventory,
                                                 const Situation& situation) {
  std::set<std::string, std::less<>> unusable = situation.faults.not_ready;
  unusable.insert(situation.drained.begin(), situation.drained.end());
  for (const Node& node : inventory.nodes) {
    if (node.closed) unusable.insert(node.name);
  }
  return unusable;
}

// An instance that found no room although others were given up for it.
using Futile = std::set<std::pair<watcher::scaling::ServiceKey, std::string>>;

class Convergence {
 public:
  // What it is given must outlive it. The board has decided about the pods of the part.
  Convergence(const InitialState& initial, const Part& part, Board& board)
      : now_(initial.snapshot.taken),
        initial_(initial),
        part_(part),
        inventory_(initial.inventory),
        losses_(board.losses()),
        scheduler_(board.scheduler()) {
    // The phases of their PodGroups are those of before.
    std::set<GroupName> moved;
    for (const size_t i : part.pods) {
      const Pod& pod = inventory_.pods[i];
      if (!pod.pod_group.empty() && !KeepsItsPlace(losses_[i].loss)) {
        moved.insert({pod.ns, pod.pod_group});
      }
    }
    for (const size_t number : part.families) {
      const Family& family = initial.families[number];
      for (const watcher::scaling::ServiceKey& service : family.services) {
        const auto rule = initial.rules.find({service.ns, service.rule});
        if (rule != initial.rules.end()) {
          services_.RuleChanged(service.ns, service.rule, rule->second);
        }
      }
      for (const watcher::scaling::PodGroupPtr& state : family.pod_groups) {
        if (state->has_room() && moved.contains({state->service.ns, state->name})) continue;
        services_.Changed(nullptr, state);
      }
    }
  }

  void Run() {
    for (const size_t pod : part_.pods) EnterService(pod);
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
  bool Escalate(const std::set<GroupName>& may_widen, std::set<GroupName>& widened) const {
    bool any = false;
    for (const size_t number : part_.instances) {
      const Instance& instance = initial_.instances[number];
      if (!may_widen.contains(instance.key) || IsComplete(instance)) continue;
      any = widened.insert(instance.key).second || any;
    }
    return any;
  }

  // Adds the pods of the instances that elastic scaling gives up now, once for each instance that
  // finds no room.
  bool GiveUp(Situation& situation, Futile& futile) const {
    schemas::ElasticScaling options = options_;
    options.rebalance = schemas::EnforcementMode::kEnforce;
    options.rebalance_after = initial_.snapshot.watcher.rebalance_after;
    const auto unusable = UnusableNodes(inventory_, situation);
    bool any = false;
    for (const watcher::scaling::ServiceKey& key : services_.services()) {
      const auto view = services_.Find(key);
      watcher::scaling::Service service = ServiceOf(view);
      service.unusable_nodes = unusable;
      for (const watcher::scaling::Instance& instance : service.instances) {
        if (futile.contains({key, instance.name})) service.futile = instance;
      }
      const auto decision = Decide(service, options, now_ + options.rebalance_after);
      if (decision.beneficiary.empty()) continue;
      futile.emplace(key, decision.beneficiary);
      for (const watcher::scaling::Outcome& outcome : decision.outcomes) {
        if (outcome.verdict != watcher::scaling::Verdict::kGiveUp) continue;
        for (const watcher::scaling::PodPtr& pod : view.pods) {
          if (pod->instance != outcome.instance) continue;
          situation.given_up.emplace(by_name_.at({key.ns, pod->name}), outcome.reason);
          any = true;
        }
      }
    }
    return any;
  }

  // All but the chips of what was placed.
  Settled Result(bool explains) {
    Settled settled;
    std::map<std::pair<watcher::scaling::ServiceKey, std::string>, std::string>
        reasons;  // by instance
    for (const watcher::scaling::ServiceKey& key : services_.services()) {
      const auto view = services_.Find(key);
      SettledService& service = settled.services[key];
      service.shapes = view.rule.rule ? view.rule.rule->tiers.size() : 0;
      service.decision = DecideAbout(view);
      for (const watcher::scaling::Outcome& outcome : service.decision.outcomes) {
        reasons[{key, outcome.instance}] = outcome.reason;
      }
    }
    for (const size_t number : part_.instances) {
      const Instance& members = initial_.instances[number];
      SettledInstance& instance = settled.instances[members.key];
      instance.reported = Describe(number, instance.missing);
      if (explains && instance.reported.shortage) Explain(number, *instance.reported.shortage);
      if (instance.reported.outcome != Outcome::kHeld) continue;
      for (const size_t pod : members.pods) {
        const auto state = states_.find(pod);
        if (state == states_.end() || !state->second->gate) continue;
        instance.reported.why = reasons[{ServiceKeyOf(*state->second), state->second->instance}];
      }
    }
    for (const size_t pod : part_.pods) {
      const Loss loss = losses_[pod].loss;
      if (loss == Loss::kGoes || loss == Loss::kLost) settled.gone.push_back(pod);
    }
    for (const auto& [pod, node] : places_) settled.placed.push_back({pod, node, {}});
    return settled;
  }

 private:
  bool NeedsAPlace(size_t pod) const {
    const Loss loss = losses_[pod].loss;
    return (loss == Loss::kGoes || loss == Loss::kWaits) && !places_.contains(pod);
  }
  bool IsHeld(size_t pod) const {
    const auto state = states_.find(pod);
    if (state != states_.end()) return state->second->gate.has_value();
    return losses_[pod].loss == Loss::kWaits && inventory_.pods[pod].gated;
  }
  bool IsThere(size_t pod) const {
    const Loss loss = losses_[pod].loss;
    return loss != Loss::kLost && loss != Loss::kIgnored;
  }

  // Whether it has a place for as many as are bound together, or waits for a gate.
  bool IsComplete(const Instance& members) const {
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

  // --- elastic scaling ---------------------------------------------------------------------------

  void EnterService(size_t index) {
    const Pod& pod = inventory_.pods[index];
    const Loss loss = losses_[index].loss;
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

  static watcher::scaling::Service ServiceOf(const watcher::scaling::ServiceIndex::View& view) {
    const schemas::ScalingRule* rule = view.rule.rule ? &*view.rule.rule : nullptr;
    watcher::scaling::Service service{view.rule.rule, view.rule.why_not, {}};
    for (const auto& observed : Observe(view.pods, rule, nullptr, view.pod_groups)) {
      service.instances.push_back(observed.instance);
    }
    return service;
  }
  watcher::scaling::Decision DecideAbout(const watcher::scaling::ServiceIndex::View& view) const {
    return Decide(ServiceOf(view), options_, now_);
  }

  bool GrantAndWithdraw() {
    bool any = false;
    for (const watcher::scaling::ServiceKey& key : services_.services()) {
      const auto view = services_.Find(key);
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
  using Turn = std::tuple<int64_t, Time, size_t>;

  bool PlaceAll() {
    std::set<Turn> turns;
    for (const size_t number : part_.instances) {
      const Instance& instance = initial_.instances[number];
      const bool waits =
          std::any_of(instance.pods.begin(), instance.pods.end(),
                      [this](size_t pod) { return NeedsAPlace(pod) && !IsHeld(pod); });
      if (waits) turns.emplace(-instance.priority, instance.created, number);
    }
    bool any = false;
    for (const Turn& turn : turns) any = Place(std::get<size_t>(turn)) || any;
    return any;
  }

  bool Place(size_t number) {
    const Instance& members = initial_.instances[number];
    Attempt& attempt = attempts_[number];
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
        const auto place = places_.find(pod);
        request.beside =
            place != places_.end() ? std::optional(place->second) : inventory_.pods[pod].on;
      }
    }
    // Room does not come back: what found none need not try again.
    if (request.pods == attempt.refused) return false;
    if (members.gang != nullptr) {
      const int64_t together = std::min(members.gang->Together(there), there);
      request.together = static_cast<size_t>(std::max<int64_t>(together - placed, 0));
      request.one_super_pod = members.gang->one_super_pod;
      // Those that it lacks are behind the gate.
      if (request.together > request.pods.size()) return false;
    }
    const Scheduler::Answer answer = scheduler_.Place(request);
    attempt.shortage = answer.shortage;
    attempt.refused.clear();
    for (size_t i = 0; i < request.pods.size(); ++i) {
      const size_t pod = request.pods[i];
      if (answer.nodes[i]) {
        places_[pod] = *answer.nodes[i];
      } else {
        attempt.refused.push_back(pod);
      }
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
    return attempt.refused.size() < request.pods.size();
  }

  // --- reports -----------------------------------------------------------------------------------

  void AddStep(size_t pod, InstanceForecast& reported) const {
    const PodLoss& loss = losses_[pod];
    if (!loss.action) return;
    auto step = std::find_if(reported.steps.begin(), reported.steps.end(), [&](const Step& one) {
      return one.action == *loss.action && one.why == loss.why;
    });
    if (step == reported.steps.end()) {
      step = reported.steps.insert(step, {*loss.action, {}, loss.why, loss.due});
    }
    step->pods.push_back(inventory_.pods[pod].name);
  }

  void Explain(size_t number, Shortage& shortage) const {
    const std::vector<size_t>& refused = attempts_.at(number).refused;
    const auto strategy = [&](size_t pod) { return HasStrategy(inventory_.pods[pod]); };
    for (const size_t i : refused) {
      const Pod& pod = inventory_.pods[i];
      if (pod.npus != shortage.npus || pod.node_selector != shortage.node_selector) continue;
      scheduler_.Explain(pod, std::any_of(refused.begin(), refused.end(), strategy), shortage);
      return;
    }
  }

  InstanceForecast Describe(size_t number, size_t& missing) const {
    const Instance& members = initial_.instances[number];
    const Pod& first = inventory_.pods[members.pods.front()];
    InstanceForecast reported{.ns = first.ns, .owner = first.owner, .pod_group = first.pod_group};
    if (members.gang == nullptr) reported.pod_group.clear();
    size_t serving = 0;
    size_t homeless = 0;
    size_t held = 0;
    size_t broken = 0;
    size_t lost = 0;
    for (const size_t i : members.pods) {
      const Pod& pod = inventory_.pods[i];
      const PodLoss& loss = losses_[i];
      reported.is_new = reported.is_new || pod.is_new;
      if (loss.loss != Loss::kIgnored) ++reported.pods;
      if (!loss.hit.empty()) reported.hits.push_back({pod.name, pod.node, loss.hit});
      AddStep(i, reported);
      if (reported.fix.empty()) reported.fix = loss.fix;
      if (loss.loss == Loss::kGoes || loss.loss == Loss::kWaits) {
        const bool was_placed = loss.loss == Loss::kGoes;
        const auto place = places_.find(i);
        const bool placed = place != places_.end();
        reported.moves.push_back({pod.name, was_placed ? pod.node : "",
                                  placed ? inventory_.nodes[place->second].name : ""});
        (placed ? serving : IsHeld(i) ? held : homeless) += 1;
      }
      serving += loss.loss == Loss::kStays ? 1 : 0;
      broken += loss.loss == Loss::kBroken ? 1 : 0;
      lost += loss.loss == Loss::kLost ? 1 : 0;
    }
    // In the order in which they are taken.
    const auto turn = [](const Step& step) {
      const bool wider = step.why == kWithoutWholeJob || step.why == kWithoutRackBlock;
      return std::pair(step.action, wider);
    };
    std::stable_sort(reported.steps.begin(), reported.steps.end(),
                     [&](const Step& a, const Step& b) { return turn(a) < turn(b); });
    missing = homeless + held + broken + lost;
    const auto attempt = attempts_.find(number);
    if (homeless + held > 0 && attempt != attempts_.end())
      reported.shortage = attempt->second.shortage;
    if (broken > 0) {
      reported.outcome = Outcome::kBroken;
    } else if (lost > 0) {
      reported.outcome = Outcome::kLost;
    } else if (homeless > 0) {
      const bool is_job = members.gang != nullptr && members.gang->of_job;
      reported.outcome = serving == 0 || is_job ? Outcome::kNoRoom : Outcome::kPartly;
      reported.why = "there is no room for " + std::to_string(homeless) + " of its pods";
      if (reported.shortage) reported.fix = ShortageText(*reported.shortage);
    } else if (held > 0) {
      reported.outcome = Outcome::kHeld;
    }
    return reported;
  }

  const schemas::ElasticScaling options_ = ScalingOptions();
  Time now_;
  const InitialState& initial_;
  const Part& part_;
  const Inventory& inventory_;
  const std::vector<PodLoss>& losses_;
  Scheduler& scheduler_;
  std::map<size_t, size_t> places_;     // by pod: where it went
  std::map<size_t, Attempt> attempts_;  // by instance
  watcher::scaling::ServiceIndex services_;
  std::map<size_t, watcher::scaling::PodPtr> states_;  // of pods under a scaling rule
  std::map<std::pair<std::string, std::string>, size_t> by_name_;
};

// The entry of a pod that runs on a node.
json::Json PlacedEntry(const json::Value& entry, const std::string& node,
                       const std::set<std::string>& chips) {
  json::Json placed = json::TreeOf(entry);
  json::Json& metadata = placed["metadata"];
  metadata.erase("deletionTimestamp");
  if (metadata.contains("annotations")) metadata["annotations"].erase(std::string(kPlanned));
  if (placed.contains("spec")) placed["spec"].erase("schedulingGates");
  placed["spec"]["nodeName"] = node;
  const std::vector<std::string> names(chips.begin(), chips.end());
  if (!names.empty()) {
    metadata["annotations"][std::string(schemas::kAscendReal)] = Join(names, ",");
  }
  placed["status"] = {{"phase", "Running"}};
  return placed;
}

}  // namespace

Settled SettlePart(const InitialState& initial, const Part& part, Situation situation,
                   std::span<const size_t> pods, std::span<const size_t> nodes, Board& board,
                   const std::function<void()>& decided) {
  const WatcherSettings& watcher = initial.snapshot.watcher;
  situation.rebalance_after = watcher.rebalance_after;
  Futile futile;
  for (int round = 1;; ++round) {
    const std::set<GroupName> may_widen = board.Decide(situation, pods, nodes);
    decided();
    Convergence convergence(initial, part, board);
    convergence.Run();
    if (round < kMaxRounds) {
      // The plugin waits for seconds before it takes more of a job, elastic scaling for a minute.
      if (convergence.Escalate(may_widen, situation.widened)) continue;
      if (watcher.rebalances && convergence.GiveUp(situation, futile)) continue;
    }
    Settled settled = convergence.Result(situation.explains);
    settled.others = board.others();
    return settled;
  }
}

Settled Settle(const InitialState& initial, const Hypothesis& hypothesis) {
  SurveyedFaults faults = initial.reported;
  Suppose(hypothesis, initial.inventory, faults);
  const std::set<std::string, std::less<>> drained = DrainedNodes(hypothesis);
  const std::vector<size_t> nodes = NodesOf(hypothesis, initial.inventory);
  Board board(initial);
  const Part whole = Whole(initial);
  Settled settled =
      SettlePart(initial, whole, {faults, drained, {}, true}, whole.pods, nodes, board);
  for (Placed& placed : settled.placed) {
    placed.chips = board.scheduler().TakeChips(placed.node, initial.inventory.pods[placed.pod]);
  }
  return settled;
}

ClusterSnapshot AfterSettling(const InitialState& initial, const Settled& settled) {
  const Inventory& inventory = initial.inventory;
  ClusterSnapshot after = initial.snapshot;
  std::set<const json::Value*> replaced;
  for (const size_t pod : settled.gone) replaced.insert(inventory.pods[pod].entry);
  json::Json entries = json::Json::array();
  for (const Placed& placed : settled.placed) {
    const Pod& pod = inventory.pods[placed.pod];
    replaced.insert(pod.entry);
    entries.push_back(PlacedEntry(*pod.entry, inventory.nodes[placed.node].name, placed.chips));
  }
  std::erase_if(after.pods, [&](const json::Value* pod) { return replaced.contains(pod); });
  const auto document = std::make_shared<const json::Document>(entries);
  for (const json::Value& entry : document->root()) after.pods.push_back(&entry);
  after.documents.push_back(document);
  return after;
}

}  // namespace mindgate::what_if
