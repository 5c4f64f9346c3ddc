#include "webhook/metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text.h"
#include "support/golden.h"
#include "support/metric_contract.h"
#include "webhook/server_fixture.h"

namespace mindgate::webhook {
namespace {

using http::testing::BodyOf;
using json::Json;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::ReviewOf;
using testing::ReviewText;
using testing::ServerFixture;

TEST(Server, MetricsAfterSomeTraffic) {
  ServerFixture fixture;
  fixture.Ask(ReviewText());
  fixture.Ask(ReviewText(), "/validate");
  Json strange = ReviewOf(
      {{"apiVersion", "example.com/v1"}, {"kind", "Strange"}, {"metadata", {{"name", "x"}}}});
  strange["request"]["kind"]["kind"] = "Strange";
  fixture.Ask(strange.dump(), "/validate");
  const std::string text = BodyOf(fixture.Probe("/metrics"));
  const auto has = [&](const std::string& line) {
    EXPECT_THAT(text, HasSubstr("\n" + line + "\n"));
  };
  has(R"(mindgate_webhook_requests_total{kind="Deployment",operation="CREATE",outcome="admitted",path="/mutate"} 1)");
  has(R"(mindgate_webhook_requests_total{kind="Deployment",operation="CREATE",outcome="admitted",path="/validate"} 1)");
  has(R"(mindgate_webhook_requests_total{kind="other",operation="CREATE",outcome="ignored",path="/validate"} 1)");
  has(R"(mindgate_webhook_stage_seconds_count{stage="decide"} 3)");
  has(R"(mindgate_webhook_connections_accepted_total{port="admission"} 3)");
  has(R"(mindgate_webhook_connections{port="probe",state="executing"} 1)");
  has(R"(mindgate_config_info{generation="0123456789abcdef"} 1)");
  has(R"(mindgate_build_info{version="",commit="",architecture=""} 1)");
  has(R"(mindgate_webhook_queue_capacity 256)");
  has(R"(mindgate_webhook_rejects_total{port="admission",reason="queue_full"} 0)");
  EXPECT_THAT(text, ContainsRegex("mindgate_certificate_expiry_timestamp_seconds 1[0-9]{9}\n"));
}

size_t SeriesIn(const std::string& text) {
  size_t count = 0;
  for (const std::string_view line : Split(text, '\n'))
    count += !line.empty() && line.front() != '#';
  return count;
}

// Counts every review there can be, its kind among mindgate's or one of `others`.
void CountAll(Metrics& metrics, std::vector<std::string> kinds) {
  for (int i = 0; i < schemas::kKindCount; ++i) {
    kinds.emplace_back(schemas::InfoOf(static_cast<schemas::Kind>(i)).name);
  }
  for (const Hook hook : {Hook::kMutate, Hook::kValidate}) {
    for (const std::string& kind : kinds) {
      for (const auto operation : {schemas::Operation::kCreate, schemas::Operation::kUpdate,
                                   schemas::Operation::kDelete, schemas::Operation::kConnect}) {
        for (const auto outcome : {admission::Outcome::kAdmitted, admission::Outcome::kDenied,
                                   admission::Outcome::kError, admission::Outcome::kIgnored}) {
          struct Review review;
          review.kind = kind;
          review.request.operation = operation;
          review.name = kind + "-name-that-must-not-become-a-label";
          admission::Verdict verdict;
          verdict.outcome = outcome;
          for (const policies::Rule* rule : policies::Catalogue()) {
            for (const auto mode :
                 {schemas::Mode::kEnforce, schemas::Mode::kWarn, schemas::Mode::kAudit}) {
              policies::Finding finding;
              finding.rule = rule;
              finding.mode = mode;
              verdict.findings.push_back(finding);
              finding.error = true;
              verdict.findings.push_back(finding);
            }
          }
          metrics.CountReview(hook, review, verdict);
        }
      }
    }
  }
}

TEST(Metrics, EverySeriesThereCanBe) {
  http::LayerStats stats;
  RefusalCounts refusals;
  http::ByteBudget budget(1);
  Metrics metrics({.ports = {{"admission", &stats}, {"probe", &stats}},
                   .refusals = &refusals,
                   .budget = &budget,
                   .queue_length = [] { return size_t{0}; },
                   .queue_capacity = 1,
                   .generation = [] { return "g"; },
                   .certificate_expiry = [] { return int64_t{0}; },
                   .config_reload_failures = [] { return uint64_t{0}; },
                   .certificate_reload_failures = [] { return uint64_t{0}; },
                   .runtimes_left_out = [] { return size_t{0}; },
                   .hanging_kinds = [] { return std::vector<std::string>(); },
                   .build = {"1.2.3", "0123456789ab", "x86_64"}});
  CountAll(metrics, {"Strange", "", "deployment", "other"});
  const size_t series = SeriesIn(metrics.Render());
  CountAll(metrics, {"Stranger", "Pods", "\"", "Deployment\n"});
  const std::string text = metrics.Render();
  EXPECT_EQ(SeriesIn(text), series) << "no label has a value that comes from outside";
  EXPECT_LT(series, 2000) << "what one replica may cost a Prometheus";
  EXPECT_THAT(text, Not(HasSubstr("must-not-become")));
  // What alerts and dashboards name: tests/chart holds them to it.
  mindgate::testing::ExpectGolden("tests/webhook/metrics.want",
                                  mindgate::testing::MetricContract(text));
}
}  // namespace
}  // namespace mindgate::webhook
