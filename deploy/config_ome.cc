#include <nlohmann/json.hpp>

#include "deploy/config_types.h"

// isvc-config.yaml of mindcluster-deploy.
namespace mindgate::deploy {
namespace {

using schemas::Key;
using schemas::NonEmptyText;
using schemas::Object;
using schemas::Whole;

// OME makes a Deployment or LeaderWorkerSet of so many instances; mindcluster-deploy accepts no
// more.
constexpr int64_t kMaxOmeReplicas = 64;
constexpr int64_t kMaxOmePods = 128;
constexpr int64_t kMaxSeconds = 3600;
constexpr int64_t kStorePort = 9000;
constexpr const char* kKeysHint = "`mindgate deploy --schema ome` has all keys";

template <typename S>
std::vector<Key<S>> OmeReplicaKeys() {
  return {{"min_replicas", "Instances at least.", &S::min_replicas, Whole(1, kMaxOmeReplicas)},
          {"max_replicas", "Instances at most; by default as many as min_replicas.",
           &S::max_replicas, Whole(1, kMaxOmeReplicas)},
          {"image", "Image of the container; by default the runtime's.", &S::image, Image()}};
}

// SGLang starts tp_size * pp_size processes, one on each NPU of an instance.
void CheckNpus(const OmeComponent& component, const Field& field) {
  const int64_t ranks = component.tp_size * component.pp_size;
  const int64_t npus = component.npu_num * component.pod_num;
  const std::string parallel = "tp_size * pp_size is " + std::to_string(ranks);
  if (!field.value.contains("npu_num")) {
    field.reading.Warn(
        field.path,
        "npu_num is left out: mindgate requests 1 NPU for each pod, where mindcluster-deploy "
        "requests 8" +
            (ranks > npus ? ", and " + parallel : std::string()),
        "write npu_num: 8, or npu_num: 1 when that is meant");
  } else if (component.npu_num > 0 && ranks > npus) {
    field.reading.Warn(
        json::Child(field.path, "npu_num"),
        parallel + ", but an instance has " + std::to_string(npus) + " NPUs (npu_num * pod_num)",
        "SGLang needs one NPU for each: correct npu_num, pod_num or the sizes");
  }
}

Type<OmeComponent> ComponentTable() {
  return Object<OmeComponent>(
      Joined(
          Joined(
              OmeReplicaKeys<OmeComponent>(),
              {{"pod_num",
                "Pods of one instance. With several, OME makes a LeaderWorkerSet; the runtime "
                "must have that shape.",
                &OmeComponent::pod_num, Whole(1, kMaxOmePods)},
               {"npu_num", "NPUs of each pod.", &OmeComponent::npu_num, Whole(0, kMaxNpus)},
               {"dp_size", "Data parallel size.", &OmeComponent::dp_size, Whole(1, kMaxSize)},
               {"tp_size", "Tensor parallel size.", &OmeComponent::tp_size, Whole(1, kMaxSize)},
               {"pp_size", "Pipeline parallel size.", &OmeComponent::pp_size, Whole(1, kMaxSize)},
               {"env_vars", "Variables of the container.", &OmeComponent::variables,
                VariableList()},
               ResourcesKey(&OmeComponent::resources)}),
          PodKeys(&OmeComponent::pods, "node_selector")),
      [](OmeComponent& component, const Field& field) {
        CheckReplicas(component.min_replicas, component.max_replicas, field);
        CheckNpus(component, field);
      },
      OmeComponent(), kKeysHint);
}

Type<OmeRouter> RouterTable() {
  return Object<OmeRouter>(
      Joined(Joined(OmeReplicaKeys<OmeRouter>(), {{"env_vars", "Variables of the container.",
                                                   &OmeRouter::variables, VariableList()},
                                                  ResourcesKey(&OmeRouter::resources)}),
             PodKeys(&OmeRouter::pods, "node_selector")),
      [](OmeRouter& router, const Field& field) {
        CheckReplicas(router.min_replicas, router.max_replicas, field);
      },
      OmeRouter(), kKeysHint);
}

// "none", or the settings.
Type<OmeService> RouterOrNone() {
  return schemas::Either(
      Type<OmeService>({"string"}, {{"enum", {"none"}}},
                       [](const Field& field, OmeService&) {
                         std::string word;
                         schemas::Word({"none"}).read(field, word);
                       }),
      Type<OmeService>({"object"}, RouterTable().keywords, [](const Field& field, OmeService& out) {
        RouterTable().read(field, out.router.emplace());
      }));
}

Type<ProbeSettings> ProbeTable(const ProbeSettings& defaults) {
  Type<ProbeSettings> table = Object<ProbeSettings>(
      {{"port", "Port that is tried; by default container_port.", &ProbeSettings::port,
        Whole(1, 65535)},
       {"initial_delay_seconds", "Seconds before the first try.",
        &ProbeSettings::initial_delay_seconds, Whole(0, kMaxSeconds)},
       {"period_seconds", "Seconds between two tries.", &ProbeSettings::period_seconds,
        Whole(1, kMaxSeconds)},
       {"failure_threshold", "Failures in a row that count.", &ProbeSettings::failure_threshold,
        Whole(1, kMaxSeconds)},
       Key<ProbeSettings>::Calling(
           "path", "Not used: the store does not serve HTTP.", NonEmptyText(),
           [](ProbeSettings&, const std::string&, const Field& field) {
             field.reading.Warn(
                 field.path,
                 "the store does not serve HTTP, so that a probe of a path never succeeds: "
                 "the port is tried instead",
                 "remove path");
           })},
      {}, defaults);
  table.read = [read = table.read, defaults](const Field& field, ProbeSettings& out) {
    out = defaults;
    read(field, out);
  };
  return std::move(table).OrNull();
}

Type<MfStore> StoreTable() {
  return Object<MfStore>(
      Joined<MfStore>(
          {{"image", "Image with memfabric_hybrid newer than 1.0.7.", &MfStore::image, Image(),
            schemas::kRequired},
           Key<MfStore>::Calling(
               "replicas", "Always 1: engine and decoder must meet in the same store.", Whole(1, 1),
               [](MfStore&, int64_t, const Field&) {}, 1),
           {"container_port", "Port of the store.", &MfStore::container_port, Whole(1, 65535)},
           {"env_vars", "Variables of the container.", &MfStore::variables, VariableList()},
           {"node_selector", "Labels that a node must have.", &MfStore::node_selector, LabelMap()},
           {"resources",
            "Resources of the container; requests are 64Mi and 50m, limits 256Mi and 500m where "
            "the block leaves them out.",
            &MfStore::resources, ResourcesTable()},
           {"readiness_probe", "When the store is ready.", &MfStore::readiness,
            ProbeTable({{}, 5, 5, 3})},
           {"startup_probe", "When the store has started.", &MfStore::startup,
            ProbeTable({{}, 10, 5, 10})},
           {"liveness_probe", "When the store is started again.", &MfStore::liveness,
            ProbeTable({{}, 30, 10, 3})}},
          ExtraKeys<MfStore>([](MfStore& store) -> PodExtras& { return store.extras; },
                             kSnakeNames)),
      [](MfStore& store, const Field& field) {
        if (store.container_port == kStorePort) return;
        field.reading.Warn(json::Child(field.path, "container_port"),
                           "the runtimes of mindcluster-deploy connect to port 9000 of the store's "
                           "Service, which leads to container_port: only a runtime with a port of "
                           "its own needs another one",
                           "write 9000, or leave container_port out");
      });
}

void CheckOmeService(OmeService& service, const Field& field) {
  if (!service.decoder || field.value.contains("router")) return;
  field.reading.Fault(
      json::Child(field.path, "router"),
      "an application with engine and decoder needs a router: without the block OME "
      "makes none, and nothing leads requests from the one to the other",
      "add router:, or write router: none when the router runs elsewhere");
}

Type<OmeService> OmeServiceTable() {
  return Object<OmeService>(
      {{"model_name", "Name of a BaseModel or ClusterBaseModel.", &OmeService::model_name,
        ObjectName(), schemas::kRequired},
       {"runtime_name",
        "Name of a ServingRuntime or ClusterServingRuntime; by default OME chooses one that fits "
        "the "
        "model.",
        &OmeService::runtime_name, ObjectName()},
       {"npu_resource", "Resource of the NPUs; huawei.com/npu for Ascend 950.",
        &OmeService::npu_resource, ResourceName()},
       {"engine", "The prefill instances.", &OmeService::engine, ComponentTable(),
        schemas::kRequired},
       {"decoder", "The decode instances; absent: the engine does both.", &OmeService::decoder,
        ComponentTable()},
       {"router", "The router in front of engine and decoder, or none.",
        [](OmeService& service) -> auto& { return service; }, RouterOrNone()}},
      CheckOmeService);
}

OmeService& OmeServiceIn(Application& application) {
  auto* service = std::get_if<OmeService>(&application.service);
  return service != nullptr ? *service : application.service.emplace<OmeService>();
}

void CheckStoreBlock(Application& application, const Field& field) {
  const bool decoder = OmeServiceIn(application).decoder.has_value();
  if (decoder && !field.value.contains("mf_store")) {
    field.reading.Fault("/mf_store",
                        "an application with engine and decoder needs a store, through which they "
                        "find each other",
                        "add mf_store: with an image");
  } else if (!decoder && field.value.contains("mf_store")) {
    field.reading.Warn("/mf_store", "without a decoder there is no store", "remove mf_store");
    OmeServiceIn(application).store.reset();
  }
}

}  // namespace

const Type<Application>& OmeTable() {
  static const Type<Application> table = Object<Application>(
      Joined(CommonKeys(),
             {{"inference_service", "The service.",
               [](Application& application) -> auto& { return OmeServiceIn(application); },
               OmeServiceTable(), schemas::kRequired},
              {"mf_store", "The MemFabric store. Needed with a decoder.",
               [](Application& application) -> auto& { return OmeServiceIn(application).store; },
               StoreTable()}}),
      CheckStoreBlock);
  return table;
}

}  // namespace mindgate::deploy
