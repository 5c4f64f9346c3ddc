#include "deploy/health.h"

#include <algorithm>
#include <map>
#include <utility>

#include "deploy/cluster.h"
#include "deploy/render.h"
#include "json/value.h"
#include "kube/events.h"
#include "schemas/names.h"
#include "schemas/npu.h"
#include "schemas/raw_objects.h"

namespace mindgate::deploy {
namespace {

using json::FindPath;
using json::TextAt;

// The newest Events, oldest first, about the objects of an application, its pods and PodGroups, and
// what controllers made in between: quotas refuse pods in Events of ReplicaSets, Volcano says in
// those of PodGroups why nothing is placed, and the watcher decides in those of all of them. Those
// of the watcher are counted by themselves, so that others do not displace them. What may not be
// read is left out.
std::vector<EventState> EventsOf(kube::Client& client, const std::string& ns,
                                 const std::string& app, const AppObjects& objects,
                                 const std::stop_token& stop);

int64_t NumberAt(const Json& object, std::initializer_list<std::string_view> path,
                 int64_t otherwise) {
  return json::AsInt(FindPath(object, path)).value_or(otherwise);
}

const Json& ListAt(const Json& object, std::initializer_list<std::string_view> path) {
  static const Json none = Json::array();
  const Json* list = FindPath(object, path);
  return json::IsArray(list) ? *list : none;
}

// --- what is wanted ------------------------------------------------------------------------------

using WantedPods = std::vector<std::pair<std::string, int64_t>>;  // by component, in order

void AddWanted(const std::string& component, int64_t pods, WantedPods& wanted) {
  for (auto& [name, count] : wanted) {
    if (name != component) continue;
    count += pods;
    return;
  }
  wanted.emplace_back(component, pods);
}

void AddWantedBy(const Json& object, const std::string& app, WantedPods& wanted) {
  const std::string kind = KindOf(object);
  if (kind == "Deployment") {
    AddWanted(std::string(kStoreComponent), NumberAt(object, {"spec", "replicas"}, 1), wanted);
  } else if (kind == "InferenceService") {
    for (const char* name : {"engine", "decoder", "router"}) {
      const Json* component = FindPath(object, {"spec", name});
      if (component == nullptr) continue;
      const int64_t size = NumberAt(*component, {"worker", "size"}, 0) + 1;
      AddWanted(name, NumberAt(*component, {"minReplicas"}, 1) * size, wanted);
    }
  } else if (kind == "StormService") {
    for (const Json& role : ListAt(object, {"spec", "template", "spec", "roles"})) {
      AddWanted(TextAt(role, {"name"}),
                NumberAt(role, {"replicas"}, 1) * NumberAt(role, {"podGroupSize"}, 1), wanted);
    }
  } else if (kind == "AscendJob") {
    const Json* specs = FindPath(object, {"spec", "replicaSpecs"});
    int64_t pods = 0;
    if (json::IsObject(specs)) {
      for (const auto& [type, spec] : specs->items()) pods += NumberAt(spec, {"replicas"}, 1);
    }
    // A pod is in the same component as its job, whose name its own begins with.
    AddWanted(ComponentOf(Framework::kMindie, app, object), pods, wanted);
  }
}

// --- pods ----------------------------------------------------------------------------------------

// Why the pod was not placed, in the words of the scheduler.
std::string Unschedulable(const Json& pod) {
  const Json* condition = schemas::FindCondition(pod, "PodScheduled");
  const bool is_false = condition != nullptr && json::FindString(*condition, "status") == "False";
  return is_false ? TextAt(*condition, {"message"}) : "";
}

void ReadContainers(const Json& pod, PodState& state) {
  for (const char* list : {"initContainerStatuses", "containerStatuses"}) {
    for (const Json& container : ListAt(pod, {"status", list})) {
      state.restarts += NumberAt(container, {"restartCount"}, 0);
      const std::string waiting = TextAt(container, {"state", "waiting", "reason"});
      const std::string ended = TextAt(container, {"state", "terminated", "reason"});
      // These come and go while a pod starts.
      if (!waiting.empty() && waiting != "ContainerCreating" && waiting != "PodInitializing") {
        state.state = "Waiting: " + waiting;
        state.reason = waiting;
      } else if (!ended.empty() && std::string_view(list) == "containerStatuses") {
        state.state = "Terminated: " + ended;
        state.reason = ended;
      }
    }
  }
}

PodState StateOf(const Json& pod, std::string component) {
  PodState state;
  state.name = NameOf(pod);
  state.component = std::move(component);
  state.state = TextAt(pod, {"status", "phase"});
  state.node = TextAt(pod, {"spec", "nodeName"});
  state.ip = TextAt(pod, {"status", "podIP"});
  state.created = TextAt(pod, {"metadata", "creationTimestamp"});
  state.ready = schemas::ConditionStatus(pod, "Ready") == "True";
  state.ended = state.state == "Failed" || state.state == "Succeeded";
  if (state.state == "Failed") state.reason = TextAt(pod, {"status", "reason"});
  if (state.state == "Failed" && state.reason.empty()) state.reason = "Failed";
  // A server has no reason to end: its start script may hide that a process of it crashed.
  if (state.state == "Succeeded") state.reason = "the server ended with exit code 0";
  ReadContainers(pod, state);
  if (state.state == "Pending" && state.node.empty()) {
    // A gate holds a pod on purpose, until its turn comes.
    const bool is_gated = !ListAt(pod, {"spec", "schedulingGates"}).empty();
    if (is_gated) state.state = "Gated";
    if (!is_gated) state.reason = Unschedulable(pod);
  }
  // That a pod which is on its way out fails is what a rollout looks like.
  if (IsLeaving(pod)) {
    state.state = "Terminating";
    state.reason.clear();
    state.ready = false;
  }
  for (const Json& container : ListAt(pod, {"spec", "containers"})) {
    const Json* requests = FindPath(container, {"resources", "requests"});
    if (!json::IsObject(requests)) continue;
    for (const auto& [resource, amount] : requests->items()) {
      if (schemas::ClassifyResource(resource) != schemas::NpuResource::kWholeCard) continue;
      const auto number = json::AsInt(&amount);
      const auto text = json::AsString(&amount);
      state.npus += number ? *number
                    : text ? std::strtoll(std::string(*text).c_str(), nullptr, 10)
                           : 0;
    }
  }
  return state;
}

// --- verdict -------------------------------------------------------------------------------------

std::string Fraction(int64_t part, int64_t whole) {
  return std::to_string(part) + "/" + std::to_string(whole);
}

// What an application cannot be without, and what is not there: a run that ended early, or somebody
// deleted it. Empty: all is there.
std::string MissingOf(const AppObjects& objects, const std::string& app, Framework framework) {
  std::vector<std::string> wanted;
  switch (framework) {
    case Framework::kOme:
      wanted = {"InferenceService " + app};
      break;
    case Framework::kAibrix:
      wanted = {"StormService " + app};
      break;
    case Framework::kMindie:
      // Of servers there is one at least.
      wanted = {"AscendJob " + app + "-controller", "AscendJob " + app + "-coordinator",
                "AscendJob " + app + "-p", "AscendJob " + app + "-d"};
      break;
  }
  for (const std::string& title : wanted) {
    const bool is_prefix = title.ends_with("-p") || title.ends_with("-d");
    const bool found =
        std::any_of(objects.objects.begin(), objects.objects.end(), [&](const Json& object) {
          if (!is_prefix || framework != Framework::kMindie) return TitleOf(object) == title;
          const std::string its = TitleOf(object);
          return its.starts_with(title) && its.size() > title.size() &&
                 its.find_first_not_of("0123456789", title.size()) == std::string::npos;
        });
    if (!found) return is_prefix && framework == Framework::kMindie ? title + "0" : title;
  }
  return "";
}

// Whether the application ends with this object. Servers of MindIE come and go with the number of
// instances.
bool IsMain(const Json& object, const std::string& app) {
  const std::string kind = KindOf(object);
  if (kind == "InferenceService" || kind == "StormService") return true;
  const std::string name = NameOf(object);
  return kind == "AscendJob" && (name == app + "-controller" || name == app + "-coordinator");
}

// The object of the application that is being deleted, one that the application ends with first;
// null pointer: there is none.
const Json* LeavingOf(const AppObjects& objects, const std::string& app) {
  const Json* leaving = nullptr;
  for (const Json& object : objects.objects) {
    if (!IsLeaving(object)) continue;
    if (IsMain(object, app)) return &object;
    if (leaving == nullptr) leaving = &object;
  }
  return leaving;
}

// The store that the first deployment of an OME application waits for; null pointer when it waits
// for none. The InferenceService is made once the store is available, and owns it from then on: a
// store that is available or has an owner is what is left of an application.
const Json* StoreToWaitFor(const AppObjects& objects) {
  for (const Json& object : objects.objects) {
    if (KindOf(object) != "Deployment" || IsLeaving(object) || !IsAppliedByUs(object)) continue;
    if (ListAt(object, {"metadata", "ownerReferences"}).empty() && !IsAvailable(object)) {
      return &object;
    }
  }
  return nullptr;
}

// The title of an object whose controller has not read its newest state. One that reports no
// generation says nothing of it.
std::string UnseenOf(const AppObjects& objects) {
  for (const Json& object : objects.objects) {
    const int64_t seen = NumberAt(object, {"status", "observedGeneration"}, 0);
    if (seen > 0 && seen < NumberAt(object, {"metadata", "generation"}, 0)) return TitleOf(object);
  }
  return "";
}

// What the objects say, before a look at the pods; each is empty when there is nothing of it.
struct Outlook {
  std::string missing;
  std::string store;  // what `missing` is made after
  std::string unseen;
  std::string leaving;     // "StormService chat is being deleted"
  bool is_ending = false;  // and the application with it
};

Outlook OutlookOf(const AppObjects& objects, const std::string& app, Framework framework) {
  Outlook outlook{.missing = MissingOf(objects, app, framework),
                  .store = "",
                  .unseen = UnseenOf(objects),
                  .leaving = ""};
  if (const Json* leaving = LeavingOf(objects, app)) {
    outlook.leaving = TitleOf(*leaving) + " is being deleted" + FinalizersOf(*leaving);
    // The rest of an application whose main object is gone already goes with it.
    outlook.is_ending = IsMain(*leaving, app) || !outlook.missing.empty();
  }
  const Json* store = outlook.missing.empty() ? nullptr : StoreToWaitFor(objects);
  if (store != nullptr) outlook.store = TitleOf(*store);
  return outlook;
}

void Evaluate(const Outlook& outlook, Health& health) {
  const auto& [missing, store, unseen, leaving, is_ending] = outlook;
  if (is_ending) {
    health.verdict = Verdict::kDeleting;
    health.why = leaving;
    return;
  }
  if (!missing.empty() && store.empty()) {
    health.verdict = Verdict::kFailed;
    health.why = missing + " does not exist: deploy the application again, or delete the rest";
    return;
  }
  const PodState* wrong = nullptr;
  const ComponentState* incomplete = nullptr;
  bool serves = missing.empty();
  for (const ComponentState& component : health.components) {
    if (component.ready < component.wanted && incomplete == nullptr) incomplete = &component;
    if (component.ready == 0 && component.wanted > 0) serves = false;
    for (const PodState& pod : component.pods) {
      // What was evicted, or ended with its node, stays for a while, and another one serves.
      const bool is_replaced = pod.ended && component.ready >= component.wanted;
      if (!pod.reason.empty() && !is_replaced && wrong == nullptr) wrong = &pod;
    }
  }
  if (wrong == nullptr && !missing.empty()) {
    health.verdict = Verdict::kProgressing;
    health.why = "waiting for " + store + ": " + missing +
                 " is made when it is ready, unless its deployment has ended";
    return;
  }
  if (incomplete == nullptr && wrong == nullptr && !leaving.empty()) {
    health.verdict = Verdict::kProgressing;
    health.why = leaving;
    return;
  }
  if (incomplete == nullptr && wrong == nullptr && !unseen.empty()) {
    health.verdict = Verdict::kProgressing;
    health.why = "the controller of " + unseen + " has not seen its last change yet";
    return;
  }
  if (incomplete == nullptr && wrong == nullptr) {
    health.verdict = Verdict::kHealthy;
    health.why = "every pod is ready";
    return;
  }
  if (wrong != nullptr) {
    health.verdict = serves ? Verdict::kDegraded : Verdict::kFailed;
    health.why = "pod " + wrong->name + ": " + wrong->reason;
    return;
  }
  health.verdict = Verdict::kProgressing;
  health.why =
      incomplete->name + " has " + Fraction(incomplete->ready, incomplete->wanted) + " pods ready";
  const bool is_rollout = std::any_of(incomplete->pods.begin(), incomplete->pods.end(),
                                      [](const PodState& pod) { return pod.outdated; });
  if (is_rollout) health.why += "; the others are of the configuration before";
}

// --- Services ------------------------------------------------------------------------------------

ServiceState StateOfService(const Json& service) {
  ServiceState state;
  state.name = NameOf(service);
  const std::string ip = TextAt(service, {"spec", "clusterIP"});
  std::string addresses;
  for (const Json& port : ListAt(service, {"spec", "ports"})) {
    if (!addresses.empty()) addresses += ",";
    const int64_t node_port = NumberAt(port, {"nodePort"}, 0);
    addresses += node_port > 0 ? "*:" + std::to_string(node_port)
                               : ip + ":" + std::to_string(NumberAt(port, {"port"}, 0));
  }
  state.address = addresses;
  return state;
}

// The Service that users call: the router's, or the coordinator's.
std::string EntryOf(Framework framework, const std::string& app) {
  return framework == Framework::kMindie ? app + "-coordinator-infer" : app + "-router";
}

std::optional<kube::Fault> AddServices(kube::Client& client, const AppObjects& objects,
                                       const std::stop_token& stop, Health& health) {
  const std::string entry = EntryOf(health.framework, health.app);
  std::vector<Json> services;
  bool found = false;
  for (const Json& object : objects.objects) {
    if (KindOf(object) != "Service") continue;
    services.push_back(object);
    found = found || NameOf(object) == entry;
  }
  if (!found) {
    // OME makes the router's itself.
    auto made = FindObject(client, kube::resources::kServices, health.ns, entry, stop);
    if (!made) return made.error();
    if (made->is_object()) services.push_back(*std::move(made));
  }
  for (const Json& service : services) {
    ServiceState state = StateOfService(service);
    state.is_entry = state.name == entry;
    if (state.is_entry) {
      const int64_t port = NumberAt(
          ListAt(service, {"spec", "ports"}).empty() ? Json() : service["spec"]["ports"][0],
          {"port"}, 80);
      health.url = "http://" + state.name + "." + health.ns + ".svc:" + std::to_string(port);
    }
    health.services.push_back(std::move(state));
  }
  return std::nullopt;
}

}  // namespace

std::string_view VerdictName(Verdict verdict) {
  switch (verdict) {
    case Verdict::kHealthy:
      return "Healthy";
    case Verdict::kProgressing:
      return "Progressing";
    case Verdict::kDegraded:
      return "Degraded";
    case Verdict::kFailed:
      return "Failed";
    case Verdict::kDeleting:
      return "Deleting";
  }
  return "";
}

bool IsAvailable(const Json& deployment) {
  const int64_t wanted = NumberAt(deployment, {"spec", "replicas"}, 1);
  const auto count = [&](const char* member) {
    return NumberAt(deployment, {"status", member}, 0);
  };
  return count("observedGeneration") >= NumberAt(deployment, {"metadata", "generation"}, 0) &&
         count("updatedReplicas") >= wanted && count("availableReplicas") >= wanted;
}

kube::Answer<Health> LookAtPods(kube::Client& client, const std::string& ns, const std::string& app,
                                const AppObjects& objects, const std::stop_token& stop) {
  Health health;
  health.app = app;
  health.ns = ns;
  health.framework = objects.framework().value_or(Framework::kOme);
  WantedPods wanted;
  for (const Json& object : objects.objects) {
    health.objects.push_back(TitleOf(object));
    if (!IsLeaving(object)) AddWantedBy(object, app, wanted);
  }
  auto pods =
      client.ListObjects(kube::resources::kPods, ns,
                         {.label_selector = PodSelector(health.framework, app)}, nullptr, stop);
  if (!pods) return tl::unexpected(pods.error());
  for (const auto& [name, count] : wanted) health.components.push_back({name, count, 0, {}});
  std::sort(pods->begin(), pods->end(),
            [](const Json& a, const Json& b) { return NameOf(a) < NameOf(b); });
  for (const Json& pod : *pods) {
    PodState state = StateOf(pod, ComponentOf(health.framework, app, pod));
    state.outdated = IsOutdated(pod, state.component, objects.objects);
    if (state.outdated) state.ready = false;
    auto component =
        std::find_if(health.components.begin(), health.components.end(),
                     [&](const ComponentState& each) { return each.name == state.component; });
    if (component == health.components.end()) {
      component = health.components.insert(component, {state.component, 0, 0, {}});
    }
    if (state.ready) ++component->ready;
    component->pods.push_back(std::move(state));
  }
  Evaluate(OutlookOf(objects, app, health.framework), health);
  return health;
}

kube::Answer<std::optional<Health>> LookAtHealth(kube::Client& client, const std::string& ns,
                                                 const std::string& app,
                                                 const std::stop_token& stop) {
  const auto objects = FindObjects(client, ns, app, stop);
  if (!objects) return tl::unexpected(objects.error());
  if (objects->objects.empty()) return std::optional<Health>();
  auto health = LookAtPods(client, ns, app, *objects, stop);
  if (!health) return tl::unexpected(health.error());
  if (auto fault = AddServices(client, *objects, stop, *health)) {
    return tl::unexpected(*std::move(fault));
  }
  health->events = EventsOf(client, ns, app, *objects, stop);
  return std::optional<Health>(*std::move(health));
}

namespace {

constexpr size_t kMaxEventsOfEach = 10;

ApplicationOwnership OwnershipOf(kube::Client& client, const std::string& ns,
                                 const std::string& app, const AppObjects& objects,
                                 const std::stop_token& stop) {
  ApplicationOwnership ownership;
  for (const Json& object : objects.objects) ownership.Add(object);
  const std::string selector = PodSelector(objects.framework().value_or(Framework::kOme), app);
  AddWorkloads(client, ns, selector, stop, ownership);
  if (auto pods = client.ListObjects(kube::resources::kPods, ns, {.label_selector = selector},
                                     nullptr, stop)) {
    for (Json& pod : *pods) {
      pod["kind"] = "Pod";  // lists leave it out
      ownership.Add(pod);
    }
  }
  if (const auto groups = PodGroupsOf(client, ns, ownership, stop)) {
    for (const Json& group : *groups) ownership.AddPodGroup(group);
  }
  return ownership;
}

void KeepNewest(std::vector<EventState>& events) {
  std::stable_sort(events.begin(), events.end(),
                   [](const EventState& a, const EventState& b) { return a.time < b.time; });
  size_t decisions = 0;
  size_t others = 0;
  std::vector<EventState> kept;
  for (auto event = events.rbegin(); event != events.rend(); ++event) {
    size_t& count = event->reporter == schemas::kWatcherReporter ? decisions : others;
    if (++count <= kMaxEventsOfEach) kept.push_back(std::move(*event));
  }
  std::reverse(kept.begin(), kept.end());
  events = std::move(kept);
}

std::vector<EventState> EventsOf(kube::Client& client, const std::string& ns,
                                 const std::string& app, const AppObjects& objects,
                                 const std::stop_token& stop) {
  std::vector<EventState> events;
  const auto listed = client.ListObjects(kube::resources::kEvents, ns, {}, nullptr, stop);
  if (!listed || listed->empty()) return events;
  const ApplicationOwnership ownership = OwnershipOf(client, ns, app, objects, stop);
  for (const Json& event : *listed) {
    const std::string kind = json::TextAt(event, {"regarding", "kind"});
    const std::string name = json::TextAt(event, {"regarding", "name"});
    if (!ownership.Has(json::TextAt(event, {"regarding", "uid"}), kind, name)) continue;
    events.push_back({.time = kube::LastTimeOf(event),
                      .type = json::TextAt(event, {"type"}),
                      .reason = json::TextAt(event, {"reason"}),
                      .about = kind + " " + name,
                      .message = json::TextAt(event, {"note"}),
                      .reporter = json::TextAt(event, {"reportingController"})});
  }
  KeepNewest(events);
  return events;
}

}  // namespace

}  // namespace mindgate::deploy
