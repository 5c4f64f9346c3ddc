
#include "base/text.h"
#include "schemas/names.h"
#include "schemas/views/adapters.h"

// AscendJob: one PodGroup per job, which copies the job's labels and annotations once, at creation
// (mind-cluster: component/ascend-operator/pkg/controllers/v1/job.go).
namespace mindgate::schemas::views {

using json::Value;

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
