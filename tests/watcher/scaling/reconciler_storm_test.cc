// Random histories of two watchers, one Lease and a cluster in which everything happens that can:
// pods are made, fail and go, rules are edited and lost, nodes break, calls fail, watches lag, and
// the Lease moves in the middle of what a watcher does. Deterministic: a failure names the seed and
// the step. MINDGATE_HISTORY_STEPS says how many steps.
//
// What is assumed: a replica that begins to lead knows of what its predecessor did (the Lease is
// free for longer than a watch lags), and a watch lags less than `reservation`.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <deque>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "json/decode.h"
#include "kube/client_fixture.h"
#include "schemas/names.h"
#include "simulation/api_server.h"
#include "support/dice.h"
#include "support/fake_clock.h"
#include "support/scaling.h"
#include "watcher/scaling/reconciler.h"

namespace mindgate::watcher::scaling {
namespace {

using json::Json;
using kube::Reason;
using simulation::ApiServer;
using PodName = ApiServer::PodName;
using ::mindgate::testing::Dice;
using std::chrono::seconds;

constexpr size_t kWatchers = 2;
constexpr int64_t kCards = 8;  // of a pod, and of a place on a node
constexpr size_t kPlaces = 4;  // of a node
constexpr seconds kMaxLag(15);

struct RuleChange {
  std::string ns;
  std::string name;
  std::shared_ptr<const RuleState> state;
};

// What a watch has not reported yet.
template <typename T>
using Backlog = std::deque<std::pair<Clock::Instant, T>>;

// A job, or a replica of a Deployment: its pods are recreated whenever one is missing.
struct StormJob {
  ServiceKey service;
  std::string group;
  std::string name;
  size_t pods = 1;
  bool gang = true;  // an AscendJob; else pods of their own
  uint64_t made = 0;
};

class Silent final : public DecisionListener {
 public:
  void Report(DecisionRecord record) override {
    ASSERT_FALSE(record.reason.empty());
    ++reported;
  }
  uint64_t reported = 0;
};

class Storm;

// The way of one watcher to the API server: what it may not do is seen here, and here calls fail.
class Line final : public kube::Transport {
 public:
  Line(Storm& storm, size_t watcher) : storm_(storm), watcher_(watcher) {}
  kube::Answer<kube::HttpAnswer> Send(const kube::HttpCall& call, std::stop_token stop) override;
  kube::Answer<kube::HttpAnswer> Stream(const kube::HttpCall&, const Consume&,
                                        std::stop_token) override {
    return kube::Failed(Reason::kUnreachable, "no stream");
  }

 private:
  Storm& storm_;
  const size_t watcher_;
};

// One replica of the watcher.
struct StormWatcher {
  StormWatcher(Storm& storm, size_t number, const Clock& clock, log::Logger& logger,
               std::function<schemas::ElasticScaling()> settings)
      : line(storm, number),
        client(line, sleeper, LeaderClient::kOptions),
        gate(client, clock, budget, {}),
        reconciler(client, clock, logger, decisions, gate, std::move(settings)) {}

  Line line;
  kube::testing::FakeSleeper sleeper;
  kube::Client client;
  Silent decisions;
  DisruptionBudget budget;
  DisruptionGate gate;
  Reconciler reconciler;
  ServiceIndex index;
  std::map<PodName, PodPtr> known;  // what `index` got
  Backlog<std::pair<PodName, PodPtr>> pods;
  Backlog<RuleChange> rules;
  std::shared_ptr<bool> holds = std::make_shared<bool>(false);
  std::optional<Term> term;
  // Of the decision under way: the service, what of it was known, and the UIDs that were read
  // again.
  const ServiceIndex::View* view = nullptr;
  std::set<std::string> fresh;
  std::set<std::string> asked;    // UIDs of pods of which it was asked whether they may go
  std::set<std::string> overdue;  // instances, when it began
  std::map<std::string, std::set<std::string>> begun;  // give-ups of this term: UIDs by instance
  std::set<std::string> taken_back;  // UIDs of instances of which a pod was deleted in this term
};

class Storm {
 public:
  explicit Storm(uint64_t seed) : dice_(seed) {
    server_.Listen([this](ApiServer::Change change, const PodName& name, const Json& object) {
      Changed(change, name, object);
    });
    settings_.mode = schemas::EnforcementMode::kEnforce;
    settings_.rebalance = schemas::EnforcementMode::kEnforce;
    settings_.give_ups_per_minute = 1000;
    // So that much is taken back in few steps.
    settings_.rebalance_after = seconds(5);
    settings_.cool_down = seconds(5);
    settings_.start_deadline = seconds(120);
    for (size_t i = 0; i < kWatchers; ++i) {
      watchers_[i] =
          std::make_unique<StormWatcher>(*this, i, clock_, logger_, [this] { return settings_; });
    }
    for (const ServiceKey& service : Services()) EditRule(service);
    for (int i = 0; i < 8; ++i) Submit();
    Begin(0);
  }

