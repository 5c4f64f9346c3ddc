#include <algorithm>
#include <array>

#include "base/text.h"
#include "json/pointer.h"
#include "policies/chips/chips.h"
#include "policies/families.h"
#include "policies/text_entries.h"
#include "schemas/names.h"

// Slices of chips: cut beforehand (static), by the scheduler (dynamic), or shared in time (soft).
namespace mindgate::policies::chips {
namespace {

using schemas::ContainerView;
using schemas::GroupChips;
using schemas::Merged;
using schemas::NpuRequest;
using schemas::NpuResource;
using schemas::PodGroupView;
using schemas::PodTemplateView;

template <typename Visit>
void ForEachRequest(const PodTemplateView& pod, NpuResource wanted, Visit visit) {
  for (const ContainerView& container : pod.containers) {
    for (const NpuRequest& npu : container.npus) {
      if (npu.count != int64_t{0} && npu.kind == wanted) visit(npu);
    }
  }
}

void CheckStaticVnpu(const RuleContext& context, Findings& findings) {
  for (const PodTemplateView& pod : context.view.templates) {
    if (!pod.own_npus || !IsPlacedByVolcano(context, pod)) continue;
    int64_t sum = 0;
    ForEachRequest(pod, NpuResource::kStaticVnpu, [&](const NpuRequest& npu) {
      if (!npu.count || *npu.count < 0 || __builtin_add_overflow(sum, *npu.count, &sum) ||
          sum < 2) {
        return;
      }
      findings.Violate(
          npu.Path(),
          std::to_string(sum) +
              " virtual NPUs in one pod: the plugin allows one, and the job stays Pending",
          "request one " + std::string(npu.resource) + ", or a larger slice");
    });
  }
}

// Cores that a dynamic slice of the product may have; everything where the table depends on the
// chip.
bool IsCoreCount(std::string_view product, int64_t cores) {
  if (product == "ascend-310P") {
    return cores == 1 || cores == 2 || cores == 4 || cores % 8 == 0 || cores % 10 == 0;
  }
  if (product == "ascend-910") {
    // Slices, or whole chips of 30 or 32 cores.
    return cores == 2 || cores == 4 || cores == 8 || cores == 16 || cores % 30 == 0 ||
           cores % 32 == 0;
  }
  return true;
}

void CheckDynamicVnpu(const RuleContext& context, Findings& findings) {
  if (context.view.controller_injected) return;
  for (const PodTemplateView& pod : context.view.templates) {
    if (!pod.own_npus || !IsPlacedByVolcano(context, pod)) continue;
    ForEachRequest(pod, NpuResource::kDynamicVnpu, [&](const NpuRequest& npu) {
      if (!pod.pod_group) return;
      const PodGroupView& group = context.view.pod_groups[*pod.pod_group];
      const Merged label = schemas::GroupLabel(context.view, group, schemas::kRingController);
      if (!label) {
        if (schemas::VisibilityOf(context.view, group) != schemas::Visibility::kAll) return;
        findings.Violate(pod.labels.path.Child(schemas::kRingController),
                         "huawei.com/npu-core needs the label ring-controller.atlas: without it no "
                         "slice is cut and the job stays Pending",
                         "write ring-controller.atlas: ascend-310P, ascend-910 or ascend-910b");
        return;
      }
      if (!npu.count || IsCoreCount(label.Text().value_or(""), *npu.count)) return;
      findings.Violate(npu.Path(),
                       Counted(*npu.count, "core") + (npu.count == 1 ? " is" : " are") +
                           " not a slice of " + std::string(*label.Text()) +
                           ": the job is refused and stays Pending",
                       *label.Text() == "ascend-310P" ? "write 1, 2, 4 or a multiple of 8 or 10"
                                                      : "write 2, 4, 8, 16 or whole chips");
    });
  }
}

constexpr std::string_view kVnpuLevel = "vnpu-level";
constexpr std::string_view kVnpuDvpp = "vnpu-dvpp";

// The only value of a label of slices that the plugin takes with these cores; empty: it takes any.
// On 910 the slices of one chip (B4) with 10 cores take others.
std::string_view OnlyValue(std::string_view product, int64_t cores, std::string_view key) {
  const bool is_310p = product == "ascend-310P";
  const bool is_910 = product == "ascend-910" || product == "ascend-910b";
  if (is_310p) return key == kVnpuDvpp && (cores == 1 || cores == 2) ? "null" : "";
  if (!is_910 || cores == 10) return "";
  return key == kVnpuDvpp ? "null" : "low";
}

void CheckVnpuLabels(const RuleContext& context, Findings& findings) {
  if (context.view.controller_injected) return;
  for (const PodTemplateView& pod : context.view.templates) {
    if (!pod.own_npus || !pod.pod_group || !IsPlacedByVolcano(context, pod)) continue;
    ForEachRequest(pod, NpuResource::kDynamicVnpu, [&](const NpuRequest& npu) {
      const auto product =
          schemas::GroupLabel(context.view, context.view.pod_groups[*pod.pod_group],
                              schemas::kRingController)
              .Text();
      if (!product || !npu.count) return;
      for (std::string_view key : {kVnpuLevel, kVnpuDvpp}) {
        const schemas::Entry label = schemas::LabelEntry(pod, key);
        const std::string_view only = OnlyValue(*product, *npu.count, key);
        if (only.empty() || !label.Text() || *label.Text() == only) continue;
        findings.Violate(label.Path(),
                         std::string(key) + " " + Quote(*label.Text()) + " is refused with " +
                             Counted(*npu.count, "core") + " of " + std::string(*product) +
                             ": the job stays Pending",
                         "write " + std::string(key) + ": " + Quote(only) + ", or leave it out");
      }
    });
  }
}

constexpr std::string_view kSoftShare = "chip1-softShareDev";
constexpr std::string_view kAicoreQuota = "huawei.com/scheduler.softShareDev.aicoreQuota";
constexpr std::string_view kHbmQuota = "huawei.com/scheduler.softShareDev.hbmQuota";
constexpr std::string_view kSharePolicy = "huawei.com/scheduler.softShareDev.policy";
constexpr std::array<std::string_view, 3> kSharePolicies = {"fixed-share", "elastic",
                                                            "best-effort"};

void CheckSoftShareLabel(const RuleContext& context, const PodGroupView& group,
                         std::string_view key, bool (*is_valid)(std::string_view),
                         const std::string& fix, Findings& findings) {
  const Merged label = schemas::GroupLabel(context.view, group, key);
  if (!label) {
    if (group.templates.empty() ||
        schemas::VisibilityOf(context.view, group) != schemas::Visibility::kAll) {
      return;
    }
    const auto& pod = context.view.templates[group.templates.front()];
    findings.Violate(pod.labels.path.Child(key),
                     "chip1-softShareDev needs the label " + std::string(key) +
                         ": without it the job stays Pending",
                     fix);
    return;
  }
  if (!label.first.Text()) return;
  const auto text = label.Text();
  if (text && is_valid(*text)) return;
  findings.Violate(
      (label.joined() ? label.other : label.first).Path(),
      Quote(label.Joined()) + " is refused for " + std::string(key) + ": the job stays Pending",
      fix);
}

void CheckSoftShare(const RuleContext& context, Findings& findings) {
  const auto wanted = [&](const PodGroupView& group) {
    return HasPolicy(context, group, kSoftShare);
  };
  ForEachChipGroup(context, wanted, [&](const PodGroupView& group, const GroupChips& chips) {
    if (!chips.choice.handler || !chips.choice.handler->soft_share) return;
    CheckSoftShareLabel(
        context, group, kAicoreQuota,
        [](std::string_view text) {
          const auto percent = ParseGoInt(text);
          return percent && *percent >= 1 && *percent <= 100;
        },
        "write the percentage of cores, \"1\" to \"100\"", findings);
    CheckSoftShareLabel(
        context, group, kHbmQuota,
        [](std::string_view text) {
          const auto megabytes = ParseGoInt(text);
          return megabytes && *megabytes >= 1;
        },
        "write the chip memory in MB, \"1\" or more", findings);
    CheckSoftShareLabel(
        context, group, kSharePolicy,
        [](std::string_view text) {
          return std::find(kSharePolicies.begin(), kSharePolicies.end(), text) !=
                 kSharePolicies.end();
        },
        "write " + OneOf(kSharePolicies), findings);
  });
}

constexpr std::array<int64_t, 9> kSlices910 = {2, 3, 4, 5, 6, 8, 10, 12, 16};
constexpr std::array<int64_t, 3> kSlices310P = {1, 2, 4};

// Of "Ascend910-4c.3cpu": whether slices of 4 cores exist.
bool IsSlice(std::string_view name) {
  const size_t dash = name.find('-');
  const size_t end = name.find('c', dash);
  const auto cores = ParseGoInt(name.substr(dash + 1, end - dash - 1));
  const auto has = [&](const auto& sizes) {
    return cores && std::find(sizes.begin(), sizes.end(), *cores) != sizes.end();
  };
  const std::string_view card = name.substr(0, dash);
  if (card == "Ascend910") return has(kSlices910);
  if (card == "Ascend310P") return has(kSlices310P);
  return true;
}

void CheckResourceNames(const RuleContext& context, Findings& findings) {
  for (const PodTemplateView& pod : context.view.templates) {
    for (const ContainerView& container : pod.containers) {
      for (const NpuRequest& npu : container.npus) {
        const std::string_view name = npu.resource.substr(schemas::kResourcePrefix.size());
        if (npu.kind == NpuResource::kStaticVnpu && !IsSlice(name)) {
          findings.Violate(
              npu.Path(),
              std::string(npu.resource) +
                  " is not an available slice: no node offers it and the pods stay Pending",
              "write a slice of 2, 3, 4, 5, 6, 8, 10, 12 or 16 cores of Ascend910, or of 1, 2 or 4 "
              "of Ascend310P");
        }
        if (npu.kind != NpuResource::kMisspelled) continue;
        const auto nearest = schemas::NpuResourceMeant(npu.resource);
        if (!nearest) continue;
        findings.Violate(
            npu.Path(),
            "no Ascend node offers " + std::string(npu.resource) + ": the pods stay Pending",
            "write " + std::string(schemas::kResourcePrefix) + std::string(*nearest));
      }
    }
  }
}

// The products that MindCluster's own manifests name.
constexpr std::array<std::string_view, 5> kRingControllers = {
    "ascend-910", "ascend-910b", "ascend-310", "ascend-310P", "ascend-npu"};

void CheckRingController(const RuleContext& context, Findings& findings) {
  for (const TextEntry& entry : ReachingLabels(context.view, schemas::kRingController)) {
    const auto nearest = NearestOf(entry.value, kRingControllers);
    if (!nearest) continue;
    findings.Violate(
        entry.Path(),
        "ring-controller.atlas is " + Quote(entry.value) +
            ", which names no product, did you mean " + Quote(*nearest) +
            "? The scheduler cuts no virtual NPUs for it, and older releases make no rank table",
        "write ring-controller.atlas: " + std::string(*nearest));
  }
}

constexpr Rule kVirtualNpuRules[] = {
    {.id = "MG048",
     .name = "ring-controller-value",
     .severity = Severity::kWarning,
     .default_mode = Mode::kWarn,
     .kinds = schemas::kWorkloads,
     .summary = "The label ring-controller.atlas is ascend-910, ascend-910b, ascend-310, "
                "ascend-310P or ascend-npu.",
     .why = "Most components only ask whether the label is there, but virtual NPUs are cut, and "
            "older releases make rank tables, by its exact value, in lower case but for the P.",
     .fix = "Write one of the five values.",
     .source = "mind-cluster: component/ascend-for-volcano/common/util (type.go), "
               "component/ascend-operator/pkg/controllers/v1. Only near misses are reported, and "
               "as a warning: whole cards are scheduled with any value",
     .check = CheckRingController},
    {.id = "MG106",
     .name = "static-vnpu",
     .severity = Severity::kError,
     .default_mode = schemas::Mode::kEnforce,
     .kinds = schemas::kWorkloads,
     .summary = "A pod asks for at most one static virtual NPU.",
     .why =
         "The scheduler keeps a job with two or more static virtual NPUs in a pod Pending forever.",
     .fix = "Request one slice; if it is too small, a larger one.",
     .source = "mind-cluster: component/ascend-for-volcano/plugin/job.go (validVirtualDevJob).",
     .check = CheckStaticVnpu},
    {.id = "MG107",
     .name = "npu-core",
     .severity = Severity::kError,
     .default_mode = schemas::Mode::kEnforce,
     .kinds = schemas::kWorkloads,
     .summary = "Pods that ask for huawei.com/npu-core carry the label ring-controller.atlas and a "
                "number of cores that a slice of the product has.",
     .why =
         "The label says to the plugin which product's chips to cut. Without it, or with a number "
         "of cores that no slice has, the job stays Pending.",
     .fix =
         "Write ring-controller.atlas: ascend-310P with 1, 2, 4 or a multiple of 8 or 10 cores; "
         "ascend-910 with 2, 4, 8, 16 or whole chips; ascend-910b with a slice size of the chip.",
     .source = "mind-cluster: component/ascend-for-volcano/internal/npu/ascend310p/vnpu and "
               "ascend910/ascend910b/vnpu.",
     .check = CheckDynamicVnpu},
    {.id = "MG186",
     .name = "vnpu-labels",
     .severity = Severity::kError,
     .default_mode = schemas::Mode::kEnforce,
     .kinds = schemas::kWorkloads,
     .summary = "The labels vnpu-level and vnpu-dvpp have values that the slice of the product "
                "takes.",
     .why = "The plugin checks them before it cuts a slice, and refuses the job: slices of one or "
            "two cores of Ascend310P have no DVPP, and slices of Ascend910 have neither levels nor "
            "DVPP. A sample of the documents has it wrong.",
     .fix = "Leave both labels out, or write vnpu-level: low and vnpu-dvpp: \"null\".",
     .source = "mind-cluster: component/ascend-for-volcano/internal/npu/ascend310p/vnpu/job.go "
               "(validDyVNPUTaskDVPPLabel), internal/npu/ascend910/vnpu/job.go. Slices of 10 cores "
               "of Ascend910 are left out: one chip takes other values there.",
     .check = CheckVnpuLabels},
    {.id = "MG108",
     .name = "soft-share",
     .severity = Severity::kError,
     .default_mode = schemas::Mode::kEnforce,
     .kinds = schemas::kWorkloads,
     .summary = "Jobs with the policy chip1-softShareDev carry the three softShareDev labels with "
                "valid values.",
     .why = "The plugin needs the share of cores, the chip memory and the sharing policy of each "
            "job. When a label is missing or invalid it rejects the job, which stays Pending.",
     .fix = "Write huawei.com/scheduler.softShareDev.aicoreQuota (1 to 100), .hbmQuota (MB) and "
            ".policy (fixed-share, elastic or best-effort).",
     .source =
         "mind-cluster: component/ascend-for-volcano/internal/npu/policy/chip1softsharedev/job.go.",
     .check = CheckSoftShare},
    {.id = "MG109",
     .name = "unknown-npu-resource",
     .severity = Severity::kWarning,
     .default_mode = schemas::Mode::kWarn,
     .kinds = schemas::kWorkloads,
     .summary = "Resources named huawei.com/... are ones that Ascend Device Plugin offers.",
     .why = "A misspelt resource is valid to Kubernetes; no node offers it, and the pod stays "
            "Pending, and no message mentions the name.",
     .fix = "Write huawei.com/Ascend910, Ascend310P, Ascend310, npu, npu-core, or the name of a "
            "slice.",
     .source = "mind-cluster: component/ascend-common/api. Other device plugins may use the same "
               "prefix: therefore a warning, and only for near misses.",
     .check = CheckResourceNames},
};

}  // namespace

Family VirtualNpuRules() { return kVirtualNpuRules; }

}  // namespace mindgate::policies::chips
