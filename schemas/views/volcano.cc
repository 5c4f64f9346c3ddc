
#include "schemas/views/adapters.h"

// vcjobs: one PodGroup for all tasks, which copies the Job's labels and annotations
// (volcano: pkg/controllers/job/job_controller_actions.go); and PodGroups themselves.
namespace mindgate::schemas::views {

using json::Value;

void ReadVolcanoJob(Builder& builder) {
  WorkloadView& view = builder.view();
  const Value* spec = builder.Object(&builder.object(), {}, "spec");
  builder.SetSpec(&builder.object(), "spec", "/spec");
  std::string_view path = "/spec";
  Place labels = view.labels;
  Place annotations = view.annotations;
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

// One that somebody writes for pods of their own. Those of controllers copy what was judged before.
void ReadPodGroup(Builder& builder) {
  WorkloadView& view = builder.view();
  if (view.controller) return builder.Decline();
  const Value* spec = builder.Object(&builder.object(), {}, "spec");
  builder.String(spec, "/spec", "queue");
  builder.AddGroup(PodGroupOwner::kUser, "the PodGroup", {}).min_member =
      builder.Int(spec, "/spec", "minMember");
}

}  // namespace mindgate::schemas::views
