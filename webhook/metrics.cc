#include "webhook/metrics.h"

#include <prometheus/counter.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <set>

#include "base/metric_family.h"

namespace mindgate::webhook {
namespace {

using prometheus::MetricFamily;
using prometheus::MetricType;

constexpr std::array<std::string_view, 4> kOperations = {"CREATE", "UPDATE", "DELETE", "CONNECT"};
constexpr std::array<std::string_view, 4> kOutcomes = {"admitted", "denied", "error", "ignored"};
constexpr std::array<std::string_view, kStageCount> kStages = {"queue", "decode", "decide",
                                                               "encode"};
// From the 30 us that a decision may take to the 30 s that the API server waits at most.
const prometheus::Histogram::BucketBoundaries kBuckets = {
    0.00003, 0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30};

// The kinds that mindgate handles, by name: two groups have a Job, and one label value serves both.
const std::vector<std::string>& Kinds() {
  static const std::vector<std::string> kinds = [] {
    std::set<std::string> names = {"other"};
    for (int i = 0; i < schemas::kKindCount; ++i) {
      names.emplace(schemas::InfoOf(static_cast<schemas::Kind>(i)).name);
    }
    return std::vector<std::string>(names.begin(), names.end());
  }();
  return kinds;
}

// Of Kinds(); that of "other" for a kind that is not among them.
size_t KindIndex(std::string_view kind) {
  const auto& kinds = Kinds();
  auto found = std::lower_bound(kinds.begin(), kinds.end(), kind);
  if (found == kinds.end() || *found != kind) {
    found = std::lower_bound(kinds.begin(), kinds.end(), "other");
  }
  return static_cast<size_t>(found - kinds.begin());
}

// The place of a review among all there can be.
size_t ReviewIndex(Hook hook, const Review& review, const admission::Verdict& verdict) {
  size_t index = static_cast<size_t>(hook);
  index = index * Kinds().size() + KindIndex(review.kind);
  index = index * kOperations.size() + static_cast<size_t>(review.request.operation);
  return index * kOutcomes.size() + static_cast<size_t>(verdict.outcome);
}

// What others count already, read when asked.
std::vector<MetricFamily> FamiliesOf(const MetricSources& sources) {
  MetricFamily connections =
      MakeMetricFamily("mindgate_webhook_connections", "Open connections.", MetricType::Gauge);
  MetricFamily accepted = MakeMetricFamily("mindgate_webhook_connections_accepted_total",
                                           "Connections accepted.", MetricType::Counter);
  MetricFamily drops =
      MakeMetricFamily("mindgate_webhook_connection_drops_total",
                       "Connections that mindgate dropped, by reason.", MetricType::Counter);
  MetricFamily refusals =
      MakeMetricFamily("mindgate_webhook_rejects_total",
                       "Requests refused without a decision, by reason.", MetricType::Counter);
  for (const auto& [port, stats] : sources.ports) {
    for (size_t i = 0; i < http::kPhaseCount; ++i) {
      AddSeries(connections, {{"port", port}, {"state", std::string(http::kPhaseNames[i])}},
                static_cast<double>(stats->connections[i]));
    }
    AddSeries(accepted, {{"port", port}}, static_cast<double>(stats->accepted));
    for (size_t i = 0; i < http::kDropCount; ++i) {
      AddSeries(drops, {{"port", port}, {"reason", std::string(http::kDropNames[i])}},
                static_cast<double>(stats->drops[i]));
    }
    for (size_t i = 0; i < http::kRefusalCount; ++i) {
      const auto name = std::string(InfoOf(static_cast<http::Refusal>(i)).name);
      AddSeries(refusals, {{"port", port}, {"reason", name}},
                static_cast<double>(stats->refusals[i]));
    }
  }
  for (size_t i = 0; i < kRefusalCount; ++i) {
    const auto name = std::string(InfoOf(static_cast<Refusal>(i)).name);
    AddSeries(refusals, {{"port", sources.ports.front().first}, {"reason", name}},
              static_cast<double>(sources.refusals->counts[i]));
  }
  MetricFamily hanging =
      MakeMetricFamily("mindgate_webhook_hanging_decisions",
                       "Decisions that take longer than they may, by kind.", MetricType::Gauge);
  std::vector<double> by_kind(Kinds().size());
  for (const std::string& kind : sources.hanging_kinds()) ++by_kind[KindIndex(kind)];
  for (size_t i = 0; i < by_kind.size(); ++i) {
    AddSeries(hanging, {{"kind", Kinds()[i]}}, by_kind[i]);
  }
  MetricFamily config =
      MakeMetricFamily("mindgate_config_info", "The configuration in use.", MetricType::Gauge);
  const std::string generation = sources.generation();
  AddSeries(config, {{"generation", generation}}, generation.empty() ? 0 : 1);
  return {std::move(connections),
          std::move(accepted),
          std::move(drops),
          std::move(refusals),
          std::move(hanging),
          MakeGauge("mindgate_webhook_bytes_in_flight",
                    "Bytes of requests and responses held in memory.",
                    static_cast<double>(sources.budget->used())),
          MakeGauge("mindgate_webhook_queue_length", "Reviews waiting for a worker thread.",
                    static_cast<double>(sources.queue_length())),
          MakeGauge("mindgate_webhook_queue_capacity",
                    "Maximum number of reviews waiting for a worker thread.",
                    static_cast<double>(sources.queue_capacity)),
          MakeGauge("mindgate_webhook_runtimes_left_out",
                    "Runtimes that are too large or too many to be kept.",
                    static_cast<double>(sources.runtimes_left_out())),
          MakeGauge("mindgate_certificate_expiry_timestamp_seconds",
                    "Expiry of the serving certificate as a Unix timestamp, 0 without one.",
                    static_cast<double>(sources.certificate_expiry())),
          MakeCounter("mindgate_config_reload_failures_total",
                      "Configurations that were refused; the last good one stays in use.",
                      sources.config_reload_failures()),
          MakeCounter("mindgate_certificate_reload_failures_total",
                      "Certificates that were refused; the last good ones stay in use.",
                      sources.certificate_reload_failures()),
          std::move(config),
          MakeBuildInfo(sources.build)};
}

}  // namespace

class Metrics::Impl {
 public:
  explicit Impl(MetricSources from)
      : sources(std::move(from)),
        reviews(prometheus::BuildCounter()
                    .Name("mindgate_webhook_requests_total")
                    .Help("Reviews decided.")
                    .Register(registry)),
        findings(prometheus::BuildCounter()
                     .Name("mindgate_rule_findings_total")
                     .Help("Rule violations, rules that could not be evaluated, and policies that "
                           "were skipped.")
                     .Register(registry)),
        bugs(prometheus::BuildCounter()
                 .Name("mindgate_webhook_bugs_total")
                 .Help("Requests answered with 500 because of an internal error.")
                 .Register(registry)
                 .Add({})),
        review_counters(kHookPaths.size() * Kinds().size() * kOperations.size() *
                        kOutcomes.size()) {
    auto& family = prometheus::BuildHistogram()
                       .Name("mindgate_webhook_stage_seconds")
                       .Help("Time taken by each stage of a review.")
                       .Register(registry);
    for (size_t i = 0; i < kStageCount; ++i) {
      stages[i] = &family.Add({{"stage", std::string(kStages[i])}}, kBuckets);
    }
  }

