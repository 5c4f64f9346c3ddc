#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/text.h"
#include "json/pointer.h"
#include "policies/chips/chips.h"
#include "policies/families.h"
#include "policies/text_entries.h"
#include "schemas/names.h"
#include "schemas/workload.h"

namespace mindgate::policies::common {

// What keeps the containers of a pod from getting the chips that the scheduler chose for it.

namespace {

using json::Value;
using schemas::ContainerView;
using schemas::NpuRequest;
using schemas::NpuResource;
using schemas::PodTemplateView;

// The first entry for which the device plugin asks the pod's annotation: static slices are handed
// out by the kubelet.
const NpuRequest* ServedByPlugin(const ContainerView& container) {
  for (const NpuRequest& npu : container.npus) {
    if (npu.count == int64_t{0}) continue;
    if (npu.kind == NpuResource::kWholeCard || npu.kind == NpuResource::kDynamicVnpu) return &npu;
  }
  return nullptr;
}

// The plugin gives every chip of the node to a container that asks for all of them, whatever the
// annotation says. Where the object does not say which servers it wants, nobody knows their size.
bool TakesWholeNode(const RuleContext& context, const PodTemplateView& pod, const NpuRequest& npu) {
  if (!pod.pod_group) return false;
  const schemas::GroupChips* chips = context.chips->Of(context.view.pod_groups[*pod.pod_group]);
  return chips != nullptr && chips->choice.handler &&
         chips->choice.by != schemas::HandlerChoice::By::kDefault &&
         npu.count == chips->choice.handler->node_chips;
}

// Containers of the runtime that stay beside those of the service and ask for chips.
size_t OthersInRuntime(const PodTemplateView& pod) {
  if (pod.runtime == nullptr) return 0;
  std::vector<const ContainerView*> merged;
  for (const ContainerView& container : pod.containers) {
    if (const ContainerView* twin = schemas::RuntimeTwin(pod, container)) merged.push_back(twin);
  }
  return static_cast<size_t>(std::count_if(
      pod.runtime->containers.begin(), pod.runtime->containers.end(), [&](const auto& container) {
        return container.role != ContainerView::Role::kInit &&
               ServedByPlugin(container) != nullptr &&
               std::find(merged.begin(), merged.end(), &container) == merged.end();
      }));
}

void CheckOneContainer(const RuleContext& context, Findings& findings) {
  for (const PodTemplateView& pod : context.view.templates) {
    if (!pod.own_npus || !IsPlacedByVolcano(context, pod)) continue;
    size_t served = OthersInRuntime(pod);
    for (const ContainerView& container : pod.containers) {
      if (container.role == ContainerView::Role::kInit) continue;
      const NpuRequest* npu = ServedByPlugin(container);
      if (npu == nullptr || TakesWholeNode(context, pod, *npu)) continue;
      if (++served == 1) continue;
      findings.Violate(npu->Path(),
                       "container " + Quote(container.name) +
                           " is not the only one of its pod that asks for NPUs: Ascend Device "
                           "Plugin serves one container of a pod, and the pod never starts",
                       "request all NPUs of the pod in one container, or run this container in a "
                       "pod of its own");
    }
  }
}

void CheckInitContainers(const RuleContext& context, Findings& findings) {
  for (const PodTemplateView& pod : context.view.templates) {
    if (!pod.own_npus || !IsPlacedByVolcano(context, pod)) continue;
    for (const ContainerView& container : pod.containers) {
      if (container.role != ContainerView::Role::kInit) continue;
      const NpuRequest* npu = ServedByPlugin(container);
      if (npu == nullptr || TakesWholeNode(context, pod, *npu)) continue;
      findings.Violate(npu->Path(),
                       "init container " + Quote(container.name) +
                           " asks for NPUs, which Ascend Device Plugin gives to one main container "
                           "of a pod only: the pod never starts",
                       "remove " + std::string(npu->resource) +
                           " from the init container, or do its work in the main container");
    }
  }
}

constexpr std::array<std::string_view, 5> kBareNames = {"Ascend910", "Ascend310P", "Ascend310",
                                                        "npu", "npu-core"};

void CheckBareResource(const RuleContext& context, Findings& findings) {
  for (const PodTemplateView& pod : context.view.templates) {
    for (const ContainerView& container : pod.containers) {
      const Value* resources = json::Find(container.value, "resources");
      for (std::string_view amounts : {"requests", "limits"}) {
        const Value* map = json::Find(resources, amounts);
        if (!json::IsObject(map)) continue;
        for (std::string_view name : kBareNames) {
          const Value* amount = json::Find(*map, name);
          if (amount == nullptr) continue;
          const std::string right = std::string(schemas::kResourcePrefix) + std::string(name);
          findings.Violate(
              json::Child(std::string(container.path) + "/resources/" + std::string(amounts), name),
              "resource " + Quote(name) + " lacks its domain, did you mean " + Quote(right) +
                  "? Kubernetes refuses pods with a resource of this name",
              "write " + right + " instead of " + std::string(name));
        }
      }
    }
  }
}

void CheckNodeName(const RuleContext& context, Findings& findings) {
  if (MayBeBound(context)) return;
  for (const PodTemplateView& pod : context.view.templates) {
    const auto node = pod.pod_spec.Text("nodeName");
    if (!node || node->empty() || !pod.RequestsNpus()) continue;
    findings.Violate(
        pod.pod_spec.path.Child("nodeName"),
        "nodeName " + Quote(*node) +
            " bypasses the scheduler: nobody chooses chips for these pods, and Ascend Device "
            "Plugin refuses to start them unless they take all chips of the node",
        "remove nodeName and write nodeSelector: {kubernetes.io/hostname: " + Quote(*node) + "}");
  }
}

constexpr Rule kPodRules[] = {
    {.id = "MG005",
     .name = "one-npu-container",
     .severity = Severity::kError,
     .default_mode = schemas::Mode::kEnforce,
     .kinds = schemas::kWorkloads,
     .summary = "One container of a pod asks for NPUs.",
     .why = "Volcano writes the chips of the whole pod into one annotation. Ascend Device Plugin "
            "gives them to the container whose request has exactly that many chips, and marks the "
            "pod as served. Every further container is refused, and the kubelet fails the pod with "
            "UnexpectedAdmissionError, on every node and again after each rescheduling.",
     .fix = "Request all NPUs in one container, or run the others in pods of their own. Static "
            "slices (Ascend910-4c) are not affected.",
     .source = "mind-cluster: component/ascend-device-plugin/pkg/server/plugin.go "
               "(checkAnnotationAllocateValid, doWithVolcanoSchedule). A container that asks for "
               "all chips of its node gets them without the annotation and does not count.",
     .check = CheckOneContainer},
    {.id = "MG006",
     .name = "npu-init-container",
     .severity = Severity::kError,
     .default_mode = schemas::Mode::kEnforce,
     .kinds = schemas::kWorkloads,
     .summary = "Init containers do not ask for NPUs.",
     .why = "The scheduler and Ascend Device Plugin count main containers only. An init container "
            "is refused when there is no main container with the same request; when there is one, "
            "the init container uses the pod's chips up and the main container is refused.",
     .fix = "Remove the NPUs from the init container. What needs a chip must run in the main "
            "container.",
     .source = "mind-cluster: component/ascend-device-plugin/pkg/common/common.go "
               "(getNPUResourceNumOfPod), pkg/server/plugin.go. An init container that asks for "
               "all chips of its node gets them and is not reported.",
     .check = CheckInitContainers},
    {.id = "MG007",
     .name = "bare-npu-resource",
     .severity = Severity::kError,
     .default_mode = schemas::Mode::kEnforce,
     .kinds = schemas::kWorkloads,
     .summary = "NPU resources are written with their domain, huawei.com/.",
     .why = "Names without a domain are Kubernetes' own (cpu, memory). The API server refuses a "
            "pod that asks for any other one; inside a custom resource the mistake goes unnoticed "
            "until its controller tries to create the pods.",
     .fix = "Write huawei.com/Ascend910, or the resource of the nodes.",
     .source = "kubernetes: pkg/apis/core/validation (ValidateContainerResourceName).",
     .check = CheckBareResource},
    {.id = "MG008",
     .name = "node-name",
     .severity = Severity::kError,
     .default_mode = schemas::Mode::kWarn,
     .kinds = schemas::kWorkloads,
     .summary = "NPU pods leave the choice of the node to the scheduler.",
     .why = "A pod with nodeName goes straight to the kubelet. Volcano neither counts it in a gang "
            "nor writes the annotation that names its chips, so Ascend Device Plugin refuses it; "
            "after a fault it comes back to the same broken node.",
     .fix = "Remove nodeName. To pin the pods to a node, write nodeSelector: "
            "{kubernetes.io/hostname: <node>}.",
     .source = "Kubernetes documentation: Assigning Pods to Nodes, nodeName; mind-cluster: "
               "component/ascend-device-plugin/pkg/server/plugin.go. A pod that takes all chips of "
               "its node starts: therefore a warning.",
     .check = CheckNodeName},
};

}  // namespace

Family PodRules() { return kPodRules; }

// What gives the containers of NPU pods more of their node than the chips that they ask for.

namespace {

void CheckPrivileged(const RuleContext& context, Findings& findings) {
  if (context.view.controller_injected) return;
  for (const PodTemplateView& pod : context.view.templates) {
    if (!pod.RequestsNpus()) continue;
    for (const ContainerView& container : pod.containers) {
      const Value* security = json::Find(container.value, "securityContext");
      if (security == nullptr ||
          !json::AsBool(json::Find(security, "privileged")).value_or(false)) {
        continue;
      }
      findings.Violate(std::string(container.path) + "/securityContext/privileged",
                       "privileged gives container " + Quote(container.name) +
                           " all NPUs of its node, those of other pods too, whatever "
                           "ASCEND_VISIBLE_DEVICES says",
                       "delete privileged, and add single capabilities where the container needs "
                       "them");
    }
  }
}

// Folders of a node in which nobody keeps only the data of one workload.
constexpr std::array<std::string_view, 15> kHostTrees = {
    "/",     "/boot", "/dev", "/etc", "/home", "/mnt",     "/opt",    "/proc",
    "/root", "/run",  "/sys", "/usr", "/var",  "/var/lib", "/var/run"};

// Deeper than any of them.
constexpr size_t kMaxTreeDepth = 2;

// The tree that the path names, however it writes slashes; nothing for a folder below one.
std::optional<std::string_view> HostTree(std::string_view path) {
  if (!path.starts_with('/')) return std::nullopt;
  std::string plain;
  size_t depth = 0;
  while (!path.empty()) {
    const size_t slash = std::min(path.find('/'), path.size());
    const std::string_view name = path.substr(0, slash);
    path.remove_prefix(std::min(slash + 1, path.size()));
    if (name.empty() || name == ".") continue;
    if (++depth > kMaxTreeDepth) return std::nullopt;
    plain += '/';
    plain += name;
  }
  if (plain.empty()) plain = "/";
  const auto* const tree = std::find(kHostTrees.begin(), kHostTrees.end(), plain);
  return tree == kHostTrees.end() ? std::nullopt : std::optional(*tree);
}

struct HostVolume {
  size_t index = 0;
  std::string_view name;
  std::string_view tree;
};

std::vector<HostVolume> TreesAmong(const Value& volumes) {
  std::vector<HostVolume> trees;
  for (size_t i = 0; i < volumes.size(); ++i) {
    const auto path = json::FindString(json::Find(volumes[i], "hostPath"), "path");
    const auto tree = path ? HostTree(*path) : std::nullopt;
    if (tree) trees.push_back({i, json::FindString(volumes[i], "name").value_or(""), *tree});
  }
  return trees;
}

bool HasSubPath(const Value& mount) {
  return !json::FindString(mount, "subPath").value_or("").empty() ||
         !json::FindString(mount, "subPathExpr").value_or("").empty();
}

// Of each volume that these containers mount: whether every mount shows only a folder of it.
std::unordered_map<std::string_view, bool> OnlyPartsSeen(const PodTemplateView& pod) {
  std::unordered_map<std::string_view, bool> parts;
  for (const ContainerView& container : pod.containers) {
    const Value* mounts = json::Find(container.value, "volumeMounts");
    if (!json::IsArray(mounts)) continue;
    for (const Value& mount : *mounts) {
      const auto name = json::FindString(mount, "name");
      if (!name) continue;
      const bool part = HasSubPath(mount);
      const auto [seen, added] = parts.emplace(*name, part);
      if (!added) seen->second = seen->second && part;
    }
  }
  return parts;
}

void CheckHostTree(const RuleContext& context, Findings& findings) {
  if (context.view.controller_injected) return;
  for (const PodTemplateView& pod : context.view.templates) {
    const Value* volumes = pod.pod_spec.Find("volumes");
    if (!json::IsArray(volumes) || !pod.RequestsNpus()) continue;
    const std::vector<HostVolume> trees = TreesAmong(*volumes);
    if (trees.empty()) continue;
    const auto parts = OnlyPartsSeen(pod);
    for (const HostVolume& volume : trees) {
      const auto seen = parts.find(volume.name);
      if (seen != parts.end() && seen->second) continue;
      findings.Violate(
          pod.pod_spec.path.Child("volumes") + "/" + std::to_string(volume.index) +
              "/hostPath/path",
          "volume " + Quote(volume.name) + " is the whole " + std::string(volume.tree) +
              " of the node: the pods reach the files of the system and of other workloads in it",
          "name the folder that the containers need, " +
              std::string(volume.tree == "/" ? "" : volume.tree) +
              "/FOLDER, or give every mount of the volume a subPath");
    }
  }
}

constexpr Rule kIsolationRules[] = {
    {.id = "MG173",
     .name = "privileged-npu-pod",
     .severity = Severity::kWarning,
     .default_mode = Mode::kWarn,
     .kinds = schemas::kWorkloads,
     .summary = "Containers of NPU pods are not privileged.",
     .why = "Ascend Docker Runtime mounts the chips that the scheduler chose and allows the "
            "container's device cgroup no others. A privileged container has no device cgroup: it "
            "sees all chips of the node, and takes those of its neighbours as soon as it counts "
            "devices instead of reading ASCEND_VISIBLE_DEVICES. It is also root on the node.",
     .fix = "Delete privileged; chips need none of it. Where a container needs a single right, add "
            "that: capabilities: {add: [IPC_LOCK]} to lock memory for RDMA.",
     .source = "Ascend Docker Runtime: how it works (device mounts and device cgroup); Kubernetes: "
               "Pod Security Standards, privileged containers. MindCluster's samples for MindIE "
               "Motor and for training are not privileged, its example runtimes for OME are: "
               "therefore a warning. A container that takes all chips of its node is reported too: "
               "what it may do on the node does not depend on them.",
     .check = CheckPrivileged},
    {.id = "MG174",
     .name = "host-tree",
     .severity = Severity::kWarning,
     .default_mode = Mode::kWarn,
     .kinds = schemas::kWorkloads,
     .summary = "NPU pods mount folders of their own from the node, not a whole tree such as /mnt.",
     .why =
         "A hostPath of /, /etc, /home, /mnt, /root, /var or another tree of the system shows "
         "the pods what all other workloads keep there, and keys and sockets of the node; unless "
         "it is read-only, they can also delete it. After rescheduling, the pods meet the files "
         "of another node in it.",
     .fix = "Name the folder: /mnt/models instead of /mnt. Where the tree must be one volume, give "
            "every mount of it a subPath. What MindCluster asks for is not affected: "
            "/usr/local/Ascend/driver, /etc/hccn.conf, /etc/localtime, folders of logs and rank "
            "tables.",
     .source =
         "Kubernetes documentation: Volumes, hostPath; Pod Security Standards. The example "
         "runtimes for OME of mindcluster-deploy mount /mnt, those of AIBrix /home: therefore "
         "a warning. The trees are /, /boot, /dev, /etc, /home, /mnt, /opt, /proc, /root, "
         "/run, /sys, /usr, /var, /var/lib and /var/run; /data is a data folder.",
     .check = CheckHostTree},
};

}  // namespace

Family IsolationRules() { return kIsolationRules; }

}  // namespace mindgate::policies::common
