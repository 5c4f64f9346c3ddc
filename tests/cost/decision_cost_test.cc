// What one review costs, from its text to the answer's, in allocations: figures that are the same
// on every machine. The benchmarks measure time and resident memory of the same texts.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bench/decide.h"
#include "bench/manifests.h"
#include "cost/counting_allocator.h"
#include "support/hostile.h"

namespace mindgate::testing {
namespace {

using bench::Decider;
using json::Json;
using webhook::Hook;

Allocations CostOf(Decider& decider, const std::string& text, Hook hook) {
  Allocations::Begin();
  (void)decider.Answer(text, hook);
  return Allocations::SoFar();
}

std::string WithRoom(std::string text) {
  text.reserve(text.size() + json::Text::kPadding);
  return text;
}

// An AdmissionReview that creates the object.
std::string Creation(const std::string& object) {
  const Json parsed = Json::parse(object);
  const std::string api = parsed["apiVersion"];
  const size_t slash = api.find('/');
  const Json review = {{"apiVersion", "admission.k8s.io/v1"},
                       {"kind", "AdmissionReview"},
                       {"request",
                        {{"uid", "b5f4a6a2-6a1e-4a3e-8a57-0d3f3f1a0c11"},
                         {"kind",
                          {{"group", slash == std::string::npos ? "" : api.substr(0, slash)},
                           {"version", slash == std::string::npos ? api : api.substr(slash + 1)},
                           {"kind", parsed["kind"]}}},
                         {"operation", "CREATE"},
                         {"namespace", "inference"},
                         {"name", "a"},
                         {"userInfo", {{"username", "kubernetes-admin"}}},
                         {"object", parsed},
                         {"dryRun", false}}}};
  return WithRoom(review.dump());
}

// With buffers that were used before, as the webhook has them.
TEST(DecisionCost, AllocationsOfACreation) {
  struct Case {
    const char* name;
    std::string body;
    Hook hook;
    size_t most;
  };
  const std::string storm = Creation(bench::Padded(bench::StormService, 10 * 1024));
  const std::string inference = Creation(bench::Padded(bench::InferenceService, 60 * 1024));
  const std::string pod = Creation(bench::Padded(bench::Pod, 2 * 1024));
  const Case cases[] = {
      {"StormService, 10 KB, mutate", storm, Hook::kMutate, 100},
      {"StormService, 10 KB, validate", storm, Hook::kValidate, 60},
      {"InferenceService, 60 KB, mutate", inference, Hook::kMutate, 100},
      {"InferenceService, 60 KB, validate", inference, Hook::kValidate, 80},
      {"Pod, 2 KB, mutate", pod, Hook::kMutate, 75},
      {"Pod, 2 KB, validate", pod, Hook::kValidate, 50},
  };
  for (const Case& c : cases) {
    Decider decider;
    for (int i = 0; i < 2; ++i) (void)decider.Answer(c.body, c.hook);
    const Allocations cost = CostOf(decider, c.body, c.hook);
    std::printf("%-36s %5zu allocations, %7zu bytes at once\n", c.name, cost.count, cost.peak);
    EXPECT_LE(cost.count, c.most) << c.name;
    EXPECT_EQ(CostOf(decider, c.body, c.hook).count, cost.count) << c.name;
  }
}

// Buffers are asked for as large as a text may need, and pages of them come as they are used: what
// is allocated is more than what becomes resident, which the benchmark measures.
constexpr size_t kMaxBytesAByte = 12;
// What is bounded by limits instead: 1,024 roles with all that is injected into each, and a
// variable and a request for each of 4,096 containers.
constexpr size_t kConstantBytes = 12 * 1024 * 1024;
// Fewer say nothing about growth.
constexpr size_t kFewAllocations = 200;

// A Volcano Job at the limits of MG003, into which more is written than it has.
std::string LargestJob() {
  std::string tasks;
  for (int i = 0; i < 1000; ++i) {
    const std::string name = "t" + std::to_string(i);
    std::string containers;
    for (const char* container : {"a", "b", "c", "d"}) {
      containers += (containers.empty() ? "" : ",") +
                    (R"({"name":")" + std::string(container) +
                     R"(","image":"i","resources":{"limits":{"huawei.com/Ascend910":"1"}}})");
    }
    tasks += (i == 0 ? "" : ",") +
             (R"({"name":")" + name + R"(","replicas":1,"template":{"spec":{"containers":[)" +
              containers + "]}}}");
  }
  return Creation(R"({"apiVersion":"batch.volcano.sh/v1alpha1","kind":"Job","metadata":)"
                  R"({"name":"large","namespace":"team"},"spec":{"minAvailable":1000,"tasks":[)" +
                  tasks + "]}}");
}

TEST(DecisionCost, AJobAtTheLimitsIsBoundedToo) {
  const std::string body = LargestJob();
  Decider decider;
  const std::string answer = decider.Answer(body, Hook::kMutate);
  for (int i = 0; i < 2; ++i) (void)decider.Answer(body, Hook::kMutate);
  const Allocations cost = CostOf(decider, body, Hook::kMutate);
  std::printf("%zu bytes of text, %zu of answer, %zu allocations, %zu bytes at once\n", body.size(),
              answer.size(), cost.count, cost.peak);
  EXPECT_LE(cost.peak, kConstantBytes + kMaxBytesAByte * body.size());
}

TEST(DecisionCost, NoTextCostsMoreThanItsBytes) {
  constexpr size_t kSizes[] = {24'000, 96'000, 384'000};
  size_t most_bytes = 0;
  size_t most_allocations = 0;
  for (const HostileShape& shape : HostileShapes()) {
    for (const Hook hook : {Hook::kMutate, Hook::kValidate}) {
      size_t before = 0;
      for (const size_t size : kSizes) {
        const std::string text = WithRoom(HostileText(shape, size));
        Decider decider;
        const Allocations cost = CostOf(decider, text, hook);
        EXPECT_LE(cost.peak, kConstantBytes + kMaxBytesAByte * text.size())
            << shape.name << ", " << webhook::PathOf(hook) << ", " << size;
        if (before > 0) {
          EXPECT_LE(cost.count, 5 * std::max(kFewAllocations, before))
              << shape.name << ", " << webhook::PathOf(hook) << ", " << size;
        }
        before = cost.count;
        most_bytes = std::max(most_bytes, cost.peak / text.size());
        most_allocations = std::max(most_allocations, cost.count);
      }
    }
  }
  std::printf("at most %zu bytes a byte at once, %zu allocations\n", most_bytes, most_allocations);
}

}  // namespace
}  // namespace mindgate::testing
