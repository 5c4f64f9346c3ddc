#include <algorithm>
#include <array>

#include "base/text.h"
#include "policies/chips/chips.h"
#include "policies/families.h"
#include "policies/text_entries.h"
#include "schemas/names.h"

// Annotations and selectors that choose how the NPU plugin evaluates a job.
namespace mindgate::policies::chips {
namespace {

using schemas::GroupAnnotation;
using schemas::GroupChips;
using schemas::HandlerChoice;
using schemas::Merged;
using schemas::PodGroupView;

bool IsAscend310Family(std::string_view resource) {
  return resource == "huawei.com/Ascend310" || resource == "huawei.com/Ascend310P";
}

void CheckNpuPolicy(const RuleContext& context, Findings& findings) {
  const auto wanted = [&](const PodGroupView& group) {
    return Requests(context, group, "huawei.com/npu");
  };
  ForEachChipGroup(context, wanted, [&](const PodGroupView& group, const GroupChips& chips) {
    if (chips.choice.problem != HandlerChoice::Problem::kMissingPolicy) return;
    if (!chips.choice.certain) {
      if (context.view.UsesRuntime()) {
        findings.Skip("needs the ServingRuntime, which is not known here");
      }
      return;
    }
    findings.Violate(schemas::GroupAnnotationPath(context.view, group, schemas::kSchedulePolicy),
                     "huawei.com/npu needs the annotation huawei.com/schedule_policy: without it "
                     "the plugin has no handler and the job stays Pending",
                     "write huawei.com/schedule_policy: chip8-node8 (Atlas 850), chip8-node8-sp, "
                     "chip8-node8-ra64-sp (950), or chip1-node8, chip1-node16, chip4-node8, "
                     "chip4-node16 (Atlas 350)");
  });
}

std::string FallbackOf(const HandlerChoice& choice) {
  if (!choice.certain) return "uses sp-block and accelerator-type instead";
  if (!choice.handler) return "finds no handler at all";
  return choice.by == HandlerChoice::By::kDefault
             ? "falls back to Atlas 800 rules (1, 2, 4 or 8 chips)"
             : "falls back to " + HowChosen(choice);
}

void CheckKnownPolicy(const RuleContext& context, Findings& findings) {
  if (context.view.controller_injected) return;
  for (const PodGroupView& group : context.view.pod_groups) {
    const GroupAnnotation policy =
        schemas::ReadGroupAnnotation(context.view, group, schemas::kSchedulePolicy);
    const auto text = policy.entry.Text();
    if (!text || schemas::IsKnownPolicy(*text, context.config)) continue;
    const auto placed = [&](size_t i) {
      return IsPlacedByVolcano(context, context.view.templates[i]);
    };
    if (std::ranges::none_of(group.templates, placed)) continue;  // no plugin reads it
    const GroupChips* chips = context.chips->Of(group);
    if (chips && IsAscend310Family(chips->resource)) continue;
    std::vector<std::string_view> known(schemas::KnownSchedulePolicies().begin(),
                                        schemas::KnownSchedulePolicies().end());
    std::erase_if(known, [&](std::string_view each) {
      return schemas::HandlerOfPolicy(each, context.config.versions) == nullptr;
    });
    const auto nearest = NearestOf(*text, known);
    const schemas::ChipHandler* later = schemas::HandlerOfPolicy(*text);
    findings.Violate(
        policy.entry.Path(),
        Quote(*text) +
            (later != nullptr ? " is a schedule policy only from MindCluster " +
                                    schemas::VersionText(later->release) + " on"
                              : std::string(" is not a schedule policy")) +
            ": the plugin " +
            (chips ? FallbackOf(chips->choice) : "uses sp-block and accelerator-type instead"),
        known.empty() ? "leave huawei.com/schedule_policy out"
        : nearest     ? "write huawei.com/schedule_policy: " + std::string(*nearest)
                      : "write one of " + Join(known, ", "));
  }
}

// The documents list chip4-node8 for Atlas 800 servers, whose handler it is not.
void CheckChip4Node8(const RuleContext& context, Findings& findings) {
  const schemas::ChipHandler* handler =
      schemas::HandlerOfPolicy("chip4-node8", context.config.versions);
  // Before 26.0 it was the handler of Atlas 800 servers.
  if (handler != schemas::HandlerOfPolicy("chip4-node8")) return;
  const auto wanted = [&](const PodGroupView& group) {
    return HasPolicy(context, group, "chip4-node8");
  };
  ForEachChipGroup(context, wanted, [&](const PodGroupView& group, const GroupChips& chips) {
    if (chips.resource != "huawei.com/Ascend910") return;
    findings.Violate(
        schemas::ReadGroupAnnotation(context.view, group, schemas::kSchedulePolicy).entry.Path(),
        "chip4-node8 is the policy of Atlas 350 cards: on Ascend910 it does not pick chips by the "
        "rings of Atlas 800 servers",
        "leave huawei.com/schedule_policy out for Atlas 800 training servers (the plugin's "
        "default), or write the policy of the intended servers");
  });
}

void CheckAcceleratorType(const RuleContext& context, Findings& findings) {
  const auto wanted = [&](const PodGroupView& group) {
    return static_cast<bool>(schemas::GroupSelector(context.view, group, kAcceleratorType));
  };
  ForEachChipGroup(context, wanted, [&](const PodGroupView& group, const GroupChips& chips) {
    if (chips.choice.problem != HandlerChoice::Problem::kUnknownAcceleratorType ||
        !chips.choice.certain)
      return;
    const Merged type = schemas::GroupSelector(context.view, group, kAcceleratorType);
    if (type.joined()) {
      findings.Violate(type.other.Path(),
                       "accelerator-type differs within one PodGroup: the plugin joins it to " +
                           Quote(type.Joined()) +
                           ", has no handler for that, and the job stays Pending",
                       "select one accelerator-type in all pods of the PodGroup, or write the "
                       "annotation huawei.com/schedule_policy");
      return;
    }
    const std::string_view value = type.first.Text().value_or("");
    const auto nearest = MeantAcceleratorType(value, &chips, true, context.config);
    findings.Violate(
        type.first.Path(),
        "accelerator-type " + Quote(value) +
            " has no handler and there is no schedule_policy instead: the job stays Pending",
        nearest ? "write accelerator-type: " + std::string(*nearest)
                : "write the annotation huawei.com/schedule_policy of these servers, or declare "
                  "the type under accelerators in mindgate.yaml");
  });
}

constexpr std::array<std::string_view, 4> kDecidingAnnotations = {
    schemas::kSchedulePolicy, schemas::kSpBlock, schemas::kRaBlock, schemas::kAffinityConfig};

// Templates of one PodGroup that choose different handlers.
void CheckAgreement(const RuleContext& context, Findings& findings) {
  const auto wanted = [](const PodGroupView& group) { return group.templates.size() > 1; };
  ForEachChipGroup(context, wanted, [&](const PodGroupView& group, const GroupChips&) {
    for (std::string_view key : kDecidingAnnotations) {
      const GroupAnnotation annotation = schemas::ReadGroupAnnotation(context.view, group, key);
      if (annotation.agreed) continue;
      findings.Violate(annotation.entry.Path(),
                       std::string(key) +
                           " differs within one PodGroup: the plugin reads it from one arbitrary "
                           "pod, so the result may change from one scheduling round to the next",
                       group.annotations ? "write it once, on the metadata of the object"
                                         : "write the same value on every pod template of " +
                                               std::string(group.name));
    }
  });
}

constexpr Rule kPolicyRules[] = {
    {.id = "MG085",
     .name = "npu-schedule-policy",
     .severity = Severity::kError,
     .default_mode = schemas::Mode::kEnforce,
     .kinds = schemas::kWorkloads,
     .summary = "Pods that ask for huawei.com/npu name a schedule policy.",
     .why = "The resource huawei.com/npu covers several generations of servers (Atlas 350, 850, "
            "950), and the plugin does not guess: without the annotation "
            "huawei.com/schedule_policy it reports NotSupportPolicy and the pods stay Pending.",
     .fix = "Write the annotation huawei.com/schedule_policy with the policy of the servers.",
     .source = "mind-cluster: component/ascend-for-volcano/internal/npu/factory.go. Only a missing "
               "annotation is enforced: with an unknown value the code goes on to sp-block and "
               "accelerator-type, see unknown-schedule-policy.",
     .check = CheckNpuPolicy},
    {.id = "MG086",
     .name = "unknown-schedule-policy",
     .severity = Severity::kError,
     .default_mode = schemas::Mode::kWarn,
     .kinds = schemas::kWorkloads,
     .summary = "The annotation huawei.com/schedule_policy names a policy that the plugin knows.",
     .why =
         "An unknown value is not rejected: the plugin acts as if the annotation were absent and "
         "uses sp-block, then the nodeSelector accelerator-type, then the rules of Atlas 800 "
         "servers. Chips are then counted and grouped for hardware other than the intended one.",
     .fix = "Write one of the known policies, or declare the site's own under accelerators in "
            "mindgate.yaml.",
     .source = "mind-cluster: component/ascend-for-volcano/internal/npu/factory.go "
               "(get910CardHandlerName). A newer plugin may know more policies than this table: "
               "therefore a warning. The annotation is read from MindCluster 7.3 on, and 26.0 has "
               "more policies: versions.mindcluster decides which count.",
     .check = CheckKnownPolicy},
    {.id = "MG087",
     .name = "chip4-node8-on-ascend910",
     .severity = Severity::kWarning,
     .default_mode = schemas::Mode::kWarn,
     .kinds = schemas::kWorkloads,
     .summary = "The policy chip4-node8 is used for Atlas 350 cards.",
     .why = "Some documents list chip4-node8 for Atlas 800 servers too. The plugin's handler of "
            "that name places cards in groups of four of the 350 family for every resource, and "
            "accepts any number up to 8, where Atlas 800 servers work with 1, 2, 4 or 8.",
     .fix = "Leave the annotation out for Atlas 800 training servers.",
     .source =
         "mind-cluster: component/ascend-for-volcano/internal/npu/factory.go and policy/chip4nodex "
         "against the documents. MindCluster 7.3 maps the policy to Atlas 800: therefore a "
         "warning, which ends where versions.mindcluster is before 26.0.",
     .check = CheckChip4Node8},
    {.id = "MG088",
     .name = "accelerator-type",
     .severity = Severity::kError,
     .default_mode = schemas::Mode::kEnforce,
     .kinds = schemas::kWorkloads,
     .summary =
         "Where neither schedule_policy nor sp-block decides, the nodeSelector accelerator-type is "
         "one that the plugin has a handler for, and the same in all pods of a PodGroup.",
     .why = "The plugin looks its handler up by this value. For any other value it reports "
            "NotSupportPolicy and the job stays Pending, even when nodes carry that label. "
            "Different values within a PodGroup are joined with '|' first, and then match nothing.",
     .fix = "Write the annotation huawei.com/schedule_policy, which decides before the selector, "
            "or correct the value.",
     .source = "mind-cluster: component/ascend-for-volcano/internal/npu/factory.go, plugin/job.go "
               "(getJobSelectorFromVcJob).",
     .check = CheckAcceleratorType},
    {.id = "MG089",
     .name = "policy-disagreement",
     .severity = Severity::kWarning,
     .default_mode = schemas::Mode::kWarn,
     .kinds = schemas::kWorkloads,
     .summary = "All pod templates of a PodGroup carry the same schedule_policy, sp-block, "
                "ra-block and affinity-config, or its own metadata does.",
     .why = "What the PodGroup does not specify, the plugin takes from one arbitrary pod. When "
            "templates differ, or only some of them carry the annotation, the job is evaluated by "
            "another policy from one scheduling round to the next.",
     .fix = "Write the annotation once where the PodGroup copies it from (the metadata of an "
            "AscendJob or Volcano Job), otherwise identically on every template.",
     .source = "mind-cluster: component/ascend-for-volcano/plugin/job.go "
               "(getJobAnnotationFromJobInfo). A round may happen to succeed: therefore a warning.",
     .check = CheckAgreement},
};

}  // namespace

Family PolicyRules() { return kPolicyRules; }

}  // namespace mindgate::policies::chips
