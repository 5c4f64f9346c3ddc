#include <algorithm>

#include "base/text.h"
#include "json/pointer.h"
#include "policies/chips/chips.h"
#include "policies/families.h"
#include "policies/text_entries.h"
#include "schemas/names.h"

namespace mindgate::policies::chips {
namespace {

using schemas::ChipCounts;
using schemas::ChipHandler;
using schemas::ContainerView;
using schemas::Framework;
using schemas::GroupChips;
using schemas::NpuRequest;
using schemas::NpuResource;
using schemas::PodChips;
using schemas::PodGroupView;
using schemas::PodTemplateView;
using schemas::ZeroChips;
using By = schemas::HandlerChoice::By;

// One pod template whose number of chips is known, in a group for which the plugin has a handler.
struct CountedPod {
  const GroupChips& group;
  const PodTemplateView& pod;
  const PodChips& asked;
  int64_t count;

  const schemas::HandlerChoice& choice() const { return group.choice; }
  std::string Path() const { return schemas::ChipsPath(pod, asked); }
  // "1 chip per pod is", "16 chips per pod are".
  std::string Subject() const {
    return Chips(count) + (count == 1 ? " per pod is" : " per pod are");
  }
};

template <typename Visit>
void ForEachCountedPod(const RuleContext& context, Visit visit) {
  ForEachChipGroup(context, [&](const PodGroupView& group, const GroupChips& chips) {
    if (!chips.choice.handler || !chips.choice.handler->counts_chips) return;
    for (size_t index : group.templates) {
      const PodTemplateView& pod = context.view.templates[index];
      const PodChips asked = pod.chips;
      if (asked.count) visit(CountedPod{chips, pod, asked, *asked.count});
    }
  });
}

// "1, 2 or 4", or what one pod and each of several may ask for when it is not known which it will
// be.
std::string Accepted(const GroupChips& group, ChipCounts single, ChipCounts distributed) {
  const std::string one = single.Describe();
  const std::string each = distributed.Describe();
  if (one == each || group.IsSingle()) return one;
  if (group.IsDistributed()) return each + " from each of several pods";
  return one + " from a single pod, " + each + " from each of several";
}

std::string Accepted(const GroupChips& group) {
  return Accepted(group, group.choice.handler->single, group.choice.handler->distributed);
}

void CheckChipCount(const RuleContext& context, Findings& findings) {
  ForEachCountedPod(context, [&](const CountedPod& pod) {
    if (!pod.choice().certain || Accepts(pod.group, pod.count)) return;
    const std::string accepted = Accepted(pod.group);
    std::string fix = "request " + accepted;
    if (pod.choice().by == By::kDefault) {
      fix =
          "name the servers with the annotation huawei.com/schedule_policy (chip8-node8 on Atlas "
          "A2, chip2-node16 on Atlas A3), or " +
          fix;
    } else if (pod.choice().by == By::kPolicy) {
      fix += ", or write the huawei.com/schedule_policy of the intended servers";
    }
    findings.Violate(pod.Path(),
                     pod.Subject() + " refused: " + HowChosen(pod.choice()) + " takes " + accepted +
                         "; the pods stay Pending",
                     std::move(fix));
  });
}

// Under multilevel a pod fits only a node of which it takes all chips.
void CheckWholeNodes(const RuleContext& context, Findings& findings) {
  ForEachChipGroup(context, [&](const PodGroupView& group, const GroupChips& chips) {
    const auto& choice = chips.choice;
    if (!choice.handler || !choice.handler->whole_nodes || !choice.certain) return;
    const auto type = schemas::GroupSelector(context.view, group, kAcceleratorType).Text();
    const auto sizes = schemas::NodeSizes(type.value_or(""), context.config);
    const std::string whole = ChipCounts(sizes).Describe();
    for (size_t index : group.templates) {
      const PodTemplateView& pod = context.view.templates[index];
      const PodChips& asked = pod.chips;
      if (!asked.count || *asked.count < 1 || sizes.contains(*asked.count)) continue;
      findings.Violate(schemas::ChipsPath(pod, asked),
                       Chips(*asked.count) + (*asked.count == 1 ? " per pod is" : " per pod are") +
                           " refused: " + HowChosen(choice) +
                           " takes only pods that ask for all chips of a node (" + whole +
                           "); the pods stay Pending",
                       "request " + whole);
    }
  });
}

bool IsDocumented(const GroupChips& group, int64_t count) {
  const ChipHandler& handler = *group.choice.handler;
  if (group.IsSingle()) return handler.documented_single.Has(count);
  if (group.IsDistributed()) return handler.documented_distributed.Has(count);
  return handler.documented_single.Has(count) || handler.documented_distributed.Has(count);
}

// Inference services of OME and AIBrix are documented for whole A2 (8 chips) and A3 (16) machines
// only.
bool IsPartOfMachine(const RuleContext& context, const CountedPod& pod) {
  if (context.view.framework != Framework::kOme && context.view.framework != Framework::kAibrix) {
    return false;
  }
  if (pod.choice().by == By::kDefault) return pod.count != 8 && pod.count != 16;
  const int64_t whole = pod.choice().handler->node_chips;
  return (whole == 8 || whole == 16) && pod.count != whole;
}

void CheckDocumentedCount(const RuleContext& context, Findings& findings) {
  ForEachCountedPod(context, [&](const CountedPod& pod) {
    const ChipHandler& handler = *pod.choice().handler;
    const bool accepted = Accepts(pod.group, pod.count);
    if (!accepted && pod.choice().certain) return;  // chip-count says it
    // What is absent here may stand elsewhere: then only what is written down can be contradicted.
    const bool stated = pod.choice().by != By::kDefault;
    if (!accepted && stated) {
      findings.Violate(pod.Path(),
                       pod.Subject() + " refused by " + HowChosen(pod.choice()) + ", which takes " +
                           Accepted(pod.group) + ", unless something else overrides one of the two",
                       "request " + Accepted(pod.group));
    } else if (accepted && (stated || pod.choice().certain) &&
               !IsDocumented(pod.group, pod.count)) {
      const std::string documented =
          Accepted(pod.group, handler.documented_single, handler.documented_distributed);
      findings.Violate(pod.Path(),
                       pod.Subject() + " accepted, but " + HowChosen(pod.choice()) +
                           " is documented for " + documented + " only",
                       "request " + documented);
    } else if (IsPartOfMachine(context, pod)) {
      const std::string whole =
          stated ? std::to_string(handler.node_chips) : "8 on Atlas A2, 16 on Atlas A3";
      findings.Violate(
          pod.Path(),
          pod.Subject() +
              " less than a machine: inference services are documented for whole machines only (" +
              whole + ")",
          "request " + whole);
    }
  });
}

constexpr std::string_view kTaskSpec = "volcano.sh/task-spec";

// Pods without chips pass by their task name, or when they ask to be skipped, where the handler
// reads that.
bool IsExemptFromChips(const PodTemplateView& pod, const ChipHandler& handler, bool may_skip) {
  if (handler.zero_chips == ZeroChips::kRefused) return false;
  if (may_skip && schemas::AnnotationEntry(pod, schemas::kSkipAscendPlugin).Text() == "enabled") {
    return true;
  }
  if (pod.task) return *pod.task == "scheduler";
  return schemas::AnnotationEntry(pod, kTaskSpec).Text() == "scheduler";
}

void CheckZeroChipPods(const RuleContext& context, Findings& findings) {
  const bool may_skip =
      !context.config.versions.IsBefore(schemas::Component::kMindCluster, schemas::kSkipRelease);
  ForEachChipGroup(context, [&](const PodGroupView& group, const GroupChips& chips) {
    const auto& choice = chips.choice;
    if (!choice.handler || choice.handler->zero_chips == ZeroChips::kTaken || !choice.certain) {
      return;
    }
    const ChipHandler& handler = *choice.handler;
    // With one NPU pod versions differ, except under multilevel, where every pod is checked.
    if (!chips.npu_pods || !chips.gang_certain) return;
    if (*chips.npu_pods < 2 && !handler.multilevel) return;
    for (size_t index : group.templates) {
      const PodTemplateView& pod = context.view.templates[index];
      if (pod.RequestsNpus() || pod.pods == int64_t{0} ||
          IsExemptFromChips(pod, handler, may_skip)) {
        continue;
      }
      const bool marked = handler.zero_chips == ZeroChips::kMarked && may_skip;
      findings.Violate(
          marked ? pod.annotations.path.Child(schemas::kSkipAscendPlugin) : std::string(pod.path),
          "pods without chips beside pods with chips are refused by " + HowChosen(choice) +
              (marked ? "" : ", whatever stands on them") + ": the whole job stays Pending",
          marked ? "write the annotation huawei.com/skip-ascend-plugin: \"enabled\" on this pod "
                   "template"
                 : "make a workload of its own for the pods without chips, or request the " +
                       Chips(handler.node_chips) + " of a node for them");
    }
  });
}

// The first huawei.com resource of the pod that is an NPU; null pointer when there is none.
const NpuRequest* FirstNpu(const PodTemplateView& pod) {
  for (const ContainerView& container : pod.containers) {
    for (const NpuRequest& npu : container.npus) {
      if (npu.IsNpu()) return &npu;
    }
  }
  return nullptr;
}

void ReportMixture(const NpuRequest& npu, std::string_view other, std::string_view scope,
                   Findings& findings) {
  const std::string mixture =
      std::string(npu.resource) + " beside " + std::string(other) + " in one " + std::string(scope);
  if (npu.kind == NpuResource::kOther) {
    findings.Violate(
        npu.Path(),
        mixture +
            ": the scheduler takes one of the two at random for the NPUs of the job, and with " +
            std::string(npu.resource) + " it stays Pending",
        "set another resourcePrefix than huawei.com in the device plugin of " +
            std::string(npu.resource) + ", and request it under that name");
  } else {
    findings.Violate(npu.Path(),
                     mixture + ": the scheduler sees one of them at random and never both",
                     "request one NPU resource per " + std::string(scope));
  }
}

void CheckMixedProducts(const RuleContext& context, Findings& findings) {
  if (!context.view.RequestsNpus()) return;
  for (const PodTemplateView& pod : context.view.templates) {
    const NpuRequest* first = FirstNpu(pod);
    if (first == nullptr || !IsPlacedByVolcano(context, pod)) continue;
    for (const ContainerView& container : pod.containers) {
      for (const NpuRequest& npu : container.npus) {
        if (npu.count == int64_t{0} || npu.resource == first->resource) continue;
        ReportMixture(npu, first->resource, "pod", findings);
      }
    }
  }
  for (const PodGroupView& group : context.view.pod_groups) {
    std::string_view first;
    for (size_t index : group.templates) {
      const PodTemplateView& pod = context.view.templates[index];
      const PodChips chips = pod.chips;
      if (chips.resource.empty() || !chips.own || !IsPlacedByVolcano(context, pod)) continue;
      if (first.empty()) first = chips.resource;
      if (chips.resource != first) ReportMixture(*chips.request, first, "PodGroup", findings);
    }
  }
}

// What Kubernetes holds against one extended resource, empty when nothing. OME merges requests and
// limits of runtime and service, so that one half alone proves nothing there.
std::string QuantityProblem(const NpuRequest& npu, bool fragment) {
  const auto whole = [](const json::Value* value) {
    const auto count = schemas::WholeQuantity(value);
    return count && *count >= 0;
  };
  for (const json::Value* value : {npu.request, npu.limit}) {
    if (value != nullptr && !whole(value)) {
      return "is not a whole number of chips, so Kubernetes refuses the pods";
    }
  }
  if (npu.request == nullptr) return "";
  if (npu.limit == nullptr) {
    return fragment ? "" : "is requested without a limit, so Kubernetes refuses the pods";
  }
  if (schemas::WholeQuantity(npu.request) == schemas::WholeQuantity(npu.limit)) return "";
  return "has different request and limit, so Kubernetes refuses the pods";
}

void CheckRequestsEqualLimits(const RuleContext& context, Findings& findings) {
  const bool fragment = schemas::kOmeKinds.Has(context.view.kind);
  for (const PodTemplateView& pod : context.view.templates) {
    for (const ContainerView& container : pod.containers) {
      for (const NpuRequest& npu : container.npus) {
        const std::string problem = QuantityProblem(npu, fragment);
        if (problem.empty()) continue;
        findings.Violate(npu.Path(), std::string(npu.resource) + " " + problem,
                         "write the same whole number under limits and requests");
      }
    }
  }
}

constexpr Rule kCountRules[] = {
    {.id = "MG080",
     .name = "chip-count",
     .severity = Severity::kError,
     .default_mode = schemas::Mode::kEnforce,
     .kinds = schemas::kWorkloads,
     .summary = "A pod asks for a number of chips that the chosen schedule policy accepts.",
     .why = "The NPU plugin of volcano-scheduler rejects the whole job when one of its pods asks "
            "for another number: the pods stay Pending, and the only trace is a condition on the "
            "PodGroup. Which numbers pass depends on the annotation huawei.com/schedule_policy, "
            "otherwise on the annotation sp-block, otherwise on the nodeSelector accelerator-type; "
            "without any of them the plugin assumes Atlas 800 training servers, which take 1, 2, 4 "
            "or 8.",
     .fix = "Request a number that the policy accepts, or name the policy of the intended servers.",
     .source = "mind-cluster: component/ascend-for-volcano/internal/npu/factory.go and the "
               "ValidNPUJob functions below it. Only what this code rejects is enforced; where "
               "documents ask for more, see chip-count-documented.",
     .check = CheckChipCount},
    {.id = "MG081",
     .name = "chip-count-documented",
     .severity = Severity::kWarning,
     .default_mode = schemas::Mode::kWarn,
     .kinds = schemas::kWorkloads,
     .summary = "A pod asks for a number of chips that the documents offer.",
     .why = "The plugin accepts more than its documents offer: eight chips on a server with two "
            "cards, and sixteen for chip2-node8. No such node has that many, so the pods stay "
            "Pending. Inference services of OME and AIBrix are documented for whole machines only: "
            "8 chips on Atlas A2, 16 on Atlas A3; part of a machine is scheduled, but its fault "
            "handling is not tested.",
     .fix = "Request a documented number of chips.",
     .source =
         "mind-cluster: docs/zh/scheduling (affinity scheduling, SGLang and vLLM best practice) "
         "against component/ascend-for-volcano/internal/npu. Code and documents disagree, and the "
         "vendor's own AIBrix sample asks for one chip: therefore a warning.",
     .check = CheckDocumentedCount},
    {.id = "MG185",
     .name = "whole-nodes",
     .severity = Severity::kError,
     .default_mode = schemas::Mode::kEnforce,
     .kinds = schemas::kWorkloads,
     .summary = "Under the policy multilevel every NPU pod asks for all chips of a node.",
     .why = "The policy lays out whole nodes. A node fits a pod only when the pod asks for exactly "
            "the chips that are free there, so pods with a part of a node stay Pending on an empty "
            "cluster.",
     .fix = "Request the chips of a node: 8 or 16, or what mindgate.yaml lists under accelerators.",
     .source =
         "mind-cluster: component/ascend-for-volcano/internal/npu/policy/multilevelscheduling/"
         "frame.go (CheckNodeNPUByTask).",
     .check = CheckWholeNodes},
    {.id = "MG082",
     .name = "zero-chip-pods",
     .severity = Severity::kError,
     .default_mode = schemas::Mode::kEnforce,
     .kinds = schemas::kWorkloads,
     .summary = "Under A3, super-pod and multi-level policies every pod of a PodGroup with several "
                "NPU pods asks for chips, or is marked as an exception where the policy knows any.",
     .why = "These policies check all pods of the PodGroup, and one pod without chips makes the "
            "plugin reject the whole job. Exceptions are pods whose volcano.sh/task-spec is "
            "scheduler (the operator writes it for the replica type Scheduler, Volcano for a task "
            "of that name) and pods annotated huawei.com/skip-ascend-plugin: enabled. "
            "chip8-node8-sp and chip8-node8-ra64-sp know no exception.",
     .fix = "Write the annotation huawei.com/skip-ascend-plugin: \"enabled\" on the pod template "
            "without chips, or keep it out of the PodGroup, as chip8-node8-sp and "
            "chip8-node8-ra64-sp require.",
     .source = "mind-cluster: component/ascend-for-volcano/internal/npu/ascend910/ascend910a3 "
               "(CheckTaskNPU), policy/multilevelscheduling (checkTaskNPU), policy/chip8node8sp, "
               "policy/chip8node8ra64sp. Older releases know only the scheduler exception.",
     .check = CheckZeroChipPods},
    {.id = "MG083",
     .name = "mixed-npu-products",
     .severity = Severity::kError,
     .default_mode = schemas::Mode::kWarn,
     .kinds = schemas::kWorkloads,
     .summary = "All pods of a PodGroup ask for one NPU resource, and no NPU pod for another "
                "resource named huawei.com/...",
     .why = "The plugin takes the first huawei.com resource that it finds in an unordered map as "
            "the resource of the pod and of the job. With two of them the policy changes from one "
            "scheduling round to the next, and the other chips are never chosen.",
     .fix = "Request one NPU resource per PodGroup; run different products as separate workloads.",
     .source = "mind-cluster: component/ascend-for-volcano/plugin/job.go "
               "(GetVCJobReqNPUTypeFromJobInfo). Nothing rejects it, and a round may happen to "
               "succeed: therefore a warning.",
     .check = CheckMixedProducts},
    {.id = "MG084",
     .name = "request-limit-mismatch",
     .severity = Severity::kError,
     .default_mode = schemas::Mode::kEnforce,
     .kinds = schemas::kWorkloads,
     .summary = "Requests and limits of huawei.com resources are equal whole numbers.",
     .why = "Chips are extended resources, which cannot be overcommitted or divided. The API "
            "server refuses every pod that says otherwise; inside a custom resource the mistake "
            "goes unnoticed until its controller tries to create the pods.",
     .fix = "Write the same whole number under limits and requests.",
     .source = "Kubernetes documentation: Extended resources; kubernetes: pkg/apis/core/validation "
               "(ValidateResourceRequirements).",
     .check = CheckRequestsEqualLimits},
};

}  // namespace

Family CountRules() { return kCountRules; }

}  // namespace mindgate::policies::chips
