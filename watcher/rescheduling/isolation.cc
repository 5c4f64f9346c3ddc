#include "watcher/rescheduling/isolation.h"

#include <nlohmann/json.hpp>

#include "json/decode.h"
#include "json/text_at.h"
#include "schemas/names.h"

namespace mindgate::watcher::rescheduling {
namespace {

using json::Json;
using json::Value;

constexpr const char* kEffect = "NoSchedule";

bool IsOurs(const Value& taint) {
  return json::FindString(&taint, "key") == schemas::kFaultyNode &&
         json::FindString(&taint, "effect") == kEffect;
}

}  // namespace

std::optional<Json> TaintPatch(const Value& node, bool faulty) {
  const Value* taints = json::FindPath(node, {"spec", "taints"});
  std::optional<size_t> ours;
  if (json::IsArray(taints)) {
    size_t i = 0;
    for (const Value& taint : *taints) {
      if (IsOurs(taint)) ours = i;
      ++i;
    }
  }
  if (faulty == ours.has_value()) return std::nullopt;
  Json patch = Json::array();
  patch.push_back({{"op", "test"},
                   {"path", "/metadata/resourceVersion"},
                   {"value", json::TextAt(node, {"metadata", "resourceVersion"})}});
  if (ours) {
    patch.push_back({{"op", "remove"}, {"path", "/spec/taints/" + std::to_string(*ours)}});
    return patch;
  }
  const Json taint = {{"key", schemas::kFaultyNode}, {"effect", kEffect}};
  if (json::IsArray(taints)) {
    patch.push_back({{"op", "add"}, {"path", "/spec/taints/-"}, {"value", taint}});
  } else {
    patch.push_back({{"op", "add"}, {"path", "/spec/taints"}, {"value", Json::array({taint})}});
  }
  return patch;
}

ReconcileResult Isolation::Reconcile(const NodeKey& key, const Term& term) {
  LeaderClient client(writer_, term);
  const auto node = client.Get(kube::resources::kNodes, "", key.name);
  if (!node) return {.failed = node.error().reason != kube::Reason::kNotFound};
  const bool faulty = options_.wanted() && options_.is_unhealthy(key.name);
  const json::Document document(*node);
  const auto patch = TaintPatch(document.root(), faulty);
  if (!patch) return {};
  const auto answer = client.Patch(kube::resources::kNodes, "", key.name, *patch);
  if (answer) {
    logger_.Info(faulty ? "a node is isolated" : "a node is no longer isolated",
                 {{"node", std::string_view(key.name)}, {"taint", schemas::kFaultyNode}});
    return {};
  }
  // Of a node whose version is another one by now: again.
  if (answer.error().reason != kube::Reason::kInvalid &&
      answer.error().reason != kube::Reason::kConflict &&
      answer.error().reason != kube::Reason::kStopped) {
    ++failed_;
    logger_.Warning("the taint of a node cannot be changed now",
                    {{"node", std::string_view(key.name)}, {"fault", answer.error().message}});
  }
  return {.failed = true};
}

}  // namespace mindgate::watcher::rescheduling
