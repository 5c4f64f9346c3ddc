#include <algorithm>
#include <map>

#include "base/text.h"
#include "json/pointer.h"
#include "policies/chips/chips.h"
#include "policies/families.h"
#include "policies/text_entries.h"
#include "schemas/names.h"

// Annotations and labels that lay jobs out over super pods, racks and network levels.
namespace mindgate::policies::chips {
namespace {

using schemas::ChipHandler;
using schemas::Entry;
using schemas::GroupAnnotation;
using schemas::GroupChips;
using schemas::Merged;
using schemas::PodGroupView;
using By = schemas::HandlerChoice::By;

constexpr std::string_view kTpBlock = "tp-block";
constexpr std::string_view kSuperPodAffinity = "super-pod-affinity";
constexpr std::string_view kStaysPending = "; the job stays Pending";
// Chips of one rack, the most that ra-block may name (policy/chip8node8ra64sp/const.go).
constexpr int64_t kRackChips = 64;

// For ForEachChipGroup: groups that carry an annotation, groups with a policy.
auto Carrying(const RuleContext& context, std::string_view key) {
  return [&context, key](const PodGroupView& group) { return HasAnnotation(context, group, key); };
}

auto WithPolicy(const RuleContext& context, std::string_view policy) {
  return
      [&context, policy](const PodGroupView& group) { return HasPolicy(context, group, policy); };
}

Entry AnnotationOf(const RuleContext& context, const PodGroupView& group, std::string_view key) {
  return schemas::ReadGroupAnnotation(context.view, group, key).entry;
}

void CheckSpBlock(const RuleContext& context, Findings& findings) {
  ForEachChipGroup(
      context, Carrying(context, schemas::kSpBlock),
      [&](const PodGroupView& group, const GroupChips& chips) {
        if (!IsSuperPod(chips)) return;
        const GroupAnnotation annotation =
            schemas::ReadGroupAnnotation(context.view, group, schemas::kSpBlock);
        const auto text = annotation.entry.Text();
        if (!text) return;
        const auto block = PositiveBlock(annotation.entry);
        if (!block) {
          findings.Violate(
              annotation.entry.Path(),
              "sp-block " + Quote(*text) + " is not a positive number of chips" +
                  std::string(kStaysPending),
              "write the number of chips of one logical super pod, as a quoted number");
          return;
        }
        if (!chips.choice.certain || !annotation.agreed) return;
        auto problem = ProblemOfBlock(chips, *block, context.config.super_pod_size);
        if (!problem) return;
        // What divides the PodGroup is taken, too, but joins instances: MG189 would warn of it.
        const auto instance = schemas::kInferenceServices.Has(context.view.kind)
                                  ? BlockOfInstance(context, group, chips)
                                  : std::nullopt;
        if (instance) problem->hint = "write sp-block: " + Quote(std::to_string(*instance));
        findings.Violate(annotation.entry.Path(), problem->what + std::string(kStaysPending),
                         std::move(problem->hint));
      });
}

// The size alone never starts where the second pod is made only when the first is ready.
std::string GangFix(const RuleContext& context, const PodGroupView& group) {
  const bool in_order =
      MakesPodsInOrder(context.view, context.view.templates[group.templates.front()]);
  return "write the annotation huawei.com/schedule_minAvailable with the number of pods beside "
         "it" +
         std::string(in_order ? ", and podManagementPolicy: \"Parallel\" in the StatefulSet's spec"
                              : "");
}

void CheckDocumentedSpBlock(const RuleContext& context, Findings& findings) {
  ForEachChipGroup(context, Carrying(context, schemas::kSpBlock),
                   [&](const PodGroupView& group, const GroupChips& chips) {
                     if (!IsSuperPod(chips) || !chips.choice.certain || chips.IsSingle()) return;
                     const Entry entry = AnnotationOf(context, group, schemas::kSpBlock);
                     const auto block = PositiveBlock(entry);
                     if (!block || ProblemOfBlock(chips, *block, context.config.super_pod_size))
                       return;
                     const int64_t node = chips.choice.handler->node_chips;
                     if (chips.one_pod_counts && chips.uniform && *chips.uniform % *block != 0) {
                       findings.Violate(entry.Path(),
                                        "sp-block " + std::to_string(*block) +
                                            " never fits: without huawei.com/schedule_minAvailable "
                                            "the plugin counts one pod's " +
                                            Chips(*chips.uniform) + " as the whole job",
                                        GangFix(context, group));
                     } else if (*block < node && chips.npu_pods) {
                       findings.Violate(
                           entry.Path(),
                           "sp-block " + std::to_string(*block) + " is less than the " +
                               Chips(node) +
                               " of a node; only some releases accept that for several pods",
                           "write a multiple of " + std::to_string(node));
                     }
                   });
}

// The super-pod policy of the same servers; empty when they have none.
std::string_view SuperPodPolicyOf(const GroupChips& chips) {
  const std::string_view policy = chips.choice.handler->schedule_policy;
  if (policy == "chip2-node16" || policy == "module-a3-16") return "chip2-node16-sp";
  if (policy == "chip2-node8") return "chip2-node8-sp";
  if (policy == "chip8-node8" && chips.resource == "huawei.com/npu") return "chip8-node8-sp";
  return {};
}

// The plugin picks a super pod for MindIE in a path of its own.
bool IsMindieJob(const RuleContext& context, const PodGroupView& group) {
  return schemas::GroupLabel(context.view, group, schemas::kApp) &&
         schemas::GroupLabel(context.view, group, schemas::kJobId);
}

std::string SuperPodFix(const GroupChips& chips) {
  const std::string_view policy = SuperPodPolicyOf(chips);
  return policy.empty() ? "leave it out: these servers form no super pods"
                        : "write huawei.com/schedule_policy: " + std::string(policy);
}

void CheckSpFit(const RuleContext& context, const PodGroupView& group, const GroupChips& chips,
                const Entry& fit, Findings& findings) {
  if (!chips.choice.handler->sp_fit) {
    findings.Violate(fit.Path(),
                     "sp-fit has no effect under " + HowChosen(chips.choice) +
                         ": only A3 super-pod policies read it",
                     SuperPodFix(chips));
  } else if (chips.choice.certain && !IsMindieJob(context, group)) {
    findings.Violate(fit.Path(),
                     "sp-fit has no effect here: the plugin reads it for MindIE jobs only",
                     "leave it out, or label the job with app and jobID if it is a MindIE job");
  } else if (fit.Text() && fit.Text() != "idlest") {
    findings.Violate(
        fit.Path(),
        "sp-fit " + Quote(*fit.Text()) + " has no effect: only idlest changes the choice",
        "write sp-fit: \"idlest\", or leave it out");
  }
}

// sp-block beside a policy that does not read it.
void CheckUnusedSpBlock(const RuleContext& context, Findings& findings) {
  const auto wanted = [&](const PodGroupView& group) {
    return HasAnnotation(context, group, schemas::kSpBlock) ||
           HasAnnotation(context, group, schemas::kSpFit);
  };
  ForEachChipGroup(context, wanted, [&](const PodGroupView& group, const GroupChips& chips) {
    if (!IsSettled(chips)) return;
    const Entry block = AnnotationOf(context, group, schemas::kSpBlock);
    if (block && !chips.choice.handler->super_pod) {
      findings.Violate(block.Path(),
                       "sp-block has no effect under " + HowChosen(chips.choice) +
                           ", which is not a super-pod policy: pods may be spread over super pods",
                       SuperPodFix(chips));
    }
    const Entry fit = AnnotationOf(context, group, schemas::kSpFit);
    if (fit) CheckSpFit(context, group, chips, fit, findings);
  });
}

std::optional<Problem> ProblemOfRack(const GroupChips& chips, int64_t rack, int64_t block) {
  const auto name = [&] { return "ra-block " + std::to_string(rack); };
  const int64_t node = chips.choice.handler->node_chips;
  const int64_t rack_nodes = (rack + node - 1) / node;
  const int64_t block_nodes = NodesOf(block, node);
  if (rack_nodes > block_nodes || block_nodes % rack_nodes != 0) {
    return Problem{name() + " does not divide sp-block " + std::to_string(block),
                   "write an ra-block that divides sp-block"};
  }
  if (chips.npu_pods && *chips.npu_pods % rack_nodes != 0) {
    return Problem{name() + " is " + std::to_string(rack_nodes) +
                       " nodes, which does not divide the job's " +
                       std::to_string(*chips.npu_pods) + " NPU pods",
                   "write an ra-block whose number of nodes divides the number of pods"};
  }
  return std::nullopt;
}

void CheckRaBlock(const RuleContext& context, Findings& findings) {
  ForEachChipGroup(
      context, Carrying(context, schemas::kRaBlock),
      [&](const PodGroupView& group, const GroupChips& chips) {
        if (!chips.choice.handler || !chips.choice.handler->rack_block) return;
        const GroupAnnotation annotation =
            schemas::ReadGroupAnnotation(context.view, group, schemas::kRaBlock);
        const auto text = annotation.entry.Text();
        if (!text) return;
        const auto rack = ParseGoInt(*text);
        if (!rack || *rack < 1 || *rack > kRackChips || (*rack & (*rack - 1)) != 0) {
          findings.Violate(annotation.entry.Path(),
                           "ra-block " + Quote(*text) + " is not one of 1, 2, 4, 8, 16, 32 and 64" +
                               std::string(kStaysPending),
                           "write a power of two from 1 to 64, or leave it out for 8");
          return;
        }
        if (!chips.choice.certain || !annotation.agreed || !chips.gang_certain) return;
        const Entry sp_block = AnnotationOf(context, group, schemas::kSpBlock);
        const auto block = sp_block ? PositiveBlock(sp_block) : chips.total;
        if (!block) return;
        auto problem = ProblemOfRack(chips, *rack, *block);
        if (!problem) return;
        findings.Violate(annotation.entry.Path(), problem->what + std::string(kStaysPending),
                         std::move(problem->hint));
      });
}

constexpr std::string_view kLevelFix =
    "write pods per unit, lowest level first, such as level1=2,level2=4";

// The levels of an affinity-config, or why the plugin does not take it.
std::optional<Problem> ProblemOfLevels(std::string_view text, std::optional<int64_t> npu_pods) {
  std::map<std::string_view, int64_t> levels;
  if (text.find(' ') != std::string_view::npos) {
    std::string right(text);
    std::erase(right, ' ');
    return Problem{"huawei.com/affinity-config " + Quote(text) +
                       " has spaces, which the plugin takes for parts of names and numbers",
                   "write huawei.com/affinity-config: " + Quote(right)};
  }
  for (std::string_view pair : Split(text, ',')) {
    const size_t equals = pair.find('=');
    if (equals == std::string_view::npos || pair.find('=', equals + 1) != std::string_view::npos) {
      return Problem{Quote(pair) + " in huawei.com/affinity-config is not a pair level=number",
                     std::string(kLevelFix)};
    }
    const auto value = ParseGoInt(pair.substr(equals + 1));
    if (!value || *value < 1) {
      return Problem{Quote(pair) + " in huawei.com/affinity-config does not have a positive number",
                     std::string(kLevelFix)};
    }
    levels[pair.substr(0, equals)] = *value;
  }
  std::optional<int64_t> upper = npu_pods;
  std::string upper_name = "the job's number of NPU pods";
  for (size_t n = levels.size(); n >= 1; --n) {
    const std::string name = "level" + std::to_string(n);
    const auto level = levels.find(name);
    if (level == levels.end()) {
      return Problem{
          "huawei.com/affinity-config lacks " + name + ": levels must start at level1 without gaps",
          std::string(kLevelFix)};
    }
    if (upper && *upper % level->second != 0) {
      return Problem{name + "=" + std::to_string(level->second) + " does not divide " + upper_name +
                         " (" + std::to_string(*upper) + ")",
                     "write a divisor of " + std::to_string(*upper) + " for " + name};
    }
    upper = level->second;
    upper_name = name;
  }
  return std::nullopt;
}

// The policy that reads the levels is advised only where it takes them.
std::string LevelsFix(const Entry& levels, const GroupChips& chips) {
  const std::string fix = "leave it out";
  const auto text = levels.Text();
  if (!text || ProblemOfLevels(*text, chips.npu_pods)) return fix;
  return fix + ", or write huawei.com/schedule_policy: multilevel";
}

void CheckUnusedTopology(const RuleContext& context, Findings& findings) {
  const auto wanted = [&](const PodGroupView& group) {
    return HasAnnotation(context, group, kTpBlock) ||
           HasAnnotation(context, group, schemas::kRaBlock) ||
           HasAnnotation(context, group, schemas::kAffinityConfig);
  };
  ForEachChipGroup(context, wanted, [&](const PodGroupView& group, const GroupChips& chips) {
    if (const Entry old = AnnotationOf(context, group, kTpBlock)) {
      findings.Violate(old.Path(),
                       "tp-block is no longer read: the annotation is now called ra-block",
                       "write ra-block instead");
    }
    if (!IsSettled(chips)) return;
    const ChipHandler& handler = *chips.choice.handler;
    const Entry rack = AnnotationOf(context, group, schemas::kRaBlock);
    if (rack && !handler.rack_block) {
      findings.Violate(rack.Path(),
                       "ra-block has no effect under " + HowChosen(chips.choice) +
                           ": only chip8-node8-ra64-sp reads it",
                       "leave it out, or write huawei.com/schedule_policy: chip8-node8-ra64-sp");
    }
    const Entry levels = AnnotationOf(context, group, schemas::kAffinityConfig);
    if (levels && !handler.multilevel) {
      findings.Violate(levels.Path(),
                       "huawei.com/affinity-config has no effect under " + HowChosen(chips.choice) +
                           ": only the policy multilevel reads it",
                       LevelsFix(levels, chips));
    }
  });
}

void CheckAffinityConfig(const RuleContext& context, Findings& findings) {
  ForEachChipGroup(
      context, WithPolicy(context, "multilevel"),
      [&](const PodGroupView& group, const GroupChips& chips) {
        if (!chips.choice.handler || !chips.choice.handler->multilevel) return;
        const GroupAnnotation annotation =
            schemas::ReadGroupAnnotation(context.view, group, schemas::kAffinityConfig);
        if (!annotation.entry) {
          if (!chips.choice.certain ||
              schemas::VisibilityOf(context.view, group) != schemas::Visibility::kAll) {
            return;
          }
          findings.Violate(
              schemas::GroupAnnotationPath(context.view, group, schemas::kAffinityConfig),
              "the policy multilevel needs huawei.com/affinity-config with at least level1" +
                  std::string(kStaysPending),
              std::string(kLevelFix));
          return;
        }
        const auto text = annotation.entry.Text();
        if (!text) return;
        const bool sure = chips.choice.certain && chips.gang_certain;
        auto problem = ProblemOfLevels(*text, sure ? chips.npu_pods : std::nullopt);
        if (!problem) return;
        findings.Violate(annotation.entry.Path(), problem->what + std::string(kStaysPending),
                         std::move(problem->hint));
      });
}

void CheckSuperPodAffinity(const RuleContext& context, Findings& findings) {
  if (context.view.controller_injected) return;
  for (const PodGroupView& group : context.view.pod_groups) {
    const Merged label = schemas::GroupLabel(context.view, group, kSuperPodAffinity);
    if (!label || label.Text() == "soft" || label.Text() == "hard" || !label.first.Text()) continue;
    const std::string value = label.Joined();
    findings.Violate((label.joined() ? label.other : label.first).Path(),
                     "super-pod-affinity " + Quote(value) +
                         " counts as hard: pods wait until a whole super pod is free",
                     "write super-pod-affinity: soft or hard, the same on all pods");
  }
}

constexpr Rule kSuperPodRules[] = {
    {.id = "MG090",
     .name = "sp-block",
     .severity = Severity::kError,
     .default_mode = schemas::Mode::kEnforce,
     .kinds = schemas::kWorkloads,
     .summary = "Under a super-pod policy sp-block is a positive multiple of the chips of a node "
                "that divides the chips of the job and fits into a super pod; for a single pod it "
                "is that pod's number of chips.",
     .why = "sp-block is the size of one logical super pod in chips. The plugin rejects a job "
            "whose sp-block it cannot lay out, and the pods stay Pending. If sp-block is missing, "
            "it takes all chips of the job.",
     .fix = "Write the number of chips of one prefill or decode instance, or of one training "
            "block, as a quoted number.",
     .source = "mind-cluster: "
               "component/ascend-for-volcano/internal/npu/ascend910/ascend910a3/superpod/frame.go "
               "(checkSpBlock, checkRequireNPU), policy/chip8node8sp, policy/chip8node8ra64sp.",
     .check = CheckSpBlock},
    {.id = "MG091",
     .name = "sp-block-documented",
     .severity = Severity::kWarning,
     .default_mode = schemas::Mode::kWarn,
     .kinds = schemas::kWorkloads,
     .summary =
         "sp-block is at least one node, and the plugin can see all chips that it refers to.",
     .why = "For StatefulSets, Jobs and AIBrix roles the PodGroup asks for one pod, and without "
            "huawei.com/schedule_minAvailable the plugin takes that pod's chips for the whole job: "
            "a larger sp-block never divides them. On 850 and 950 servers a block smaller than a "
            "node is accepted for several pods by some releases and refused by others; on A3 "
            "servers it is refused, which the rule sp-block reports.",
     .fix = "Write huawei.com/schedule_minAvailable with the number of pods, in a StatefulSet with "
            "podManagementPolicy: Parallel, and a multiple of the node's chips.",
     .source = "mind-cluster: component/ascend-for-volcano/plugin/job.go (initByJobInfo) and the "
               "handlers' checkSpBlock. Depends on the release and on how Volcano fills "
               "minResources: therefore a warning.",
     .check = CheckDocumentedSpBlock},
    {.id = "MG092",
     .name = "sp-block-unused",
     .severity = Severity::kError,
     .default_mode = schemas::Mode::kWarn,
     .kinds = schemas::kWorkloads,
     .summary = "sp-block and sp-fit are used together with a super-pod policy.",
     .why = "schedule_policy decides before sp-block. With a policy that is not a super-pod policy "
            "the job is placed without regard to super pods, its fault handling does not know "
            "logical super pods either, and both annotations have no effect.",
     .fix = "Write the super-pod policy of the servers (chip2-node16-sp, chip2-node8-sp, "
            "chip8-node8-sp, chip8-node8-ra64-sp), or leave the annotations out.",
     .source = "mind-cluster: component/ascend-for-volcano/internal/npu/factory.go. The documents' "
               "MindIE sample combines chip2-node16 with sp-block and sp-fit: therefore a warning.",
     .check = CheckUnusedSpBlock},
    {.id = "MG093",
     .name = "ra-block",
     .severity = Severity::kError,
     .default_mode = schemas::Mode::kEnforce,
     .kinds = schemas::kWorkloads,
     .summary = "Under chip8-node8-ra64-sp, ra-block is a power of two from 1 to 64 that divides "
                "sp-block and the job.",
     .why = "ra-block is the number of chips that must share a rack. The plugin rejects a job with "
            "any other value, including 0, which some documents offer.",
     .fix = "Write 8, 16, 32 or 64, or leave it out for 8.",
     .source =
         "mind-cluster: component/ascend-for-volcano/internal/npu/policy/chip8node8ra64sp/job.go "
         "(checkTpBlockNum, calculateTpBlockAndCheck).",
     .check = CheckRaBlock},
    {.id = "MG094",
     .name = "topology-annotation-unused",
     .severity = Severity::kWarning,
     .default_mode = schemas::Mode::kWarn,
     .kinds = schemas::kWorkloads,
     .summary = "ra-block and huawei.com/affinity-config are used together with the policy that "
                "reads them, and the old name tp-block is not used.",
     .why = "Each of these annotations is read by one policy: ra-block by chip8-node8-ra64-sp, "
            "affinity-config by multilevel. Under other policies they have no effect, and the pods "
            "are spread more widely than intended.",
     .fix = "Write the policy that reads the annotation, or leave the annotation out.",
     .source = "mind-cluster: component/ascend-for-volcano/plugin/type.go and "
               "internal/npu/factory.go. Older releases read tp-block: therefore a warning.",
     .check = CheckUnusedTopology},
    {.id = "MG095",
     .name = "affinity-config",
     .severity = Severity::kError,
     .default_mode = schemas::Mode::kEnforce,
     .kinds = schemas::kWorkloads,
     .summary = "Under the policy multilevel, huawei.com/affinity-config lists level1, level2 and "
                "so on with positive numbers, each dividing the next and the highest dividing the "
                "number of NPU pods.",
     .why = "The plugin builds its tree of network units from this list. A bad pair, a gap between "
            "levels or a remainder makes it reject the job; a zero makes it divide by zero, which "
            "crashes the scheduler for everyone.",
     .fix = "Write pods per unit without spaces, such as level1=2,level2=4.",
     .source = "mind-cluster: component/ascend-for-volcano/common/util (GetTaskTreeLevels), "
               "plugin/job.go (affinity blocks).",
     .check = CheckAffinityConfig},
    {.id = "MG096",
     .name = "super-pod-affinity",
     .severity = Severity::kWarning,
     .default_mode = schemas::Mode::kWarn,
     .kinds = schemas::kWorkloads,
     .summary =
         "The label super-pod-affinity is soft or hard, and the same on all pods of a PodGroup.",
     .why = "Only the exact word soft lets a job be spread over super pods. Everything else means "
            "hard, including no label at all and values that differ between pods: the job then "
            "waits for a super pod with enough free nodes.",
     .fix = "Write soft or hard.",
     .source = "mind-cluster: "
               "component/ascend-for-volcano/internal/npu/ascend910/ascend910a3/superpod/frame.go "
               "(selectSuperPodForJob). The job still runs: therefore a warning.",
     .check = CheckSuperPodAffinity},
};

}  // namespace

Family SuperPodRules() { return kSuperPodRules; }

}  // namespace mindgate::policies::chips
