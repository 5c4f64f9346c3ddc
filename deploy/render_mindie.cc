#include <array>

#include "deploy/render.h"
#include "schemas/names.h"

// The objects of MindIE Motor's samples and documents (mindcluster-deploy:
// samples/inference/volcano/mindie-ms; mind-cluster: docs, MindIE Motor best practice): two
// managers and one AscendJob for each prefill and decode instance.
namespace mindgate::deploy {
namespace {

using json::Json;

constexpr const char* kMindieBlock = "/mindie_service/";
constexpr const char* kConfigFolder = "/mnt/configmap";
constexpr const char* kRankTableFolder = "/user/serverid/devindex/config";
constexpr const char* kRingControllerValue = "ascend-910b";  // of all samples
// The controller reads the first group as prefill and the second as decode, by their position.
constexpr const char* kPrefillGroup = "group0";
constexpr const char* kDecodeGroup = "group1";
// Labels of nodes (mindcluster-deploy: samples; documents of MindCluster).
constexpr const char* kAcceleratorType = "accelerator-type";
constexpr const char* kSuperPodServer = "module-a3-16-super-pod";
constexpr int64_t kReadable = 0640;
constexpr int64_t kRunnable = 0550;
constexpr int64_t kFileGroup = 1001;  // fsGroup of the samples

// A file of a ConfigMap that appears in kConfigFolder.
struct ConfigFile {
  const char* volume;
  std::string config_map;
  const char* file;
  int64_t mode = kReadable;
};

// What the jobs of an application differ in.
struct JobPlan {
  std::string name;
  std::string app;      // value of the label app
  std::string written;  // pointer into the configuration
  const PodSettings& pods;
  const Variables& variables;
  const ResourceSettings& resources;
  ResourceSettings default_resources;
  Json labels = Json::object();  // of the job alone
  Json annotations = Json::object();
  std::vector<ConfigFile> files;
  int64_t pod_num = 1;
  int64_t npu_num = 0;
  int64_t grace_seconds = 0;
  std::string priority_class = {};
  const char* restart_policy = "Always";
};

class MindieRenderer {
 public:
  MindieRenderer(const Application& application, const MindieService& service)
      : application_(application), service_(service) {}

  std::vector<RenderedObject> Render() {
    if (service_.priority_classes) {
      AddPriorityClass("prefill", 1);
      AddPriorityClass("decode", 100);
    }
    AddGlobalRankTable();
    if (service_.scaling_rule) AddScalingRule();
    AddEntry();
    AddManager("coordinator", schemas::kMindieCoordinator, service_.coordinator,
               {{"4Gi", "16"}, {"8Gi", "64"}},
               {{"mindie-ms-coordinator-config", service_.config_maps.coordinator,
                 "ms_coordinator.json"}});
    AddController();
    AddServers("prefill", service_.prefill, kPrefillGroup, "-p", service_.decode.distributed, "2");
    AddServers("decode", service_.decode, kDecodeGroup, "-d", service_.prefill.distributed, "1");
    return std::move(objects_);
  }

 private:
  RenderedObject& Add(const std::string& api_version, const std::string& kind,
                      const std::string& name, Phase phase, bool namespaced = true) {
    objects_.push_back(NewObject(application_, api_version, kind, name, phase, namespaced));
    return objects_.back();
  }

  // Of the whole cluster, so that the namespace is part of the name.
  std::string PriorityClassOf(const std::string& role) const {
    return service_.priority_classes ? application_.ns + "-" + application_.name + "-" + role : "";
  }

  std::string RuleName() const { return application_.name + "-scaling-rule"; }
  std::string GlobalTableName() const { return application_.name + kGlobalTableSuffix; }

  void AddPriorityClass(const std::string& role, int64_t value) {
    RenderedObject& rendered =
        Add("scheduling.k8s.io/v1", "PriorityClass", PriorityClassOf(role), Phase::kFirst, false);
    rendered.object["value"] = value;
    rendered.object["description"] = role + " instances of application " + application_.name +
                                     " in namespace " + application_.ns;
    rendered.object["globalDefault"] = false;
  }

