#include <algorithm>

#include "schemas/names.h"
#include "schemas/views/adapters.h"

// Kinds of Kubernetes itself. Volcano's pg-controller makes one PodGroup for each controller of
// pods, be it a ReplicaSet, StatefulSet, DaemonSet, ReplicationController or Job, and for each bare
// pod (volcano: pkg/controllers/podgroup/pg_controller_handler.go).
namespace mindgate::schemas::views {
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

void AddOnly(Builder& builder, std::string_view path, const Value* spec,
             std::optional<int64_t> pods, PodGroupOwner owner, Framework framework) {
  builder.view().framework = framework;
  const Value* pod_template = builder.Object(spec, path, "template");
  builder.AddTemplate("", builder.Child(path, "template"), pod_template).pods = pods;
  PodGroupView& group = builder.AddGroup(owner, KindName(builder.view().kind), kFirst);
  // Volcano 1.12 and later take minMember from this annotation, earlier ones ignore it. A
  // ReplicationController is not asked for it (getAnnotationsFromUpperRes).
  if (owner == PodGroupOwner::kReplicationController ||
      builder.view().annotations.Find(kGroupMinMember) == nullptr) {
    group.min_member = 1;
  }
}

}  // namespace

void ReadNative(Builder& builder) {
  const Kind kind = builder.view().kind;
  if (kind == Kind::kPod) {
    builder.view().framework = Framework::kPod;
    builder.AddTemplate("", "", &builder.object()).pods = 1;
    builder.AddGroup(PodGroupOwner::kPod, "pod", kFirst).min_member = 1;
    return;
  }
  const Value* spec = builder.Object(&builder.object(), {}, "spec");
  switch (kind) {
    case Kind::kDeployment:
    case Kind::kReplicaSet:
      AddOnly(builder, "/spec", spec, builder.Count(spec, "/spec", "replicas", 1),
              PodGroupOwner::kReplicaSet, Framework::kDeployment);
      break;
    case Kind::kStatefulSet:
      AddOnly(builder, "/spec", spec, builder.Count(spec, "/spec", "replicas", 1),
              PodGroupOwner::kStatefulSet, Framework::kStatefulSet);
      break;
    case Kind::kDaemonSet:  // as many pods as there are nodes for them
      AddOnly(builder, "/spec", spec, std::nullopt, PodGroupOwner::kDaemonSet,
              Framework::kStatefulSet);
      break;
    case Kind::kReplicationController:
      AddOnly(builder, "/spec", spec, builder.Count(spec, "/spec", "replicas", 1),
              PodGroupOwner::kReplicationController, Framework::kDeployment);
      break;
    case Kind::kCronJob: {
      const Value* job = builder.Object(spec, "/spec", "jobTemplate");
      constexpr std::string_view kPath = "/spec/jobTemplate/spec";
      const Value* job_spec = builder.Object(job, "/spec/jobTemplate", "spec");
      AddOnly(builder, kPath, job_spec, PodsOfJob(builder, job_spec, kPath), PodGroupOwner::kJob,
              Framework::kJob);
      break;
    }
    default:
      AddOnly(builder, "/spec", spec, PodsOfJob(builder, spec, "/spec"), PodGroupOwner::kJob,
              Framework::kJob);
  }
}

}  // namespace mindgate::schemas::views