  const std::string& broken() const { return broken_; }
  // What happened in all, so that nothing holds for want of occasions.
  struct Totals {
    uint64_t writes = 0;
    uint64_t terms = 0;
    uint64_t granted = 0;    // pods
    uint64_t withdrawn = 0;  // instances
    uint64_t given_up = 0;
    uint64_t halves = 0;  // give-ups of which a call failed
    void Add(const Totals& other) {
      writes += other.writes;
      terms += other.terms;
      granted += other.granted;
      withdrawn += other.withdrawn;
      given_up += other.given_up;
      halves += other.halves;
    }
  };
  Totals totals() const {
    Totals totals = totals_;
    for (const auto& watcher : watchers_) {
      const auto counts = watcher->reconciler.counts();
      totals.granted += counts.granted;
      totals.withdrawn += counts.withdrawn;
      totals.given_up += counts.given_up;
    }
    return totals;
  }

  void Step() {
    const size_t what = dice_.Below(60);
    if (what < 14) {
      const size_t any = dice_.Below(kWatchers);
      Act(dice_.OneIn(4) ? any : Leader().value_or(any), AnyService());
    } else if (what < 26) {
      Deliver(*watchers_[dice_.Below(kWatchers)], 1 + dice_.Below(4));
    } else if (what < 36) {
      Schedule(AnyPod());
    } else if (what < 44) {
      Run(AnyPod());
    } else if (what < 49) {
      MakePods();
    } else {
      Disturb(what);
    }
  }

  // Nothing fails any more and every watch catches up: what was begun is finished, and what waits
  // has a reason.
  void Settle() {
    calm_ = true;
    if (!Leader()) Begin(dice_.Below(kWatchers));
    for (int round = 0; round < 6 && broken_.empty(); ++round) {
      for (const auto& watcher : watchers_) CatchUp(*watcher);
      for (const ServiceKey& service : Services()) Act(*Leader(), service);
      clock_.Advance(seconds(1));
    }
    for (const auto& watcher : watchers_) CatchUp(*watcher);
    CheckBegun(*watchers_[*Leader()]);
    CheckReasons(watchers_[*Leader()]->index);
    calm_ = false;
  }

  // --- calls
  // -----------------------------------------------------------------------------------------

  kube::Answer<kube::HttpAnswer> Call(size_t number, const kube::HttpCall& call,
                                      const std::stop_token& stop) {
    StormWatcher& watcher = *watchers_[number];
    if (call.method != "GET") {
      ++totals_.writes;
      if (!*watcher.holds) Break("a write of a watcher that does not lead: " + call.path);
    }
    const PodName name = NameOf(call.path);
    const auto before = server_.Find(name);
    const bool dry = call.path.find("dryRun") != std::string::npos ||
                     call.body.find("dryRun") != std::string::npos;
    if (call.method == "DELETE" && before && !dry) CheckDelete(watcher, name, *before);
    const bool half = IsHalf(watcher, call);
    if (!calm_ && dice_.OneIn(half ? 2 : 4)) {
      totals_.halves += half;
      if (auto failed = FailBefore()) return *std::move(failed);
    }
    if (call.method == "PATCH" && before) CheckGrant(watcher, name, *before);
    auto answer = server_.Send(call, stop);
    if (before) {
      const std::string uid = (*before)["metadata"]["uid"].get<std::string>();
      if (call.method == "GET") watcher.fresh.insert(uid);
      if (call.method == "POST") watcher.asked.insert(uid);
    }
    if (!calm_ && dice_.OneIn(150)) End(number);  // in the middle of it
    if (!calm_ && call.method != "GET" && dice_.OneIn(12)) {
      return kube::Failed(Reason::kTimeout, "no answer in time, but it was done");
    }
    return answer;
  }

