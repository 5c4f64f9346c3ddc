#include "watcher/metrics.h"

#include <prometheus/collectable.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include <utility>
#include <vector>

namespace mindgate::watcher {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;

using Labels = std::vector<std::pair<std::string, std::string>>;

// From a decision in memory to a call that had to wait for the API server.
const prometheus::Histogram::BucketBoundaries kBuckets = {0.001, 0.003, 0.01, 0.03, 0.05,
                                                          0.1,   0.3,   1,    3,    10};

MetricFamily Family(std::string name, std::string help, MetricType type) {
  MetricFamily family;
  family.name = std::move(name);
  family.help = std::move(help);
  family.type = type;
  return family;
}

void Add(MetricFamily& family, const Labels& labels, double value) {
  ClientMetric metric;
  for (const auto& [name, text] : labels) metric.label.push_back({name, text});
  if (family.type == MetricType::Counter) {
    metric.counter.value = value;
  } else {
    metric.gauge.value = value;
  }
  family.metric.push_back(std::move(metric));
}

MetricFamily Counter(const char* name, const char* help, uint64_t value) {
  MetricFamily family = Family(name, help, MetricType::Counter);
  Add(family, {}, static_cast<double>(value));
  return family;
}

void AddGangFamilies(const gang_repair::Controller& gangs, std::vector<MetricFamily>& families) {
  const auto counts = gangs.counts();
  families.push_back(Counter("mindgate_gang_repair_lowered_total",
                             "Times that the gang size of a PodGroup was set to its pods.",
                             counts.lowered));
  families.push_back(Counter("mindgate_gang_repair_restored_total",
                             "PodGroups that got their gang size back.", counts.restored));
  families.push_back(Counter("mindgate_gang_repair_failed_calls_total",
                             "Writes that failed and are made again.", counts.failed));
  MetricFamily held = Family("mindgate_gang_repair_podgroups",
                             "PodGroups whose gang size is ours now.", MetricType::Gauge);
  Add(held, {}, static_cast<double>(counts.marked));
  families.push_back(std::move(held));
}

std::vector<MetricFamily> ScalingFamilies(const scaling::ScalingController& controller) {
  MetricFamily wanted = Family("mindgate_scaling_instances_wanted",
                               "Instances that the shape aimed at wants.", MetricType::Gauge);
  MetricFamily there =
      Family("mindgate_scaling_instances", "Instances by state.", MetricType::Gauge);
  MetricFamily shape = Family("mindgate_scaling_shape",
                              "The fullest shape that runs whole, 1 being the rule's first; 0: "
                              "none.",
                              MetricType::Gauge);
  MetricFamily services =
      Family("mindgate_scaling_services", "Services under a scaling rule.", MetricType::Gauge);
  const auto standings = controller.journal().standings();
  Add(services, {}, static_cast<double>(standings.size()));
  for (size_t i = 0; i < standings.size() && i < Metrics::kMostServices; ++i) {
    const auto& [service, reached, groups] = standings[i];
    const Labels of_service = {
        {"namespace", service.ns}, {"rule", service.rule}, {"job_id", service.job_id}};
    Add(shape, of_service, reached ? static_cast<double>(*reached + 1) : 0.0);
    for (const scaling::GroupCount& group : groups) {
      Labels labels = of_service;
      labels.emplace_back("group", group.group);
      Add(wanted, labels, static_cast<double>(group.wanted));
      labels.emplace_back("state", "");
      const auto state = [&](const char* name, int64_t count) {
        labels.back().second = name;
        Add(there, labels, static_cast<double>(count));
      };
      state("running", group.running);
      state("starting", group.starting);
      state("held", group.held);
    }
  }
  const auto counts = controller.counts();
  return {
      std::move(services),
      std::move(shape),
      std::move(wanted),
      std::move(there),
      Counter("mindgate_scaling_decisions_total", "Looks at a service.", counts.decisions),
      Counter("mindgate_scaling_gates_opened_total", "Pods whose gate was opened.", counts.granted),
      Counter("mindgate_scaling_given_up_total", "Instances that were given up.", counts.given_up),
      Counter("mindgate_scaling_failed_calls_total",
              "Calls of the API server that failed and are made again.", counts.failed)};
}

class SourceCollector final : public prometheus::Collectable {
 public:
  explicit SourceCollector(MetricSources sources) : sources_(std::move(sources)) {}

  std::vector<MetricFamily> Collect() const override {
    std::vector<MetricFamily> families;
    if (sources_.scaling != nullptr) families = ScalingFamilies(*sources_.scaling);
    if (sources_.gangs != nullptr) AddGangFamilies(*sources_.gangs, families);
    MetricFamily leading =
        Family("mindgate_watcher_leading", "1 while this replica leads.", MetricType::Gauge);
    Add(leading, {}, sources_.leading && sources_.leading() ? 1.0 : 0.0);
    families.push_back(std::move(leading));
    return families;
  }

 private:
  const MetricSources sources_;
};

}  // namespace

class Metrics::Impl {
 public:
  Impl()
      : latency_(prometheus::BuildHistogram()
                     .Name("mindgate_scaling_latency_seconds")
                     .Help("From a change in the cluster to the last call that it led to.")
                     .Register(registry_)
                     .Add({}, kBuckets)) {}

  void SetSources(MetricSources sources) {
    sources_ = std::make_unique<SourceCollector>(std::move(sources));
  }

  void Observe(std::chrono::nanoseconds latency) {
    latency_.Observe(std::chrono::duration<double>(latency).count());
  }

  std::string Render() const {
    auto families = registry_.Collect();
    if (sources_ != nullptr) {
      for (MetricFamily& family : sources_->Collect()) families.push_back(std::move(family));
    }
    return prometheus::TextSerializer().Serialize(families);
  }

 private:
  prometheus::Registry registry_;
  prometheus::Histogram& latency_;
  std::unique_ptr<SourceCollector> sources_;
};

Metrics::Metrics() : impl_(std::make_unique<Impl>()) {}
Metrics::~Metrics() = default;

void Metrics::SetSources(MetricSources sources) { impl_->SetSources(std::move(sources)); }
void Metrics::ObserveScalingLatency(std::chrono::nanoseconds latency) { impl_->Observe(latency); }
std::string Metrics::Render() const { return impl_->Render(); }

}  // namespace mindgate::watcher
