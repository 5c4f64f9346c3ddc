#include <nlohmann/json.hpp>

#include "base/text.h"
#include "deploy/config_types.h"

// stormservice-config.yaml of mindcluster-deploy.
namespace mindgate::deploy {
namespace {

using schemas::Key;
using schemas::Object;
using schemas::Whole;

// Each instance gets Services of its own.
constexpr int64_t kMaxStormInstances = 256;
// aibrix: config/crd/orchestration/orchestration.aibrix.ai_stormservices.yaml
constexpr int64_t kMaxStormPods = 100;

// "true" and "false" in quotes, as the format has them, or without.
Type<bool> Truth() {
  return {{"string", "boolean"},
          {{"enum", {"true", "false", true, false}}},
          [](const Field& field, bool& out) {
            const auto truth = json::AsBool(&field.value);
            const auto text = json::AsString(&field.value);
            if (!truth && text != "true" && text != "false") {
              return field.Fault(Quote(*text) + " is not allowed here",
                                 "write \"true\" or \"false\"");
            }
            out = truth ? *truth : text == "true";
          },
          [](bool truth) { return schemas::OrderedJson(truth ? "true" : "false"); }};
}

void CheckStormRole(StormRole& role, const Field& field) {
  const int64_t ranks = role.dp_size * role.tp_size;
  const int64_t npus = role.npu_num * role.pod_group_size;
  if (ranks == npus) return;
  field.reading.Warn(json::Child(field.path, "dp_size"),
                     "dp_size * tp_size is " + std::to_string(ranks) + ", but an instance has " +
                         std::to_string(npus) + " NPUs (npu_num * podGroupSize)",
                     "start_server.sh starts one process for each of dp_size * tp_size: make both "
                     "numbers equal");
}

Type<StormRole> StormRoleTable() {
  return Object<StormRole>(
      Joined({{"replicas", "Instances.", &StormRole::replicas, Whole(1, kMaxStormInstances)},
              {"podGroupSize", "Pods of one instance.", &StormRole::pod_group_size,
               Whole(1, kMaxStormPods)},
              {"dp_size", "Data parallel size.", &StormRole::dp_size, Whole(1, kMaxSize)},
              {"tp_size", "Tensor parallel size.", &StormRole::tp_size, Whole(1, kMaxSize)},
              {"npu_num", "NPUs of each pod.", &StormRole::npu_num, Whole(1, kMaxNpus)},
              {"image", "Image of the container.", &StormRole::image, Image(), schemas::kRequired},
              ResourcesKey(&StormRole::resources)},
             PodKeys(&StormRole::pods, "nodeSelector", kCamelNames)),
      CheckStormRole, StormRole(), "`mindgate deploy --schema aibrix` has all keys");
}

Type<StormRouting> StormRoutingTable() {
  return Object<StormRouting>(Joined(
      {{"replicas", "Pods of the router.", &StormRouting::replicas, Whole(1, kMaxStormInstances)},
       {"server_port", "Port of the router, which start_proxy.sh chooses.",
        &StormRouting::server_port, Whole(1, 65535)},
       {"image", "Image of the container.", &StormRouting::image, Image(), schemas::kRequired},
       ResourcesKey(&StormRouting::resources)},
      PodKeys(&StormRouting::pods, "nodeSelector", kCamelNames)));
}

Type<StormPaths> StormPathsTable() {
  return Object<StormPaths>({{"models", "Folder of the models; mounted at the same place.",
                              &StormPaths::models, AbsolutePath()},
                             {"scripts", "Folder of start_server.sh and start_proxy.sh.",
                              &StormPaths::scripts, AbsolutePath()},
                             {"hccn", "The file hccn.conf.", &StormPaths::hccn, AbsolutePath()}});
}

// A role of several pods divides its data parallel ranks among them.
void CheckDivision(const StormRole& role, const std::string& path, bool distributed,
                   const Field& field) {
  const std::string place = json::Child(path, "dp_size");
  const std::string group = std::to_string(role.pod_group_size);
  if (distributed && role.dp_size % role.pod_group_size != 0) {
    field.reading.Fault(place,
                        "dp_size " + std::to_string(role.dp_size) +
                            " cannot be divided among the pods of an instance: podGroupSize is " +
                            group,
                        "write a multiple of " + group);
  } else if (distributed && role.dp_size == 1) {
    field.reading.Warn(place, "with dp_size 1 there is nothing to distribute",
                       "write distributed_dp: \"false\"");
  }
}

void CheckStormService(StormService& service, const Field& field) {
  for (const auto& [name, role] :
       {std::pair("prefill", &service.prefill), std::pair("decode", &service.decode)}) {
    CheckDivision(*role, json::Child(field.path, name), service.distributed_dp, field);
  }
  if (service.distributed_dp && !field.value.contains("routing")) {
    field.reading.Fault(
        json::Child(field.path, "routing"),
        "distributed_dp is \"true\", also where it is left out: then every instance "
        "serves on several ports and needs a router in front",
        "add routing:, or write distributed_dp: \"false\"");
  }
  if (service.scripts_config_map && json::FindPath(&field.value, {"host_paths", "scripts"})) {
    field.reading.Fault(json::Child(field.path, "scripts_config_map"),
                        "the scripts are in host_paths.scripts already", "write one of the two");
  }
}

Type<StormService> StormServiceTable() {
  return Object<StormService>(
      {{"model_name", "Name under which the model is served.", &StormService::model_name,
        LabelText(), schemas::kRequired},
       {"model_path", "Folder of the model, as the containers see it.", &StormService::model_path,
        AbsolutePath(), schemas::kRequired},
       {"distributed_dp", "Whether each data parallel rank is a server of its own.",
        &StormService::distributed_dp, Truth()},
       {"server_port", "Port of the first server of a pod, which start_server.sh chooses.",
        &StormService::server_port, Whole(1, 65535)},
       {"npu_resource", "Resource of the NPUs; huawei.com/npu for Ascend 950.",
        &StormService::npu_resource, ResourceName()},
       {"host_paths", "What the containers read from their node.", &StormService::host_paths,
        StormPathsTable()},
       {"scripts_config_map",
        "ConfigMap with start_server.sh and start_proxy.sh, instead of a folder of each node.",
        &StormService::scripts_config_map, ObjectName()},
       {"prefill", "The prefill instances.", &StormService::prefill, StormRoleTable(),
        schemas::kRequired},
       {"decode", "The decode instances.", &StormService::decode, StormRoleTable(),
        schemas::kRequired},
       {"routing", "The router. Needed when distributed_dp is \"true\".", &StormService::routing,
        StormRoutingTable()}},
      CheckStormService);
}

StormService& StormServiceIn(Application& application) {
  auto* service = std::get_if<StormService>(&application.service);
  return service != nullptr ? *service : application.service.emplace<StormService>();
}

}  // namespace

const Type<Application>& AibrixTable() {
  static const Type<Application> table = Object<Application>(Joined(
      CommonKeys(), {{"storm_service", "The service.",
                      [](Application& application) -> auto& { return StormServiceIn(application); },
                      StormServiceTable(), schemas::kRequired}}));
  return table;
}

}  // namespace mindgate::deploy
