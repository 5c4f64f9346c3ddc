#pragma once

#include <rapidcheck.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "support/workloads.h"

// Generators of objects: of every kind, with several templates, sensible values and some that are
// not, and with damage anywhere. To be called inside a rapidcheck property.
namespace mindgate::testing {

namespace internal {

using json::Json;

// All draws are ints, taken modulo: while shrinking, rapidcheck replays recorded draws into code
// that may by then ask for another range.
inline int Draw(size_t n) {
  return static_cast<int>(static_cast<size_t>(*rc::gen::inRange(0, 1'000'000)) % n);
}

// Never when the draw shrinks to zero, so that counterexamples are small.
inline bool OneIn(size_t n) { return static_cast<size_t>(Draw(n)) == n - 1; }

inline Json OneOf(std::initializer_list<Json> values) {
  return *(values.begin() + Draw(values.size()));
}

inline const std::vector<Json>& OddValues() {
  static const std::vector<Json> values = {nullptr,
                                           true,
                                           false,
                                           0,
                                           -1,
                                           3,
                                           1.5,
                                           1e300,
                                           INT64_MAX,
                                           INT64_MIN,
                                           UINT64_MAX,
                                           "",
                                           "volcano",
                                           "on",
                                           "force",
                                           "3",
                                           "text with / and ~",
                                           "\xc3\xa9",
                                           Json::object(),
                                           Json::array(),
                                           Json::array({nullptr}),
                                           Json::array({Json::object()}),
                                           {{"name", nullptr}},
                                           {{"a", {{"b", 1}}}}};
  return values;
}

inline Json FaultLabels() {
  Json labels = Json::object();
  if (OneIn(2)) {
    labels["fault-scheduling"] = OneOf({"force", "grace", "off", "Force", "external-force", ""});
  }
  if (OneIn(4)) labels["pod-rescheduling"] = OneOf({"on", "off"});
  if (OneIn(4)) labels["fault-retry-times"] = OneOf({"3", "0", "-1", "x"});
  if (OneIn(4)) labels["app"] = OneOf({"a", "mindie-ms-server", "mindie-ms-controller"});
  if (OneIn(4)) labels["jobID"] = "job";
  if (OneIn(6)) labels["infer.huawei.com/gang-schedule"] = "true";
  return labels;
}

inline Json Annotations() {
  Json annotations = Json::object();
  if (OneIn(5)) annotations["huawei.com/schedule_minAvailable"] = OneOf({"1", "2", "0", "abc"});
  if (OneIn(6)) annotations["huawei.com/recover_policy_path"] = "pod";
  if (OneIn(6)) annotations["sp-block"] = "16";
  if (OneIn(5)) {
    annotations["huawei.com/schedule_policy"] =
        OneOf({"chip8-node8", "chip2-node16-sp", "chip1-softShareDev", "multilevel", "?"});
  }
  if (OneIn(8))
    annotations["ome.io/deploymentMode"] = OneOf({"RawDeployment", "MultiNode", "Serverless"});
  return annotations;
}

inline Json Container() {
  static const std::vector<std::string> kResources = {"huawei.com/Ascend910",
                                                      "huawei.com/Ascend910",
                                                      "huawei.com/Ascend910",
                                                      "huawei.com/npu",
                                                      "huawei.com/Ascend310P",
                                                      "huawei.com/Ascend310P-2c",
                                                      "huawei.com/npu-core",
                                                      "cpu",
                                                      "cpu"};
  static const std::vector<Json> kCounts = {8, 8, 16, 1, "8", 0, 3, "1.5", -1};
  Json container = {{"name", OneOf({"main", "ascend", ""})},
                    {"image", "infer:1"},
                    {"args", {"--x", "{{.Name}}"}}};
  const std::string resource = kResources[static_cast<size_t>(Draw(kResources.size()))];
  const Json count = kCounts[static_cast<size_t>(Draw(kCounts.size()))];
  container["resources"]["limits"][resource] = count;
  if (!OneIn(4)) container["resources"]["requests"][resource] = count;
  if (OneIn(3)) container["env"] = {{{"name", "A"}, {"value", "1"}}};
  if (OneIn(6)) container["env"].push_back({{"name", "ASCEND_VISIBLE_DEVICES"}, {"value", "0"}});
  return container;
}

inline TemplateParts Parts() {
  TemplateParts parts{Container()};
  if (OneIn(2)) {
    parts.pod_fields["schedulerName"] =
        OneOf({"volcano", "volcano", "default-scheduler", "mine", ""});
  }
  if (OneIn(4)) parts.pod_fields["restartPolicy"] = OneOf({"Never", "Always"});
  if (OneIn(4)) parts.pod_fields["initContainers"] = Json::array({Container()});
  if (OneIn(5)) parts.pod_fields["nodeSelector"]["accelerator-type"] = "module-a3-16";
  if (OneIn(6)) parts.pod_fields["unknownToUs"] = {{"deep", {1, 2, {{"x", nullptr}}}}};
  parts.labels = FaultLabels();
  parts.annotations = Annotations();
  return parts;
}

// A second template of the same workload, where its kind has places for several.
inline void AddTemplates(Json& object, schemas::Kind kind) {
  using schemas::Kind;
  Json& spec = object["spec"];
  const Json other = Workload(kind, Parts());
  const auto append = [&](const char* pointer) {
    const Json::json_pointer list(pointer);
    Json item = other.at(list).at(0);
    item["name"] = OneOf({"decode", "routing", "prefill", ""});
    if (OneIn(2)) item["podGroupSize"] = Draw(4);
    if (OneIn(4)) item.erase("replicas");
    object.at(list).push_back(std::move(item));
  };
  switch (kind) {
    case Kind::kAscendJob:
      spec["replicaSpecs"]["Master"] = other.at("spec").at("replicaSpecs").at("Worker");
      if (OneIn(2)) spec["schedulerName"] = "volcano";
      break;
    case Kind::kVolcanoJob:
      append("/spec/tasks");
      break;
    case Kind::kVolcanoCronJob:
      append("/spec/jobTemplate/spec/tasks");
      break;
    case Kind::kLeaderWorkerSet:
      spec["leaderWorkerTemplate"]["leaderTemplate"] =
          other.at("spec").at("leaderWorkerTemplate").at("workerTemplate");
      break;
    case Kind::kServingRuntime:
    case Kind::kClusterServingRuntime:
    case Kind::kInferenceService: {
      const bool service = kind == Kind::kInferenceService;
      const Json component = other.at("spec").at(service ? "engine" : "engineConfig");
      if (OneIn(2)) spec[service ? "decoder" : "decoderConfig"] = component;
      if (OneIn(3)) spec[service ? "router" : "routerConfig"] = component;
      Json& engine = spec[service ? "engine" : "engineConfig"];
      if (OneIn(3)) engine["worker"] = {{"size", 1}, {"runner", Container()}};
      if (OneIn(3)) engine["leader"] = {{"runner", Container()}};
      if (OneIn(4)) engine.erase("runner");
      if (OneIn(4)) engine["minReplicas"] = Draw(5) - 1;
      if (service && OneIn(2)) spec["runtime"] = {{"name", "a"}};
      break;
    }
    case Kind::kStormService:
      append("/spec/template/spec/roles");
      break;
    case Kind::kRoleSet:
      append("/spec/roles");
      break;
    case Kind::kInferServiceSet:
      append("/spec/template/roles");
      break;
    case Kind::kInferService:
      append("/spec/roles");
      break;
    default:
      break;
  }
}

// A random value below (or at) `root`.
inline Json& AnyPlace(Json& root) {
  Json* at = &root;
  while (at->is_structured() && !at->empty() && !OneIn(6)) {
    auto next = at->begin();
    std::advance(next, Draw(at->size()));
    at = &*next;
  }
  return *at;
}

}  // namespace internal

// Replaces or takes away something anywhere, the kind included.
inline void Damage(json::Json& object) {
  json::Json& place = internal::AnyPlace(object);
  if (place.is_structured() && !place.empty() && internal::OneIn(3)) {
    auto victim = place.begin();
    std::advance(victim, internal::Draw(place.size()));
    place.erase(victim);
    return;
  }
  const auto& values = internal::OddValues();
  place = values[static_cast<size_t>(internal::Draw(values.size()))];
}

inline json::Json AnyObjectOf(schemas::Kind kind) {
  using internal::OneIn;
  json::Json object = Workload(kind, internal::Parts());
  if (OneIn(2)) internal::AddTemplates(object, kind);
  json::Json& metadata = object["metadata"];
  if (OneIn(2)) {
    const json::Json labels = internal::FaultLabels();
    for (const auto& [key, value] : labels.items()) metadata["labels"][key] = value;
  }
  if (OneIn(3)) {
    const json::Json annotations = internal::Annotations();
    for (const auto& [key, value] : annotations.items()) metadata["annotations"][key] = value;
  }
  if (OneIn(6)) metadata["labels"]["mindgate.io/inject"] = "enabled";
  if (OneIn(8)) {
    metadata["ownerReferences"] = {
        {{"apiVersion", "kubeflow.org/v1"}, {"kind", "X"}, {"name", "x"}, {"controller", true}}};
  }
  if (OneIn(2)) {
    const int wounds = 1 + internal::Draw(4);
    for (int i = 0; i < wounds; ++i) Damage(object);
  }
  return object;
}

inline json::Json AnyObject() {
  return AnyObjectOf(static_cast<schemas::Kind>(internal::Draw(schemas::kKindCount)));
}

}  // namespace mindgate::testing
