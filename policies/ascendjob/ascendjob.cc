#include "policies/ascendjob/ascendjob.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "json/pointer.h"
#include "policies/families.h"
#include "schemas/names.h"

namespace mindgate::policies::ascendjob {
namespace {

using json::Value;
using schemas::PodTemplateView;
using schemas::WorkloadView;

constexpr std::array<FrameworkTypes, 3> kFrameworks = {{
    {"mindspore", "Scheduler"},
    {"pytorch", "Master"},
    {"tensorflow", "Chief"},
}};
}  // namespace

std::span<const FrameworkTypes> Frameworks() { return kFrameworks; }

const FrameworkTypes* FrameworkOf(const WorkloadView& view) {
  const auto label = view.Label(schemas::kFramework);
  for (const FrameworkTypes& types : kFrameworks) {
    if (types.framework == label) return &types;
  }
  return nullptr;
}

const Value* ReplicaSpecs(const WorkloadView& view) {
  const Value* specs = json::FindPath(*view.object, {"spec", "replicaSpecs"});
  return json::IsObject(specs) ? specs : nullptr;
}

const Value* SchedulingPolicy(const WorkloadView& view) {
  return json::FindPath(*view.object, {"spec", "runPolicy", "schedulingPolicy"});
}

const Value* ReplicaSpecOf(const WorkloadView& view, const PodTemplateView& pod) {
  return json::Find(ReplicaSpecs(view), pod.name);
}

std::string_view ReplicaSpecPath(const PodTemplateView& pod) {
  std::string_view path = pod.path;
  path.remove_suffix(std::string_view("/template").size());
  return path;
}

std::optional<int64_t> TotalReplicas(const WorkloadView& view) {
  if (view.templates.empty()) return std::nullopt;
  int64_t total = 0;
  for (const PodTemplateView& pod : view.templates) {
    const Value* replicas = json::Find(ReplicaSpecOf(view, pod), "replicas");
    const int64_t count = replicas == nullptr ? 1 : json::AsInt(replicas).value_or(-1);
    if (count < 0 || __builtin_add_overflow(total, count, &total)) return std::nullopt;
  }
  return total;
}

namespace {

using json::Child;

constexpr std::array<std::string_view, 3> kFrameworkNames = {"mindspore", "pytorch", "tensorflow"};

constexpr int64_t kMaxReplicas = 20000;  // ascendjob_validate.go, maxReplicas
constexpr std::string_view kFails = ", so the operator fails the job permanently";

// The leader type that a person meant by `type`, in any case; empty when none.
std::string_view LeaderNamed(std::string_view type) {
  for (const FrameworkTypes& types : Frameworks()) {
    if (EqualIgnoreCase(types.leader, type)) return types.leader;
  }
  return {};
}

// Chips that one Worker pod asks for as the operator counts them: requests of the container
// `ascend`.
int64_t WorkerChips(const PodTemplateView& worker) {
  int64_t chips = 0;
  for (const auto& container : worker.containers) {
    if (container.role != schemas::ContainerView::Role::kMain ||
        container.name != schemas::kAscendContainer) {
      continue;
    }
    for (const schemas::NpuRequest& npu : container.npus) {
      if (npu.request == nullptr) continue;
      if (__builtin_add_overflow(chips, npu.count.value_or(0), &chips)) return INT64_MAX;
    }
  }
  return chips;
}

// A MindSpore job without Scheduler is a stand-alone one: a single chip.
void CheckStandaloneMindSpore(const WorkloadView& view, Findings& findings) {
  for (const PodTemplateView& pod : view.templates) {
    if (pod.name != kWorker) continue;
    const int64_t chips = WorkerChips(pod);
    const int64_t replicas = pod.pods.value_or(1);
    if (replicas < 1 || chips < 1 || (chips == 1 && replicas == 1)) continue;
    findings.Violate(Child(kReplicaSpecsPath, "Scheduler"),
                     "replica type Scheduler is missing, but Worker requests " +
                         Counted(chips, "chip") + (replicas == 1 ? " in " : " in each of ") +
                         Counted(replicas, "pod") + " and only a job with 1 chip runs without it" +
                         std::string(kFails),
                     "add replica type Scheduler with 1 replica, or request 1 chip in 1 Worker");
  }
}

bool HasUnreadableName(const Value& containers) {
  return std::any_of(containers.begin(), containers.end(), [](const Value& container) {
    const Value* name = json::Find(container, "name");
    return !container.is_object() || (name != nullptr && !name->is_string());
  });
}

void CheckContainersOf(const PodTemplateView& pod, Findings& findings) {
  if (pod.pod_spec.wrong_type || pod.labels.wrong_type) return;
  const std::string path = pod.pod_spec.path.Child("containers");
  const Value* containers = pod.pod_spec.Find("containers");
  if (containers == nullptr || (containers->is_array() && containers->empty())) {
    findings.Violate(
        path, "replica type " + std::string(pod.name) + " has no containers" + std::string(kFails),
        "add a container named ascend with an image");
    return;
  }
  if (!containers->is_array() || HasUnreadableName(*containers)) return;

  bool found = false;
  const schemas::ContainerView* only = containers->size() == 1 ? &pod.containers.front() : nullptr;
  for (const auto& container : pod.containers) {
    if (container.role != schemas::ContainerView::Role::kMain ||
        container.name != schemas::kAscendContainer) {
      continue;
    }
    found = true;
    const Value* image = json::Find(*container.value, "image");
    if (image != nullptr && json::AsString(image) != "") continue;
    findings.Violate(
        Child(container.path, "image"),
        "container ascend of " + std::string(pod.name) + " has no image" + std::string(kFails),
        "write the image of the container");
  }
  if (found) return;
  const std::string message =
      "no container of " + std::string(pod.name) + " is named \"ascend\"" + std::string(kFails);
  if (only != nullptr) {
    findings.Violate(Child(only->path, "name"), message,
                     "write name: ascend instead of " + Quote(only->name));
  } else {
    findings.Violate(path, message, "name the main container ascend");
  }
}

void CheckReplicaSpecs(const RuleContext& context, Findings& findings) {
  const Value* spec = json::Find(*context.view.object, "spec");
  if (spec != nullptr && !spec->is_object()) return;
  const Value* specs = json::Find(spec, "replicaSpecs");
  const FrameworkTypes* types = FrameworkOf(context.view);
  const std::string fix = "add replica type " + std::string(types ? types->leader : "Master") +
                          " with 1 replica, and Worker for the rest";
  if (specs == nullptr) {
    findings.Violate(std::string(kReplicaSpecsPath),
                     "replicaSpecs is missing" + std::string(kFails), fix);
    return;
  }
  if (!specs->is_object()) return;
  if (specs->empty()) {
    findings.Violate(std::string(kReplicaSpecsPath),
                     "replicaSpecs is empty, so the job makes no pods", fix);
  }
  for (const auto& [type, replica_spec] : specs->members()) {
    if (!replica_spec.is_null()) continue;
    findings.Violate(Child(kReplicaSpecsPath, type),
                     "replica type " + Quote(type) + " is null" + std::string(kFails),
                     "write its template, or remove the type");
  }
}

void CheckFramework(const RuleContext& context, Findings& findings) {
  if (context.view.labels.wrong_type) return;
  const std::string path = context.view.labels.path.Child(schemas::kFramework);
  const Value* label = context.view.labels.Find(schemas::kFramework);
  if (label == nullptr) {
    findings.Violate(path, "label framework is missing" + std::string(kFails),
                     "write framework: pytorch (or mindspore, tensorflow)");
    return;
  }
  const auto value = json::AsString(label);
  if (!value || FrameworkOf(context.view) != nullptr) return;
  const auto near = NearestOf(*value, kFrameworkNames);
  findings.Violate(
      path, "framework " + Quote(*value) + " is not known to the operator, which fails the job",
      near ? WriteWord("framework", *near, MeansOnly(*value, *near, kFrameworkNames))
           : Fix("write framework: " + OneOf(kFrameworkNames)));
}

void CheckReplicaTypes(const RuleContext& context, Findings& findings) {
  const Value* specs = ReplicaSpecs(context.view);
  if (specs == nullptr) return;
  const FrameworkTypes* types = FrameworkOf(context.view);
  // While the framework is unknown, a type of any framework may be right.
  std::vector<std::string_view> allowed;
  for (const FrameworkTypes& known : Frameworks()) {
    if (types == nullptr || types == &known) allowed.push_back(known.leader);
  }
  allowed.push_back(kWorker);
  for (const auto& [type, replica_spec] : specs->members()) {
    if (std::find(allowed.begin(), allowed.end(), type) != allowed.end()) continue;
    const auto near = NearestOf(type, allowed);
    findings.Violate(Child(kReplicaSpecsPath, type),
                     "replica type " + Quote(type) + " is not " + OneOf(allowed) +
                         (types ? " of " + std::string(types->framework) : "") +
                         std::string(kFails),
                     near ? "write " + std::string(*near)
                          : "write " + OneOf(allowed) + ", spelled exactly like this");
  }
}

void CheckReplicas(const RuleContext& context, Findings& findings) {
  for (const PodTemplateView& pod : context.view.templates) {
    const Value* replicas = json::Find(ReplicaSpecOf(context.view, pod), "replicas");
    if (replicas == nullptr || !replicas->is_integer()) continue;
    const std::string path = Child(ReplicaSpecPath(pod), "replicas");
    const int64_t count = json::AsInt(replicas).value_or(INT64_MAX);
    if (!LeaderNamed(pod.name).empty()) {
      if (count == 1) continue;
      findings.Violate(
          path,
          "replicas of " + std::string(pod.name) + " is " + json::Dump(*replicas) +
              ", but a leader has exactly 1" + std::string(kFails),
          count > 1 ? "write replicas: 1 and put the others under Worker" : "write replicas: 1");
    } else if (count < 0 || count > kMaxReplicas) {
      findings.Violate(path,
                       "replicas of " + std::string(pod.name) + " is " + json::Dump(*replicas) +
                           ", outside 0 to 20000" + std::string(kFails),
                       "write a number from 0 to 20000");
    }
  }
}

void CheckLeader(const RuleContext& context, Findings& findings) {
  const FrameworkTypes* types = FrameworkOf(context.view);
  const Value* specs = ReplicaSpecs(context.view);
  if (types == nullptr || specs == nullptr || specs->empty()) return;
  for (const auto& [type, replica_spec] : specs->members()) {
    // A misspelled leader is reported as such.
    if (type == types->leader || NearestOf(type, std::span(&types->leader, 1))) return;
  }
  if (types->framework == "mindspore") {
    CheckStandaloneMindSpore(context.view, findings);
    return;
  }
  findings.Violate(
      Child(kReplicaSpecsPath, types->leader),
      "replica type " + std::string(types->leader) + " is missing, the leader of " +
          std::string(types->framework) + " jobs" + std::string(kFails),
      "add replica type " + std::string(types->leader) + " with 1 replica, one less under Worker");
}

void CheckContainer(const RuleContext& context, Findings& findings) {
  for (const PodTemplateView& pod : context.view.templates) {
    const Value* pod_template = json::Find(ReplicaSpecOf(context.view, pod), "template");
    if (pod_template != nullptr && !pod_template->is_object()) continue;
    CheckContainersOf(pod, findings);
  }
}

constexpr Rule kReplicaRules[] = {
    {.id = "MG010",
     .name = "ascendjob-replica-specs",
     .severity = Severity::kError,
     .default_mode = Mode::kEnforce,
     .kinds = schemas::kAscendJobs,
     .summary = "An AscendJob lists at least one replica type, and none of them is null.",
     .why = "The operator fails a job without spec.replicaSpecs, or with a null replica type, and "
            "never reconciles it again. An empty map passes its check for MindSpore only, and then "
            "the job has no pods.",
     .fix = "List the leader of the framework (Master, Scheduler or Chief) with 1 replica and the "
            "other pods under Worker.",
     .source = "mind-cluster: component/ascend-operator/pkg/controllers/v1/ascendjob_validate.go",
     .check = CheckReplicaSpecs},
    {.id = "MG011",
     .name = "ascendjob-framework",
     .severity = Severity::kError,
     .default_mode = Mode::kEnforce,
     .kinds = schemas::kAscendJobs,
     .summary = "The label framework is pytorch, mindspore or tensorflow, in lower case.",
     .why = "The label decides which replica types and variables the job has. Without it, or with "
            "any other value, the operator fails the job. Inference jobs of MindIE need it too.",
     .fix = "Write framework: pytorch, mindspore or tensorflow in metadata.labels.",
     .source = "mind-cluster: component/ascend-operator/pkg/controllers/v1/ascendjob_validate.go",
     .check = CheckFramework},
    {.id = "MG012",
     .name = "ascendjob-replica-types",
     .severity = Severity::kError,
     .default_mode = Mode::kEnforce,
     .kinds = schemas::kAscendJobs,
     .summary = "Replica types are those of the framework, spelled exactly.",
     .why = "The operator compares Master and Worker (pytorch), Scheduler and Worker (mindspore), "
            "Chief and Worker (tensorflow) before it normalises letter case, so \"master\" fails "
            "the job.",
     .fix = "Write the type exactly as the framework has it.",
     .source = "mind-cluster: component/ascend-operator/pkg/controllers/v1/ascendjob_validate.go",
     .check = CheckReplicaTypes},
    {.id = "MG013",
     .name = "ascendjob-replicas",
     .severity = Severity::kError,
     .default_mode = Mode::kEnforce,
     .kinds = schemas::kAscendJobs,
     .summary = "A leader has exactly one replica, and Worker has 0 to 20000.",
     .why = "The operator fails the job otherwise. The documents mention several replicas of a "
            "MindIE controller or coordinator; in the code there is one leader and every further "
            "replica is a Worker.",
     .fix = "Write replicas: 1 for Master, Scheduler or Chief and put the rest under Worker.",
     .source = "mind-cluster: component/ascend-operator/pkg/controllers/v1/ascendjob_validate.go",
     .check = CheckReplicas},
    {.id = "MG014",
     .name = "ascendjob-leader",
     .severity = Severity::kError,
     .default_mode = Mode::kEnforce,
     .kinds = schemas::kAscendJobs,
     .summary = "The job has the leader that its framework needs.",
     .why = "PyTorch and TensorFlow jobs without Master or Chief fail. A MindSpore job may leave "
            "out Scheduler only when its Workers request one chip in total.",
     .fix = "Add the leader type with 1 replica; it may be a copy of Worker with one replica less "
            "there.",
     .source = "mind-cluster: component/ascend-operator/pkg/controllers/v1/ascendjob_validate.go",
     .check = CheckLeader},
    {.id = "MG015",
     .name = "ascendjob-container",
     .severity = Severity::kError,
     .default_mode = Mode::kEnforce,
     .kinds = schemas::kAscendJobs,
     .summary = "Every replica type has a container named ascend with an image.",
     .why = "The operator finds the training or serving process by that name: it fails jobs "
            "without it, and counts chips and writes variables only there.",
     .fix = "Name the main container ascend and give it an image.",
     .source = "mind-cluster: component/ascend-operator/pkg/controllers/v1/ascendjob_validate.go",
     .check = CheckContainer},
};

}  // namespace

Family ReplicaRules() { return kReplicaRules; }

}  // namespace mindgate::policies::ascendjob
