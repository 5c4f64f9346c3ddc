#include <algorithm>

#include "base/text.h"
#include "schemas/names.h"
#include "schemas/views/builder.h"

namespace mindgate::schemas::views {

// Kinds of Kubernetes itself. Volcano's pg-controller makes one PodGroup for each controller of
// pods, be it a ReplicaSet, StatefulSet, DaemonSet, ReplicationController or Job, and for each bare
// pod (volcano: pkg/controllers/podgroup/pg_controller_handler.go).

namespace {

using json::Value;

// Pods of a Job that exist together. Without completions it is a work queue: as many as run in
// parallel.
std::optional<int64_t> PodsOfJob(Builder& builder, const Value* spec, const Pointer& path) {
  const auto parallelism = builder.Count(spec, path, "parallelism", 1);
  const auto completions = builder.Count(spec, path, "completions", INT64_MAX);
  if (!parallelism || !completions) return std::nullopt;
  return std::min(*parallelism, *completions);
}

// How many pods the object asks for; nothing for a DaemonSet, which has as many as there are nodes.
std::optional<int64_t> PodsOfSpec(Builder& builder, const Value* spec, const KindInfo& info) {
  if (kBatchJobs.Has(info.kind)) return PodsOfJob(builder, spec, info.template_holder);
  if (info.kind == Kind::kDaemonSet) return std::nullopt;
  return builder.Count(spec, info.template_holder, "replicas", 1);
}

}  // namespace

void ReadNative(Builder& builder) {
  const KindInfo& info = builder.view().info();
  if (info.template_holder.empty()) {
    builder.AddTemplate("", "", &builder.object()).pods = 1;
    builder.AddGroup(info.pod_group, "pod", kFirst).min_member = 1;
    return;
  }
  const Value* spec = builder.Object(&builder.object(), {}, "spec");
  if (info.kind == Kind::kCronJob) {
    const Value* job = builder.Object(spec, "/spec", "jobTemplate");
    spec = builder.Object(job, "/spec/jobTemplate", "spec");
  }
  const std::string_view path = info.template_holder;
  const auto pods = PodsOfSpec(builder, spec, info);
  const Value* pod_template = builder.Object(spec, path, "template");
  builder.AddTemplate("", builder.Child(path, "template"), pod_template).pods = pods;
  PodGroupView& group = builder.AddGroup(info.pod_group, info.name, kFirst);
  // Volcano 1.12 and later take minMember from this annotation, earlier ones ignore it. A
  // ReplicationController is not asked for it (getAnnotationsFromUpperRes).
  if (info.kind == Kind::kReplicationController ||
      builder.view().annotations.Find(kGroupMinMember) == nullptr) {
    group.min_member = 1;
  }
}

// The few Services that rules have something to say of: those of MindIE Motor.

namespace {

bool IsOurService(const Value& object, std::string_view name) {
  if (name == kMindieCoordinator) return true;
  const Value* ports = json::FindPath(object, {"spec", "ports"});
  return json::IsArray(ports) && std::any_of(ports->begin(), ports->end(), [](const Value& port) {
           return json::AsInt(json::Find(port, "nodePort")) == kMindieNodePort;
         });
}

}  // namespace

void ReadService(Builder& builder) {
  if (!IsOurService(builder.object(), builder.view().name)) builder.Decline();
}

// ConfigMaps that hold a scaling rule or a rank table (name rings-config-*).

namespace {

bool IsOurConfigMap(const Value& object, std::string_view name) {
  return name.starts_with(kRankTablePrefix) ||
         json::Find(json::Find(object, "data"), kScalingRuleKey) != nullptr ||
         MisspelledRuleKey(object).has_value();
}

}  // namespace

void ReadConfigMap(Builder& builder) {
  WorkloadView& view = builder.view();
  const Value& object = builder.object();
  if (!IsOurConfigMap(object, view.name)) return builder.Decline();
  builder.StringMap(&object, "data", "/data");
  if (!builder.options().read_texts) return;
  if (const auto text = ScalingRuleText(object)) view.scaling_rule = ReadScalingRule(*text);
  view.rank_table = ReadRankTable(object);
}

// vcjobs: one PodGroup for all tasks, which copies the Job's labels and annotations
// (volcano: pkg/controllers/job/job_controller_actions.go); and PodGroups themselves.

void ReadVolcanoJob(Builder& builder) {
  WorkloadView& view = builder.view();
  const Value* spec = builder.Object(&builder.object(), {}, "spec");
  builder.SetSpec(&builder.object(), "spec", "/spec");
  std::string_view path = "/spec";
  FieldView labels = view.labels;
  FieldView annotations = view.annotations;
  if (view.kind == Kind::kVolcanoCronJob) {
    const Value* job = builder.Object(spec, path, "jobTemplate");
    path = "/spec/jobTemplate";
    const Value* metadata = builder.Object(job, path, "metadata");
    labels = builder.StringMap(metadata, "labels", "/spec/jobTemplate/metadata/labels");
    annotations =
        builder.StringMap(metadata, "annotations", "/spec/jobTemplate/metadata/annotations");
    builder.SetSpec(job, "spec", "/spec/jobTemplate/spec");
    spec = builder.Object(job, path, "spec");
    path = "/spec/jobTemplate/spec";
  }
  const std::string_view job_scheduler = builder.String(spec, path, "schedulerName");
  builder.String(spec, path, "queue");
  constexpr std::string_view kTemplate = "/template";
  std::vector<size_t> all;
  const Value* tasks = builder.List(spec, path, "tasks");
  if (builder.HasTooMany(tasks, path, "tasks")) return;
  if (tasks != nullptr) {
    const std::string_view list_path = builder.Child(path, "tasks");
    builder.AddParts(*tasks, list_path);
    for (size_t i = 0; i < tasks->size(); ++i) {
      const Value& task = (*tasks)[i];
      const std::string_view template_path = builder.Item(list_path, i, kTemplate);
      const std::string_view task_path =
          template_path.substr(0, template_path.size() - kTemplate.size());
      if (!task.is_object()) {
        builder.AddWrongType(task_path, "object", task);
        continue;
      }
      const std::string_view name = builder.String(&task, task_path, "name");
      // Go's zero value: a task without replicas makes no pods.
      const auto replicas = builder.Count(&task, task_path, "replicas", 0);
      const Value* pod_template = builder.Object(&task, task_path, "template");
      PodTemplateView& pod =
          builder.AddTemplate(builder.NameOr(name, "task", i), template_path, pod_template);
      pod.part = i;
      pod.pods = replicas;
      pod.job_scheduler = job_scheduler;
      pod.task = pod.name;
      all.push_back(view.templates.size() - 1);
    }
  }
  PodGroupView& group = builder.AddGroup(PodGroupOwner::kVolcanoJob, "the job", all);
  group.labels = labels;
  group.annotations = annotations;
  group.min_member = builder.Int(spec, path, "minAvailable");
}

// One that somebody writes for pods of their own. Those of controllers copy what was evaluated.
void ReadPodGroup(Builder& builder) {
  WorkloadView& view = builder.view();
  if (view.controller) return builder.Decline();
  const Value* spec = builder.Object(&builder.object(), {}, "spec");
  builder.String(spec, "/spec", "queue");
  builder.AddGroup(PodGroupOwner::kUser, "the PodGroup", {}).min_member =
      builder.Int(spec, "/spec", "minMember");
}

// AscendJob: one PodGroup per job, which copies the job's labels and annotations once, at creation
// (mind-cluster: component/ascend-operator/pkg/controllers/v1/job.go).

namespace {

// Nothing when either is unknown; stays in range.
std::optional<int64_t> Sum(std::optional<int64_t> a, std::optional<int64_t> b) {
  if (!a || !b) return std::nullopt;
  int64_t sum = 0;
  return __builtin_add_overflow(*a, *b, &sum) ? INT64_MAX : sum;
}

}  // namespace

void ReadAscendJob(Builder& builder) {
  WorkloadView& view = builder.view();
  // Presence of both labels is what the operator looks at, whatever their values.
  const bool mindie = view.labels.Find(kJobId) != nullptr && view.labels.Find(kApp) != nullptr;
  if (mindie) view.framework = Framework::kMindIE;

  const Value* spec = builder.Object(&builder.object(), {}, "spec");
  builder.SetSpec(&builder.object(), "spec", "/spec");
  const std::string_view job_scheduler = builder.String(spec, "/spec", "schedulerName");
  const Value* run_policy = builder.Object(spec, "/spec", "runPolicy");
  builder.Int(run_policy, "/spec/runPolicy", "backoffLimit");
  const Value* scheduling = builder.Object(run_policy, "/spec/runPolicy", "schedulingPolicy");
  constexpr std::string_view kSchedulingPath = "/spec/runPolicy/schedulingPolicy";
  builder.String(scheduling, kSchedulingPath, "queue");

  std::vector<size_t> all;
  std::optional<int64_t> total = 0;
  bool templates_name_scheduler = false;
  const Value* replica_specs = builder.Object(spec, "/spec", "replicaSpecs");
  if (builder.HasTooMany(replica_specs, "/spec", "replicaSpecs")) return;
  if (replica_specs != nullptr) {
    for (const json::Member& member : replica_specs->members()) {
      const auto& [type, replica_spec] = member;
      const std::string_view path = builder.Child("/spec/replicaSpecs", type);
      if (!replica_spec.is_object()) {
        if (!replica_spec.is_null()) {
          builder.AddWrongType(path, "object", replica_spec);
        }
        continue;
      }
      const auto replicas = builder.Count(&replica_spec, path, "replicas", 1);
      builder.String(&replica_spec, path, "restartPolicy");
      const auto policy = json::FindString(replica_spec, "restartPolicy").value_or("Never");
      const Value* pod_template = builder.Object(&replica_spec, path, "template");
      PodTemplateView& pod =
          builder.AddTemplate(type, builder.Text({path, "/template"}), pod_template);
      pod.part = static_cast<size_t>(&member - replica_specs->members().data());
      pod.pods = replicas;
      // The operator overwrites the template's. It counts by exit code on its own.
      pod.restart_policy = {path, policy == "ExitCode" ? "Never" : policy};
      pod.task = builder.Text({ToLower(type)});
      templates_name_scheduler = templates_name_scheduler || !pod.SchedulerName().empty();
      all.push_back(view.templates.size() - 1);
      total = Sum(total, replicas);
    }
  }
  // The operator gives its own choice to the pods only when no template names a scheduler at all
  // (setGangScheduleInfo).
  if (!templates_name_scheduler) {
    for (PodTemplateView& pod : view.templates) pod.job_scheduler = job_scheduler;
  }
  PodGroupView& group = builder.AddGroup(PodGroupOwner::kAscendJob, "the job", all);
  group.min_member = json::Find(scheduling, "minAvailable") == nullptr
                         ? total
                         : builder.Int(scheduling, kSchedulingPath, "minAvailable");
}

}  // namespace mindgate::schemas::views
