#include "simulation/api_server.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "base/time.h"
#include "json/decode.h"
#include "json/value.h"

namespace mindgate::simulation {
namespace {

using json::Json;
using kube::HttpAnswer;
using kube::HttpCall;

// A pod's own, where it names no other (k8s.io/kubernetes pkg/apis/core/v1/defaults.go).
constexpr int64_t kGraceSeconds = 30;

// The Status of a call that failed, in the words of the real one.
HttpAnswer Refused(int code, const char* reason, std::string message,
                   const Json& details = nullptr) {
  Json status = {{"kind", "Status"},
                 {"apiVersion", "v1"},
                 {"metadata", Json::object()},
                 {"status", "Failure"},
                 {"message", std::move(message)},
                 {"reason", reason},
                 {"code", code}};
  if (!details.is_null()) status["details"] = details;
  return {.status = code, .body = status.dump()};
}

HttpAnswer NotFound(const std::string& name) {
  return Refused(404, "NotFound", "pods \"" + name + "\" not found",
                 {{"name", name}, {"kind", "pods"}});
}

// A precondition that does not hold.
HttpAnswer Differs(const std::string& name, const char* what, const std::string& wanted,
                   const std::string& found, const char* perhaps) {
  const std::string member = what;
  return Refused(409, "Conflict",
                 "Operation cannot be fulfilled on Pod \"" + name + "\": the " + member +
                     " in the precondition (" + wanted + ") does not match the " + member +
                     " in record (" + found + "). The object might have been " + perhaps,
                 {{"name", name}, {"kind", "Pod"}});
}

// What a call is about: "/api/v1/namespaces/{ns}/pods/{name}[/eviction][?dryRun=All]".
struct Target {
  ApiServer::PodName pod;
  bool eviction = false;
  bool dry_run = false;
};

std::optional<Target> TargetOf(std::string_view path) {
  constexpr std::string_view kPrefix = "/api/v1/namespaces/";
  Target target;
  const size_t query = path.find('?');
  if (query != std::string_view::npos) {
    const std::string parameters = "&" + std::string(path.substr(query + 1)) + "&";
    target.dry_run = parameters.find("&dryRun=All&") != std::string::npos;
    path = path.substr(0, query);
  }
  if (!path.starts_with(kPrefix)) return std::nullopt;
  path.remove_prefix(kPrefix.size());
  std::vector<std::string> parts;
  for (const std::string_view part : Split(path, '/')) parts.push_back(PercentDecoded(part));
  if (parts.size() < 3 || parts[1] != "pods" || parts.size() > 4) return std::nullopt;
  if (parts.size() == 4 && parts[3] != "eviction") return std::nullopt;
  target.pod = {parts[0], parts[2]};
  target.eviction = parts.size() == 4;
  return target;
}

bool HasEnded(const Json& object) {
  const std::string phase = json::TextAt(object, {"status", "phase"});
  return phase == "Succeeded" || phase == "Failed";
}

bool IsGoing(const Json& object) { return object.at("metadata").contains("deletionTimestamp"); }

}  // namespace

// --- those who make and change pods ---

std::string ApiServer::Put(Change change, const PodName& name, Json object) {
  object["metadata"]["resourceVersion"] = std::to_string(++version_);
  std::string text = object.dump(-1, ' ', false, Json::error_handler_t::replace);
  if (change == Change::kDeleted) {
    pods_.erase(name);
  } else {
    pods_.insert_or_assign(name, text);
  }
  if (listener_) listener_(change, name, object);
  return text;
}

Json ApiServer::Read(const PodName& name) const { return json::Decode(pods_.at(name)).value(); }

bool ApiServer::Create(Json object) {
  Json& metadata = object["metadata"];
  const PodName name{json::TextAt(object, {"metadata", "namespace"}),
                     json::TextAt(object, {"metadata", "name"})};
  if (pods_.contains(name)) return false;
  std::array<char, 40> uid{};
  std::snprintf(uid.data(), uid.size(), "%08llx-0000-4000-8000-000000000000",
                static_cast<unsigned long long>(++made_));
  object["apiVersion"] = "v1";
  object["kind"] = "Pod";
  metadata["uid"] = uid.data();
  metadata["creationTimestamp"] = FormatTime(clock_.WallNow());
  Put(Change::kAdded, name, std::move(object));
  return true;
}

bool ApiServer::Update(const PodName& name, const std::function<void(Json& object)>& change) {
  if (!pods_.contains(name)) return false;
  Json object = Read(name);
  change(object);
  Put(Change::kModified, name, std::move(object));
  return true;
}

bool ApiServer::Remove(const PodName& name) {
  if (!pods_.contains(name)) return false;
  Put(Change::kDeleted, name, Read(name));
  return true;
}

bool ApiServer::Delete(const PodName& name) {
  return Delete(name, Json::object(), false).status == 200;
}

std::optional<Json> ApiServer::Find(const PodName& name) const {
  if (!pods_.contains(name)) return std::nullopt;
  return Read(name);
}

// --- calls ---

kube::Answer<HttpAnswer> ApiServer::Send(const HttpCall& call, std::stop_token stop) {
  if (stop.stop_requested()) return kube::Failed(kube::Reason::kStopped, "stopped");
  if (failing_) {
    if (auto failed = failing_(call)) return *std::move(failed);
  }
  const auto target = TargetOf(call.path);
  if (target && call.method == "POST" && target->eviction) {
    return Evict(target->pod, call.body, target->dry_run);
  }
  if (!target) return OfObject(call);
  if (target->eviction) {
    return Refused(405, "MethodNotAllowed",
                   "the server does not allow this method on the requested resource");
  }
  if (call.method == "GET") {
    const auto found = pods_.find(target->pod);
    if (found == pods_.end()) return NotFound(target->pod.name);
    return HttpAnswer{.status = 200, .body = found->second};
  }
  const bool merge = call.content_type == "application/merge-patch+json";
  if (call.method == "PATCH" && (merge || call.content_type == "application/json-patch+json")) {
    return Patch(target->pod, call.body, merge);
  }
  if (call.method == "DELETE") {
    const auto options = json::Decode(call.body.empty() ? "{}" : call.body);
    if (!options) return Refused(400, "BadRequest", "the body is not JSON");
    return Delete(target->pod, *options, target->dry_run);
  }
  return Refused(405, "MethodNotAllowed",
                 "the server does not allow this method on the requested resource");
}

kube::Answer<HttpAnswer> ApiServer::Stream(const HttpCall& call, const Consume&, std::stop_token) {
  return kube::Failed(kube::Reason::kUnreachable, "no stream of " + call.path);
}

// --- other objects ---

void ApiServer::PutObject(const kube::Resource& resource, const std::string& ns,
                          const std::string& name, Json object) {
  object["apiVersion"] = resource.api_version();
  object["kind"] = resource.kind;
  object["metadata"]["name"] = name;
  if (!ns.empty()) object["metadata"]["namespace"] = ns;
  Put(kube::PathOf(resource, ns, name), std::move(object));
}

void ApiServer::Put(const std::string& path, Json object) {
  object["metadata"]["resourceVersion"] = std::to_string(++version_);
  const auto& kept = objects_.insert_or_assign(path, std::move(object)).first->second;
  if (object_listener_) object_listener_(path, &kept);
}

void ApiServer::RemoveObject(const std::string& path) {
  if (objects_.erase(path) > 0 && object_listener_) object_listener_(path, nullptr);
}

Json ApiServer::FindObject(const std::string& path) const {
  const auto found = objects_.find(path);
  return found == objects_.end() ? Json() : found->second;
}

HttpAnswer ApiServer::OfObject(const HttpCall& call) {
  const std::string path(std::string_view(call.path).substr(0, call.path.find('?')));
  const Json object = FindObject(path);
  const bool applies = call.content_type.starts_with("application/apply-patch");
  if (call.method == "PATCH" && applies) {
    auto body = json::Decode(call.body);
    if (!body) return Refused(400, "BadRequest", "error decoding patch");
    Put(path, *std::move(body));
    return {.status = 200, .body = FindObject(path).dump()};
  }
  if (object.is_null()) return NotFound(path);
  if (call.method == "GET") return {.status = 200, .body = object.dump()};
  if (call.method == "PATCH" && call.content_type == "application/json-patch+json") {
    const auto operations = json::Decode(call.body);
    if (!operations) return Refused(400, "BadRequest", "error decoding patch");
    try {
      Put(path, object.patch(*operations));
    } catch (const Json::exception&) {
      return Refused(422, "Invalid",
                     "the server rejected our request due to an error in our request");
    }
    return {.status = 200, .body = FindObject(path).dump()};
  }
  return Refused(405, "MethodNotAllowed",
                 "the server does not allow this method on the requested resource");
}

HttpAnswer ApiServer::Patch(const PodName& name, std::string_view body, bool merge) {
  if (!pods_.contains(name)) return NotFound(name.name);
  const auto operations = json::Decode(body);
  if (!operations || operations->is_array() == merge) {
    return Refused(400, "BadRequest", "error decoding patch");
  }
  Json object = Read(name);
  const std::string uid = json::TextAt(*operations, {"metadata", "uid"});
  const std::string live_uid = json::TextAt(object, {"metadata", "uid"});
  if (!uid.empty() && uid != live_uid) {
    return Differs(name.name, "UID", uid, live_uid, "deleted and then recreated");
  }
  try {
    if (merge) {
      object.merge_patch(*operations);
    } else {
      object = object.patch(*operations);
    }
  } catch (const Json::exception&) {
    return Refused(422, "Invalid",
                   "the server rejected our request due to an error in our request");
  }
  // Go leaves an empty list out.
  Json& spec = object["spec"];
  if (spec.contains("schedulingGates") && spec["schedulingGates"].empty()) {
    spec.erase("schedulingGates");
  }
  return {.status = 200, .body = Put(Change::kModified, name, std::move(object))};
}

HttpAnswer ApiServer::Delete(const PodName& name, const Json& options, bool dry_run) {
  if (!pods_.contains(name)) return NotFound(name.name);
  Json object = Read(name);
  const std::string uid = json::TextAt(options, {"preconditions", "uid"});
  const std::string live_uid = json::TextAt(object, {"metadata", "uid"});
  if (!uid.empty() && uid != live_uid) {
    return Differs(name.name, "UID", uid, live_uid, "deleted and then recreated");
  }
  const std::string version = json::TextAt(options, {"preconditions", "resourceVersion"});
  const std::string live_version = json::TextAt(object, {"metadata", "resourceVersion"});
  if (!version.empty() && version != live_version) {
    return Differs(name.name, "ResourceVersion", version, live_version, "modified");
  }
  if (dry_run || options.contains("dryRun")) return {.status = 200, .body = object.dump()};
  // Nobody waits for a pod with grace period 0, and nobody runs what has no node; the rest is its
  // kubelet's to end.
  const auto grace = options.find("gracePeriodSeconds");
  const bool at_once = grace != options.end() && *grace == 0;
  if (at_once || json::TextAt(object, {"spec", "nodeName"}).empty() || HasEnded(object)) {
    return {.status = 200, .body = Put(Change::kDeleted, name, std::move(object))};
  }
  if (IsGoing(object)) return {.status = 200, .body = object.dump()};
  object["metadata"]["deletionTimestamp"] =
      FormatTime(clock_.WallNow() + std::chrono::seconds(kGraceSeconds));
  object["metadata"]["deletionGracePeriodSeconds"] = kGraceSeconds;
  return {.status = 200, .body = Put(Change::kModified, name, std::move(object))};
}

HttpAnswer ApiServer::Evict(const PodName& name, std::string_view body, bool dry_run) {
  if (!pods_.contains(name)) return NotFound(name.name);
  const auto eviction = json::Decode(body);
  if (!eviction || json::TextAt(*eviction, {"kind"}) != "Eviction") {
    return Refused(400, "BadRequest", "no Eviction");
  }
  const Json object = Read(name);
  const bool guarded = json::TextAt(object, {"status", "phase"}) != "Pending" &&
                       !HasEnded(object) && !IsGoing(object);
  if (const auto why = guarded && guarding_ ? guarding_(object) : std::nullopt) {
    return Refused(429, "TooManyRequests",
                   "Cannot evict pod as it would violate the pod's disruption budget.",
                   {{"causes", {{{"reason", "DisruptionBudget"}, {"message", *why}}}}});
  }
  const Json options = eviction->value("deleteOptions", Json::object());
  const HttpAnswer deleted = Delete(name, options, dry_run);
  if (deleted.status != 200) return deleted;
  return {.status = 201,
          .body = R"({"kind":"Status","apiVersion":"v1","status":"Success","code":201})"};
}

namespace {

// As `failCalls` names it.
std::string_view VerbOf(const HttpCall& call) {
  if (call.method == "GET") return "get";
  if (call.method == "PATCH") return "patch";
  if (call.method == "DELETE") return "delete";
  return "evict";
}

// Of a call that was answered with 200; nothing: it was about no pod, or changed none.
std::optional<PodAction> ActionOf(const HttpCall& call) {
  if (call.method != "DELETE" && call.method != "PATCH") return std::nullopt;
  const std::string_view path = std::string_view(call.path).substr(0, call.path.find('?'));
  // "", "api", "v1", "namespaces", its namespace, "pods", its name
  const auto parts = Split(path, '/');
  if (parts.size() != 7 || parts[5] != "pods") return std::nullopt;
  PodAction action{PodAction::Kind::kMarked, {PercentDecoded(parts[4]), PercentDecoded(parts[6])}};
  if (call.method == "DELETE") {
    const auto body = json::Decode(call.body);
    const bool by_force = body && body->value("gracePeriodSeconds", -1) == 0;
    action.kind = by_force ? PodAction::Kind::kDeleted : PodAction::Kind::kEvicted;
  }
  return action;
}

}  // namespace

std::optional<kube::Answer<kube::HttpAnswer>> Calls::FailureOf(const HttpCall& call) const {
  const auto found = std::find_if(failures_.rbegin(), failures_.rend(), [&](const Failure& each) {
    return clock_.WallNow() < each.until &&
           (each.calls.verb.empty() || each.calls.verb == VerbOf(call));
  });
  if (found == failures_.rend()) return std::nullopt;
  if (found->calls.status == 0) {
    return kube::Failed(kube::Reason::kTimeout, call.method + " " + call.path + ": no answer");
  }
  return kube::HttpAnswer{.status = static_cast<int>(found->calls.status)};
}

kube::Answer<kube::HttpAnswer> Calls::Send(const HttpCall& call, std::stop_token stop) {
  const MutexLock lock(mutex_);
  if (auto failed = FailureOf(call)) return *std::move(failed);
  auto answer = server_.Send(call, std::move(stop));
  if (!answer || answer->status != 200) return answer;
  if (auto action = ActionOf(call)) actions_.push_back(*std::move(action));
  return answer;
}

kube::Answer<kube::HttpAnswer> Calls::Stream(const HttpCall& call, const Consume& consume,
                                             std::stop_token stop) {
  return server_.Stream(call, consume, std::move(stop));
}

std::vector<PodAction> Calls::TakeActions() {
  std::vector<PodAction> actions = std::exchange(actions_, {});
  std::sort(actions.begin(), actions.end());
  return actions;
}

}  // namespace mindgate::simulation
