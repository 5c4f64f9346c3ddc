#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "watcher/gang_repair/controller.h"
#include "watcher/scaling/controller.h"

namespace mindgate::watcher {

// What is read at the moment of a scrape. Everything in it outlives the metrics.
struct MetricSources {
  const scaling::ScalingController* scaling = nullptr;
  const gang_repair::Controller* gangs = nullptr;
  std::function<bool()> leading;
  std::string version;  // of the build
};

// All Prometheus metrics of the watcher. Series are by service and group: as many as the cluster
// has, but kMaxServices at most; further services are only counted. Safe from many threads.
class Metrics {
 public:
  static constexpr size_t kMaxServices = 2000;

  Metrics();
  ~Metrics();

  void SetSources(MetricSources sources);  // before the first Render
  void ObserveScalingLatency(std::chrono::nanoseconds latency);

  // Prometheus text format.
  std::string Render() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace mindgate::watcher
