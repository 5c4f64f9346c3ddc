// What one decision costs, stage by stage, next to parsers alone on the same bytes in the same run.
// Percentiles over single runs, since an average hides what a caller waits for.
#include <benchmark/benchmark.h>
#include <simdjson.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "admission/admit.h"
#include "admission/mutators/mutator.h"
#include "json/decode.h"
#include "manifests.h"
#include "measure.h"
#include "policies/engine.h"
#include "policies/site/site_policies.h"

namespace mindgate::bench {
namespace {

struct Stage {
  std::string name;
  std::function<void()> run;
};

// `whole` is what a caller waits for; the stages before it are its parts.
std::vector<Stage> StagesOf(const std::string& text, const json::Value& object,
                            const json::Value& mutated, const schemas::Config& config) {
  static simdjson::dom::parser parser;
  const auto create = [](const json::Value& of) {
    schemas::AdmissionRequest request;
    request.object = &of;
    request.ns = "inference";
    return request;
  };
  const auto patch = admission::Admit(create(object), config).patch;
  const auto decoder = std::make_shared<json::Decoder>(json::Limits(), "managedFields");
  const auto padded = std::make_shared<simdjson::padded_string>(text);
  return {
      {"simdjson scan", [=] { benchmark::DoNotOptimize(parser.parse(*padded).error()); }},
      {"nlohmann parse", [&] { benchmark::DoNotOptimize(Json::parse(text)); }},
      {"decode", [=, &text] { benchmark::DoNotOptimize(decoder->Decode(text)); }},
      {"view", [&] { benchmark::DoNotOptimize(schemas::BuildView(object)); }},
      {"view and mutate",
       [&, create] {
         const auto view = schemas::BuildView(object);
         const auto request = create(object);
         const auto edits = mutators::Mutate({*view, nullptr, request, config, false});
         benchmark::DoNotOptimize(edits.BuildPatch());
       }},
      {"apply the patch",
       [&, patch] {
         json::Document patched;
         benchmark::DoNotOptimize(json::ApplyPatch(object, patch, patched.arena()));
       }},
      {"view and evaluate",
       [&, create] {
         const auto view = schemas::BuildView(mutated);
         const auto request = create(mutated);
         benchmark::DoNotOptimize(policies::Evaluate({*view, nullptr, request, config}));
       }},
      {"encode the patch", [=] { benchmark::DoNotOptimize(json::PatchText(patch)); }},
      {"admit",
       [&, create] { benchmark::DoNotOptimize(admission::Admit(create(object), config)); }},
      {"whole",
       [=, &text, &config] {
         // As the two webhooks do it: the API server applies the patch.
         const auto decoded = decoder->Decode(text);
         const auto request = create(**decoded);
         const auto verdict =
             admission::Admit(request, config, {.evaluate = false, .apply = false});
         benchmark::DoNotOptimize(admission::Admit(request, config, {.mutate = false}));
         benchmark::DoNotOptimize(json::PatchText(verdict.patch));
       }},
  };
}

void Run(const char* name, const std::string& text, int runs) {
  const auto document = json::Document::Decode(text);
  const json::Value& object = document->root();
  const schemas::Config config;
  schemas::AdmissionRequest request;
  request.object = &object;
  const auto verdict = admission::Admit(request, config);
  const json::Value& mutated = verdict.mutated ? verdict.mutated->root() : object;
  std::printf("\n%s, %zu bytes, %zu patch operations, %zu findings\n", name, text.size(),
              verdict.patch.size(), verdict.findings.size());
  std::printf("  %-18s %10s %10s %10s %10s\n", "stage", "p50 us", "p99 us", "ns/byte",
              "x nlohmann");
  double nlohmann = 0;
  for (const Stage& stage : StagesOf(text, object, mutated, config)) {
    const Percentiles time = Measure(stage.run, runs);
    if (stage.name == "nlohmann parse") nlohmann = time.p50;
    std::printf("  %-18s %10.1f %10.1f %10.2f", stage.name.c_str(), time.p50, time.p99,
                time.p50 * 1000 / static_cast<double>(text.size()));
    if (nlohmann > 0) std::printf(" %10.2f", time.p50 / nlohmann);
    std::printf("\n");
  }
}

// What sites demand, of all kinds; each is there several times under other names.
constexpr const char* kDemands[] = {
    "workload.templates.all(t, t.npus == 0 || t.npus % 8 == 0)",
    "workload.templates.all(t, t.containers.all(c, c.image.contains('/') || c.image == ''))",
    "workload.podGroups.all(g, g.queue in ['', 'default', workload.namespace])",
    "workload.templates.all(t, int(t.labels[?'fault-retry-times'].orValue('3')) <= 100)",
    "workload.templates.all(t, t.npus == 0 || t.scheduler != 'default-scheduler')",
    "workload.templates.map(t, t.npus * t.?pods.orValue(1) * t.instances).sum() <= 1024",
    "workload.autoscalers.all(a, a.?max.orValue(0) <= 64)",
    "object.metadata.name.size() <= 40",
    "!has(object.spec.paused) || !object.spec.paused",
    "workload.templates.all(t, t.spec.?hostNetwork.orValue(false) == false)",
};

std::shared_ptr<const policies::SitePolicies> PoliciesOf(size_t count, const std::string& demand) {
  std::string text;
  for (size_t i = 0; i < count; ++i) {
    const std::string name = "p" + std::to_string(i);
    text +=
        "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicy\n"
        "metadata: {name: " +
        name +
        "}\nspec:\n  matchConstraints:\n    resourceRules: "
        "[{apiGroups: ['*'], apiVersions: ['*'], operations: ['*'], resources: ['*']}]\n"
        "  validations:\n  - expression: |-\n      " +
        (demand.empty() ? std::string(kDemands[i % std::size(kDemands)]) : demand) +
        "\n---\napiVersion: admissionregistration.k8s.io/v1\n"
        "kind: ValidatingAdmissionPolicyBinding\nmetadata: {name: " +
        name + "}\nspec: {policyName: " + name + ", validationActions: [Deny]}\n---\n";
  }
  const auto set = policies::SitePolicies::Make({{"bench.yaml", text}});
  return set ? *set : nullptr;
}

// What policies of a site's own add to a decision, and what one that is written to be expensive
// may.
void RunPolicies(const std::string& text, int runs) {
  const auto document = json::Document::Decode(text);
  schemas::AdmissionRequest request;
  request.object = &document->root();
  request.ns = "inference";
  const auto measure = [&](const schemas::Config& config, int times) {
    return Measure(
        [&] { benchmark::DoNotOptimize(admission::Admit(request, config, {.mutate = false})); },
        times);
  };
  const std::string expensive =
      "lists.range(200).all(a, lists.range(200).all(b, lists.range(200).all(c, a + b + c >= 0)))";
  schemas::Config config;
  std::printf("\npolicies of a site's own, StormService, %zu bytes\n", text.size());
  const auto print = [&](const char* what, size_t count, const Percentiles& time) {
    std::printf("  %-28s %10.1f %10.1f  %zu findings\n", what, time.p50, time.p99, count);
  };
  const auto findings = [&] {
    return admission::Admit(request, config, {.mutate = false}).findings.size();
  };
  print("evaluate without policies", findings(), measure(config, runs));
  config.policies = PoliciesOf(50, "");
  print("evaluate with 50 policies", findings(), measure(config, runs));
  config.policies = PoliciesOf(1, expensive);
  print("evaluate with an expensive one", findings(), measure(config, std::max(20, runs / 100)));
}

}  // namespace
}  // namespace mindgate::bench

