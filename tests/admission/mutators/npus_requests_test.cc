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
  std::vector<MutationCase> cases;
  for (Kind kind : KindsWithTemplates()) {
    const auto row = InjectedInto(kind);
    const std::string name(schemas::KindName(kind));
    cases.push_back(
        {name + " with limits alone", Of(kind, Limited({{"huawei.com/Ascend910", 8}})),
         row && row->requests ? std::vector{Added(row->container())} : std::vector<std::string>()});
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

// As `kubectl apply` merges a manifest that names limits alone into what was injected.
TEST(NpuRequests, WhatAnUpdateLeavesBehindFollows) {
  const std::string requests = "/spec/template/spec/containers/0/resources/requests = ";
  const auto update = [](const std::string& name, const Json& old_amounts, const Json& limits,
                         const Json& left, std::vector<std::string> want) {
    return MutationCase{name, Of(Kind::kDeployment, Limited(limits, left)), std::move(want),
                        Of(Kind::kDeployment, Limited(old_amounts, old_amounts))};
  };
  const Json eight = {{"huawei.com/Ascend910", 8}};
  const Json four = {{"huawei.com/Ascend910", 4}};
  ExpectNpuRequests({
      update("another amount", eight, four, eight, {requests + R"({"huawei.com/Ascend910":4})"}),
      update("as the API server writes it", {{"huawei.com/Ascend910", "8"}}, four,
             {{"huawei.com/Ascend910", "8"}, {"cpu", "4"}},
             {requests + R"({"cpu":"4","huawei.com/Ascend910":4})"}),
      update("another product", eight, {{"huawei.com/Ascend310P", 1}}, eight,
             {requests + R"({"huawei.com/Ascend310P":1})"}),
      update("no NPUs any more", eight, {{"cpu", "4"}}, eight, {requests + "{}"}),
      update("a slice", {{"huawei.com/Ascend310P-2c", 1}}, {{"huawei.com/Ascend310P-4c", 1}},
             {{"huawei.com/Ascend310P-2c", 1}}, {requests + R"({"huawei.com/Ascend310P-4c":1})"}),
      update("both written", eight, four, four, {}),
      update("a limit that is no number", eight, {{"huawei.com/Ascend910", "many"}}, eight, {}),
      update("another device", {{"huawei.com/rdma", 1}}, {{"huawei.com/rdma", 2}},
             {{"huawei.com/rdma", 1}}, {}),
      {"amounts that differed before",
       Of(Kind::kDeployment, Limited(four, eight)),
       {},
       Of(Kind::kDeployment, Limited({{"huawei.com/Ascend910", 2}}, eight))},
      {"a frozen template",
       Of(Kind::kVolcanoJob, Limited(four, eight)),
       {},
       Of(Kind::kVolcanoJob, Limited(eight, eight))},
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
