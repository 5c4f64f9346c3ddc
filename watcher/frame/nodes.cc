#include "watcher/frame/nodes.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "schemas/faulty_taint.h"

namespace mindgate::watcher {
namespace {

using json::Value;

bool IsUsable(const Value& node) {
  return IsReady(node) &&
         !json::AsBool(json::FindPath(node, {"spec", "unschedulable"})).value_or(false) &&
         json::FindPath(node, {"metadata", "deletionTimestamp"}) == nullptr;
}

bool IsIsolated(const Value& node) {
  return schemas::PlaceOfFaultyTaint(json::FindPath(node, {"spec", "taints"})).has_value();
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

kube::Informer<NodeInformer::State>::Options NodeInformer::InformerOptions() {
  kube::Informer<State>::Options informer;
  informer.selection.resource = kube::resources::kNodes;
  informer.selection.fields = {{"metadata", "deletionTimestamp"},
                               {"spec", "unschedulable"},
                               {"spec", "taints"},
                               {"status", "conditions"}};
  informer.project = [](const Value& node) {
    return std::optional(State{watcher::IsReady(node), IsUsable(node), IsIsolated(node)});
  };
  informer.left_out = [](const Value&) { return std::optional(State()); };
  informer.changed = [this](const std::string& key, const State* before, const State* after) {
    Note(key.substr(key.find('/') + 1), before, after);  // of no namespace
  };
  informer.became_current = options_.became_current;
  informer.failed = options_.failed;
  informer.seed = options_.seed;
  return informer;
}

NodeInformer::NodeInformer(kube::Client& client, kube::Sleeper& sleeper, const Clock& clock,
                           Options options)
    : options_(std::move(options)), informer_(client, sleeper, clock, InformerOptions()) {}

void NodeInformer::Note(const std::string& node, const State* before, const State* after) {
  const bool was_usable = before == nullptr || before->usable;
  const bool is_usable = after == nullptr || after->usable;
  const bool was_ready = before != nullptr && before->ready;
  const bool is_ready = after != nullptr && after->ready;
  {
    const MutexLock lock(mutex_);
    if (is_usable) {
      unusable_.erase(node);
    } else {
      unusable_.insert(node);
    }
    if (after != nullptr && after->isolated) {
      isolated_.insert(node);
    } else {
      isolated_.erase(node);
    }
    if (after == nullptr || after->ready) {
      not_ready_.erase(node);
    } else {
      not_ready_.insert(node);
    }
    nodes_ += after != nullptr;
    nodes_ -= before != nullptr;
  }
  if (was_usable != is_usable && options_.changed) options_.changed();
  const bool came_or_went = (before == nullptr) != (after == nullptr);
  if ((was_ready != is_ready || came_or_went) && options_.readiness_changed)
    options_.readiness_changed(node);
}

NodeInformer::Names NodeInformer::unusable() const {
  const MutexLock lock(mutex_);
  return unusable_;
}

NodeInformer::Names NodeInformer::not_ready() const {
  const MutexLock lock(mutex_);
  return not_ready_;
}

NodeInformer::Names NodeInformer::isolated() const {
  const MutexLock lock(mutex_);
  return isolated_;
}

bool NodeInformer::Exists(std::string_view node) const {
  return informer_.objects()->Find(kube::Collection<State>::KeyOf("", std::string(node))) !=
         nullptr;
}

bool NodeInformer::IsReady(std::string_view node) const {
  const auto nodes = informer_.objects();  // what is found lives as long as this
  const State* state = nodes->Find(kube::Collection<State>::KeyOf("", std::string(node)));
  return state != nullptr && state->ready;
}

NodeInformer::Counts NodeInformer::counts() const {
  const MutexLock lock(mutex_);
  return {nodes_, not_ready_.size()};
}

}  // namespace mindgate::watcher
