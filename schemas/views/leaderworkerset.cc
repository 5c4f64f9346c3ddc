#include <algorithm>

#include "schemas/views/adapters.h"

// LeaderWorkerSet: one PodGroup per group when gang scheduling is on in its controller, which the
// object does not show (lws: pkg/schedulerprovider/volcano_provider.go). minMember stays unknown
// for that reason.
namespace mindgate::schemas::views {

using json::Value;

void ReadLeaderWorkerSet(Builder& builder) {
  const Value* spec = builder.Object(&builder.object(), {}, "spec");
  builder.Int(spec, "/spec", "replicas");
  constexpr std::string_view kPath = "/spec/leaderWorkerTemplate";
  const Value* group = builder.Object(spec, "/spec", "leaderWorkerTemplate");
  const auto size = builder.Count(group, kPath, "size", 1);
  builder.String(spec, "/spec", "startupPolicy");
  std::vector<size_t> all;
  // A missing leader template means that the leader uses the worker's: never create one.
  const Value* leader = builder.Object(group, kPath, "leaderTemplate");
  if (leader != nullptr) {
    builder.AddTemplate("leader", "/spec/leaderWorkerTemplate/leaderTemplate", leader).pods = 1;
    all.push_back(all.size());
  }
  const Value* worker = builder.Object(group, kPath, "workerTemplate");
  if (worker != nullptr) {
    PodTemplateView& pod =
        builder.AddTemplate("worker", "/spec/leaderWorkerTemplate/workerTemplate", worker);
    pod.part = all.size();
    pod.pods = size;
    if (leader != nullptr && size) pod.pods = std::max<int64_t>(*size, 1) - 1;
    all.push_back(all.size());
  }
  builder.AddGroup(PodGroupOwner::kLeaderWorkerSetGroup, "one group", all);
}

}  // namespace mindgate::schemas::views
