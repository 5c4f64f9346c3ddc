#include "watcher/frame/controller.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "base/metric_family.h"
#include "base/threads.h"
#include "watcher/rescheduling/nodes.h"
#include "watcher/rescheduling/reconciler.h"

namespace mindgate::watcher::rescheduling {
namespace {

using prometheus::MetricFamily;
using prometheus::MetricType;

}  // namespace

ReschedulingController::ReschedulingController(kube::Client& client, Writer writer,
                                               kube::Sleeper& sleeper, const Clock& clock,
                                               log::Logger& logger, PodInformer& pods,
                                               DecisionLog& decisions, DisruptionGate& gate,
                                               Options options)
    : logger_(logger),
      options_(std::move(options)),
      faulty_nodes_(clock, {.see = [this](const std::string& node) { return See(node); },
                            .settle = [this] { return options_.settings().settle; }}),
      reconciler_(writer, clock, logger, decisions, gate, ReconcilerOptions()),
      loop_(clock, LoopOptions()),
      isolation_(writer, clock, logger, decisions, gate, IsolationOptions()),
      isolating_(clock, IsolationLoopOptions()),
      pods_(pods),
      groups_(client, sleeper, clock, GroupOptions()),
      nodes_(client, sleeper, clock, NodeOptions()),
      feed_(client, sleeper, clock, FeedOptions()) {
  SubscribeTo(pods);
  gate.SetBrake([this] {
    return faulty_nodes_.Brake(nodes_.counts().nodes, options_.settings().max_faulty_nodes);
  });
}

Reconciler::Options ReschedulingController::ReconcilerOptions() const {
  return {.settings = options_.settings,
          .grace_over_time = options_.grace_over_time,
          .dry_run = options_.dry_run,
          .ns = options_.ns,
          .exists = [this](const JobKey& job) { return index_.Find(job).has_value(); },
          .reports_of =
              [this](const std::string& node, const faults::NodeFaults& known) {
                return feed_.ReportsOf(node, known);
              },
          .is_lost = [this](const Task& task) { return IsLost(task); },
          .observe_step = options_.observe_step,
          .why_no_room =
              [this](const Job& job, const std::vector<size_t>& going,
                     const faults::FaultsByNode& faults) {
                std::vector<NodeNpus> nodes;
                nodes_.ForEach(
                    [&](const std::string& node, bool usable, const NodeInformer::Npus& npus) {
                      nodes.push_back(
                          NpusOf(node, npus.allocatable, npus.capacity, usable, faults, index_));
                    });
                return WhyNoRoom(job, going, faults, nodes);
              }};
}

ReconcileLoop<JobKey>::Options ReschedulingController::LoopOptions() {
  return {.name = "rescheduling",
          .workers = options_.workers,
          .seed = options_.seed,
          .term = options_.term,
          .reconcile = [this](const JobKey& key, const Term& term) { return Reconcile(key, term); },
          .forget = [this](const JobKey& key) { reconciler_.Forget(key); },
          .observe_latency = options_.observe_latency};
}

Isolation::Options ReschedulingController::IsolationOptions() {
  return {.writes = [this] { return Acts(); },
          .enabled = [this] { return options_.settings().isolate_nodes; },
          .is_unhealthy =
              [this](const std::string& node) {
                const auto reported = feed_.faults();
                const auto found = reported->find(node);
                return found != reported->end() && found->second.IsUnhealthy();
              }};
}

ReconcileLoop<NodeKey>::Options ReschedulingController::IsolationLoopOptions() {
  return {.name = "isolation",
          .changes_wait = true,
          .seed = options_.seed,
          .term = options_.term,
          .reconcile = [this](const NodeKey& node, const Term& term) -> ReconcileResult {
            if (!current()) return {};  // all come again once it is
            return isolation_.Reconcile(node, term);
          }};
}

bool ReschedulingController::Acts() const {
  const schemas::ReschedulingMode mode = options_.settings().mode;
  return !options_.dry_run && (mode == schemas::ReschedulingMode::kTakeover ||
                               mode == schemas::ReschedulingMode::kEnforce);
}

faults::Feed::Options ReschedulingController::FeedOptions() {
  faults::Feed::Options feed;
  feed.source = [this] { return options_.settings().fault_source; };
  feed.public_namespaces = [this] { return options_.settings().public_faults.namespaces; };
  feed.serials = {.node_of = [this](const std::string& serial) { return nodes_.NodeOf(serial); },
                  .serial_of = [this](const std::string& node) { return nodes_.SerialOf(node); }};
  feed.changed = [this](const std::vector<std::string>& nodes, const std::string& report) {
    {
      // All of a report is counted before anything follows from it. Reports come from several
      // threads: what is set last is what was read last.
      const MutexLock lock(counting_);
      faulty_nodes_.Changed(nodes, report);
      counted_.Set(feed_.faults());
    }
    for (const std::string& node : nodes) {
      EnqueueJobsOn(node);
      isolating_.Enqueue({node});
    }
  };
  feed.misread = [this](const std::string& problem) {
    logger_.Warning("a report of faults is not understood", {{"problem", problem}});
  };
  feed.switched = [this](bool by_clusterd) {
    logger_.Info(by_clusterd ? "faults are read from the reports of ClusterD"
                             : "faults are read from the reports of the nodes and from public "
                               "faults: ClusterD is silent",
                 {});
  };
  feed.on_synced = [this] { BecameCurrent(); };
  feed.failed = WarnOfWatchFaults(logger_, "reports of faults");
  feed.seed = options_.seed;
  return feed;
}

NodeInformer::Options ReschedulingController::NodeOptions() {
  NodeInformer::Options nodes;
  nodes.readiness_changed = [this](const std::string& node) {
    if (!nodes_.Exists(node)) faulty_nodes_.Left(node);
    faulty_nodes_.Changed({node});
    EnqueueJobsOn(node);
  };
  nodes.serials = true;
  nodes.npus = true;
  nodes.serials_changed = [this](const std::set<std::string>& changed) {
    feed_.SerialsChanged(changed);
  };
  nodes.on_synced = [this] { BecameCurrent(); };
  nodes.failed = WarnOfWatchFaults(logger_, "nodes");
  nodes.seed = options_.seed;
  return nodes;
}

ReschedulingController::Groups::Options ReschedulingController::GroupOptions() {
  Groups::Options groups;
  groups.selection.resource = kube::resources::kPodGroups;
  groups.selection.fields = PodGroupFields();
  groups.project = [](const json::Value& object) {
    return std::optional<PodGroupPtr>(std::make_shared<const PodGroupState>(PodGroupOf(object)));
  };
  groups.changed = [this](const std::string&, const PodGroupPtr* before, const PodGroupPtr* after) {
    const auto concerned =
        index_.Changed(before == nullptr ? nullptr : *before, after == nullptr ? nullptr : *after);
    for (const JobKey& job : concerned) loop_.Enqueue(job);
  };
  groups.on_synced = [this] { BecameCurrent(); };
  groups.failed = WarnOfWatchFaults(logger_, "PodGroups, without which nothing is rescheduled");
  groups.seed = options_.seed;
  return groups;
}

void ReschedulingController::SubscribeTo(PodInformer& pods) {
  PodInformer::Subscription<PodState> subscription;
  subscription.enabled = [this] { return enabled(); };
  subscription.failed = true;
  subscription.fields = PodFields();
  subscription.project = [this](const json::Value& pod) { return reader_.Read(pod); };
  subscription.oversized =
      subscription.project;  // a pod that is too large has no fault known of it
  subscription.changed = [this](const PodPtr& before, const PodPtr& after) {
    for (const JobKey& job : index_.Changed(before, after)) loop_.Enqueue(job);
    // What makes a node that is gone count.
    const auto place_of = [](const PodPtr& pod) {
      const bool counts = pod != nullptr && pod->node != nullptr && pod->bound;
      return counts && pod->deletion_time == Time{} ? std::string_view(*pod->node)
                                                    : std::string_view();
    };
    const std::string_view was = place_of(before);
    const std::string_view is = place_of(after);
    if (was == is) return;
    for (const std::string_view node : {was, is}) {
      if (!node.empty()) faulty_nodes_.Changed({std::string(node)});
    }
  };
  subscription.on_synced = [this] { BecameCurrent(); };
  pods.Subscribe<PodState>(std::move(subscription));
}

void ReschedulingController::Run(const std::stop_token& stop) {
  const std::jthread threads[] = {
      StartThread("resched-groups", [&] { groups_.Run(stop); }),
      StartThread("resched-nodes", [&] { nodes_.Run(stop); }),
      StartThread("resched-faults", [&] { feed_.Run(stop); }),
      StartThread("isolation", [&] { isolating_.Run(stop); }),
  };
  loop_.Run(stop);
}

bool ReschedulingController::current() const {
  return pods_.current() && groups_.current() && nodes_.current() && feed_.current();
}

void ReschedulingController::BecameCurrent() {
  if (!current()) return;
  reconciler_.Keep([&](const JobKey& job) { return index_.Find(job).has_value(); });
  EnqueueAll();
}

void ReschedulingController::EnqueueAll() {
  for (const JobKey& job : index_.jobs()) loop_.Enqueue(job);
  EnqueueNodes();
}

// Those that should have our taint, and those that have it.
void ReschedulingController::EnqueueNodes() {
  const auto reported = feed_.faults();
  for (const auto& [name, node] : *reported) isolating_.Enqueue({name});
  for (const std::string& name : nodes_.isolated()) isolating_.Enqueue({name});
}

void ReschedulingController::EnqueueJobsOn(const std::string& node) {
  for (const JobKey& job : index_.JobsOn(node)) loop_.Enqueue(job);
}

// What only observes keeps no rollout waiting, with the permissions of an earlier chart for one.
std::string ReschedulingController::unready() const {
  if (!Acts()) return "";
  return pods_.synced() && nodes_.synced() ? ""
                                           : "the initial list of pods and nodes is not complete";
}

FaultyNodes::Seen ReschedulingController::See(const std::string& node) const {
  const auto reported = feed_.faults();
  const auto found = reported->find(node);
  return {.exists = nodes_.Exists(node),
          .ready = nodes_.IsReady(node),
          .reported = found != reported->end() && found->second.TakesPods(),
          .jobs = nodes_.Exists(node) ? std::vector<JobKey>() : index_.BoundJobsOn(node)};
}

bool ReschedulingController::IsLost(const Task& task) const {
  const bool ready = nodes_.IsReady(task.node);
  return faulty_nodes_.IsLost(task, ready || nodes_.Exists(task.node), ready);
}

std::string ReschedulingController::Stopped() const {
  return faulty_nodes_.WhyStopped(nodes_.counts().nodes, options_.settings().max_faulty_nodes);
}

ReconcileResult ReschedulingController::Reconcile(const JobKey& key, const Term& term) {
  if (!current()) return {};  // all come again once it is
  Reconciler::Inputs inputs{.job = index_.Find(key), .faults = counted_.Get(), .not_ready = {}};
  if (inputs.job) {
    for (const Task& task : inputs.job->tasks) {
      if (IsLost(task)) inputs.not_ready.insert(task.node);
    }
  }
  // The watch of nodes may be between its change and the count.
  faulty_nodes_.Changed({inputs.not_ready.begin(), inputs.not_ready.end()});
  return reconciler_.Reconcile(key, inputs, term);
}

void ReschedulingController::AddMetrics(std::vector<MetricFamily>& families) const {
  size_t chips = 0;
  const auto reported = feed_.faults();
  for (const auto& [name, node] : *reported) chips += node.devices.unhealthy.size();
  const Reconciler::Counts total = counts();
  families.push_back(
      MakeGauge("mindgate_faulty_nodes",
                "Nodes that are not Ready, unhealthy, gone with pods left, or have an "
                "unhealthy chip.",
                static_cast<double>(faulty_nodes_.counts().faulty)));
  families.push_back(MakeGauge("mindgate_faulty_chips", "Chips that are reported unhealthy.",
                               static_cast<double>(chips)));
  families.push_back(MakeGauge("mindgate_rescheduling_stopped",
                               "1 while too many nodes are faulty for anything to be restarted.",
                               Stopped().empty() ? 0.0 : 1.0));
  families.push_back(MakeCounter("mindgate_rescheduling_restarts_total",
                                 "Restarts of jobs that were begun or widened.", total.restarts));
  MetricFamily pods =
      MakeMetricFamily("mindgate_rescheduling_pods_total", "Pods, by the fault and what was done.",
                       MetricType::Counter);
  for (const auto& [key, count] : total.pods) {
    AddSeries(pods, {{"cause", key.first}, {"action", key.second}}, static_cast<double>(count));
  }
  families.push_back(std::move(pods));
  const Isolation::Counts taints = isolation_.counts();
  MetricFamily tainted =
      MakeMetricFamily("mindgate_rescheduling_node_taints_total",
                       "Taints of nodes, by what was done.", MetricType::Counter);
  AddSeries(tainted, {{"action", "added"}}, static_cast<double>(taints.added));
  AddSeries(tainted, {{"action", "removed"}}, static_cast<double>(taints.removed));
  families.push_back(std::move(tainted));
  families.push_back(MakeCounter("mindgate_rescheduling_plugin_differs_total",
                                 "Jobs of which Volcano's plugin called other pods faulty.",
                                 total.plugin_differs));
  families.push_back(MakeCounter("mindgate_rescheduling_looks_total",
                                 "Times that a job was reconciled.", total.looks));
  families.push_back(MakeCounter("mindgate_rescheduling_failed_calls_total",
                                 "Failed calls of the API server, which are retried.",
                                 total.failed + taints.failed));
}

}  // namespace mindgate::watcher::rescheduling
