#include "watcher/scaling/gates.h"

#include <nlohmann/json.hpp>

#include "schemas/names.h"

namespace mindgate::watcher::scaling {

kube::Answer<void> OpenGate(kube::Client& client, const Gate& gate, bool dry_run,
                            const std::stop_token& stop) {
  const std::string path = "/spec/schedulingGates/" + std::to_string(gate.place);
  const json::Json operations = {
      {{"op", "test"}, {"path", "/metadata/uid"}, {"value", gate.uid}},
      {{"op", "test"}, {"path", path + "/name"}, {"value", schemas::kScalingGate}},
      {{"op", "remove"}, {"path", path}}};
  kube::WriteOptions options;
  options.dry_run = dry_run;
  const auto answer =
      client.Patch(kube::resources::kPods, gate.ns, gate.pod, operations, options, {}, stop);
  if (!answer) return tl::make_unexpected(answer.error());
  return {};
}

}  // namespace mindgate::watcher::scaling
