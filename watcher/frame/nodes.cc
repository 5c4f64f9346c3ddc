#include "watcher/frame/nodes.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace mindgate::watcher {
namespace {

using json::Value;

bool IsUsable(const Value& node) {
  return IsReady(node) &&
         !json::AsBool(json::FindPath(node, {"spec", "unschedulable"})).value_or(false) &&
         json::FindPath(node, {"metadata", "deletionTimestamp"}) == nullptr;
}

}  // namespace

bool IsReady(const Value& node) {
  const Value* conditions = json::FindPath(node, {"status", "conditions"});
  if (!json::IsArray(conditions)) return true;
  const auto ready = std::find_if(conditions->begin(), conditions->end(), [](const Value& one) {
    return json::FindString(&one, "type") == "Ready";
  });
  return ready == conditions->end() || json::FindString(&*ready, "status") == "True";
}

kube::Informer<NodeInformer::Unusable>::Options NodeInformer::InformerOptions(Options options) {
  kube::Informer<Unusable>::Options informer;
  informer.selection.resource = kube::resources::kNodes;
  informer.selection.fields = {
      {"metadata", "deletionTimestamp"}, {"spec", "unschedulable"}, {"status", "conditions"}};
  informer.project = [](const Value& node) {
    return IsUsable(node) ? std::nullopt : std::optional(Unusable());
  };
  informer.left_out = [](const Value&) { return std::optional<Unusable>(); };
  informer.changed = [changed = std::move(options.changed)](
                         const std::string&, const Unusable* before, const Unusable* after) {
    if (changed && (before == nullptr || after == nullptr)) changed();
  };
  informer.failed = std::move(options.failed);
  informer.seed = options.seed;
  return informer;
}

NodeInformer::NodeInformer(kube::Client& client, kube::Sleeper& sleeper, const Clock& clock,
                           Options options)
    : informer_(client, sleeper, clock, InformerOptions(std::move(options))) {}

std::set<std::string, std::less<>> NodeInformer::unusable() const {
  std::set<std::string, std::less<>> names;
  informer_.objects()->ForEach([&](const std::string& key, const Unusable&) {
    names.insert(key.substr(key.find('/') + 1));  // of no namespace
  });
  return names;
}

}  // namespace mindgate::watcher