 private:
  static const std::vector<ServiceKey>& Services() {
    static const std::vector<ServiceKey> kServices = {
        {"team-a", "r1", "s1"}, {"team-a", "r2", "s2"}, {"team-b", "r1", "s1"}};
    return kServices;
  }
  const ServiceKey& AnyService() { return Services()[dice_.Below(Services().size())]; }

  void Break(std::string what) {
    if (broken_.empty()) broken_ = std::move(what);
  }

  std::optional<kube::Answer<kube::HttpAnswer>> FailBefore() {
    constexpr std::array<int, 4> kStatus = {403, 409, 429, 500};
    const size_t which = dice_.Below(kStatus.size() + 1);
    if (which == kStatus.size()) return kube::Failed(Reason::kUnreachable, "no way");
    return kube::HttpAnswer{.status = kStatus[which], .body = "{}"};
  }

  // --- the Lease
  // ------------------------------------------------------------------------------------

  std::optional<size_t> Leader() const {
    for (size_t i = 0; i < kWatchers; ++i) {
      if (*watchers_[i]->holds) return i;
    }
    return std::nullopt;
  }
  void Begin(size_t number) {
    for (const auto& watcher : watchers_) *watcher->holds = false;
    StormWatcher& watcher = *watchers_[number];
    for (const auto& other : watchers_) {
      if (other.get() == &watcher) continue;
      for (const ServiceKey& service : Services()) other->reconciler.Forget(service);
      other->term.reset();
    }
    CatchUp(watcher);
    watcher.holds = std::make_shared<bool>(true);
    watcher.term.emplace(
        clock_.WallNow(), [holds = watcher.holds] { return *holds; }, std::stop_token());
    watcher.begun.clear();
    watcher.taken_back.clear();
    ++totals_.terms;
  }
  void End(size_t number) { *watchers_[number]->holds = false; }

  // --- what the watches report
  // ------------------------------------------------------------------------

  void Changed(ApiServer::Change change, const PodName& name, const Json& object) {
    PodPtr pod;
    if (change != ApiServer::Change::kDeleted) {
      auto state = PodOf(json::Document(object).root());
      if (state) pod = std::make_shared<const PodState>(*std::move(state));
    }
    if (pod != nullptr && !pod->gate) opened_.try_emplace(pod->uid, clock_.Now());
    truth_.insert_or_assign(name, pod);
    if (change == ApiServer::Change::kDeleted) truth_.erase(name);
    for (const auto& watcher : watchers_) {
      watcher->pods.push_back({clock_.Now(), {name, pod}});
    }
  }

  static void Report(StormWatcher& watcher, const std::pair<PodName, PodPtr>& event) {
    PodPtr& known = watcher.known[event.first];
    watcher.index.Changed(known, event.second);
    known = event.second;
    if (known == nullptr) watcher.known.erase(event.first);
  }
  static void Report(StormWatcher& watcher, const RuleChange& change) {
    watcher.index.RuleChanged(change.ns, change.name, change.state);
  }
  template <typename T>
  void Catch(StormWatcher& watcher, Backlog<T>& backlog, size_t most, seconds older) {
    while (!backlog.empty() && (most > 0 || clock_.Now() - backlog.front().first >= older)) {
      if (most > 0) --most;
      Report(watcher, backlog.front().second);
      backlog.pop_front();
    }
  }
  void Deliver(StormWatcher& watcher, size_t events) {
    if (dice_.OneIn(4)) return Catch(watcher, watcher.rules, events, seconds(0));
    Catch(watcher, watcher.pods, events, kMaxLag);
  }
  void CatchUp(StormWatcher& watcher) {
    Catch(watcher, watcher.pods, 0, seconds(0));
    Catch(watcher, watcher.rules, 0, seconds(0));
  }

