#include "watcher/scaling/controller.h"

#include <thread>
#include <utility>

#include "base/metric_family.h"
#include "base/threads.h"
#include "watcher/frame/controller.h"

namespace mindgate::watcher::scaling {
namespace {

using prometheus::MetricFamily;
using prometheus::MetricType;

}  // namespace

ScalingController::ScalingController(kube::Client& client, Writer writer, kube::Sleeper& sleeper,
                                     const Clock& clock, log::Logger& logger, PodInformer& pods,
                                     DecisionLog& decisions, DisruptionGate& gate, Options options)
    : sleeper_(sleeper),
      logger_(logger),
      options_(std::move(options)),
      reconciler_(writer, clock, logger, decisions, gate, options_.settings),
      loop_(clock, LoopOptions()),
      feed_(client, sleeper, clock, pods, FeedOptions()),
      nodes_(client, sleeper, clock, NodeOptions()) {}

ReconcileLoop<ServiceKey>::Options ScalingController::LoopOptions() {
  return {
      .name = "scaling",
      .workers = options_.workers,
      .seed = options_.seed,
      .term = options_.term,
      .reconcile = [this](const ServiceKey& key, const Term& term) { return Reconcile(key, term); },
      .forget = [this](const ServiceKey& key) { reconciler_.Forget(key); },
      .observe_latency = options_.observe_latency};
}

ServiceFeed::Options ScalingController::FeedOptions() {
  ServiceFeed::Options feed;
  feed.ns = options_.ns;
  feed.without_rules = options_.without_rules;
  feed.enabled = [this] { return enabled(); };
  feed.changed = [this](const ServiceKey& service) { loop_.Enqueue(service); };
  feed.on_synced = [this] { EnqueueAll(); };
  feed.failed = WarnOfWatchFaults(logger_, "scaling rules");
  feed.wants_pod_groups = [this] { return enabled(); };
  feed.pod_groups_failed = WarnOfWatchFaults(
      logger_, "PodGroups, by which jobs are known that have no pods, or pods without labels");
  feed.seed = options_.seed;
  return feed;
}

NodeInformer::Options ScalingController::NodeOptions() {
  NodeInformer::Options nodes;
  nodes.changed = [this] { EnqueueAll(); };
  nodes.failed = WarnOfWatchFaults(logger_, "nodes, which all count as usable");
  nodes.seed = options_.seed;
  return nodes;
}

void ScalingController::Run(const std::stop_token& stop) {
  const std::jthread nodes = StartThread("scaling-nodes", [&] {
    // Nothing that runs is taken back without it, and what is off needs no permissions.
    while (options_.settings().rebalance == schemas::EnforcementMode::kOff) {
      if (!sleeper_.Sleep(std::chrono::seconds(1), stop)) return;
    }
    nodes_.Run(stop);
  });
  const std::jthread rules = StartThread("scaling-rules", [&] { feed_.Run(stop); });
  loop_.Run(stop);
}

void ScalingController::EnqueueAll() {
  for (const ServiceKey& service : feed_.index().services()) loop_.Enqueue(service);
}

std::string ScalingController::unready() const {
  return synced() ? "" : "the initial list of pods and rules is not complete";
}

ReconcileResult ScalingController::Reconcile(const ServiceKey& key, const Term& term) {
  if (!feed_.current()) return {};  // all come again once it is
  // Asked first: what is read in between is newer.
  const bool knows_rule = feed_.knows_rule_of(key);
  Reconciler::Inputs inputs{feed_.index().Find(key), nodes_.unusable()};
  if (!knows_rule && !inputs.view.empty()) return {};  // it comes again once the rule was read
  return reconciler_.Reconcile(key, inputs, term);
}

void ScalingController::AddMetrics(std::vector<MetricFamily>& families) const {
  MetricFamily wanted =
      MakeMetricFamily("mindgate_scaling_instances_wanted",
                       "Instances that the shape aimed at wants.", MetricType::Gauge);
  MetricFamily there =
      MakeMetricFamily("mindgate_scaling_instances", "Instances by state.", MetricType::Gauge);
  MetricFamily shape =
      MakeMetricFamily("mindgate_scaling_shape",
                       "The largest shape that is complete, 1 being the rule's first; 0: "
                       "none.",
                       MetricType::Gauge);
  const auto all = statuses().all();
  size_t series = 0;
  for (size_t i = 0; i < all.size() && i < kMaxServices; ++i) {
    const auto& [service, reached, groups] = all[i];
    const MetricLabels of_service = {
        {"service_namespace", service.ns}, {"rule", service.rule}, {"job_id", service.job_id}};
    AddSeries(shape, of_service, reached ? static_cast<double>(*reached + 1) : 0.0);
    for (const GroupCount& group : groups) {
      if (++series > kMaxGroups) break;
      MetricLabels labels = of_service;
      labels.emplace_back("group", group.group);
      AddSeries(wanted, labels, static_cast<double>(group.wanted));
      labels.emplace_back("state", "");
      const auto state = [&](const char* name, int64_t count) {
        labels.back().second = name;
        AddSeries(there, labels, static_cast<double>(count));
      };
      state("running", group.running);
      state("starting", group.starting);
      state("held", group.held);
    }
  }
  const auto total = counts();
  families.push_back(MakeGauge("mindgate_scaling_services", "Services under a scaling rule.",
                               static_cast<double>(all.size())));
  families.push_back(std::move(shape));
  families.push_back(std::move(wanted));
  families.push_back(std::move(there));
  families.push_back(
      MakeCounter("mindgate_scaling_decisions_total", "Looks at a service.", total.decisions));
  families.push_back(MakeCounter("mindgate_scaling_gates_opened_total",
                                 "Pods whose gate was opened.", total.granted));
  families.push_back(MakeCounter("mindgate_scaling_withdrawn_total",
                                 "Instances without room whose grant was taken back.",
                                 total.withdrawn));
  families.push_back(MakeCounter("mindgate_scaling_given_up_total", "Instances that were given up.",
                                 total.given_up));
  families.push_back(MakeCounter("mindgate_scaling_failed_calls_total",
                                 "Failed calls of the API server, which are retried.",
                                 total.failed));
}

}  // namespace mindgate::watcher::scaling
