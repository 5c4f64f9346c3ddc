#include "watcher/scaling/gates.h"

#include <nlohmann/json.hpp>

#include "schemas/names.h"

namespace mindgate::watcher::scaling {

kube::Answer<void> OpenGate(kube::Client& client, const PodState& pod, bool dry_run,
                            const std::stop_token& stop) {
  const std::string gate = "/spec/schedulingGates/" + std::to_string(*pod.gate);
  const json::Json operations = {
      {{"op", "test"}, {"path", "/metadata/uid"}, {"value", pod.uid}},
      {{"op", "test"}, {"path", gate + "/name"}, {"value", schemas::kScalingGate}},
      {{"op", "remove"}, {"path", gate}}};
  kube::WriteOptions options;
  options.dry_run = dry_run;
  const auto answer =
      client.Patch(kube::resources::kPods, pod.service.ns, pod.name, operations, options, {}, stop);
  if (!answer) return tl::make_unexpected(answer.error());
  return {};
}

}  // namespace mindgate::watcher::scaling