  void Act(size_t number, const ServiceKey& service) {
    StormWatcher& watcher = *watchers_[number];
    if (!watcher.term || !*watcher.holds) {
      if (watcher.term) {
        for (const ServiceKey& each : Services()) watcher.reconciler.Forget(each);
        watcher.term.reset();
      }
      return;
    }
    const Reconciler::Inputs inputs{watcher.index.Find(service), unusable_};
    watcher.view = &inputs.view;
    watcher.fresh.clear();
    watcher.asked.clear();
    watcher.overdue = Overdue(inputs.view);
    watcher.reconciler.Reconcile(service, inputs, *watcher.term);
    watcher.view = nullptr;
  }

  // --- what must hold
  // -------------------------------------------------------------------------------

  static PodName NameOf(const std::string& path) {
    const size_t ns = path.find("/namespaces/") + 12;
    const size_t end = path.find('/', ns);
    const size_t name = path.find('/', end + 1) + 1;
    return {path.substr(ns, end - ns), path.substr(name, path.find_first_of("/?", name) - name)};
  }

  // Instances of the service that run or start, by their live pods without a gate.
  std::set<std::string> RunOrStart(const ServiceKey& service, const std::string& group) const {
    std::set<std::string> names;
    for (const auto& [name, pod] : truth_) {
      if (pod == nullptr || pod->deleted || pod->gate || ServiceKeyOf(*pod) != service) continue;
      if (pod->group() == group) names.insert(pod->instance);
    }
    return names;
  }
  // Those that had their time to start, as far as the watcher knows: their siblings do not wait for
  // them.
  std::set<std::string> Overdue(const ServiceIndex::View& view) const {
    std::set<std::string> late;
    std::set<std::string> starting;
    for (const PodPtr& pod : view.pods) {
      if (pod->deleted || pod->gate) continue;
      if (!pod->running) starting.insert(pod->instance);
      const bool had_time = clock_.Now() - opened_.at(pod->uid) >= settings_.start_deadline;
      if (had_time) late.insert(pod->instance);
    }
    std::erase_if(late, [&](const std::string& each) { return !starting.contains(each); });
    return late;
  }

  // A new instance is let in only where fewer are there than the largest shape wants.
  void CheckGrant(const StormWatcher& watcher, const PodName& name, const Json& object) {
    const auto pod = PodOf(json::Document(object).root());
    if (!pod || !pod->gate) return;
    const auto& rule = watcher.view->rule.rule;
    if (!rule) return Break("let in without a rule: " + name.name);
    int64_t most = 0;
    for (const auto& tier : rule->tiers) {
      const auto* group = tier.Find(pod->group());
      if (group != nullptr) most = std::max(most, group->group_num);
    }
    const auto all = RunOrStart(ServiceKeyOf(*pod), pod->group());
    if (all.contains(pod->instance)) return;  // the rest of its pods
    const auto there = std::ranges::count_if(all, [&](const std::string& each) {
      return !watcher.overdue.contains(each) && !IsTakenBack(watcher, each);
    });
    if (there < most) return;
    Break(name.ns + "/" + name.name + " was let in beside " + std::to_string(there) +
          ", and the rule wants " + std::to_string(most));
  }

  // The rest of one whose deletion began is deleted, too.
  bool IsTakenBack(const StormWatcher& watcher, const std::string& instance) const {
    return std::ranges::all_of(truth_, [&](const auto& entry) {
      const PodPtr& pod = entry.second;
      return pod == nullptr || pod->instance != instance || pod->deleted || pod->gate ||
             watcher.taken_back.contains(pod->uid);
    });
  }

  // Whether another call of the same instance was answered before: there are few, and more of them
  // fail.
  bool IsHalf(const StormWatcher& watcher, const kube::HttpCall& call) const {
    const PodPtr* pod = nullptr;
    if (const auto found = truth_.find(NameOf(call.path)); found != truth_.end()) {
      pod = &found->second;
    }
    if (call.method != "DELETE" || pod == nullptr || *pod == nullptr || (*pod)->gate) return false;
    const auto begun = watcher.begun.find((*pod)->instance + "@" + ServiceKeyOf(**pod).ns);
    return begun != watcher.begun.end() && begun->second.contains((*pod)->uid);
  }

