#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "base/text.h"
#include "json/pointer.h"
#include "policies/chips/chips.h"
#include "policies/families.h"
#include "policies/text_entries.h"
#include "schemas/names.h"
#include "schemas/workload.h"

namespace mindgate::policies::chips {
namespace {

using json::Value;
using schemas::ContainerView;
using schemas::NpuRequest;
using schemas::NpuResource;
using schemas::PodTemplateView;

// Fields of a pod spec that end up in nodeSelector when a line is indented too far.
constexpr std::array<std::string_view, 16> kPodSpecFields = {"schedulerName",
                                                             "hostNetwork",
                                                             "hostPID",
                                                             "hostIPC",
                                                             "priorityClassName",
                                                             "nodeName",
                                                             "restartPolicy",
                                                             "serviceAccountName",
                                                             "terminationGracePeriodSeconds",
                                                             "dnsPolicy",
                                                             "runtimeClassName",
                                                             "automountServiceAccountToken",
                                                             "enableServiceLinks",
                                                             "preemptionPolicy",
                                                             "activeDeadlineSeconds",
                                                             "shareProcessNamespace"};

void CheckMisplacedFields(const RuleContext& context, Findings& findings) {
  for (const PodTemplateView& pod : context.view.templates) {
    if (pod.node_selector.value == nullptr) continue;
    const bool npus = pod.RequestsNpus();
    for (std::string_view field : kPodSpecFields) {
      const Value* value = pod.node_selector.Find(field);
      if (value == nullptr) continue;
      // An InferenceService seldom names chips itself; this pair cannot be a node label in any
      // case.
      const auto text = json::AsString(value);
      const bool scheduler = field == "schedulerName" && (text == schemas::kVolcanoScheduler ||
                                                          text == context.config.scheduler);
      if (!npus && !scheduler) continue;
      findings.Violate(pod.node_selector.path.Child(field),
                       std::string(field) +
                           " under nodeSelector asks for a node label of that name: no node has "
                           "it, and the field itself stays unset",
                       "indent " + std::string(field) + " like nodeSelector, not below it");
    }
  }
}

constexpr std::array<std::string_view, 2> kHostArchs = {"huawei-arm", "huawei-x86"};

std::string_view HostArchMeant(std::string_view value) {
  for (std::string_view arm : {"arm", "arm64", "aarch64", "huawei-arm64", "huawei-aarch64"}) {
    if (EqualIgnoreCase(value, arm)) return kHostArchs[0];
  }
  for (std::string_view x86 :
       {"x86", "x86_64", "x86-64", "amd64", "huawei-x86_64", "huawei-amd64"}) {
    if (EqualIgnoreCase(value, x86)) return kHostArchs[1];
  }
  return NearestOf(value, kHostArchs).value_or("");
}

void CheckHostArch(const RuleContext& context, Findings& findings) {
  for (const PodTemplateView& pod : context.view.templates) {
    const auto value = pod.node_selector.Text("host-arch");
    if (!value || value == kHostArchs[0] || value == kHostArchs[1] || !pod.RequestsNpus()) continue;
    const std::string_view meant = HostArchMeant(*value);
    findings.Violate(
        pod.node_selector.path.Child("host-arch"),
        "no node has host-arch " + Quote(*value) +
            ": MindCluster labels them huawei-arm or huawei-x86, and the pods stay Pending",
        meant.empty() ? Fix("write huawei-arm or huawei-x86, or leave host-arch out")
                      : WriteWord("host-arch", meant));
  }
}

struct AcceleratorLabel {
  std::string_view value;
  std::string_view resource;
};

// Written by Ascend Device Plugin on its node.
constexpr std::array<AcceleratorLabel, 4> kAccelerators = {{
    {"huawei-Ascend910", "huawei.com/Ascend910"},
    {"huawei-Ascend310", "huawei.com/Ascend310"},
    {"huawei-Ascend310P", "huawei.com/Ascend310P"},
    {"huawei-npu", "huawei.com/npu"},
}};
constexpr std::array<std::string_view, 4> kAcceleratorValues = {
    kAccelerators[0].value, kAccelerators[1].value, kAccelerators[2].value, kAccelerators[3].value};

void CheckAcceleratorLabel(const PodTemplateView& pod, Findings& findings) {
  const auto value = pod.node_selector.Text("accelerator");
  if (!value) return;
  const auto known =
      std::find_if(kAccelerators.begin(), kAccelerators.end(),
                   [&](const AcceleratorLabel& label) { return label.value == *value; });
  if (known == kAccelerators.end()) {
    const auto nearest = NearestOf(*value, kAcceleratorValues);
    if (!nearest) return;  // a label of the site's own
    findings.Violate(pod.node_selector.path.Child("accelerator"),
                     "Ascend Device Plugin labels no node with accelerator " + Quote(*value) +
                         ": the pods stay Pending",
                     "write accelerator: " + std::string(*nearest));
    return;
  }
  const schemas::PodChips chips = pod.chips;
  if (chips.resource.empty() || chips.resource == known->resource) return;
  findings.Violate(pod.node_selector.path.Child("accelerator"),
                   "accelerator " + Quote(*value) + " nodes have no " +
                       std::string(chips.resource) + ", which the pod asks for: it stays Pending",
                   "select the nodes that have the resource, or leave accelerator out");
}

void CheckAcceleratorSelectors(const RuleContext& context, Findings& findings) {
  for (const PodTemplateView& pod : context.view.templates) {
    if (pod.node_selector.value == nullptr || !pod.RequestsNpus()) continue;
    CheckAcceleratorLabel(pod, findings);
    const auto type = pod.node_selector.Text("accelerator-type");
    if (!type) continue;
    const auto& rows = context.config.accelerators;
    if (std::any_of(rows.begin(), rows.end(), [&](const schemas::AcceleratorRow& row) {
          return row.accelerator_type == *type;
        })) {
      continue;
    }
    const auto known = schemas::KnownAcceleratorTypes();
    if (std::find(known.begin(), known.end(), *type) != known.end()) continue;
    const auto* chips =
        pod.pod_group ? context.chips->Of(context.view.pod_groups[*pod.pod_group]) : nullptr;
    const auto nearest = MeantAcceleratorType(*type, chips, false, context.config);
    if (!nearest) continue;
    findings.Violate(pod.node_selector.path.Child("accelerator-type"),
                     "accelerator-type " + Quote(*type) +
                         " is not a name that MindCluster documents: possibly no node carries it",
                     "write accelerator-type: " + std::string(*nearest));
  }
}

// The resource whose annotation the variable must read, or why the variable must be absent.
struct Wanted {
  std::string_view resource;
  std::string_view absent_because;
};

Wanted WantedOf(std::span<const NpuRequest> npus) {
  Wanted wanted;
  for (const NpuRequest& npu : npus) {
    if (npu.count == int64_t{0}) continue;
    switch (npu.kind) {
      case NpuResource::kForeign:
      case NpuResource::kMisspelled:
      case NpuResource::kOther:
        break;
      case NpuResource::kStaticVnpu:
      case NpuResource::kDynamicVnpu:
        return {{}, "a virtual NPU"};
      case NpuResource::kWholeCard:
        wanted.resource = npu.resource;
    }
  }
  return wanted;
}

// The annotation key of metadata.annotations['key'], with either quote; empty when the path is
// another.
std::string_view AnnotationOf(std::string_view field_path) {
  constexpr std::string_view kBefore = "metadata.annotations[";
  if (!field_path.starts_with(kBefore) || !field_path.ends_with(']')) return {};
  field_path.remove_prefix(kBefore.size());
  field_path.remove_suffix(1);
  if (field_path.size() < 2 || field_path.front() != field_path.back()) return {};
  if (field_path.front() != '\'' && field_path.front() != '"') return {};
  return field_path.substr(1, field_path.size() - 2);
}

// The value with which Ascend Docker Runtime mounts nothing.
constexpr std::string_view kNoDevices = "void";

void CheckVariable(const ContainerView& container, size_t index, const Wanted& wanted,
                   Findings& findings) {
  const Value& entry = (*container.env.value)[index];
  const auto path = [&] { return container.env.path.Child(index); };
  if (!wanted.absent_because.empty()) {
    findings.Violate(path(),
                     "ASCEND_VISIBLE_DEVICES must be absent for " +
                         std::string(wanted.absent_because) +
                         ": it hides the chips that the device plugin mounts",
                     "delete ASCEND_VISIBLE_DEVICES");
    return;
  }
  const auto fix = [&] {
    return "write valueFrom.fieldRef.fieldPath: metadata.annotations['" +
           std::string(wanted.resource) + "']";
  };
  const Value* source = json::Find(entry, "valueFrom");
  if (source == nullptr) {
    const std::string_view value = json::FindString(entry, "value").value_or("");
    const bool none = value.empty() || value == kNoDevices;
    findings.Violate(path(),
                     none ? "ASCEND_VISIBLE_DEVICES is " +
                                (value.empty() ? std::string("empty") : Quote(value)) +
                                ": the container gets no chips"
                          : "ASCEND_VISIBLE_DEVICES is a fixed value: the container gets those "
                            "chips, not the ones that the scheduler chose",
                     fix());
    return;
  }
  const Value* field = json::Find(source, "fieldRef");
  const auto field_path = json::FindString(field, "fieldPath");
  if (field == nullptr) {
    findings.Violate(path(),
                     "ASCEND_VISIBLE_DEVICES does not read the pod's annotation: the container "
                     "does not get the chips that the scheduler chose",
                     fix());
  } else if (field_path && AnnotationOf(*field_path) != wanted.resource) {
    findings.Violate(path() + "/valueFrom/fieldRef/fieldPath",
                     "ASCEND_VISIBLE_DEVICES reads " + Quote(*field_path) +
                         ", but the pod asks for " + std::string(wanted.resource) +
                         ": the container sees no chips",
                     fix());
  }
}

// Why the variable must be absent for whole cards; empty when it need not.
std::string_view WhyAbsent(const RuleContext& context, const PodTemplateView& pod) {
  if (IsSoftShare(context, pod)) return "softly shared chips";
  // Volcano is meant where its name is only indented wrongly, which MG100 reports.
  if (pod.node_selector.Find("schedulerName") != nullptr) return "";
  return IsPlacedByVolcano(context, pod) ? "" : "pods that Volcano does not place";
}

// Calls visit(container, wanted) for each container that sets the variable and asks for chips: the
// others may hide or share them as they like.
template <typename Visit>
void ForEachSetting(const RuleContext& context, Visit visit) {
  for (const PodTemplateView& pod : context.view.templates) {
    for (const ContainerView& container : pod.containers) {
      if (container.visible_devices == nullptr) continue;
      const ContainerView* twin = schemas::RuntimeTwin(pod, container);
      Wanted wanted =
          WantedOf(container.RequestsNpus() || twin == nullptr ? container.npus : twin->npus);
      if (wanted.resource.empty() && wanted.absent_because.empty()) continue;
      if (wanted.absent_because.empty()) wanted.absent_because = WhyAbsent(context, pod);
      visit(container, wanted);
    }
  }
}

// Where the variable stands among the container's, the first place to begin with.
std::vector<size_t> PlacesOfVariable(const ContainerView& container) {
  std::vector<size_t> places;
  const Value& env = *container.env.value;
  for (auto i = static_cast<size_t>(container.visible_devices - env.begin()); i < env.size(); ++i) {
    if (json::FindString(env[i], "name") == schemas::kVisibleDevices) places.push_back(i);
  }
  return places;
}

void CheckVisibleDevices(const RuleContext& context, Findings& findings) {
  ForEachSetting(context, [&](const ContainerView& container, const Wanted& wanted) {
    for (size_t index : PlacesOfVariable(container)) {
      CheckVariable(container, index, wanted, findings);
    }
  });
}

void CheckRepeatedVariable(const RuleContext& context, Findings& findings) {
  ForEachSetting(context, [&](const ContainerView& container, const Wanted& wanted) {
    const auto places = PlacesOfVariable(container);
    const Value& env = *container.env.value;
    const auto other = std::ranges::find_if(
        places, [&](size_t index) { return env[index] != env[places.front()]; });
    if (other == places.end()) return;
    findings.Violate(
        container.env.path.Child(*other),
        "ASCEND_VISIBLE_DEVICES stands " + std::to_string(places.size()) +
            " times here with different values: Ascend Docker Runtime takes the last "
            "and its hook the first, so the container does not get its chips",
        wanted.absent_because.empty()
            ? "keep one entry, with valueFrom.fieldRef.fieldPath: "
              "metadata.annotations['" +
                  std::string(wanted.resource) + "']"
            : "delete them: the variable must be absent for " + std::string(wanted.absent_because));
  });
}

bool HasValue(const Value& entry) { return !json::FindString(entry, "value").value_or("").empty(); }
bool HasSource(const Value& entry) { return json::Find(entry, "valueFrom") != nullptr; }

void CheckEnvSources(const RuleContext& context, Findings& findings) {
  if (context.view.LacksRuntime()) {
    findings.Skip("OME merges the variables of the runtime, which is not known here");
  }
  for (const PodTemplateView& pod : context.view.templates) {
    if (!pod.RequestsNpus()) continue;
    for (const ContainerView& container : pod.containers) {
      if (container.env.value == nullptr) continue;
      const ContainerView* twin = schemas::RuntimeTwin(pod, container);
      if (!container.env_has_both && twin == nullptr) continue;
      for (size_t i = 0; i < container.env.value->size(); ++i) {
        const Value& entry = (*container.env.value)[i];
        const bool value = HasValue(entry);
        const bool source = HasSource(entry);
        if (!value && !source) continue;
        const std::string_view name = json::FindString(entry, "name").value_or("");
        if (value && source) {
          findings.Violate(
              container.env.path.Child(i),
              "variable " + Quote(name) + " has value and valueFrom: Kubernetes refuses the pods",
              "keep one of value and valueFrom");
          continue;
        }
        // ome-visible-devices-conflict has more to say about that one.
        if (twin == nullptr || name == schemas::kVisibleDevices) continue;
        const Value* other = schemas::FindEnv(twin->env.value, name);
        if (other == nullptr || !(value ? HasSource(*other) : HasValue(*other))) continue;
        findings.Violate(container.env.path.Child(i),
                         "variable " + Quote(name) +
                             " gets value and valueFrom when OME merges it with the runtime's: "
                             "Kubernetes refuses the pods",
                         "set it in one of service and runtime only, or in both the same way");
      }
    }
  }
}

constexpr Rule kEnvironmentRules[] = {
    {.id = "MG100",
     .name = "node-selector-misplaced-field",
     .severity = Severity::kError,
     .default_mode = schemas::Mode::kEnforce,
     .kinds = schemas::kWorkloads,
     .summary = "nodeSelector holds only node labels, no fields of the pod spec.",
     .why = "A field that is indented below nodeSelector becomes a node label that the pod insists "
            "on. No node carries it, so the pod never starts; and the field, such as "
            "schedulerName, has no effect. Every schema accepts it.",
     .fix = "Move the field out of nodeSelector, to the same indentation.",
     .source = "Kubernetes documentation: Assigning Pods to Nodes. MindCluster's SGLang best "
               "practice has a sample with schedulerName below nodeSelector.",
     .check = CheckMisplacedFields},
    {.id = "MG101",
     .name = "host-arch",
     .severity = Severity::kWarning,
     .default_mode = schemas::Mode::kWarn,
     .kinds = schemas::kWorkloads,
     .summary = "A nodeSelector host-arch is huawei-arm or huawei-x86.",
     .why = "Nodes are labelled with host-arch by hand while MindCluster is installed, with one of "
            "these two values. A pod that selects another finds no node. The selector is optional: "
            "newer documents no longer ask for it.",
     .fix = "Write huawei-arm or huawei-x86, or leave it out.",
     .source = "mind-cluster: docs/zh/scheduling. Not read by any component, and a site may label "
               "its nodes differently: therefore a warning.",
     .check = CheckHostArch},
    {.id = "MG102",
     .name = "accelerator-selector",
     .severity = Severity::kWarning,
     .default_mode = schemas::Mode::kWarn,
     .kinds = schemas::kWorkloads,
     .summary = "The nodeSelectors accelerator and accelerator-type have values that MindCluster's "
                "nodes carry, and fit the requested resource.",
     .why = "Ascend Device Plugin labels its node with accelerator after the product. A pod that "
            "selects a misspelt label, or another product than it requests, finds no node and "
            "stays Pending.",
     .fix = "Write the label of the nodes, or leave the selector out: the requested resource "
            "already chooses the nodes.",
     .source = "mind-cluster: component/ascend-device-plugin (node labels). A site may add its own "
               "labels: therefore a warning.",
     .check = CheckAcceleratorSelectors},
    {.id = "MG103",
     .name = "visible-devices",
     .severity = Severity::kError,
     .default_mode = schemas::Mode::kWarn,
     .kinds = schemas::kWorkloads,
     .summary = "ASCEND_VISIBLE_DEVICES reads the annotation of the resource that the container "
                "requests; it is absent for virtual NPUs and softly shared chips.",
     .why = "The scheduler writes the chosen chips to the pod annotation named after the resource, "
            "and Ascend Docker Runtime mounts what the variable says. An annotation of another "
            "resource is empty, so the container starts without chips; a fixed value takes chips "
            "that belong to other pods.",
     .fix = "Write valueFrom.fieldRef.fieldPath: metadata.annotations['<requested resource>'], or "
            "leave the variable to mindgate.",
     .source = "mind-cluster: docs/zh/scheduling (whole-card scheduling), "
               "component/ascend-docker-runtime. Some images handle the variable themselves: "
               "therefore a warning.",
     .check = CheckVisibleDevices},
    {.id = "MG104",
     .name = "env-value-and-source",
     .severity = Severity::kError,
     .default_mode = schemas::Mode::kEnforce,
     .kinds = schemas::kWorkloads,
     .summary = "A variable of an NPU container has value or valueFrom, not both.",
     .why = "Kubernetes refuses a pod whose variable has both. Inside a custom resource this goes "
            "unnoticed until its controller tries to create the pods. OME merges the variables of "
            "a service and its runtime by name, so each half may look right on its own.",
     .fix = "Keep one of the two.",
     .source = "kubernetes: pkg/apis/core/validation (ValidateEnv); ome: "
               "pkg/controller/v1beta1/inferenceservice/utils/merging.go.",
     .check = CheckEnvSources},
    {.id = "MG184",
     .name = "repeated-visible-devices",
     .severity = Severity::kError,
     .default_mode = schemas::Mode::kEnforce,
     .kinds = schemas::kWorkloads,
     .summary = "A container that asks for NPUs does not set ASCEND_VISIBLE_DEVICES to two values.",
     .why = "Kubernetes takes a variable that is listed twice, and hands both entries on. Ascend "
            "Docker Runtime then reads the last one, and its hook the first: one mounts the chips "
            "that the other does not know of, and the processes of the pod find none. A second "
            "entry mostly comes from a template or a chart beside the manifest's own.",
     .fix = "Keep one entry.",
     .source = "mind-cluster: component/ascend-docker-runtime/runtime/process/process.go "
               "(getValueByDeviceKey), component/ascend-docker-runtime/hook/process/process.go.",
     .check = CheckRepeatedVariable},
};

}  // namespace

Family EnvironmentRules() { return kEnvironmentRules; }

}  // namespace mindgate::policies::chips
