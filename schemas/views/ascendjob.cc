#include <nlohmann/json.hpp>

#include "json/pointer.h"
#include "schemas/names.h"
#include "schemas/views/adapters.h"

// AscendJob: one PodGroup per job, which copies the job's labels and annotations once, at creation
// (mind-cluster: component/ascend-operator/pkg/controllers/v1/job.go).
namespace mindgate::schemas::views {

using json::Json;

void ReadAscendJob(Builder& builder) {
  WorkloadView& view = builder.view();
  // Presence of both labels is what the operator looks at, whatever their values.
  const bool mindie = json::Find(view.labels.value, kJobId) != nullptr &&
                      json::Find(view.labels.value, kApp) != nullptr;
  view.framework = mindie ? Framework::kMindIE : Framework::kAscendJob;

  const Json* spec = builder.Object(&builder.object(), "", "spec");
  builder.String(spec, "/spec", "schedulerName");
  const Json* run_policy = builder.Object(spec, "/spec", "runPolicy");
  builder.Int(run_policy, "/spec/runPolicy", "backoffLimit");
  const Json* scheduling = builder.Object(run_policy, "/spec/runPolicy", "schedulingPolicy");
  const std::string scheduling_path = "/spec/runPolicy/schedulingPolicy";
  builder.String(scheduling, scheduling_path, "queue");
  auto min_member = builder.Int(scheduling, scheduling_path, "minAvailable");

  std::vector<size_t> all;
  int64_t total = 0;
  if (const Json* replica_specs = builder.Object(spec, "/spec", "replicaSpecs")) {
    for (const auto& [type, replica_spec] : *replica_specs->get_ptr<const Json::object_t*>()) {
      const std::string path = json::Child("/spec/replicaSpecs", type);
      if (!replica_spec.is_object()) {
        if (!replica_spec.is_null()) {
          view.wrong_types.push_back({path, "object", &replica_spec});
        }
        continue;
      }
      const int64_t replicas = builder.Int(&replica_spec, path, "replicas").value_or(1);
      builder.String(&replica_spec, path, "restartPolicy");
      const Json* pod_template = builder.Object(&replica_spec, path, "template");
      builder.AddTemplate(type, path + "/template", pod_template).pods = replicas;
      all.push_back(view.templates.size() - 1);
      if (__builtin_add_overflow(total, replicas, &total)) total = INT64_MAX;
    }
  }
  PodGroupView& group = builder.AddGroup(PodGroupOwner::kAscendJob, "the job", std::move(all));
  group.labels = view.labels;
  group.annotations = view.annotations;
  group.min_member = min_member ? min_member : total;
}

}  // namespace mindgate::schemas::views