  void CheckDelete(StormWatcher& watcher, const PodName& name, const Json& object) {
    const std::string uid = object["metadata"]["uid"].get<std::string>();
    const auto pod = PodOf(json::Document(object).root());
    if (!pod) return;
    std::set<std::string>& begun = watcher.begun[pod->instance + "@" + ServiceKeyOf(*pod).ns];
    if (!watcher.fresh.contains(uid) && !begun.contains(uid)) {
      Break("deleted without a look: " + name.ns + "/" + name.name);
    }
    for (const PodPtr& other : watcher.view->pods) {
      if (other->instance == pod->instance) watcher.taken_back.insert(other->uid);
    }
    if (!watcher.asked.contains(uid)) return;  // it returns behind the gate
    for (const PodPtr& other : watcher.view->pods) {
      if (other->instance == pod->instance && watcher.asked.contains(other->uid)) {
        begun.insert(other->uid);
      }
    }
  }

  // Of a give-up of this term either all pods went or none did.
  void CheckBegun(const StormWatcher& watcher) {
    std::set<std::string> live;
    for (const auto& [name, pod] : truth_) {
      if (pod != nullptr && !pod->deleted) live.insert(pod->uid);
    }
    for (const auto& [instance, uids] : watcher.begun) {
      size_t left = 0;
      for (const std::string& uid : uids) left += live.contains(uid) ? 1 : 0;
      if (left > 0 && left < uids.size()) Break(instance + " was given up by half");
    }
  }

  void CheckReasons(const ServiceIndex& index) {
    for (const ServiceKey& key : index.services()) {
      const auto view = index.Find(key);
      Service service{view.rule.rule, view.rule.why_not, {}};
      for (const auto& each :
           Observe(view.pods, service.rule ? &*service.rule : nullptr, nullptr)) {
        service.instances.push_back(each.instance);
      }
      const Decision decision = Decide(service, settings_, clock_.WallNow());
      if (decision.outcomes.size() != service.instances.size()) Break("one without an outcome");
      for (const Outcome& outcome : decision.outcomes) {
        if (outcome.reason.empty()) Break(outcome.instance + " has no reason");
      }
    }
  }

  // --- the cluster
  // ----------------------------------------------------------------------------------

  void Disturb(size_t what) {
    switch (what) {
      case 49:
        return dice_.OneIn(2) ? Fail(AnyPod()) : void();
      case 50:
      case 51:
      case 52:
        return Finish(AnyPod());
      case 53:
        return dice_.OneIn(3) ? Submit() : void();
      case 54:
        return dice_.OneIn(10) ? Withdraw() : void();
      case 55:
        if (dice_.OneIn(2)) BreakPlace();
        if (dice_.OneIn(4)) RepairPlace();
        return dice_.OneIn(40) ? BreakOrRepairNode() : void();
      case 56:
        return dice_.OneIn(10) ? EditRule(AnyService()) : void();
      case 57:
        if (dice_.OneIn(10)) End(dice_.Below(kWatchers));
        if (!Leader() && dice_.OneIn(2)) Begin(dice_.Below(kWatchers));
        return;
      case 58:
        if (const auto name = AnyPod(); name && dice_.OneIn(6)) server_.Delete(*name);  // by hand
        return;
      default:
        clock_.Advance(seconds(1 + static_cast<int64_t>(dice_.Below(20))));
        for (const auto& watcher : watchers_) {
          Catch(*watcher, watcher->pods, 0, kMaxLag);
          Catch(*watcher, watcher->rules, 0, kMaxLag);
        }
    }
  }

  std::optional<PodName> AnyPod() {
    if (truth_.empty()) return std::nullopt;
    auto at = truth_.begin();
    std::advance(at, static_cast<std::ptrdiff_t>(dice_.Below(truth_.size())));
    return at->first;
  }

  void EditRule(const ServiceKey& service) {
    static const std::vector<std::string> kShapes = {
        "p=3 d=1 | p=2 d=1 | p=1 d=1", "p=2 d=2 | p=1 d=1", "p=2 d=1 | p=1 d=0", "p=1 d=1"};
    RuleChange change{service.ns, service.rule, nullptr};
    const size_t which = dice_.Below(kShapes.size() * 2 + 2);
    if (which > 1) {
      change.state = std::make_shared<const RuleState>(
          RuleState{::mindgate::testing::RuleOf(kShapes[which % kShapes.size()]), ""});
    } else if (which == 1) {
      change.state = std::make_shared<const RuleState>(RuleState{std::nullopt, "it is malformed"});
    }
    for (const auto& watcher : watchers_) watcher->rules.push_back({clock_.Now(), change});
  }

