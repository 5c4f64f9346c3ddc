#include "watcher/frame/opt_outs.h"

#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "json/decode.h"
#include "json/value.h"
#include "schemas/kinds.h"
#include "schemas/names.h"
#include "schemas/raw_objects.h"

namespace mindgate::watcher {
namespace {

using json::Value;
namespace resources = kube::resources;

// Pod, PodSet, RoleSet, StormService: no chain of owners that is known is longer.
constexpr int kMostOwners = 4;

struct OwnerRef {
  kube::Resource resource;
  std::string name;
  std::string uid;
};

// The controller of the object, where it may be read.
std::optional<OwnerRef> OwnerOf(const Value& object) {
  const Value* owner = schemas::ControllerOf(json::Find(object, "metadata"));
  if (owner == nullptr) return std::nullopt;
  const std::string api = json::TextAt(owner, {"apiVersion"});
  const std::string group(schemas::GroupOf(api));
  std::string version = api.substr(api.find('/') + 1);
  // The API server takes any text as the version of an owner.
  if (!kube::IsVersion(version)) return std::nullopt;
  const std::string kind = json::TextAt(owner, {"kind"});
  const schemas::KindInfo* known = schemas::FindKind(group, kind);
  if (known == nullptr || !known->may_disable_rescheduling) return std::nullopt;
  return OwnerRef{{group, std::move(version), std::string(known->plural), kind, true},
                  json::TextAt(owner, {"name"}),
                  json::TextAt(owner, {"uid"})};
}

OptOut Unreadable(const kube::Resource& resource, const std::string& name,
                  const kube::Fault& fault) {
  return {.why = resource.kind + " " + name + " cannot be read: " + fault.message,
          .unreadable = true};
}

const json::Projection& Fields() {
  static const json::Projection fields(OptOutFields());
  return fields;
}

}  // namespace

bool SaysDisabled(const Value& object) {
  for (const char* map : {"labels", "annotations"}) {
    if (json::TextAt(object, {"metadata", map, schemas::kRescheduling}) == "disabled") return true;
  }
  return false;
}

std::vector<json::Projection::Path> OptOutFields() {
  return {{"metadata", "labels", std::string(schemas::kRescheduling)},
          {"metadata", "annotations", std::string(schemas::kRescheduling)},
          {"metadata", "annotations", std::string(schemas::kPodGroupAnnotation)},
          {"metadata", "ownerReferences"}};
}

OptOut PauseOf(LeaderClient& client, const std::string& ns, const std::string& lease) {
  if (ns.empty() || lease.empty()) return {};
  static const json::Projection fields(
      {{"metadata", "annotations", std::string(schemas::kPauseRescheduling)}});
  const auto answer = client.Read(resources::kLeases, ns, lease, fields);
  if (!answer) {
    if (answer.error().reason == kube::Reason::kNotFound) return {};
    return Unreadable(resources::kLeases, ns + "/" + lease, answer.error());
  }
  if (json::TextAt(answer->root(), {"metadata", "annotations", schemas::kPauseRescheduling}) !=
      "true") {
    return {};
  }
  return {.why = "Lease " + ns + "/" + lease + " has the annotation " +
                 std::string(schemas::kPauseRescheduling)};
}

OptOut NamespaceOptOut(LeaderClient& client, const std::string& ns) {
  const auto answer = client.Read(resources::kNamespaces, "", ns, Fields());
  if (!answer) {
    if (answer.error().reason == kube::Reason::kNotFound) return {};
    return Unreadable(resources::kNamespaces, ns, answer.error());
  }
  if (!SaysDisabled(answer->root())) return {};
  return {.why = "mindgate.io/rescheduling is disabled on namespace " + ns};
}

OptOut DisabledByOwner(LeaderClient& client, const Value& object, const std::string& ns) {
  auto owner = OwnerOf(object);
  for (int i = 0; owner && i < kMostOwners; ++i) {
    const auto answer = client.Read(owner->resource, ns, owner->name, Fields());
    if (!answer) {
      const kube::Reason reason = answer.error().reason;
      if (reason == kube::Reason::kNotFound || reason == kube::Reason::kForbidden) return {};
      return Unreadable(owner->resource, ns + "/" + owner->name, answer.error());
    }
    const json::Document& document = *answer;
    // Another one of its name is not the owner.
    if (json::TextAt(document.root(), {"metadata", "uid"}) != owner->uid) return {};
    if (SaysDisabled(document.root())) {
      return {.why = "mindgate.io/rescheduling is disabled on " + owner->resource.kind + " " +
                     owner->name};
    }
    owner = OwnerOf(document.root());
  }
  return {};
}

OptOut DisabledFor(LeaderClient& client, const Value& pod, const std::string& ns) {
  if (SaysDisabled(pod)) {
    return {.why = "mindgate.io/rescheduling is disabled on pod " +
                   json::TextAt(pod, {"metadata", "name"})};
  }
  if (OptOut excluded = NamespaceOptOut(client, ns); !excluded.why.empty()) return excluded;
  const std::string group =
      json::TextAt(pod, {"metadata", "annotations", schemas::kPodGroupAnnotation});
  if (!group.empty()) {
    const auto answer = client.Read(resources::kPodGroups, ns, group, Fields());
    if (!answer && answer.error().reason != kube::Reason::kNotFound) {
      return Unreadable(resources::kPodGroups, ns + "/" + group, answer.error());
    }
    if (answer && SaysDisabled(answer->root())) {
      return {.why = "mindgate.io/rescheduling is disabled on PodGroup " + group};
    }
  }
  return DisabledByOwner(client, pod, ns);
}

}  // namespace mindgate::watcher