  const MetricSources sources;
  prometheus::Registry registry;
  prometheus::Family<prometheus::Counter>& reviews;
  prometheus::Family<prometheus::Counter>& findings;
  prometheus::Counter& bugs;
  std::array<prometheus::Histogram*, kStageCount> stages{};
  // By ReviewIndex, each made with its first review: to look one up by its labels costs more than a
  // dozen allocations.
  std::vector<std::atomic<prometheus::Counter*>> review_counters;
};

Metrics::Metrics(MetricSources sources) : impl_(std::make_unique<Impl>(std::move(sources))) {}

Metrics::~Metrics() = default;

void Metrics::CountReview(Hook hook, const Review& review, const admission::Verdict& verdict) {
  auto& slot = impl_->review_counters[ReviewIndex(hook, review, verdict)];
  prometheus::Counter* counter = slot.load();
  if (counter == nullptr) {
    // Two threads at once get the same one.
    counter = &impl_->reviews.Add(
        {{"path", std::string(PathOf(hook))},
         {"kind", Kinds()[KindIndex(review.kind)]},
         {"operation", std::string(schemas::OperationName(review.request.operation))},
         {"outcome", std::string(admission::OutcomeName(verdict.outcome))}});
    slot = counter;
  }
  counter->Increment();
  for (const policies::Finding& finding : verdict.findings) {
    if (finding.rule == nullptr) continue;
    const std::string_view mode = finding.error ? "error" : schemas::ModeName(finding.mode);
    impl_->findings.Add({{"rule", std::string(finding.rule->id)}, {"mode", std::string(mode)}})
        .Increment();
  }
  for (const policies::Skipped& skipped : verdict.skipped) {
    impl_->findings.Add({{"rule", std::string(skipped.rule->id)}, {"mode", "skipped"}}).Increment();
  }
}

void Metrics::Observe(Stage stage, std::chrono::nanoseconds duration) {
  impl_->stages[static_cast<size_t>(stage)]->Observe(
      std::chrono::duration<double>(duration).count());
}

void Metrics::CountBug() { impl_->bugs.Increment(); }

std::string Metrics::Render() const {
  std::vector<MetricFamily> families = impl_->registry.Collect();
  for (MetricFamily& family : FamiliesOf(impl_->sources)) families.push_back(std::move(family));
  return prometheus::TextSerializer().Serialize(families);
}

}  // namespace mindgate::webhook
