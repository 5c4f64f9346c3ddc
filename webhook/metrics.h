#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "admission/admit.h"
#include "base/version.h"
#include "http/connection.h"
#include "http/response.h"
#include "webhook/admission_review.h"

namespace mindgate::webhook {

enum class Stage { kQueue, kDecode, kDecide, kEncode };
inline constexpr size_t kStageCount = 4;

// What is read at the moment of a scrape. Everything in it outlives the metrics.
struct MetricSources {
  std::vector<std::pair<std::string, const http::LayerStats*>> ports;  // that of reviews first
  const RefusalCounts* refusals = nullptr;
  const http::ByteBudget* budget = nullptr;
  std::function<size_t()> queue_length;
  size_t queue_capacity = 0;
  std::function<std::string()> generation;      // of the configuration, empty before the first
  std::function<int64_t()> certificate_expiry;  // seconds since 1970, 0 without a certificate
  std::function<uint64_t()> config_reload_failures;
  std::function<uint64_t()> certificate_reload_failures;
  std::function<size_t()> runtimes_left_out;
  std::function<std::vector<std::string>()> hanging_kinds;  // of the decisions that hang
  Build build;                                              // that runs
};

// All Prometheus metrics of the webhook. Every label has a closed set of values, none of them from
// a request: an unknown kind is "other". Safe from many threads.
class Metrics {
 public:
  explicit Metrics(MetricSources sources);
  ~Metrics();

  void CountReview(Hook hook, const Review& review, const admission::Verdict& verdict);
  void Observe(Stage stage, std::chrono::nanoseconds duration);
  void CountBug();

  // Prometheus text format.
  std::string Render() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace mindgate::webhook
