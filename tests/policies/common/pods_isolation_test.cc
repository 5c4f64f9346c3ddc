#include "support/npu_manifests.h"
#include "support/rules.h"

namespace mindgate::testing {
namespace {

// A Deployment on NPUs: of its one container what `container` says, of its pod spec what `pod`
// says.
std::string OfContainer(const std::string& container, const std::string& pod = "",
                        const std::string& resources = "{limits: {huawei.com/Ascend910: 8}}") {
  return "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d}\nspec: {template: {spec: "
         "{schedulerName: volcano, " +
         pod + "containers: [{name: a, resources: " + resources + ", " + container + "}]}}}";
}

TEST(PrivilegedNpuPod, Table) {
  const auto message = [](std::string_view container, std::string_view name) {
    return std::string(container) + ".securityContext.privileged: privileged gives container \"" +
           std::string(name) +
           "\" all NPUs of its node, those of other pods too, whatever ASCEND_VISIBLE_DEVICES says";
  };
  const std::string privileged = "securityContext: {privileged: true}";
  const std::string runner =
      "{name: ome-container, resources: {limits: {huawei.com/Ascend910: 8}}, " + privileged + "}";
  ExpectFindings(
      "MG173",
      {
          {"a main container",
           OfContainer(privileged),
           {message("spec.template.spec.containers[0]", "a")}},
          {"all chips of the node",
           OfContainer(privileged, "", "{limits: {huawei.com/Ascend910: 16}}"),
           {message("spec.template.spec.containers[0]", "a")}},
          {"an init container and a sidecar, which ask for no chips",
           OfContainer("image: i", "initContainers: [{name: b, " + privileged +
                                       "}, {name: c, restartPolicy: Always, " + privileged +
                                       "}], "),
           {message("spec.template.spec.initContainers[0]", "b"),
            message("spec.template.spec.initContainers[1]", "c")}},
          {"leader and worker of a runtime",
           "apiVersion: ome.io/v1beta1\nkind: ClusterServingRuntime\nmetadata: {name: r}\nspec: "
           "{decoderConfig: {leader: {runner: " +
               runner + "}, worker: {size: 1, runner: " + runner + "}}}",
           {message("spec.decoderConfig.leader.runner", "ome-container"),
            message("spec.decoderConfig.worker.runner", "ome-container")}},
          {"a slice",
           OfContainer(privileged, "", "{limits: {huawei.com/Ascend910-4c: 1}}"),
           {message("spec.template.spec.containers[0]", "a")}},
          {"of an InferenceService whose runtime asks for the chips",
           "apiVersion: ome.io/v1beta1\nkind: InferenceService\nmetadata: {name: i}\nspec: "
           "{runtime: {name: r}, engine: {runner: {name: engine, " +
               privileged + "}}}",
           {message("spec.engine.runner", "engine")},
           "",
           {ServingRuntime({})}},
          {"false", OfContainer("securityContext: {privileged: false}"), {}},
          {"not said", OfContainer("securityContext: {runAsUser: 0}"), {}},
          {"single capabilities",
           OfContainer("securityContext: {capabilities: {add: [IPC_LOCK, SYS_PTRACE]}}"),
           {}},
          {"no chips", OfContainer(privileged, "", "{limits: {cpu: 8}}"), {}},
          {"a pod whose owner was reported",
           "{apiVersion: v1, kind: Pod, metadata: {name: p, ownerReferences: [{apiVersion: "
           "apps/v1, "
           "kind: ReplicaSet, name: r, uid: u, controller: true}]}, spec: {containers: [{name: a, "
           "resources: {limits: {huawei.com/Ascend910: 8}}, " +
               privileged + "}]}}",
           {}},
      });
}

// A volume `v` of that folder, mounted as `mounts` say.
std::string OfHost(const std::string& path,
                   const std::string& mounts = "{name: v, mountPath: /v}") {
  return OfContainer("volumeMounts: [" + mounts + "]",
                     "volumes: [{name: v, hostPath: {path: '" + path + "'}}], ");
}

TEST(HostTree, Table) {
  const auto message = [](std::string_view tree, std::string_view volume = "v",
                          std::string_view spec = "spec.template.spec", int index = 0) {
    return std::string(spec) + ".volumes[" + std::to_string(index) + "].hostPath.path: volume \"" +
           std::string(volume) + "\" is the whole " + std::string(tree) +
           " of the node: the pods reach the files of the system and of other workloads in it";
  };
  std::vector<RuleCase> cases;
  for (const std::string path : {"/", "/boot", "/dev", "/etc", "/home", "/mnt", "/opt", "/proc",
                                 "/root", "/run", "/sys", "/usr", "/var", "/var/lib", "/var/run"}) {
    cases.push_back({path, OfHost(path), {message(path)}});
  }
  // As MindCluster, MindIE Motor, AIBrix and OME mount them, and data and models of a site.
  for (const std::string path : {"/usr/local/Ascend/driver",
                                 "/usr/local/Ascend/add-ons",
                                 "/usr/local/dcmi",
                                 "/usr/local/bin/npu-smi",
                                 "/usr/local/sbin",
                                 "/etc/hccn.conf",
                                 "/etc/ascend_install.info",
                                 "/etc/localtime",
                                 "/dev/shm",
                                 "/var/log/npu",
                                 "/var/log/npu/conf/slog/",
                                 "/var/log/sglang-router",
                                 "/var/queue_schedule",
                                 "/user/mindx-dl/ranktable/default.job",
                                 "/user/restore/reset/default.job",
                                 "/mnt/models",
                                 "/root/models",
                                 "/root/.cache",
                                 "/data",
                                 "/data01/models",
                                 "/scripts",
                                 "/home/user",
                                 "/mnt2",
                                 "//mnt//models",
                                 ""}) {
    cases.push_back({path, OfHost(path), {}});
  }
  cases.insert(
      cases.end(),
      {
          {"a slash at the end", OfHost("/mnt/"), {message("/mnt")}},
          {"slashes and dots", OfHost("//var/./lib//"), {message("/var/lib")}},
          {"read-only still shows it",
           OfHost("/etc", "{name: v, mountPath: /v, readOnly: true}"),
           {message("/etc")}},
          {"every mount has a subPath",
           OfHost("/mnt",
                  "{name: v, mountPath: /a, subPath: a}, {name: v, mountPath: /b, "
                  "subPathExpr: $(POD_NAME)}"),
           {}},
          {"one mount has none",
           OfHost("/mnt", "{name: v, mountPath: /a, subPath: a}, {name: v, mountPath: /b}"),
           {message("/mnt")}},
          {"an empty subPath is none",
           OfHost("/mnt", "{name: v, mountPath: /a, subPath: ''}"),
           {message("/mnt")}},
          {"another volume has the subPath",
           OfHost("/mnt", "{name: w, mountPath: /a, subPath: a}"),
           {message("/mnt")}},
          {"each of several volumes",
           OfContainer("volumeMounts: [{name: b, mountPath: /b, subPath: b}]",
                       "volumes: [{name: a, hostPath: {path: /mnt}}, {name: s, emptyDir: {}}, "
                       "{name: b, hostPath: {path: /mnt}}, {name: c, hostPath: {path: /}}], "),
           {message("/mnt", "a"), message("/", "c", "spec.template.spec", 3)}},
          {"beside the runner of a runtime",
           "apiVersion: ome.io/v1beta1\nkind: ServingRuntime\nmetadata: {name: r}\nspec: "
           "{engineConfig: {volumes: [{name: model, hostPath: {path: /mnt}}], runner: {name: r, "
           "resources: {limits: {huawei.com/Ascend910: 8}}}}}",
           {message("/mnt", "model", "spec.engineConfig")}},
          {"no chips",
           OfContainer("image: i", "volumes: [{name: v, hostPath: {path: /mnt}}], ", "{}"),
           {}},
          RefusedBefore(
              {"other kinds of volumes",
               OfContainer(
                   "image: i",
                   "volumes: [{name: /mnt, emptyDir: {}}, {name: n, nfs: {path: /mnt}}, 7], "),
               {}}),
      });
  ExpectFindings("MG174", cases);
}

}  // namespace
}  // namespace mindgate::testing
