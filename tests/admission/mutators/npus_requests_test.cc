#include "support/mutations.h"

namespace mindgate::testing {
namespace {

using json::Json;
using schemas::Kind;

void ExpectNpuRequests(std::vector<MutationCase> cases) {
  ExpectMutationsBy("npu-requests", std::move(cases));
}

Json Limited(const Json& limits, const Json& requests = nullptr) {
  Json container = {{"name", "main"}, {"image", "infer:1"}, {"resources", {{"limits", limits}}}};
  if (!requests.is_null()) container["resources"]["requests"] = requests;
  return container;
}

std::string Of(Kind kind, const Json& container) { return Workload(kind, {container}).dump(); }

std::string WithText(std::string text, std::string_view from, std::string_view to) {
  const size_t at = text.find(from);
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

std::string Added(const std::string& container, const std::string& entry = R"(Ascend910 = 8)") {
  return container + "/resources/requests/huawei.com~1" + entry;
}

TEST(NpuRequests, EveryKind) {
  const std::map<Kind, std::string> containers = {
      {Kind::kAscendJob, "/spec/replicaSpecs/Worker/template/spec/containers/0"},
      {Kind::kVolcanoJob, "/spec/tasks/0/template/spec/containers/0"},
      {Kind::kVolcanoCronJob, "/spec/jobTemplate/spec/tasks/0/template/spec/containers/0"},
      {Kind::kJob, "/spec/template/spec/containers/0"},
      {Kind::kCronJob, "/spec/jobTemplate/spec/template/spec/containers/0"},
      {Kind::kDeployment, "/spec/template/spec/containers/0"},
      {Kind::kReplicaSet, "/spec/template/spec/containers/0"},
      {Kind::kStatefulSet, "/spec/template/spec/containers/0"},
      {Kind::kDaemonSet, "/spec/template/spec/containers/0"},
      {Kind::kReplicationController, "/spec/template/spec/containers/0"},
      {Kind::kLeaderWorkerSet, "/spec/leaderWorkerTemplate/workerTemplate/spec/containers/0"},
      {Kind::kServingRuntime, "/spec/engineConfig/runner"},
      {Kind::kClusterServingRuntime, "/spec/engineConfig/runner"},
      {Kind::kInferenceService, "/spec/engine/runner"},
      {Kind::kStormService, "/spec/template/spec/roles/0/template/spec/containers/0"},
      {Kind::kRoleSet, "/spec/roles/0/template/spec/containers/0"},
      {Kind::kPodSet, "/spec/template/spec/containers/0"},
      {Kind::kInferServiceSet, "/spec/template/roles/0/spec/template/spec/containers/0"},
      {Kind::kInferService, "/spec/roles/0/spec/template/spec/containers/0"},
      {Kind::kInstanceSet, "/spec/spec/template/spec/containers/0"},
  };
  std::vector<MutationCase> cases;
  for (Kind kind : KindsWithTemplates()) {
    const auto container = containers.find(kind);
    const std::string name(schemas::KindName(kind));
    cases.push_back({name + " with limits alone", Of(kind, Limited({{"huawei.com/Ascend910", 8}})),
                     container == containers.end()
                         ? std::vector<std::string>()  // a Pod: the API server does it
                         : std::vector{Added(container->second)}});
    cases.push_back({name + " with both", Of(kind, NpuContainer()), {}});
    cases.push_back({name + " without NPUs", Of(kind, CpuContainer()), {}});
  }
  ExpectNpuRequests(std::move(cases));
}

TEST(NpuRequests, WhatIsMissing) {
  const std::string main = "/spec/template/spec/containers/0";
  const auto deployment = [](const Json& limits, const Json& requests = nullptr) {
    return Of(Kind::kDeployment, Limited(limits, requests));
  };
  ExpectNpuRequests({
      {"beside other requests, as it is written",
       deployment({{"huawei.com/Ascend910", "8"}}, {{"cpu", "4"}}),
       {Added(main, R"(Ascend910 = "8")")}},
      {"of a slice",
       deployment({{"huawei.com/Ascend310P-2c", 1}, {"memory", "1Gi"}}),
       {Added(main, "Ascend310P-2c = 1")}},
      {"of cores",
       deployment({{"huawei.com/npu-core", 2}}, Json::object()),
       {Added(main, R"(npu-core = 2)")}},
      {"where requests is null",
       WithText(deployment({{"huawei.com/npu", 8}}, Json::object()), R"("requests":{})",
                R"("requests":null)"),
       {Added(main, "npu = 8")}},
      {"another amount is the user's",
       deployment({{"huawei.com/npu", 8}}, {{"huawei.com/npu", 4}}),
       {}},
      {"none", deployment({{"huawei.com/npu", 0}}), {}},
      {"half a chip", deployment({{"huawei.com/npu", "0.5"}}), {}},
      {"another device", deployment({{"huawei.com/rdma", 1}}), {}},
      {"a misspelled name", deployment({{"huawei.com/Ascend901", 8}}), {}},
      {"requests of a wrong type", deployment({{"huawei.com/npu", 8}}, "many"), {}},
  });
}

TEST(NpuRequests, WhoDeclines) {
  const std::string limited = Of(Kind::kDeployment, Limited({{"huawei.com/Ascend910", 8}}));
  MutationCase of_namespace{"the namespace", limited, {}};
  of_namespace.namespace_label = "disabled";
  ExpectNpuRequests({
      {"the object",
       WithText(limited, R"("name":"a")",
                R"("name":"a","labels":{"mindgate.io/inject":"disabled"})"),
       {}},
      of_namespace,
      {"an update that leaves the template alone", limited, {}, limited},
      {"an update of a frozen template",
       Of(Kind::kVolcanoJob, Limited({{"huawei.com/Ascend910", 8}})),
       {},
       Of(Kind::kVolcanoJob, Limited({{"huawei.com/Ascend910", 4}}))},
  });
}

}  // namespace
}  // namespace mindgate::testing
