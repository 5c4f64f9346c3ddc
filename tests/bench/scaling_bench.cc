// What one decision of elastic scaling costs, next to a parse of its rule in the same run.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "measure.h"
#include "support/scaling.h"

namespace mindgate::bench {
namespace {

using testing::CountsOf;
using testing::Decide;
using testing::EnforcementMode;
using testing::Held;
using testing::kStart;
using testing::Options;
using testing::Phase;
using testing::RuleOf;
using testing::RuleText;
using testing::Service;

constexpr const char* kShapes = "p=12 d=6 | p=10 d=5 | p=8 d=4 | p=4 d=2 | p=2 d=1";

// Twenty instances, of which some run and one of another group finds no room: a decision that does
// everything that one can do.
Service OneService() {
  Service service{RuleOf(kShapes), "", {}};
  testing::Add(service, "p=9 d=3", Phase::kRunning);
  testing::Add(service, "p=3 d=3", Phase::kHeld, 20);
  testing::Add(service, "p=1", Phase::kStarting, 40);
  service.instances.push_back(testing::Stuck("d-40", kStart - std::chrono::seconds(600)));
  return service;
}

void Print(const char* name, const Percentiles& time, int services, double parse) {
  std::printf("  %-28s %10.1f %10.1f %12.2f %10.2f\n", name, time.p50, time.p99,
              time.p50 / services, time.p50 / services / parse);
}

void Run(int runs) {
  const std::string text = RuleText(kShapes);
  const Service service = OneService();
  const std::vector<Service> services(1000, service);
  Options options;
  options.rebalance = EnforcementMode::kEnforce;
  const auto decide = [&] { benchmark::DoNotOptimize(Decide(service, options, kStart)); };
  const auto decide_all = [&] {
    for (const Service& one : services) benchmark::DoNotOptimize(Decide(one, options, kStart));
  };
  const auto parse = [&] { benchmark::DoNotOptimize(schemas::ReadScalingRule(text)); };
  std::printf("  %-28s %10s %10s %12s %10s\n", "", "p50 us", "p99 us", "us/service", "x parse");
  const Percentiles parsed = Measure(parse, runs);
  Print("parse of the rule", parsed, 1, parsed.p50);
  Print("1 service of 20 instances", Measure(decide, runs), 1, parsed.p50);
  Print("1000 services of 20", Measure(decide_all, std::max(100, runs / 100)), 1000, parsed.p50);
}

}  // namespace
}  // namespace mindgate::bench

// scaling_bench [RUNS]
int main(int argc, char** argv) {
  const int runs = argc > 1 ? std::max(100, std::atoi(argv[1])) : 20'000;
  const char* commit = std::getenv("MINDGATE_COMMIT");
  std::printf("%s, %u cores, compiler %s, commit %s, %d runs each\n",
              mindgate::bench::CpuModel().c_str(), std::thread::hardware_concurrency(), __VERSION__,
              commit != nullptr ? commit : "unknown", runs);
  mindgate::bench::Run(runs);
  return 0;
}
