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

}  // namespace mindgate::schemas::views