  void AddGlobalRankTable() {
    RenderedObject& rendered = Add("v1", "ConfigMap", GlobalTableName(), Phase::kFirst);
    rendered.seeded = true;
    rendered.object["metadata"]["labels"][schemas::kJobId] = application_.name;
    rendered.object["data"] = {{kGlobalTableFile, R"({"version":"1.0","status":"initializing"})"}};
  }

  // One shape for each number of prefill instances, the largest first; decode stays as it is.
  void AddScalingRule() {
    const auto group = [](const char* name, int64_t count, int64_t pods) -> nlohmann::ordered_json {
      return {{"group_name", name},
              {"group_num", std::to_string(count)},
              {"server_num_per_group", std::to_string(pods)}};
    };
    auto shapes = nlohmann::ordered_json::array();
    for (int64_t count = service_.prefill.instances; count > 0; --count) {
      shapes.push_back(
          {{"group_list",
            {group(kPrefillGroup, count, service_.prefill.pod_num),
             group(kDecodeGroup, service_.decode.instances, service_.decode.pod_num)}}});
    }
    const nlohmann::ordered_json rule = {{"version", "1.0"}, {"elastic_scaling_list", shapes}};
    RenderedObject& rendered = Add("v1", "ConfigMap", RuleName(), Phase::kFirst);
    rendered.object["data"] = {{schemas::kScalingRuleKey, rule.dump(2) + "\n"}};
    rendered.origins.push_back({"/data", "/mindie_service/scaling_rule"});
  }

  void AddEntry() {
    const int64_t port = service_.service.port;
    RenderedObject entry = NewService(
        application_, application_.name + "-coordinator-infer",
        {{schemas::kApp, schemas::kMindieCoordinator}, {schemas::kJobId, application_.name}},
        Json::array({Port("http", port, port)}));
    Json& spec = entry.object["spec"];
    if (service_.service.node_port) {
      spec["type"] = "NodePort";
      spec["ports"][0]["nodePort"] = *service_.service.node_port;
    }
    entry.origins.insert(entry.origins.end(),
                         {{"/spec", "/mindie_service/service"},
                          {"/spec/ports/0/nodePort", "/mindie_service/service/node_port"}});
    objects_.push_back(std::move(entry));
  }

  void AddController() {
    AddManager(
        "controller", schemas::kMindieController, service_.controller, {{"2Gi", "4"}, {"4Gi", "8"}},
        {{"mindie-ms-controller-config", service_.config_maps.controller, "ms_controller.json"}});
    if (!service_.scaling_rule) return;
    // As a folder, which follows changes of the rule: a file that is mounted by subPath never does.
    for (auto& [type, replicas] : objects_.back().object["spec"]["replicaSpecs"].items()) {
      Json& spec = replicas["template"]["spec"];
      Json& container = spec["containers"][0];
      const std::string folder = std::string(kConfigFolder) + "/scaling";
      container["volumeMounts"].push_back(Mount("scaling-rule", folder));
      container["env"].push_back(
          Variable("ELASTIC_SCALING_SRC", folder + "/" + std::string(schemas::kScalingRuleKey)));
      spec["volumes"].push_back(
          {{"name", "scaling-rule"},
           {"configMap", {{"name", RuleName()}, {"defaultMode", kReadable}}}});
    }
  }

  void AddManager(const std::string& name, std::string_view app, const MindieManager& manager,
                  const ResourceSettings& resources, std::vector<ConfigFile> files) {
    JobPlan plan{.name = application_.name + "-" + name,
                 .app = std::string(app),
                 .written = kMindieBlock + name,
                 .pods = manager.pods,
                 .variables = manager.variables,
                 .resources = manager.resources,
                 .default_resources = resources,
                 .files = std::move(files)};
    if (manager.standby) {
      plan.pod_num = 2;
      plan.labels[schemas::kPodRescheduling] = "on";
    }
    AddJob(plan, Phase::kManagers);
  }

