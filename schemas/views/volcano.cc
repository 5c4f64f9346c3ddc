
#include "json/pointer.h"
#include "schemas/views/adapters.h"

// vcjobs: one PodGroup for all tasks, which copies the Job's labels and annotations
// (volcano: pkg/controllers/job/job_controller_actions.go).
namespace mindgate::schemas::views {

using json::Value;

void ReadVolcanoJob(Builder& builder) {
  WorkloadView& view = builder.view();
  view.framework = Framework::kVolcano;
  const Value* spec = builder.Object(&builder.object(), "", "spec");
  std::string path = "/spec";
  Place labels = view.labels;
  Place annotations = view.annotations;
  if (view.kind == Kind::kVolcanoCronJob) {
    const Value* job = builder.Object(spec, path, "jobTemplate");
    path += "/jobTemplate";
    const Value* metadata = builder.Object(job, path, "metadata");
    labels = builder.StringMap(metadata, path + "/metadata", "labels");
    annotations = builder.StringMap(metadata, path + "/metadata", "annotations");
    spec = builder.Object(job, path, "spec");
    path += "/spec";
  }
  const std::string_view job_scheduler = builder.String(spec, path, "schedulerName");
  builder.String(spec, path, "queue");
  std::vector<size_t> all;
  const Value* tasks = builder.List(spec, path, "tasks");
  if (builder.HasTooMany(tasks, path, "tasks")) return;
  if (tasks != nullptr) {
    for (size_t i = 0; i < tasks->size(); ++i) {
      const Value& task = (*tasks)[i];
      const std::string task_path = json::Child(path + "/tasks", i);
      if (!task.is_object()) {
        builder.AddWrongType(task_path, "object", task);
        continue;
      }
      const std::string_view name = builder.String(&task, task_path, "name");
      // Go's zero value: a task without replicas makes no pods.
      const auto replicas = builder.Count(&task, task_path, "replicas", 0);
      const Value* pod_template = builder.Object(&task, task_path, "template");
      PodTemplateView& pod =
          builder.AddTemplate(name.empty() ? "task " + std::to_string(i) : std::string(name),
                              task_path + "/template", pod_template);
      pod.pods = replicas;
      pod.job_scheduler = job_scheduler;
      all.push_back(view.templates.size() - 1);
    }
  }
  PodGroupView& group = builder.AddGroup(PodGroupOwner::kVolcanoJob, "the job", std::move(all));
  group.labels = std::move(labels);
  group.annotations = std::move(annotations);
  group.min_member = builder.Int(spec, path, "minAvailable");
}

}  // namespace mindgate::schemas::views
