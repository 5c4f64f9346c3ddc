#include <charconv>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

#include "base/text.h"
#include "deploy/config.h"
#include "schemas/names.h"

// Our own format for MindIE Motor. The ranges are those of its deployer (MindIE-Motor:
// mindie_motor/src/example/deploy_scripts/deploy_ac_job.py).
namespace mindgate::deploy {
namespace {

using schemas::Boolean;
using schemas::Key;
using schemas::NonEmptyText;
using schemas::Object;
using schemas::Whole;

constexpr int64_t kMaxMindieInstances = 20;
constexpr int64_t kMaxMindiePods = 20;
constexpr int kFirstOtherMotor = 2;
constexpr int64_t kMaxRetries = 100'000'000;

template <typename S>
std::vector<Key<S>> ContainerKeys() {
  return {
      {"env_vars", "Variables of the container.", &S::variables, VariableList()},
      {"resources", "Memory and processors of the container.", &S::resources, ResourcesTable()}};
}

Type<MindieManager> MindieManagerTable() {
  return Object<MindieManager>(
      Joined(Joined({{"standby", "A second pod that takes over when the first fails.",
                      &MindieManager::standby, Boolean()}},
                    ContainerKeys<MindieManager>()),
             PodKeys(&MindieManager::pods, "node_selector")));
}

Type<MindieRole> MindieRoleTable() {
  return Object<MindieRole>(
      Joined(Joined({{"instances", "Instances, one AscendJob each.", &MindieRole::instances,
                      Whole(1, kMaxMindieInstances)},
                     {"pod_num", "Pods of one instance.", &MindieRole::pod_num,
                      Whole(1, kMaxMindiePods)},
                     {"npu_num", "NPUs of each pod; by default all of a server, 8 or 16.",
                      &MindieRole::npu_num, Whole(1, kMaxNpus)},
                     {"distributed", "Whether each pod of an instance is a server of its own.",
                      &MindieRole::distributed, Boolean()}},
                    ContainerKeys<MindieRole>()),
             PodKeys(&MindieRole::pods, "node_selector")),
      {}, MindieRole(), "`mindgate deploy --schema mindie` has all keys");
}

Type<MindieConfigMaps> ConfigMapsTable() {
  using C = MindieConfigMaps;
  return Object<C>(
      {{"environment", "Variables of all containers.", &C::environment, ObjectName()},
       {"boot", "boot.sh.", &C::boot, ObjectName()},
       {"group_id", "get_group_id.py.", &C::group_id, ObjectName()},
       {"server_update", "update_mindie_server_config.py.", &C::server_update, ObjectName()},
       {"http_client", "http_client_ctl.json.", &C::http_client, ObjectName()},
       {"controller", "ms_controller.json.", &C::controller, ObjectName()},
       {"coordinator", "ms_coordinator.json.", &C::coordinator, ObjectName()},
       {"server", "config.json of the servers.", &C::server, ObjectName()}});
}

Type<MindieEntry> EntryTable() {
  return Object<MindieEntry>(
      {{"port", "Port of the coordinator and of its Service.", &MindieEntry::port, Whole(1, 65535)},
       {"node_port",
        "Port on every node, which no other Service of the cluster may have; absent: reachable "
        "within the cluster only.",
        &MindieEntry::node_port, Whole(1, 65535)}});
}

// The labels by which MindCluster and the controller know the jobs.
void CheckIdentity(const std::string& role, const PodSettings& pods, const Field& field) {
  for (const std::string_view key : {schemas::kJobId, schemas::kApp}) {
    if (pods.labels.find(key) == pods.labels.end()) continue;
    const std::string path = json::Child(json::Child(json::Child(field.path, role), "labels"), key);
    field.reading.Fault(path, "the jobs of the service are known by the label " + Quote(key),
                        "remove it");
  }
}

// The major version in the tag of an image: 2 of "mindie:2.1.RC1". Nothing where a tag says none.
std::optional<int> MajorVersionOf(std::string_view image) {
  image = image.substr(0, image.find('@'));
  const size_t colon = image.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  std::string_view tag = image.substr(colon + 1);
  if (tag.starts_with('v')) tag.remove_prefix(1);
  int major = 0;
  const auto [end, failed] = std::from_chars(tag.data(), tag.data() + tag.size(), major);
  const bool is_version = failed == std::errc() && end != tag.data() + tag.size() && *end == '.';
  return is_version ? std::optional(major) : std::nullopt;
}

// MindIE-Motor: mindie_motor/src/example/deploy_scripts, boot.sh and deploy_ac_job.py (5dfb024e).
void CheckVersion(const std::string& image, const Field& field) {
  const std::optional<int> major = MajorVersionOf(image);
  if (!major || *major < kFirstOtherMotor) return;
  field.reading.Fault(
      json::Child(field.path, "image"),
      "MindIE Motor " + std::to_string(*major) +
          ".x does not start with what mindgate makes: its boot.sh needs APP_TYPE, file_utils.py, "
          "node_manager.json and hccl.json, and rank tables that its own deployer writes",
      "deploy it with deploy_ac_job.py of MindIE Motor; docs/deploy.md lists what is missing");
}

void CheckMindieService(MindieService& service, const Field& field) {
  CheckVersion(service.image, field);
  CheckIdentity("controller", service.controller.pods, field);
  CheckIdentity("coordinator", service.coordinator.pods, field);
  CheckIdentity("prefill", service.prefill.pods, field);
  CheckIdentity("decode", service.decode.pods, field);
}

Type<MindieService> MindieServiceTable() {
  using S = MindieService;
  return Object<S>(
      {{"image", "Image of all containers.", &S::image, Image(), schemas::kRequired},
       {"model_path", "Folder of the weights on every node; mounted at the same place.",
        &S::model_path, AbsolutePath(), schemas::kRequired},
       {"hardware_type", "What the nodes are.", &S::hardware,
        schemas::Choice<MindieHardware>(
            {{"800I_A2", MindieHardware::kA2}, {"800I_A3", MindieHardware::kA3}})},
       {"npu_resource", "Resource of the NPUs.", &S::npu_resource, ResourceName()},
       {"queue", "Queue of Volcano.", &S::queue, ObjectName()},
       {"fault_retry_times", "How often an instance is rescheduled after faults of its software.",
        &S::fault_retry_times, Whole(0, kMaxRetries)},
       {"scaling_rule",
        "Whether the service shrinks, down to one prefill instance, when NPUs are missing.",
        &S::scaling_rule, Boolean()},
       {"priority_classes", "Whether decode instances are kept rather than prefill instances.",
        &S::priority_classes, Boolean()},
       {"config_maps", "Names of the ConfigMaps that come with MindIE Motor.", &S::config_maps,
        ConfigMapsTable()},
       {"service", "The entry of the service.", &S::service, EntryTable()},
       {"controller", "The controller.", &S::controller, std::move(MindieManagerTable()).OrNull()},
       {"coordinator", "The coordinator, which takes the requests.", &S::coordinator,
        std::move(MindieManagerTable()).OrNull()},
       {"prefill", "The prefill instances.", &S::prefill, MindieRoleTable(), schemas::kRequired},
       {"decode", "The decode instances.", &S::decode, MindieRoleTable(), schemas::kRequired}},
      CheckMindieService);
}

MindieService& MindieServiceIn(Application& application) {
  auto* service = std::get_if<MindieService>(&application.service);
  return service != nullptr ? *service : application.service.emplace<MindieService>();
}

}  // namespace

const Type<Application>& MindieTable() {
  static const Type<Application> table = Object<Application>(
      Joined(CommonKeys(),
             {{"mindie_service", "The service.",
               [](Application& application) -> auto& { return MindieServiceIn(application); },
               MindieServiceTable(), schemas::kRequired}}));
  return table;
}

}  // namespace mindgate::deploy