  void AddServers(const std::string& name, const MindieRole& role, const char* group,
                  const char* letter, bool other_distributed, const char* when_equal) {
    const char* flag = role.distributed ? "1" : "0";
    const std::string deploy_server = role.distributed == other_distributed ? when_equal : flag;
    for (int64_t i = 0; i < role.instances; ++i) {
      JobPlan plan{
          .name = application_.name + letter + std::to_string(i),
          .app = std::string(schemas::kMindieServer),
          .written = kMindieBlock + name,
          .pods = role.pods,
          .variables = role.variables,
          .resources = role.resources,
          .default_resources = {{"64Gi", "16"}, {"256Gi", "64"}},
          .files = {{"mindie-server-config", service_.config_maps.server, "config.json"},
                    {"python-script-update-server-conf", service_.config_maps.server_update,
                     "update_mindie_server_config.py"}},
          .pod_num = role.pod_num,
          .npu_num = service_.NpusOf(role),
          .grace_seconds = 10,
          .priority_class = PriorityClassOf(name),
          // Pods that count retries must end when their container does.
          .restart_policy = "Never"};
      plan.labels = {{schemas::kFaultScheduling, "force"},
                     {schemas::kFaultRetryTimes, std::to_string(service_.fault_retry_times)},
                     {schemas::kDeployServerDistributed, deploy_server}};
      if (service_.scaling_rule) {
        plan.labels[schemas::kScalingRule] = RuleName();
        plan.labels[schemas::kGroupName] = group;
      }
      if (IsInSuperPod(role.pods)) {
        plan.annotations[schemas::kSpBlock] = std::to_string(role.pod_num * service_.NpusOf(role));
      }
      AddRankTable(plan.name, deploy_server);
      AddJob(plan, Phase::kServers);
    }
  }

  // The operator fills the table only if it is there when the job starts.
  void AddRankTable(const std::string& job, const std::string& deploy_server) {
    RenderedObject& rendered =
        Add("v1", "ConfigMap", std::string(schemas::kRankTablePrefix) + job, Phase::kFirst);
    rendered.seeded = true;
    rendered.object["metadata"]["labels"].update(
        {{schemas::kJobId, application_.name},
         {schemas::kRingController, kRingControllerValue},
         {schemas::kRankTableConsumer, "true"},
         {schemas::kDeployServerDistributed, deploy_server}});
    rendered.object["data"] = {{schemas::kRankTableKey, kEmptyRankTable}};
  }

  Json TemplateLabels(const JobPlan& plan) const {
    return {{schemas::kRingController, kRingControllerValue},
            {schemas::kApp, plan.app},
            {schemas::kJobId, application_.name}};
  }

  void AddJob(const JobPlan& plan, Phase phase) {
    RenderedObject& rendered = Add("mindxdl.gitee.com/v1", "AscendJob", plan.name, phase);
    Json& metadata = rendered.object["metadata"];
    metadata["labels"].update(TemplateLabels(plan));
    metadata["labels"][schemas::kFramework] = "pytorch";
    metadata["labels"].update(plan.labels);
    metadata["annotations"].update(plan.annotations);
    Json scheduling = {{"minAvailable", plan.pod_num}, {"queue", service_.queue}};
    // What the file says wins over the classes of priority_classes.
    const std::string& priority = plan.pods.extras.priority_class.empty()
                                      ? plan.priority_class
                                      : plan.pods.extras.priority_class;
    if (!priority.empty()) scheduling["priorityClass"] = priority;
    rendered.object["spec"] = {{"schedulerName", schemas::kVolcanoScheduler},
                               {"runPolicy", {{"schedulingPolicy", std::move(scheduling)}}}};
    rendered.origins.push_back({"/spec", plan.written});
    rendered.origins.push_back({"/spec/runPolicy/schedulingPolicy/queue", "/mindie_service/queue"});
    MergeMap(rendered, "/metadata/labels", plan.pods.labels, plan.written + "/labels");
    MergeMap(rendered, "/metadata/annotations", plan.pods.annotations,
             plan.written + "/annotations");
    AddReplicas(rendered, "Master", 1, plan);
    if (plan.pod_num > 1) AddReplicas(rendered, "Worker", plan.pod_num - 1, plan);
  }

