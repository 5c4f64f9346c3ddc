#include "simulation/replica.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "json/decode.h"

namespace mindgate::simulation {

using schemas::ReschedulingMode;
using watcher::Term;
using watcher::rescheduling::JobKey;
using watcher::rescheduling::NodeKey;
using watcher::scaling::ServiceKey;

Replica::Replica(const ManualClock& clock, ApiServer& server, const ScenarioOptions& options)
    : clock_(clock),
      options_(options),
      calls_(clock, server),
      client_(calls_, sleeper_, watcher::LeaderClient::kOptions),
      logger_(log::Format::kText, log::Level::kError, clock, [](std::string_view) {}),
      faulty_nodes_(clock, {.see = [this](const std::string& node) { return See(node); },
                            .settle = [this] { return options_.rescheduling.settle; }}),
      leading_(std::make_unique<Leading>(*this)),
      scaling_(clock, {.name = "scaling",
                       .term = [this] { return term(); },
                       .reconcile =
                           [this](const ServiceKey& key, const Term& term) {
                             return leading_->scaling.Reconcile(
                                 key, {services_.Find(key), unusable_}, term);
                           },
                       .forget = [this](const ServiceKey& key) { leading_->scaling.Forget(key); }}),
      rescheduling_(clock,
                    {.name = "rescheduling",
                     .term = [this] { return term(); },
                     .reconcile =
                         [this](const JobKey& key, const Term& term) {
                           return leading_->rescheduling.Reconcile(key, InputsOf(key), term);
                         },
                     .forget = [this](const JobKey& key) { leading_->rescheduling.Forget(key); }}),
      isolating_(clock, {.name = "isolation",
                         .changes_wait = true,
                         .term = [this] { return term(); },
                         .reconcile =
                             [this](const NodeKey& node, const Term& term) {
                               return leading_->isolation.Reconcile(node, term);
                             }}),
      reports_(clock) {}

Replica::Leading::Leading(Replica& replica)
    : gate(replica.client_, replica.clock_, budget,
           watcher::DisruptionGate::Options{.ns = kNamespace, .lease = kLease}),
      scaling(replica.client_, replica.clock_, replica.logger_, replica, gate,
              [&options = replica.options_]() -> schemas::ElasticScaling {
                schemas::ElasticScaling settings =
                    static_cast<const schemas::ElasticScaling&>(options);
                settings.mode = schemas::EnforcementMode::kEnforce;
                return settings;
              }),
      rescheduling(
          replica.client_, replica.clock_, replica.logger_, replica, gate,
          watcher::rescheduling::Reconciler::Options{
              .settings = [&replica] { return replica.options_.rescheduling; },
              .grace_over_time = [&replica] { return replica.options_.grace_over_time; },
              .ns = kNamespace,
              .state = kState,
              .exists =
                  [&replica](const JobKey& job) { return replica.jobs_.Find(job).has_value(); },
              .why_no_room =
                  [&replica](const watcher::rescheduling::Job& job,
                             const std::vector<size_t>& going, const faults::FaultsByNode& faults) {
                    return replica.WhyNoRoom(job, going, faults);
                  }}),
      isolation(replica.client_, replica.clock_, replica.logger_, replica, gate,
                watcher::rescheduling::Isolation::Options{
                    .writes =
                        [&replica] {
                          const ReschedulingMode mode = replica.options_.rescheduling.mode;
                          return mode == ReschedulingMode::kTakeover ||
                                 mode == ReschedulingMode::kEnforce;
                        },
                    .enabled = [&replica] { return replica.options_.rescheduling.isolate_nodes; },
                    .is_unhealthy =
                        [&replica](const std::string& node) {
                          const auto& faults = *replica.faults_.faults();
                          const auto found = faults.find(node);
                          return found != faults.end() && found->second.IsUnhealthy();
                        }}) {
  gate.SetBrake([&replica] {
    return replica.faulty_nodes_.Brake(replica.nodes_.size(),
                                       replica.options_.rescheduling.max_faulty_nodes);
  });
}

std::optional<Term> Replica::term() const {
  if (!leads()) return std::nullopt;
  return Term(leads_from_, [this] { return leads(); }, {});
}

// --- what its watches report ---

void Replica::DeliverAfter(Watch watch, std::function<void()> report, std::chrono::seconds delay) {
  const WatchDelays& delays = options_.watch_delays;
  const auto own = watch == Watch::kPods           ? delays.pods
                   : watch == Watch::kPodGroups    ? delays.pod_groups
                   : watch == Watch::kNodes        ? delays.nodes
                   : watch == Watch::kFaultReports ? delays.fault_reports
                                                   : std::nullopt;
  reports_.Push(own.value_or(options_.watch_delay) + delay, std::move(report),
                static_cast<int>(watch));
}

void Replica::Enqueue(const std::vector<ServiceKey>& services) {
  for (const ServiceKey& service : services) scaling_.Enqueue(service);
}

void Replica::Enqueue(const std::vector<JobKey>& jobs) {
  for (const JobKey& job : jobs) rescheduling_.Enqueue(job);
}

void Replica::EnqueueAll() {
  Enqueue(services_.services());
  Enqueue(jobs_.jobs());
  for (const auto& [node, view] : nodes_) isolating_.Enqueue({node});
}

void Replica::PodChanged(const ApiServer::PodName& name, watcher::scaling::PodPtr of_instance,
                         const json::Value* pod, std::chrono::seconds delay) {
  Pod now{std::move(of_instance), pod == nullptr ? nullptr : reader_.Read(*pod)};
  DeliverAfter(
      Watch::kPods,
      [this, name, now = std::move(now), gone = pod == nullptr] {
        Pod& known = pods_[name];
        const Pod before = std::exchange(known, now);
        if (before.of_instance != nullptr || now.of_instance != nullptr) {
          Enqueue(services_.Changed(before.of_instance, now.of_instance));
        }
        Enqueue(jobs_.Changed(before.of_job, now.of_job));
        for (const auto& each : {before.of_job, now.of_job}) {
          if (each != nullptr && each->node != nullptr) faulty_nodes_.Changed({*each->node});
        }
        if (gone) pods_.erase(name);
      },
      delay);
}

void Replica::PodGroupChanged(const std::string& path, const json::Json* object) {
  watcher::rescheduling::PodGroupPtr after;
  if (object != nullptr) {
    after = std::make_shared<const watcher::rescheduling::PodGroupState>(
        watcher::rescheduling::PodGroupOf(json::Document(*object).root()));
  }
  DeliverAfter(Watch::kPodGroups, [this, path, after = std::move(after)] {
    watcher::rescheduling::PodGroupPtr& known = groups_[path];
    if (known != nullptr || after != nullptr) Enqueue(jobs_.Changed(known, after));
    known = after;
  });
}

void Replica::NodeChanged(const std::string& node, const NodeView& view) {
  DeliverAfter(Watch::kNodes, [this, node, view] {
    if (view.exists) {
      nodes_[node] = view;
    } else {
      nodes_.erase(node);
      faulty_nodes_.Left(node);
    }
    faulty_nodes_.Changed({node});
    Enqueue(jobs_.JobsOn(node));
    const bool was_usable = !unusable_.contains(node);
    if (view.usable) {
      unusable_.erase(node);
    } else {
      unusable_.insert(node);
    }
    if (was_usable != view.usable) Enqueue(services_.services());
  });
}

void Replica::RuleChanged(const RuleKey& rule,
                          std::shared_ptr<const watcher::scaling::RuleState> state) {
  DeliverAfter(Watch::kRules, [this, rule, state = std::move(state)] {
    Enqueue(services_.RuleChanged(rule.ns, rule.name, state));
  });
}

void Replica::ReportChanged(ReportMap report) {
  DeliverAfter(Watch::kFaultReports, [this, report = std::move(report)] { Read(report); });
}

void Replica::ReportAfter(ReportMap report, std::chrono::seconds delay) {
  reports_.Push(
      delay, [this, report = std::move(report)] { Read(report); },
      static_cast<int>(Watch::kOwnTime));
}

void Replica::Read(const ReportMap& report) {
  FaultsChanged(
      faults_.Put(report.writer, report.name, report.summary ? &*report.summary : nullptr),
      "ConfigMap " + report.name);
}

void Replica::FaultsChanged(const faults::KnownFaults::Nodes& nodes, const std::string& report) {
  faulty_nodes_.Changed(nodes, report);
  for (const std::string& node : nodes) {
    Enqueue(jobs_.JobsOn(node));
    isolating_.Enqueue({node});
  }
}

bool Replica::RecountFaults() {
  const auto nodes = faults_.Recount(options_.rescheduling.fault_source, clock_.WallNow());
  if (nodes) FaultsChanged(*nodes, "");
  return nodes.has_value();
}

// When ClusterD is taken for gone, if nothing is heard of it until then.
std::optional<Time> Replica::NextRecount() const {
  const auto newest = faults_.store().clusterd_newest();
  if (!newest || !faults_.counting().clusterd) return std::nullopt;
  const Time then = *newest + faults::FaultStore::kStaleAfter + std::chrono::seconds(1);
  const bool changes =
      faults_.store().ChooseSources(options_.rescheduling.fault_source, then) != faults_.counting();
  return changes ? std::optional(then) : std::nullopt;
}

void Replica::LoseLeader(Time until) {
  leads_from_ = std::max(leads_from_, until);
  led_ = false;
  leading_ = std::make_unique<Leading>(*this);
}

// --- what it does ---

bool Replica::Deliver() {
  bool any = reports_.Deliver();
  any = RecountFaults() || any;
  if (!led_ && leads()) {
    led_ = true;
    EnqueueAll();
    any = true;
  }
  return any;
}

bool Replica::Reconcile() {
  bool any = false;
  while (scaling_.RunOne() || rescheduling_.RunOne() || isolating_.RunOne()) any = true;
  return any;
}

// As ReschedulingController counts them.
watcher::rescheduling::FaultyNodes::Seen Replica::See(const std::string& node) const {
  const auto known = nodes_.find(node);
  const auto& faults = *faults_.faults();
  const auto found = faults.find(node);
  return {.exists = known != nodes_.end(),
          .ready = known != nodes_.end() && known->second.ready,
          .reported = found != faults.end() && found->second.TakesPods(),
          .jobs = known == nodes_.end() ? jobs_.BoundJobsOn(node) : std::vector<JobKey>()};
}

watcher::rescheduling::Reconciler::Inputs Replica::InputsOf(const JobKey& key) const {
  watcher::rescheduling::Reconciler::Inputs inputs{
      .job = jobs_.Find(key), .faults = faults_.faults(), .not_ready = {}};
  if (!inputs.job) return inputs;
  for (const watcher::rescheduling::Task& task : inputs.job->tasks) {
    const auto node = nodes_.find(task.node);
    const bool exists = node != nodes_.end();
    if (faulty_nodes_.IsLost(task, exists, exists && node->second.ready)) {
      inputs.not_ready.insert(task.node);
    }
  }
  return inputs;
}

std::string Replica::WhyNoRoom(const watcher::rescheduling::Job& job,
                               const std::vector<size_t>& going,
                               const faults::FaultsByNode& faults) const {
  std::vector<watcher::rescheduling::NodeNpus> npus;
  for (const auto& [name, node] : nodes_) {
    npus.push_back(
        watcher::rescheduling::NpusOf(name, node.npus, node.npus, node.usable, faults, jobs_));
  }
  return watcher::rescheduling::WhyNoRoom(job, going, faults, npus);
}

std::optional<Time> Replica::next_due() const {
  std::optional<Time> next;
  const auto consider = [&](Time time) { next = std::min(next.value_or(time), time); };
  if (const auto due = reports_.next_due()) consider(*due);
  if (const auto due = NextRecount()) consider(*due);
  if (!led_) consider(leads_from_);
  for (const auto& due : {scaling_.next_due(), rescheduling_.next_due(), isolating_.next_due()}) {
    if (due) consider(Time(std::chrono::ceil<std::chrono::seconds>(due->time_since_epoch())));
  }
  return next;
}

}  // namespace mindgate::simulation