// engine_bench [RUNS [ONLY]]: ONLY is "storm", "policies", "large", "service" or "pod".
int main(int argc, char** argv) {
  using namespace mindgate::bench;
  const int runs = argc > 1 ? std::max(100, std::atoi(argv[1])) : 20'000;
  const std::string only = argc > 2 ? argv[2] : "";
  const char* commit = std::getenv("MINDGATE_COMMIT");
  std::printf("%s, %u cores, compiler %s, simdjson %s, commit %s, %d runs each\n",
              CpuModel().c_str(), std::thread::hardware_concurrency(), __VERSION__,
              simdjson::get_active_implementation()->name().c_str(),
              commit != nullptr ? commit : "unknown", runs);
  if (only.empty() || only == "storm") Run("StormService", Padded(StormService, 10 * 1024), runs);
  if (only.empty() || only == "policies") RunPolicies(Padded(StormService, 10 * 1024), runs);
  if (only.empty() || only == "large") {
    Run("StormService", Padded(StormService, 60 * 1024), std::max(100, runs / 4));
    Run("LeaderWorkerSet", Padded(LeaderWorkerSet, 60 * 1024), std::max(100, runs / 4));
  }
  if (only.empty() || only == "service") {
    Run("InferenceService", Padded(InferenceService, 60 * 1024), std::max(100, runs / 4));
  }
  if (only.empty() || only == "pod") Run("Pod", Padded(Pod, 0), runs);
  return 0;
}