  void Submit() {
    if (jobs_.size() >= 14) return;
    StormJob job;
    job.service = AnyService();
    job.group = dice_.OneIn(3) ? "d" : "p";
    job.gang = !dice_.OneIn(3);
    job.pods = job.gang ? 2 + dice_.Below(2) : 1;
    job.name = job.group + std::to_string(submitted_++);
    jobs_.push_back(job);
  }
  void Withdraw() {
    if (jobs_.empty()) return;
    const size_t which = dice_.Below(jobs_.size());
    const StormJob job = jobs_[which];
    jobs_.erase(jobs_.begin() + static_cast<std::ptrdiff_t>(which));
    std::vector<PodName> names;
    for (const auto& [name, pod] : truth_) {
      if (name.ns == job.service.ns && name.name.starts_with(job.name + "-")) names.push_back(name);
    }
    for (const PodName& name : names) server_.Delete(name);
  }

  // What controllers do of one job: failed pods go, missing ones are made.
  void MakePods() {
    if (jobs_.empty()) return;
    StormJob& job = jobs_[dice_.Below(jobs_.size())];
    if (job.gang) {
      for (size_t i = 0; i < job.pods; ++i) MakePod(job, job.name + "-" + std::to_string(i));
      return;
    }
    for (const auto& [name, pod] : truth_) {
      const bool own = name.ns == job.service.ns && name.name.starts_with(job.name + "-");
      if (own && pod != nullptr && !pod->deleted) return;
    }
    MakePod(job, job.name + "-" + std::to_string(job.made++));
  }
  void MakePod(const StormJob& job, const std::string& name) {
    if (const auto there = server_.Find({job.service.ns, name})) {
      if ((*there)["status"]["phase"] == "Failed") server_.Delete({job.service.ns, name});
      return;
    }
    Json pod;
    pod["metadata"] = {{"namespace", job.service.ns},
                       {"name", name},
                       {"labels",
                        {{"jobID", job.service.job_id},
                         {"mind-cluster/scaling-rule", job.service.rule},
                         {"mind-cluster/group-name", job.group}}}};
    Json container = {{"name", "a"}};
    container["resources"]["limits"]["huawei.com/Ascend910"] = std::to_string(kCards);
    pod["spec"]["schedulingGates"] = {{{"name", schemas::kScalingGate}}};
    pod["spec"]["containers"] = Json::array({container});
    pod["status"]["phase"] = "Pending";
    if (job.gang) {
      pod["metadata"]["ownerReferences"] = {{{"apiVersion", "mindxdl.gitee.com/v1"},
                                             {"kind", "AscendJob"},
                                             {"name", job.name},
                                             {"uid", "uid-" + job.name},
                                             {"controller", true}}};
    }
    server_.Create(std::move(pod));
  }