  void AddReplicas(RenderedObject& rendered, const std::string& type, int64_t count,
                   const JobPlan& plan) {
    const std::string at = "/spec/replicaSpecs/" + type;
    Json& replicas = rendered.object[Json::json_pointer(at)];
    replicas = {{"replicas", count},
                {"restartPolicy", plan.restart_policy},
                {"template",
                 {{"metadata", {{"labels", TemplateLabels(plan)}}}, {"spec", PodSpecOf(plan)}}}};
    MergeMap(rendered, at + "/template/metadata/labels", plan.pods.labels,
             plan.written + "/labels");
    MergeMap(rendered, at + "/template/spec/nodeSelector", plan.pods.node_selector,
             plan.written + "/node_selector");
    const std::string container = at + "/template/spec/containers/0";
    AddExtras(rendered, at + "/template/spec", container, plan.pods.extras, plan.written,
              kSnakeNames);
    rendered.origins.insert(rendered.origins.end(),
                            {{at, plan.written},
                             {container + "/image", "/mindie_service/image"},
                             {container + "/env", plan.written + "/env_vars"},
                             {container + "/resources",
                              plan.written + (plan.npu_num > 0 ? "/npu_num" : "/resources")}});
    AddPathOrigin(rendered, at + "/template/spec", "model", "/mindie_service/model_path");
  }

  // Servers without the network of a super pod must not be asked for a block of it.
  bool IsInSuperPod(const PodSettings& pods) const {
    if (service_.hardware != MindieHardware::kA3) return false;
    const auto type = pods.node_selector.find(kAcceleratorType);
    return type == pods.node_selector.end() || type->second == kSuperPodServer;
  }

  Json NodeSelector() const {
    if (service_.hardware == MindieHardware::kA3) return {{kAcceleratorType, kSuperPodServer}};
    return {{"accelerator", "huawei-Ascend910"}};
  }

  Json PodSpecOf(const JobPlan& plan) const {
    Json spec = {{"nodeSelector", NodeSelector()},
                 {"terminationGracePeriodSeconds", plan.grace_seconds},
                 {"automountServiceAccountToken", false},
                 {"securityContext", {{"fsGroup", kFileGroup}}},
                 {"volumes", Json::array()}};
    if (!plan.priority_class.empty()) spec["priorityClassName"] = plan.priority_class;
    const bool is_server = plan.npu_num > 0;
    if (!is_server && plan.pod_num > 1) spec["affinity"] = ApartFrom(plan);
    Json container = ContainerOf(plan);
    Json& mounts = container["volumeMounts"];
    Json& volumes = spec["volumes"];
    volumes.push_back({{"name", "global-ranktable"},
                       {"configMap", {{"name", GlobalTableName()}, {"defaultMode", kReadable}}}});
    mounts.push_back(Mount("global-ranktable", kRankTableFolder));
    std::vector<ConfigFile> files = {
        {"boot-bash-script", service_.config_maps.boot, "boot.sh", kRunnable},
        {"python-script-get-group-id", service_.config_maps.group_id, "get_group_id.py"},
        {"mindie-http-client-ctl-config", service_.config_maps.http_client,
         "http_client_ctl.json"}};
    files.insert(files.end(), plan.files.begin(), plan.files.end());
    for (const ConfigFile& file : files) {
      volumes.push_back({{"name", file.volume},
                         {"configMap", {{"name", file.config_map}, {"defaultMode", file.mode}}}});
      Json mount = Mount(file.volume, std::string(kConfigFolder) + "/" + file.file);
      mount["subPath"] = file.file;
      mounts.push_back(std::move(mount));
    }
    if (is_server) AddServerVolumes(volumes, mounts);
    spec["containers"] = Json::array({std::move(container)});
    return spec;
  }

