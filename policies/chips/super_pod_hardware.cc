#include <algorithm>

#include "base/text.h"
#include "policies/chips/chips.h"
#include "policies/families.h"
#include "schemas/names.h"

// Super-pod policies on servers that form no super pods, and in runtimes that many services share.
namespace mindgate::policies::chips {
namespace {

using schemas::Entry;
using schemas::GroupAnnotation;
using schemas::GroupChips;
using schemas::Merged;
using schemas::PodGroupView;
using By = schemas::HandlerChoice::By;

// A3 servers that are sold without the super-pod network; some sites label all A3 servers so.
constexpr std::string_view kPlainA3 = "module-a3-16";
constexpr std::string_view kSuperPodA3 = "module-a3-16-super-pod";

// Servers that MindCluster knows and that never form a super pod.
bool FormsNoSuperPod(std::string_view type, const schemas::Config& config) {
  if (type == kPlainA3 || type.find("super-pod") != std::string_view::npos ||
      type.find("SuperPod") != std::string_view::npos) {
    return false;
  }
  const auto is_row = [&](const auto& row) { return row.accelerator_type == type; };
  if (std::any_of(config.accelerators.begin(), config.accelerators.end(), is_row)) return false;
  const auto known = schemas::KnownAcceleratorTypes();
  return std::find(known.begin(), known.end(), type) != known.end();
}

// What made the job one for super pods, and which servers it selects.
struct SuperPodJob {
  Entry asked;  // sp-block, or schedule_policy
  std::string_view key;
  std::string_view type;
  std::string type_path;
  bool settled = false;  // nothing outside the object can change either
};

template <typename Visit>
void ForEachSuperPodJob(const RuleContext& context, Visit visit) {
  const auto wanted = [&](const PodGroupView& group) {
    return static_cast<bool>(schemas::GroupSelector(context.view, group, kAcceleratorType));
  };
  ForEachChipGroup(context, wanted, [&](const PodGroupView& group, const GroupChips& chips) {
    if (!IsSuperPod(chips)) return;
    if (chips.choice.by != By::kPolicy && chips.choice.by != By::kSuperPodBlock) return;
    const Merged type = schemas::GroupSelector(context.view, group, kAcceleratorType);
    const auto text = type.Text();
    if (!text) return;
    const std::string_view key =
        chips.choice.by == By::kPolicy ? schemas::kSchedulePolicy : schemas::kSpBlock;
    visit(SuperPodJob{schemas::ReadGroupAnnotation(context.view, group, key).entry, key, *text,
                      type.first.Path(), IsSettled(chips)});
  });
}

std::string FixOf(const SuperPodJob& job) {
  return job.key == schemas::kSpBlock
             ? "remove sp-block, or select super-pod servers: accelerator-type: " +
                   std::string(kSuperPodA3)
             : "write the huawei.com/schedule_policy of the selected servers, or select super-pod "
               "servers";
}

void CheckHardware(const RuleContext& context, Findings& findings) {
  ForEachSuperPodJob(context, [&](const SuperPodJob& job) {
    if (!job.settled || !FormsNoSuperPod(job.type, context.config)) return;
    findings.Violate(job.asked.Path(),
                     std::string(job.key) + " asks for a super pod, but accelerator-type " +
                         std::string(job.type) +
                         " selects servers that form none: the job stays Pending",
                     FixOf(job));
  });
}

void CheckDoubtfulHardware(const RuleContext& context, Findings& findings) {
  ForEachSuperPodJob(context, [&](const SuperPodJob& job) {
    if (job.type == kPlainA3) {
      findings.Violate(
          job.asked.Path(),
          std::string(job.key) +
              " asks for a super pod, but accelerator-type module-a3-16 selects servers without a "
              "super-pod network: the job stays Pending unless they report a super pod",
          FixOf(job));
    } else if (!job.settled && FormsNoSuperPod(job.type, context.config)) {
      findings.Violate(job.asked.Path(),
                       std::string(job.key) + " asks for a super pod, but accelerator-type " +
                           std::string(job.type) +
                           " selects servers that form none: services stay Pending unless they "
                           "override one of the two",
                       FixOf(job));
    }
  });
}

void CheckRuntimeBlock(const RuleContext& context, Findings& findings) {
  const auto wanted = [&](const PodGroupView& group) {
    return HasAnnotation(context, group, schemas::kSpBlock);
  };
  ForEachChipGroup(context, wanted, [&](const PodGroupView& group, const GroupChips& chips) {
    if (!IsSuperPod(chips)) return;
    const GroupAnnotation annotation =
        schemas::ReadGroupAnnotation(context.view, group, schemas::kSpBlock);
    const auto block = PositiveBlock(annotation.entry);
    if (!block) return;  // sp-block says it
    auto problem = ProblemOfBlock(OneInstance(context.view, group, chips), *block,
                                  context.config.super_pod_size);
    if (!problem) return;
    findings.Violate(annotation.entry.Path(),
                     problem->what +
                         " as this runtime makes it: services with one instance stay Pending "
                         "unless they override one of the two",
                     std::move(problem->hint));
  });
}

void CheckServiceBlock(const RuleContext& context, Findings& findings) {
  const auto wanted = [&](const PodGroupView& group) {
    return HasAnnotation(context, group, schemas::kSpBlock);
  };
  ForEachChipGroup(context, wanted, [&](const PodGroupView& group, const GroupChips& chips) {
    if (!IsSuperPod(chips) || !chips.choice.certain) return;
    const Entry entry = schemas::ReadGroupAnnotation(context.view, group, schemas::kSpBlock).entry;
    const auto block = PositiveBlock(entry);
    if (!block || ProblemOfBlock(chips, *block, context.config.super_pod_size)) return;
    const auto instance = BlockOfInstance(context, group, chips);
    if (!instance || *block <= *instance) return;
    findings.Violate(entry.Path(),
                     "sp-block " + std::to_string(*block) + " is more than the " +
                         Chips(*instance) +
                         " of one instance: several instances are placed and restarted as one "
                         "logical super pod",
                     "write sp-block: " + Quote(std::to_string(*instance)));
  });
}

constexpr Rule kSuperPodHardwareRules[] = {
    {.id = "MG160",
     .name = "super-pod-hardware",
     .severity = Severity::kError,
     .default_mode = schemas::Mode::kEnforce,
     .kinds = schemas::kWorkloads,
     .summary = "Jobs for super pods select servers that form super pods.",
     .why = "sp-block, where no schedule_policy stands beside it, and the -sp policies choose the "
            "super-pod handler before accelerator-type is read. That handler takes only nodes that "
            "report a super pod, and the selector only nodes that have none: no node is left, and "
            "the job stays Pending.",
     .fix = "Remove sp-block on Atlas A2 and older servers, or select the super-pod servers.",
     .source = "mind-cluster: component/ascend-for-volcano/internal/npu/factory.go "
               "(get910CardHandlerName), internal/npu/ascend910/ascend910a3/superpod/frame.go. "
               "MindCluster's documents offer sp-block for Atlas 900 A3 SuperPoD only.",
     .check = CheckHardware},
    {.id = "MG161",
     .name = "super-pod-hardware-label",
     .severity = Severity::kWarning,
     .default_mode = schemas::Mode::kWarn,
     .kinds = schemas::kWorkloads,
     .summary = "Jobs for super pods do not select module-a3-16, and runtimes for super pods do "
                "not select servers without them.",
     .why = "Servers labelled module-a3-16 have A3 chips, but no super-pod network: the super-pod "
            "handler refuses nodes that do not report a super pod. A runtime hands both its "
            "annotation and its selector to every service that names it.",
     .fix = "Select module-a3-16-super-pod, or remove sp-block.",
     .source = "mind-cluster: "
               "component/ascend-for-volcano/internal/npu/ascend910/ascend910a3/superpod/frame.go; "
               "documents of SGLang best practice, sp-block. Sites that label all A3 servers "
               "module-a3-16 may have super pods: therefore a warning.",
     .check = CheckDoubtfulHardware},
    {.id = "MG162",
     .name = "sp-block-of-runtime",
     .severity = Severity::kWarning,
     .default_mode = schemas::Mode::kWarn,
     .kinds = schemas::kOmeRuntimes,
     .summary = "sp-block in a runtime fits one instance as the runtime makes it.",
     .why = "OME hands the annotation to every service that names the runtime, and the services "
            "seldom say it again. If it is not the number of chips of one instance, or does not "
            "divide it, the plugin refuses each of them.",
     .fix = "Write the chips of one prefill or decode instance: those of one pod, or of leader and "
            "workers together.",
     .source = "mind-cluster: documents of SGLang best practice (sp-block is the number of NPUs of "
               "one instance); "
               "component/ascend-for-volcano/internal/npu/ascend910/ascend910a3/superpod/frame.go. "
               "A service can override runtime and annotation: therefore a warning. sp-block "
               "evaluates services whose runtime is known.",
     .check = CheckRuntimeBlock},
    {.id = "MG189",
     .name = "sp-block-of-instance",
     .severity = Severity::kWarning,
     .default_mode = schemas::Mode::kWarn,
     .kinds = schemas::kInferenceServices,
     .summary = "sp-block of a service is at most the chips of one instance.",
     .why = "sp-block is the size of one prefill or decode instance, whose pods exchange data over "
            "the super pod. With a larger one the plugin packs several independent instances into "
            "one logical super pod: they wait for each other's nodes, and a fault of one concerns "
            "the others.",
     .fix = "Write the chips of one instance: those of one pod, or of leader and workers together.",
     .source = "mind-cluster: documents of SGLang best practice (sp-block is the number of NPUs of "
               "one instance). The plugin takes what divides the PodGroup: therefore a warning.",
     .check = CheckServiceBlock},
};

}  // namespace

Family SuperPodHardwareRules() { return kSuperPodHardwareRules; }

}  // namespace mindgate::policies::chips