  static Json Refused() {
    return {{"phase", "Pending"},
            {"conditions",
             {{{"type", "PodScheduled"}, {"status", "False"}, {"reason", "Unschedulable"}}}}};
  }
  void Schedule(const std::optional<PodName>& name) {
    if (!name) return;
    const PodPtr pod = truth_.at(*name);
    if (pod == nullptr || pod->gate || pod->deleted || pod->node != nullptr) return;
    std::map<std::string, size_t> used;
    for (const auto& [of, live] : truth_) {
      if (live != nullptr && live->node != nullptr) ++used[*live->node];
    }
    for (const char* node : {"n0", "n1", "n2"}) {
      if (unusable_.contains(node) || used[node] >= places_.at(node)) continue;
      server_.Update(*name, [&](Json& object) {
        object["spec"]["nodeName"] = node;
        object["status"] = {{"phase", "Pending"}};
      });
      return;
    }
    if (!pod->unschedulable) {
      server_.Update(*name, [](Json& object) { object["status"] = Refused(); });
    }
  }
  void Run(const std::optional<PodName>& name) {
    if (!name) return;
    const PodPtr pod = truth_.at(*name);
    if (pod == nullptr || pod->node == nullptr || pod->deleted) return;
    const bool ready = dice_.OneIn(2);
    server_.Update(*name, [&](Json& object) {
      object["status"] = {
          {"phase", "Running"},
          {"conditions", {{{"type", "Ready"}, {"status", ready ? "True" : "False"}}}}};
    });
  }
  void Fail(const std::optional<PodName>& name) {
    if (!name) return;
    const PodPtr pod = truth_.at(*name);
    if (pod == nullptr || !pod->running) return;
    server_.Update(*name, [](Json& object) { object["status"] = {{"phase", "Failed"}}; });
  }
  // The kubelet has ended it.
  void Finish(const std::optional<PodName>& name) {
    if (!name) return;
    const PodPtr pod = truth_.at(*name);
    if (pod == nullptr ? true : pod->deleted) server_.Remove(*name);
  }
  // A card of a decode instance, which are few: its pod goes, and there is one place less.
  void BreakPlace() {
    for (const auto& [name, pod] : truth_) {
      if (pod == nullptr || pod->node == nullptr || pod->group() != "d" || dice_.OneIn(2)) continue;
      if (places_[*pod->node] == 0) continue;
      --places_[*pod->node];
      const PodName broken = name;
      server_.Delete(broken);
      server_.Remove(broken);
      return;
    }
  }
  void RepairPlace() {
    size_t& places = places_["n" + std::to_string(dice_.Below(3))];
    places = std::min(places + 1, kPlaces);
  }
  void BreakOrRepairNode() {
    const std::string node = "n" + std::to_string(dice_.Below(3));
    if (unusable_.erase(node) > 0) return;
    unusable_.insert(node);
    std::vector<PodName> on_it;
    for (const auto& [name, pod] : truth_) {
      if (pod != nullptr && pod->on_node() == node) on_it.push_back(name);
    }
    for (const PodName& name : on_it) server_.Delete(name);
  }

  Dice dice_;
  mindgate::testing::FakeClock clock_;
  log::Logger logger_{log::Format::kText, log::Level::kError, clock_, [](std::string_view) {}};
  ApiServer server_{clock_};
  schemas::ElasticScaling settings_;
  std::array<std::unique_ptr<StormWatcher>, kWatchers> watchers_;
  std::map<PodName, PodPtr> truth_;               // null: it takes part in nothing (it has ended)
  std::map<std::string, Clock::Instant> opened_;  // by UID: since when without a gate
  std::vector<StormJob> jobs_;
  NodeNames unusable_;
  std::map<std::string, size_t> places_ = {{"n0", kPlaces}, {"n1", kPlaces}, {"n2", kPlaces}};
  uint64_t submitted_ = 0;
  bool calm_ = false;
  Totals totals_;
  std::string broken_;
};

kube::Answer<kube::HttpAnswer> Line::Send(const kube::HttpCall& call, std::stop_token stop) {
  return storm_.Call(watcher_, call, stop);
}

uint64_t StepsToPlay() {
  const char* text = std::getenv("MINDGATE_HISTORY_STEPS");
  return text == nullptr ? 100'000 : std::strtoull(text, nullptr, 10);
}

TEST(ScalingStorm, TwoWatchersNeverDoWhatOneMayNot) {
  constexpr uint64_t kStepsOfAHistory = 2'000;
  Storm::Totals totals;
  const uint64_t histories = std::max<uint64_t>(1, StepsToPlay() / kStepsOfAHistory);
  for (uint64_t seed = 0; seed < histories; ++seed) {
    Storm storm(seed);
    for (uint64_t step = 0; step < kStepsOfAHistory; ++step) {
      storm.Step();
      if (step % 200 == 199) storm.Settle();
      ASSERT_EQ(storm.broken(), "") << "seed " << seed << ", step " << step;
    }
    totals.Add(storm.totals());
  }
  EXPECT_GT(totals.terms, histories * 2);
  EXPECT_GT(totals.granted, histories * 10);
  EXPECT_GT(totals.withdrawn, histories / 4);
  EXPECT_GT(totals.given_up, histories / 10);
  EXPECT_GT(totals.halves, histories / 100);
  for (const auto& [name, count] :
       {std::pair("writes", totals.writes), std::pair("terms", totals.terms),
        std::pair("granted", totals.granted), std::pair("withdrawn", totals.withdrawn),
        std::pair("given_up", totals.given_up), std::pair("halves", totals.halves)}) {
    RecordProperty(name, std::to_string(count));
  }
}

}  // namespace
}  // namespace mindgate::watcher::scaling