  // Two managers on one node would fall together.
  Json ApartFrom(const JobPlan& plan) const {
    return {
        {"podAntiAffinity",
         {{"requiredDuringSchedulingIgnoredDuringExecution",
           {{{"labelSelector",
              {{"matchLabels", {{schemas::kApp, plan.app}, {schemas::kJobId, application_.name}}}}},
             {"topologyKey", "kubernetes.io/hostname"}}}}}}};
  }

  void AddServerVolumes(Json& volumes, Json& mounts) const {
    volumes.push_back(HostPath("model", service_.model_path, "Directory"));
    Json model = Mount("model", service_.model_path);
    model["readOnly"] = true;
    mounts.push_back(std::move(model));
    volumes.push_back(HostPath("queue-schedule", "/var/queue_schedule", "DirectoryOrCreate"));
    mounts.push_back(Mount("queue-schedule", "/var/queue_schedule"));
    volumes.push_back(
        {{"name", "dshm"}, {"emptyDir", {{"medium", "Memory"}, {"sizeLimit", "4Gi"}}}});
    mounts.push_back(Mount("dshm", "/dev/shm"));
  }

  static Json Probe(const std::string& what) {
    return {{"exec",
             {{"command",
               {"bash", "-c", "$MIES_INSTALL_PATH/scripts/http_client_ctl/probe.sh " + what}}}},
            {"periodSeconds", 5}};
  }

  Json ResourcesOf(const JobPlan& plan) const {
    const auto amounts = [](const Amounts& written, const Amounts& otherwise) -> Json {
      return {{"memory", *(written.memory ? written.memory : otherwise.memory)},
              {"cpu", *(written.cpu ? written.cpu : otherwise.cpu)}};
    };
    Json resources = {
        {"requests", amounts(plan.resources.requests, plan.default_resources.requests)},
        {"limits", amounts(plan.resources.limits, plan.default_resources.limits)}};
    if (plan.npu_num > 0) {
      resources["requests"][service_.npu_resource] = plan.npu_num;
      resources["limits"][service_.npu_resource] = plan.npu_num;
    }
    return resources;
  }

  Json ContainerOf(const JobPlan& plan) const {
    Json container = {
        {"name", schemas::kAscendContainer},
        {"image", service_.image},
        {"imagePullPolicy", "IfNotPresent"},
        {"command", {"/bin/bash", "-c", std::string(kConfigFolder) + "/boot.sh"}},
        {"securityContext",
         {{"allowPrivilegeEscalation", false},
          {"capabilities", {{"drop", {"ALL"}}}},
          {"seccompProfile", {{"type", "RuntimeDefault"}}}}},
        {"readinessProbe", Probe("readiness")},
        {"livenessProbe", Probe("liveness")},
        {"startupProbe", Probe("startup")},
        {"env",
         {FieldVariable("POD_IP", "status.podIP"),
          Variable("GLOBAL_RANK_TABLE_FILE_PATH",
                   std::string(kRankTableFolder) + "/..data/" + kGlobalTableFile),
          Variable("MIES_INSTALL_PATH",
                   "$(MINDIE_USER_HOME_PATH)/Ascend/mindie/latest/mindie-service"),
          Variable("CONFIG_FROM_CONFIGMAP_PATH", kConfigFolder)}},
        {"envFrom", {{{"configMapRef", {{"name", service_.config_maps.environment}}}}}},
        {"resources", ResourcesOf(plan)},
        {"volumeMounts", Json::array()}};
    container["startupProbe"]["failureThreshold"] = 100;
    Append(container["env"], plan.variables);
    return container;
  }

  const Application& application_;
  const MindieService& service_;
  std::vector<RenderedObject> objects_;
};

}  // namespace

std::vector<RenderedObject> RenderMindie(const Application& application,
                                         const MindieService& service) {
  return MindieRenderer(application, service).Render();
}

}  // namespace mindgate::deploy
