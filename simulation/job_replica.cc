#include "simulation/job_replica.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/mutex.h"
#include "json/decode.h"

namespace mindgate::simulation {

using schemas::ReschedulingMode;
using watcher::rescheduling::JobKey;
using watcher::rescheduling::NodeKey;

// The watches are told of changes while a call is made, one at a time.
class JobReplica::Calls final : public kube::Transport {
 public:
  Calls(const ManualClock& clock, ApiServer& server) : failing_(clock), server_(server) {}

  void Fail(const simulation::FailCalls& calls, Time until) { failing_.Add(calls, until); }

  std::vector<Done> Take() { return std::exchange(done_, {}); }

  kube::Answer<kube::HttpAnswer> Send(const kube::HttpCall& call, std::stop_token stop) override {
    const MutexLock lock(mutex_);
    if (auto failed = failing_.Of(call)) return *std::move(failed);
    auto answer = server_.Send(call, stop);
    const size_t at = call.path.find("/pods/");
    if (answer && answer->status == 200 && at != std::string::npos && call.method != "GET") {
      const std::string pod = call.path.substr(at + 6, call.path.find('?', at) - at - 6);
      Deed deed = Deed::kMarked;
      if (call.method == "DELETE") {
        const auto body = json::Decode(call.body);
        const bool force = body && body->value("gracePeriodSeconds", -1) == 0;
        deed = force ? Deed::kDeleted : Deed::kEvicted;
      }
      done_.push_back({deed, pod});
    }
    return answer;
  }

  kube::Answer<kube::HttpAnswer> Stream(const kube::HttpCall& call, const Consume& consume,
                                        std::stop_token stop) override {
    return server_.Stream(call, consume, stop);
  }

