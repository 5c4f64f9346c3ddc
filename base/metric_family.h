#pragma once

#include <prometheus/metric_family.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/version.h"

namespace mindgate {

using MetricLabels = std::vector<std::pair<std::string, std::string>>;

// A family without series. Its name and help are those of Prometheus' text format.
inline prometheus::MetricFamily MakeMetricFamily(std::string name, std::string help,
                                                 prometheus::MetricType type) {
  prometheus::MetricFamily family;
  family.name = std::move(name);
  family.help = std::move(help);
  family.type = type;
  return family;
}

// Adds a series to a family of counters or gauges.
inline void AddSeries(prometheus::MetricFamily& family, const MetricLabels& labels, double value) {
  prometheus::ClientMetric series;
  for (const auto& [name, text] : labels) series.label.push_back({name, text});
  if (family.type == prometheus::MetricType::Counter) {
    series.counter.value = value;
  } else {
    series.gauge.value = value;
  }
  family.metric.push_back(std::move(series));
}

// Families of one series without labels.
inline prometheus::MetricFamily MakeGauge(std::string name, std::string help, double value) {
  auto family = MakeMetricFamily(std::move(name), std::move(help), prometheus::MetricType::Gauge);
  AddSeries(family, {}, value);
  return family;
}
inline prometheus::MetricFamily MakeCounter(std::string name, std::string help, uint64_t value) {
  auto family = MakeMetricFamily(std::move(name), std::move(help), prometheus::MetricType::Counter);
  AddSeries(family, {}, static_cast<double>(value));
  return family;
}
// Which build this is: 1, with labels for it, as Prometheus' own programs have them.
inline prometheus::MetricFamily MakeBuildInfo(const Build& build) {
  auto family = MakeMetricFamily("mindgate_build_info", "The build that runs.",
                                 prometheus::MetricType::Gauge);
  AddSeries(
      family,
      {{"version", build.version}, {"commit", build.commit}, {"architecture", build.architecture}},
      1);
  return family;
}

}  // namespace mindgate
