#include <algorithm>
#include <memory>
#include <set>

#include "base/text.h"
#include "schemas/names.h"
#include "schemas/npu.h"
#include "schemas/raw_objects.h"
#include "watcher/scaling/decision.h"
#include "watcher/scaling/instances.h"
#include "watcher/scaling/pod.h"
#include "what_if/inventory.h"
#include "why/reader.h"

namespace mindgate::why {
namespace {

using json::Value;

// No pod of a real workload has more.
constexpr size_t kMaxContainers = 64;

std::vector<std::string> TextsOf(const Value* list, std::string_view key) {
  std::vector<std::string> texts;
  if (!json::IsArray(list)) return texts;
  for (const Value& item : *list) {
    const auto text = key.empty() ? json::AsString(&item) : json::FindString(item, key);
    if (text && texts.size() < kMaxContainers) texts.emplace_back(*text);
  }
  return texts;
}

std::optional<Time> TimeAt(const Value& object, std::initializer_list<std::string_view> path) {
  return ParseTimestamp(json::TextAt(object, path));
}

ContainerFacts ContainerOf(const Value& status, bool init) {
  ContainerFacts container{.name = json::TextAt(status, {"name"}), .init = init};
  container.ready = json::AsBool(json::Find(status, "ready")).value_or(false);
  container.restarts = json::AsInt(json::Find(status, "restartCount")).value_or(0);
  const Value* state = json::Find(status, "state");
  for (const char* word : {"waiting", "running", "terminated"}) {
    const Value* now = json::Find(state, word);
    if (!json::IsObject(now)) continue;
    container.state = word;
    container.reason = json::TextAt(*now, {"reason"});
    container.message = json::TextAt(*now, {"message"});
  }
  const Value* ended = json::Find(state, "terminated");
  if (!json::IsObject(ended)) ended = json::FindPath(status, {"lastState", "terminated"});
  if (json::IsObject(ended)) {
    container.exit_code = json::AsInt(json::Find(*ended, "exitCode"));
    container.ended_because = json::TextAt(*ended, {"reason"});
  }
  return container;
}

void AddContainers(const Value& pod, const char* statuses, bool init, PodFacts& facts) {
  const Value* list = json::FindPath(pod, {"status", statuses});
  if (!json::IsArray(list)) return;
  for (const Value& status : *list) {
    if (status.is_object() && facts.containers.size() < kMaxContainers) {
      facts.containers.push_back(ContainerOf(status, init));
    }
  }
}

// What the first container with a device asks for, and the others of the same.
void AddNpus(const Value& pod, PodFacts& facts) {
  const Value* containers = json::FindPath(pod, {"spec", "containers"});
  if (!json::IsArray(containers)) return;
  for (const Value& container : *containers) {
    const Value* limits = json::FindPath(container, {"resources", "limits"});
    if (!json::IsObject(limits)) continue;
    for (const json::Member& limit : limits->members()) {
      if (!what_if::IsDevice(limit.key)) continue;
      if (facts.resource.empty()) facts.resource = limit.key;
      if (facts.resource == limit.key) {
        facts.npus += schemas::WholeQuantity(&limit.value).value_or(0);
      }
    }
  }
}

void AddConditions(const Value& pod, PodFacts& facts) {
  facts.ready = schemas::ConditionStatus(pod, "Ready") == "True";
  const Value* scheduled = schemas::FindCondition(pod, "PodScheduled");
  // The API server writes one with this reason for a pod behind a gate.
  if (scheduled == nullptr || json::FindString(scheduled, "reason") == "SchedulingGated") return;
  facts.scheduler_reported = true;
  if (json::FindString(scheduled, "status") != "True") {
    facts.unscheduled = json::TextAt(scheduled, {"message"});
  }
}

}  // namespace

std::vector<json::Projection::Path> PodFactFields() {
  std::vector<json::Projection::Path> paths = watcher::scaling::PodFields();
  for (const char* member :
       {"creationTimestamp", "deletionTimestamp", "finalizers", "ownerReferences"}) {
    paths.push_back({"metadata", member});
  }
  for (const std::string_view key :
       {schemas::kScalingRule, schemas::kGroupName, schemas::kJobId, schemas::kFaultScheduling}) {
    paths.push_back({"metadata", "labels", std::string(key)});
  }
  for (const std::string_view key : {schemas::kPodGroupAnnotation, schemas::kMinAvailable}) {
    paths.push_back({"metadata", "annotations", std::string(key)});
  }
  for (const char* member : {"nodeName", "schedulerName", "schedulingGates"}) {
    paths.push_back({"spec", member});
  }
  paths.push_back({"spec", "containers", "*", "resources", "limits"});
  paths.push_back({"spec", "volumes", "*", "persistentVolumeClaim"});
  for (const char* member :
       {"phase", "reason", "message", "conditions", "containerStatuses", "initContainerStatuses"}) {
    paths.push_back({"status", member});
  }
  return paths;
}

PodFacts PodFactsOf(const Value& pod) {
  PodFacts facts{.name = json::TextAt(pod, {"metadata", "name"}),
                 .phase = json::TextAt(pod, {"status", "phase"}),
                 .reason = json::TextAt(pod, {"status", "reason"}),
                 .message = json::TextAt(pod, {"status", "message"}),
                 .node = json::TextAt(pod, {"spec", "nodeName"}),
                 .scheduler = json::TextAt(pod, {"spec", "schedulerName"})};
  facts.pod_group = json::TextAt(pod, {"metadata", "annotations", schemas::kPodGroupAnnotation});
  facts.created = TimeAt(pod, {"metadata", "creationTimestamp"});
  facts.gone_by = TimeAt(pod, {"metadata", "deletionTimestamp"});
  facts.finalizers = TextsOf(json::FindPath(pod, {"metadata", "finalizers"}), "");
  facts.gates = TextsOf(json::FindPath(pod, {"spec", "schedulingGates"}), "name");
  facts.rule = json::TextAt(pod, {"metadata", "labels", schemas::kScalingRule});
  facts.group = json::TextAt(pod, {"metadata", "labels", schemas::kGroupName});
  facts.job_id = json::TextAt(pod, {"metadata", "labels", schemas::kJobId});
  facts.fault_scheduling = json::TextAt(pod, {"metadata", "labels", schemas::kFaultScheduling});
  const Value* volumes = json::FindPath(pod, {"spec", "volumes"});
  if (json::IsArray(volumes)) {
    for (const Value& volume : *volumes) {
      const std::string claim = json::TextAt(volume, {"persistentVolumeClaim", "claimName"});
      if (!claim.empty() && facts.claims.size() < kMaxContainers) facts.claims.push_back(claim);
    }
  }
  AddNpus(pod, facts);
  AddConditions(pod, facts);
  AddContainers(pod, "initContainerStatuses", true, facts);
  AddContainers(pod, "containerStatuses", false, facts);
  return facts;
}

std::optional<int64_t> KOf(const Value& object) {
  return ParseGoInt(json::TextAt(object, {"metadata", "annotations", schemas::kMinAvailable}));
}

std::vector<json::Projection::Path> GroupFactFields() {
  std::vector<json::Projection::Path> paths = watcher::scaling::PodGroupFields();
  paths.push_back({"metadata", "ownerReferences"});
  paths.push_back({"metadata", "labels"});
  paths.push_back({"metadata", "annotations", std::string(schemas::kMinAvailable)});
  paths.push_back({"metadata", "annotations", std::string(schemas::kRescheduling)});
  for (const char* member : {"minMember", "minResources", "queue"})
    paths.push_back({"spec", member});
  for (const char* member : {"phase", "conditions"}) paths.push_back({"status", member});
  return paths;
}

GroupFacts GroupFactsOf(const Value& pod_group) {
  GroupFacts facts{.name = json::TextAt(pod_group, {"metadata", "name"})};
  facts.min_member = json::AsInt(json::FindPath(pod_group, {"spec", "minMember"})).value_or(1);
  facts.k = KOf(pod_group);
  facts.phase = json::TextAt(pod_group, {"status", "phase"});
  facts.queue = json::TextAt(pod_group, {"spec", "queue"});
  if (facts.queue.empty()) facts.queue = "default";
  facts.min_resources = AmountsOf(json::FindPath(pod_group, {"spec", "minResources"}));
  const Value* unschedulable = schemas::FindCondition(pod_group, "Unschedulable");
  if (json::FindString(unschedulable, "status") == "True") {
    facts.condition =
        json::TextAt(unschedulable, {"reason"}) + ": " + json::TextAt(unschedulable, {"message"});
  }
  return facts;
}

std::map<std::string, int64_t> AmountsOf(const Value* resources) {
  std::map<std::string, int64_t> amounts;
  if (!json::IsObject(resources)) return amounts;
  for (const json::Member& resource : resources->members()) {
    const auto amount = schemas::WholeQuantity(&resource.value);
    if (amount && amounts.size() < kMaxContainers) amounts.emplace(resource.key, *amount);
  }
  return amounts;
}

namespace {

using watcher::scaling::RuleState;
using watcher::scaling::ServiceKey;

// Nothing is given up here: what the watcher would give up is another question.
schemas::ElasticScaling WithoutRebalance(schemas::ElasticScaling settings) {
  settings.rebalance = schemas::EnforcementMode::kOff;
  return settings;
}

void AddDecision(const ScalingView& view, const ServiceKey& key, const RuleState& state,
                 const schemas::ElasticScaling& settings, const std::set<std::string>& pods,
                 Facts& facts) {
  watcher::scaling::ServiceIndex index;
  for (const watcher::scaling::PodPtr& pod : view.pods) {
    if (watcher::scaling::ServiceKeyOf(*pod) == key) index.Changed(nullptr, pod);
  }
  for (const watcher::scaling::PodGroupPtr& group : view.pod_groups) {
    if (group->service == key) index.Changed(nullptr, group);
  }
  index.RuleChanged(key.ns, key.rule, std::make_shared<const RuleState>(state));
  const auto service_view = index.Find(key);
  const auto* rule = state.rule ? &*state.rule : nullptr;
  watcher::scaling::Service service{state.rule, state.why_not, {}};
  std::map<std::string, HeldFacts> held;  // by instance
  for (const auto& observed :
       watcher::scaling::Observe(service_view.pods, rule, nullptr, service_view.pod_groups)) {
    HeldFacts& one = held[observed.instance.name];
    one.instance = observed.instance.name;
    one.group = observed.instance.group;
    for (const watcher::scaling::PodState* pod : observed.pods) {
      if (pods.contains(pod->name)) one.pods.push_back(pod->name);
    }
    service.instances.push_back(observed.instance);
  }
  for (const auto& outcome : watcher::scaling::Decide(service, settings, facts.now).outcomes) {
    HeldFacts& one = held[outcome.instance];
    one.granted = outcome.verdict == watcher::scaling::Verdict::kGrant;
    one.waits = outcome.reason;
  }
  for (auto& [name, one] : held) {
    if (one.pods.empty()) continue;
    one.rule = key.rule;
    one.problem = state.rule ? "" : state.why_not;
    facts.held.push_back(std::move(one));
  }
}

}  // namespace

void AddHeld(const ScalingView& view, const schemas::ElasticScaling& settings, Facts& facts) {
  std::map<ServiceKey, std::set<std::string>> pods_of;
  std::vector<std::string> without_labels;
  for (const PodFacts& pod : facts.pods) {
    if (!pod.is_behind(schemas::kScalingGate)) continue;
    if (pod.rule.empty() || pod.job_id.empty()) {
      without_labels.push_back(pod.name);
    } else {
      pods_of[{facts.ns, pod.rule, pod.job_id}].insert(pod.name);
    }
  }
  if (!without_labels.empty()) {
    facts.held.push_back({.pods = std::move(without_labels), .rule_exists = false});
  }
  for (const auto& [key, pods] : pods_of) {
    const auto rule = view.rules.find(key.rule);
    if (rule == view.rules.end()) continue;
    if (!rule->second) {
      facts.held.push_back(
          {.pods = {pods.begin(), pods.end()}, .rule = key.rule, .rule_exists = false});
      continue;
    }
    AddDecision(view, key, *rule->second, WithoutRebalance(settings), pods, facts);
  }
}

}  // namespace mindgate::why
