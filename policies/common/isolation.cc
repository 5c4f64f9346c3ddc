#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <unordered_map>

#include "base/text.h"
#include "policies/families.h"

// What gives the containers of NPU pods more of their node than the chips that they ask for.
namespace mindgate::policies::common {
namespace {

using json::Value;
using schemas::ContainerView;
using schemas::PodTemplateView;

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
