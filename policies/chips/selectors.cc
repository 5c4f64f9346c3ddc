#include <array>

#include "base/text.h"
#include "policies/chips/chips.h"
#include "policies/families.h"
#include "policies/places.h"
#include "schemas/names.h"
#include "schemas/normalized_key.h"

// Node selectors: one architecture for a job, and keys that some node carries.
namespace mindgate::policies::chips {
namespace {

using schemas::Entry;
using schemas::PodGroupView;
using schemas::PodTemplateView;

constexpr std::string_view kHostArch = "host-arch";
constexpr std::string_view kKubernetesArch = "kubernetes.io/arch";

struct Architecture {
  std::string_view name;  // empty: the pods do not say, or say something unknown
  Entry entry;
};

Architecture ArchitectureOf(const schemas::WorkloadView& view, const PodTemplateView& pod) {
  for (std::string_view key : {kHostArch, kKubernetesArch}) {
    const Entry entry = schemas::SelectorEntry(view, pod, key);
    const auto text = entry.Text();
    if (text == "huawei-arm" || text == "arm64") return {"Arm", entry};
    if (text == "huawei-x86" || text == "amd64") return {"x86", entry};
  }
  return {};
}

void CheckArchitectures(const RuleContext& context, Findings& findings) {
  const schemas::WorkloadView& view = context.view;
  for (const PodGroupView& group : view.pod_groups) {
    if (group.templates.size() < 2 || !group.npus) continue;
    const PodTemplateView* first = nullptr;
    std::string_view first_name;
    for (size_t index : group.templates) {
      const PodTemplateView& pod = view.templates[index];
      if (!pod.RequestsNpus()) continue;
      const Architecture architecture = ArchitectureOf(view, pod);
      if (architecture.name.empty()) continue;
      if (first == nullptr) {
        first = &pod;
        first_name = architecture.name;
        continue;
      }
      if (architecture.name == first_name) continue;
      findings.Violate(architecture.entry.Path(),
                       "pods of " + std::string(pod.name) + " select " +
                           std::string(architecture.name) + " servers, but those of " +
                           std::string(first->name) + " " + std::string(first_name) +
                           " servers: the processes of one job must run on one architecture",
                       "select the same architecture in all pods of " + std::string(group.name));
    }
  }
}

// What MindCluster's nodes are labelled with, as far as people write it in selectors.
constexpr std::array<std::string_view, 5> kNodeLabels = {
    "accelerator", "accelerator-type", kHostArch, "server-usage", "infer-card-type"};
// Of the letters of a key: one more makes a word of its own.
constexpr int kTyposOfLabel = 1;

void CheckSelectorKeys(const RuleContext& context, Findings& findings) {
  static const std::array<schemas::NormalizedKey, 5> known = {
      schemas::NormalizedKey(kNodeLabels[0]), schemas::NormalizedKey(kNodeLabels[1]),
      schemas::NormalizedKey(kNodeLabels[2]), schemas::NormalizedKey(kNodeLabels[3]),
      schemas::NormalizedKey(kNodeLabels[4])};
  size_t budget = schemas::kMaxComparedKeys;
  for (const PodTemplateView& pod : context.view.templates) {
    if (pod.node_selector.value == nullptr || !pod.RequestsNpus()) continue;
    for (const auto& [key, value] : pod.node_selector.value->members()) {
      if (budget == 0) return;
      --budget;
      if (key.size() > schemas::NormalizedKey::kMax || key.find('/') != std::string_view::npos)
        continue;
      const schemas::NormalizedKey word(key);
      for (size_t i = 0; i < known.size(); ++i) {
        if (key == kNodeLabels[i]) break;
        if (!word.Resembles(known[i], kTyposOfLabel)) continue;
        findings.Violate(
            pod.node_selector.path.Child(key),
            "MindCluster labels no node with " + Quote(key) + ", did you mean " +
                Quote(kNodeLabels[i]) + "? Pods that select a label which no node has stay Pending",
            "write " + std::string(kNodeLabels[i]) + " instead of " + std::string(key));
        break;
      }
    }
  }
}

constexpr Rule kSelectorRules[] = {
    {.id = "MG163",
     .name = "mixed-architectures",
     .severity = Severity::kError,
     .default_mode = schemas::Mode::kWarn,
     .kinds = schemas::kWorkloads,
     .summary = "All NPU pods of a PodGroup select the same architecture.",
     .why = "The processes of a distributed job exchange data in the layout of their machine, and "
            "run from one image. On servers of two architectures some of them do not start, or "
            "hang in the first collective operation.",
     .fix = "Write the same host-arch (or kubernetes.io/arch) in every pod template of the job, or "
            "make two jobs.",
     .source = "mind-cluster: docs/zh/scheduling, host-arch (nodes of a distributed job must have "
               "the same architecture). Independent pods that only share a PodGroup may work: "
               "therefore a warning.",
     .check = CheckArchitectures},
    {.id = "MG164",
     .name = "node-selector-key",
     .severity = Severity::kWarning,
     .default_mode = schemas::Mode::kWarn,
     .kinds = schemas::kWorkloads,
     .summary =
         "Keys of a nodeSelector that resemble those of MindCluster are spelled as on the nodes.",
     .why = "A pod insists on every label of its nodeSelector. A misspelled key is on no node, so "
            "the pod stays Pending; and the plugin, which reads accelerator-type from the same "
            "map, judges it by the rules of other servers.",
     .fix = "Write accelerator, accelerator-type, host-arch, server-usage or infer-card-type.",
     .source = "mind-cluster: component/ascend-device-plugin (node labels), docs/zh/scheduling. A "
               "site may have labels of its own: therefore a warning, and only for near misses.",
     .check = CheckSelectorKeys},
};

}  // namespace

Family SelectorRules() { return kSelectorRules; }

}  // namespace mindgate::policies::chips
