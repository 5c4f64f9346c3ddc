#include "watcher/metrics.h"

#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include <utility>
#include <vector>

#include "base/metric_family.h"

namespace mindgate::watcher {
namespace {

using prometheus::MetricFamily;
using prometheus::MetricType;

// From a decision in memory to a call that had to wait for the API server.
const prometheus::Histogram::BucketBoundaries kBuckets = {0.001, 0.003, 0.01, 0.03, 0.05,
                                                          0.1,   0.3,   1,    3,    10};

void AddGangFamilies(const gang_repair::Controller& gangs, std::vector<MetricFamily>& families) {
  const auto counts = gangs.counts();
  families.push_back(MakeCounter("mindgate_gang_repair_lowered_total",
                                 "Times that the gang size of a PodGroup was set to its pods.",
                                 counts.lowered));
  families.push_back(MakeCounter("mindgate_gang_repair_restored_total",
                                 "PodGroups that got their gang size back.", counts.restored));
  families.push_back(MakeCounter("mindgate_gang_repair_failed_calls_total",
                                 "Writes that failed and are made again.", counts.failed));
  families.push_back(MakeGauge("mindgate_gang_repair_podgroups",
                               "PodGroups whose gang size is ours now.",
                               static_cast<double>(counts.marked)));
}

std::vector<MetricFamily> ScalingFamilies(const scaling::ScalingController& controller) {
  MetricFamily wanted =
      MakeMetricFamily("mindgate_scaling_instances_wanted",
                       "Instances that the shape aimed at wants.", MetricType::Gauge);
  MetricFamily there =
      MakeMetricFamily("mindgate_scaling_instances", "Instances by state.", MetricType::Gauge);
  MetricFamily shape =
      MakeMetricFamily("mindgate_scaling_shape",
                       "The fullest shape that runs whole, 1 being the rule's first; 0: "
                       "none.",
                       MetricType::Gauge);
  const auto standings = controller.journal().standings();
  for (size_t i = 0; i < standings.size() && i < Metrics::kMaxServices; ++i) {
    const auto& [service, reached, groups] = standings[i];
    const MetricLabels of_service = {
        {"service_namespace", service.ns}, {"rule", service.rule}, {"job_id", service.job_id}};
    AddSeries(shape, of_service, reached ? static_cast<double>(*reached + 1) : 0.0);
    for (const scaling::GroupCount& group : groups) {
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
  const auto counts = controller.counts();
  return {MakeGauge("mindgate_scaling_services", "Services under a scaling rule.",
                    static_cast<double>(standings.size())),
          std::move(shape),
          std::move(wanted),
          std::move(there),
          MakeCounter("mindgate_scaling_decisions_total", "Looks at a service.", counts.decisions),
          MakeCounter("mindgate_scaling_gates_opened_total", "Pods whose gate was opened.",
                      counts.granted),
          MakeCounter("mindgate_scaling_given_up_total", "Instances that were given up.",
                      counts.given_up),
          MakeCounter("mindgate_scaling_failed_calls_total",
                      "Calls of the API server that failed and are made again.", counts.failed)};
}

std::vector<MetricFamily> FamiliesOf(const MetricSources& sources) {
  std::vector<MetricFamily> families;
  if (sources.scaling != nullptr) families = ScalingFamilies(*sources.scaling);
  if (sources.gangs != nullptr) AddGangFamilies(*sources.gangs, families);
  uint64_t left_out = 0;
  if (sources.scaling != nullptr) left_out += sources.scaling->counts().left_out;
  if (sources.gangs != nullptr) left_out += sources.gangs->counts().left_out;
  families.push_back(MakeGauge("mindgate_watcher_objects_left_out",
                               "Objects that are too large to be read.",
                               static_cast<double>(left_out)));
  families.push_back(MakeGauge("mindgate_watcher_leading", "1 while this replica leads.",
                               sources.leading && sources.leading() ? 1.0 : 0.0));
  families.push_back(MakeBuildInfo(sources.version));
  return families;
}

}  // namespace

class Metrics::Impl {
 public:
  Impl()
      : latency_(prometheus::BuildHistogram()
                     .Name("mindgate_scaling_latency_seconds")
                     .Help("From a change in the cluster to the last call that it led to.")
                     .Register(registry_)
                     .Add({}, kBuckets)) {}

  void SetSources(MetricSources sources) { sources_ = std::move(sources); }

  void Observe(std::chrono::nanoseconds latency) {
    latency_.Observe(std::chrono::duration<double>(latency).count());
  }

  std::string Render() const {
    auto families = registry_.Collect();
    for (MetricFamily& family : FamiliesOf(sources_)) families.push_back(std::move(family));
    return prometheus::TextSerializer().Serialize(families);
  }

 private:
  prometheus::Registry registry_;
  prometheus::Histogram& latency_;
  MetricSources sources_;
};

Metrics::Metrics() : impl_(std::make_unique<Impl>()) {}
Metrics::~Metrics() = default;

void Metrics::SetSources(MetricSources sources) { impl_->SetSources(std::move(sources)); }
void Metrics::ObserveScalingLatency(std::chrono::nanoseconds latency) { impl_->Observe(latency); }
std::string Metrics::Render() const { return impl_->Render(); }

}  // namespace mindgate::watcher