 private:
  FailingCalls failing_;
  ApiServer& server_;
  Mutex mutex_;
  std::vector<Done> done_;
};

JobReplica::JobReplica(const ManualClock& clock, ApiServer& server, const ScenarioOptions& options)
    : clock_(clock),
      options_(options),
      calls_(std::make_unique<Calls>(clock, server)),
      client_(*calls_, sleeper_, watcher::LeaderClient::kOptions),
      logger_(log::Format::kText, log::Level::kError, clock, [](std::string_view) {}),
      faulty_nodes_(clock, {.see = [this](const std::string& node) { return See(node); },
                            .settle = [this] { return options_.rescheduling.settle; }}),
      loop_(clock,
            {.name = "rescheduling",
             .term = [this] { return term(); },
             .reconcile = [this](const JobKey& key,
                                 const watcher::Term& term) { return ReconcileJob(key, term); },
             .forget = [this](const JobKey& key) { reconciler_->Forget(key); }}),
      isolating_(clock, {.name = "isolation",
                         .changes_wait = true,
                         .term = [this] { return term(); },
                         .reconcile =
                             [this](const NodeKey& node, const watcher::Term& term) {
                               return isolation_->Reconcile(node, term);
                             }}),
      told_(clock) {
  Begin();
}

JobReplica::~JobReplica() = default;

// Another replica has its own memory.
void JobReplica::Begin() {
  budget_ = std::make_unique<watcher::DisruptionBudget>();
  gate_ = std::make_unique<watcher::DisruptionGate>(
      client_, clock_, *budget_,
      watcher::DisruptionGate::Options{.ns = kNamespace, .lease = kLease});
  gate_->SetBrake([this] {
    return faulty_nodes_.Brake(nodes_.size(), options_.rescheduling.max_faulty_nodes);
  });
  reconciler_ = std::make_unique<watcher::rescheduling::Reconciler>(
      client_, clock_, logger_, *this, *gate_,
      watcher::rescheduling::Reconciler::Options{
          .settings = [this] { return options_.rescheduling; },
          .grace_over_time = [this] { return options_.grace_over_time; },
          .ns = kNamespace,
          .state = kState,
          .exists = [this](const JobKey& job) { return index_.Look(job).has_value(); }});
  isolation_ = std::make_unique<watcher::rescheduling::Isolation>(
      client_, clock_, logger_, *this, *gate_,
      watcher::rescheduling::Isolation::Options{
          .writes = [this] { return Acts(); },
          .wanted = [this] { return options_.rescheduling.isolate_nodes; },
          .is_unhealthy =
              [this](const std::string& node) {
                const auto& faults = *known_.faults();
                const auto found = faults.find(node);
                return found != faults.end() && found->second.IsUnhealthy();
              }});
}

std::optional<watcher::Term> JobReplica::term() const {
  if (!leads()) return std::nullopt;
  return watcher::Term(leads_from_, [this] { return leads(); }, {});
}

bool JobReplica::Acts() const {
  const ReschedulingMode mode = options_.rescheduling.mode;
  return mode == ReschedulingMode::kTakeover || mode == ReschedulingMode::kEnforce;
}

// --- what it is told ---

std::chrono::seconds JobReplica::DelayOf(Watch watch) const {
  const WatchDelays& delays = options_.watch_delays;
  switch (watch) {
    case Watch::kPods:
      return delays.pods.value_or(options_.watch_delay);
    case Watch::kPodGroups:
      return delays.pod_groups.value_or(options_.watch_delay);
    case Watch::kNodes:
      return delays.nodes.value_or(options_.watch_delay);
    case Watch::kFaultReports:
      return delays.fault_reports.value_or(options_.watch_delay);
    case Watch::kInAWhile:
      break;
  }
  return options_.watch_delay;
}

void JobReplica::Later(Watch watch, std::function<void()> tell) {
  told_.Push(DelayOf(watch), std::move(tell), static_cast<int>(watch));
}

void JobReplica::EnqueueOn(const std::string& node) {
  for (const JobKey& job : index_.JobsOn(node)) loop_.Enqueue(job);
}

void JobReplica::EnqueueAll() {
  for (const JobKey& job : index_.jobs()) loop_.Enqueue(job);
  for (const auto& [node, ready] : nodes_) isolating_.Enqueue({node});
}

void JobReplica::PodChanged(const ApiServer::PodName& name, watcher::rescheduling::PodPtr after) {
  Later(Watch::kPods, [this, name, after = std::move(after)] {
    watcher::rescheduling::PodPtr& seen = pods_[name];
    const auto before = std::exchange(seen, after);
    for (const JobKey& job : index_.Changed(before, after)) loop_.Enqueue(job);
    for (const auto& pod : {before, after}) {
      if (pod != nullptr && pod->node != nullptr) faulty_nodes_.Changed({*pod->node});
    }
    if (after == nullptr) pods_.erase(name);
  });
}

void JobReplica::GroupChanged(const std::string& path, watcher::rescheduling::PodGroupPtr after) {
  Later(Watch::kPodGroups, [this, path, after = std::move(after)] {
    watcher::rescheduling::PodGroupPtr& seen = groups_[path];
    for (const JobKey& job : index_.Changed(seen, after)) loop_.Enqueue(job);
    seen = after;
  });
}

void JobReplica::NodeChanged(const std::string& node, bool there, bool ready) {
  Later(Watch::kNodes, [this, node, there, ready] {
    if (there) {
      nodes_[node] = ready;
    } else {
      nodes_.erase(node);
      faulty_nodes_.Left(node);
    }
    faulty_nodes_.Changed({node});
    EnqueueOn(node);
  });
}

void JobReplica::ReportChanged(ReportMap report) {
  Later(Watch::kFaultReports, [this, report = std::move(report)] { Take(report); });
}

void JobReplica::ReportLater(ReportMap report, std::chrono::seconds after) {
  told_.Push(
      after, [this, report = std::move(report)] { Take(report); },
      static_cast<int>(Watch::kInAWhile));
}

void JobReplica::Take(const ReportMap& report) {
  FaultsChanged(known_.Put(report.writer, report.name, report.told ? &*report.told : nullptr),
                "ConfigMap " + report.name);
}

void JobReplica::FaultsChanged(const faults::KnownFaults::Nodes& nodes, const std::string& report) {
  faulty_nodes_.Changed(nodes, report);
  for (const std::string& node : nodes) {
    EnqueueOn(node);
    isolating_.Enqueue({node});
  }
}

bool JobReplica::RecountFaults() {
  const auto nodes = known_.Recount(options_.rescheduling.fault_source, clock_.WallNow());
  if (nodes) FaultsChanged(*nodes, "");
  return nodes.has_value();
}

// When ClusterD is taken for gone, if nothing is told of it until then.
std::optional<Time> JobReplica::NextRecount() const {
  const auto newest = known_.told().clusterd_newest();
  if (!newest || !known_.counting().clusterd) return std::nullopt;
  const Time then = *newest + faults::FaultStore::kStaleAfter + std::chrono::seconds(1);
  const bool changes =
      known_.told().ChooseSources(options_.rescheduling.fault_source, then) != known_.counting();
  return changes ? std::optional(then) : std::nullopt;
}

void JobReplica::LoseLeader(Time until) {
  leads_from_ = std::max(leads_from_, until);
  led_ = false;
  Begin();
}

void JobReplica::FailCalls(const simulation::FailCalls& calls, Time until) {
  calls_->Fail(calls, until);
}

// --- what it does ---

bool JobReplica::Deliver() {
  bool any = told_.Deliver();
  any = RecountFaults() || any;
  if (!led_ && leads()) {
    led_ = true;
    EnqueueAll();
    any = true;
  }
  return any;
}

bool JobReplica::Reconcile() {
  bool any = false;
  while (loop_.RunOne() || isolating_.RunOne()) any = true;
  return any;
}

// As ReschedulingController counts them.
watcher::rescheduling::FaultyNodes::Seen JobReplica::See(const std::string& node) const {
  const auto there = nodes_.find(node);
  const auto& faults = *known_.faults();
  const auto found = faults.find(node);
  return {.exists = there != nodes_.end(),
          .ready = there != nodes_.end() && there->second,
          .reported = found != faults.end() &&
                      (found->second.IsUnhealthy() || !found->second.devices.unhealthy.empty()),
          .jobs = there == nodes_.end() ? index_.BoundJobsOn(node) : std::vector<JobKey>()};
}

watcher::ReconcileResult JobReplica::ReconcileJob(const JobKey& key, const watcher::Term& term) {
  watcher::rescheduling::Reconciler::Inputs inputs{
      .job = index_.Look(key), .faults = known_.faults(), .not_ready = {}};
  if (inputs.job) {
    for (const watcher::rescheduling::Task& task : inputs.job->tasks) {
      const auto node = nodes_.find(task.node);
      const bool exists = node != nodes_.end();
      if (faulty_nodes_.IsLost(task, exists, exists && node->second)) {
        inputs.not_ready.insert(task.node);
      }
    }
  }
  return reconciler_->Reconcile(key, inputs, term);
}

std::optional<Time> JobReplica::next_due() const {
  std::optional<Time> next;
  const auto consider = [&](Time time) { next = std::min(next.value_or(time), time); };
  if (const auto due = told_.next_due()) consider(*due);
  if (const auto due = NextRecount()) consider(*due);
  if (!led_) consider(leads_from_);
  for (const auto& due : {loop_.next_due(), isolating_.next_due()}) {
    if (due) consider(Time(std::chrono::ceil<std::chrono::seconds>(due->time_since_epoch())));
  }
  return next;
}

// Threads make calls in any order.
std::vector<JobReplica::Done> JobReplica::TakeDone() {
  std::vector<Done> done = calls_->Take();
  std::sort(done.begin(), done.end(), [](const Done& a, const Done& b) {
    return std::pair(a.deed, a.pod) < std::pair(b.deed, b.pod);
  });
  return done;
}

}  // namespace mindgate::simulation
