#include "kube/fake_writes.h"

#include <algorithm>
#include <cstdio>
#include <string_view>

#include "base/text.h"
#include "json/decode.h"
#include "json/pointer.h"
#include "json/value.h"

namespace mindgate::kube::testing {
namespace {

std::string TextAt(const Json& value, std::initializer_list<std::string_view> keys) {
  return std::string(json::AsString(json::FindPath(value, keys)).value_or(""));
}

// Members that the server alone writes.
constexpr const char* kOwnMetadata[] = {"uid", "creationTimestamp", "deletionTimestamp",
                                        "deletionGracePeriodSeconds", "generation"};

void TakeOver(Json& to, const Json& from, const char* member) {
  to.erase(member);
  if (from.contains(member)) to[member] = from[member];
}

// What a generation counts changes of.
Json Desired(Json object, const FakeResource& how) {
  // Those of a Deployment are copied to its ReplicaSets.
  Json annotations;
  if (how.resource == resources::kDeployments) {
    annotations = object["metadata"].value("annotations", Json::object());
  }
  object.erase("metadata");
  if (how.status) object.erase("status");
  object["annotations"] = std::move(annotations);
  return object;
}

bool HasFinalizers(const Json& object) {
  const Json* finalizers = json::FindPath(object, {"metadata", "finalizers"});
  return json::IsArray(finalizers) && !finalizers->empty();
}

// The first member that must be a map of strings and is not, as Go's decoder words it.
std::optional<std::string> TypeFault(const Json& object) {
  const std::initializer_list<std::string_view> kMaps[] = {
      {"metadata", "labels"}, {"metadata", "annotations"}, {"data"}, {"spec", "nodeSelector"}};
  for (const auto& path : kMaps) {
    const Json* map = json::FindPath(object, path);
    if (map == nullptr) continue;
    const bool fine = map->is_object() && std::all_of(map->begin(), map->end(), [](const Json& v) {
                        return v.is_string() || v.is_null();
                      });
    const std::string where(*(path.end() - 1));
    if (!fine && (where != "data" || object.value("kind", "") == "ConfigMap")) {
      return "json: cannot unmarshal into Go struct field ." + where + " of type string";
    }
  }
  return std::nullopt;
}

Refusal UnprocessablePatch() {
  return StatusOf(422, "Invalid", "the server rejected our request due to an error in our request",
                  Json::object());
}

}  // namespace

std::string Target::Parameter(const std::string& key) const {
  const auto found = query.find(key);
  return found == query.end() ? "" : found->second;
}

FieldManager FakeWrites::Manager(const Target& target) const {
  std::string name = target.Parameter("fieldManager");
  if (name.empty()) name = target.user_agent.substr(0, target.user_agent.find('/'));
  return {name, target.resource().api_version(), target.subresource};
}

Outcome<FakeStore::ObjectPtr> FakeWrites::Find(const Target& target) const {
  auto found = store_.Get(target.resource(), target.ns, target.name);
  if (found == nullptr) return Refuse(NotFound(target.resource(), target.name));
  return found;
}

Outcome<void> FakeWrites::CheckOptions(const Target& target) const {
  const std::string dry_run = target.Parameter("dryRun");
  if (dry_run.empty() || dry_run == "All") return {};
  return Refuse(
      Invalid("meta.k8s.io", "Options", "",
              {{"FieldValueNotSupported",
                "Unsupported value: \"" + dry_run + "\": supported values: \"All\"", "dryRun"}}));
}

Outcome<void> FakeWrites::CheckIdentity(const Target& target, const Json& object) const {
  const Resource& resource = target.resource();
  if (!object.is_object()) return Refuse(BadRequest("couldn't get version/kind; not an object"));
  const std::string api_version = object.value("apiVersion", "");
  const std::string kind = object.value("kind", "");
  if (api_version != resource.api_version() || kind != resource.kind) {
    return Refuse(BadRequest(kind + " in version \"" + api_version + "\" cannot be handled as a " +
                             resource.kind));
  }
  const std::string ns = TextAt(object, {"metadata", "namespace"});
  if (!ns.empty() && ns != target.ns) {
    return Refuse(BadRequest(
        "the namespace of the provided object does not match the namespace sent on the request"));
  }
  const std::string name = TextAt(object, {"metadata", "name"});
  if (!target.name.empty() && name != target.name) {
    return Refuse(BadRequest("the name of the object (" + name +
                             ") does not match the name on the URL (" + target.name + ")"));
  }
  return {};
}

Outcome<void> FakeWrites::CheckContent(const Target& target, const Json& object) const {
  if (!target.how->validate) return {};
  const std::vector<Cause> causes = target.how->validate(object);
  if (causes.empty()) return {};
  return Refuse(Invalid(target.resource().group, target.resource().kind,
                        TextAt(object, {"metadata", "name"}), causes));
}

Outcome<Reply> FakeWrites::Get(const Target& target) const {
  const auto found = Find(target);
  if (!found) return Refuse(found.error());
  return Reply{200, **found};
}

Outcome<Reply> FakeWrites::Create(const Target& target, Json object) {
  if (const auto checked = CheckOptions(target); !checked) return Refuse(checked.error());
  if (const auto checked = CheckIdentity(target, object); !checked) return Refuse(checked.error());
  if (const auto fault = TypeFault(object)) {
    return Refuse(BadRequest(target.resource().kind + " in version \"" + target.resource().version +
                             "\" cannot be handled as a " + target.resource().kind + ": " +
                             *fault));
  }
  Json& metadata = object["metadata"];
  if (!metadata.is_object()) metadata = Json::object();
  const std::string prefix = TextAt(object, {"metadata", "generateName"});
  if (TextAt(object, {"metadata", "name"}).empty() && !prefix.empty()) {
    char suffix[16];
    std::snprintf(suffix, sizeof suffix, "%05d", static_cast<int>(made_ % 100'000));
    metadata["name"] = prefix + suffix;
  }
  return Insert(target, std::move(object), Owned::kByChange);
}

Outcome<Reply> FakeWrites::Insert(const Target& target, Json object, Owned owned) {
  const FakeResource& how = *target.how;
  Json& metadata = object["metadata"];
  const std::string name = TextAt(object, {"metadata", "name"});
  if (name.empty()) {
    return Refuse(Invalid(how.resource.group, how.resource.kind, "",
                          {{"FieldValueRequired",
                            "Required value: name or generateName is required", "metadata.name"}}));
  }
  if (how.resource.namespaced && store_.Get(resources::kNamespaces, "", target.ns) == nullptr) {
    return Refuse(NotFound(resources::kNamespaces, target.ns));
  }
  if (store_.Get(how.resource, target.ns, name) != nullptr) {
    return Refuse(AlreadyExists(how.resource, name));
  }
  if (!TextAt(object, {"metadata", "resourceVersion"}).empty()) {
    return Refuse(StatusOf(500, "", "resourceVersion should not be set on objects to be created"));
  }
  if (const auto checked = CheckContent(target, object); !checked) return Refuse(checked.error());

  for (const char* member : kOwnMetadata) metadata.erase(member);
  if (how.resource.namespaced) metadata["namespace"] = target.ns;
  char uid[40];
  std::snprintf(uid, sizeof uid, "00000000-0000-4000-8000-%012d", static_cast<int>(++made_));
  metadata["uid"] = uid;
  metadata["creationTimestamp"] = now_(0);
  if (how.generation) metadata["generation"] = 1;
  if (how.status) object.erase("status");
  if (how.prepare) how.prepare(object);
  if (owned == Owned::kByChange) {
    metadata.erase("managedFields");
    OwnUpdate(nullptr, object, Manager(target), how.custom, now_(0));
  }
  if (target.Parameter("dryRun") == "All") return Reply{201, std::move(object)};
  if (how.resource == resources::kCustomResourceDefinitions) resources_.AddFrom(object);
  return Reply{201, *store_.Put(how.resource, target.ns, name, std::move(object))};
}

Outcome<Reply> FakeWrites::Update(const Target& target, const Json& object) {
  if (const auto checked = CheckOptions(target); !checked) return Refuse(checked.error());
  const auto live = Find(target);
  if (const auto checked = CheckIdentity(target, object); !checked) return Refuse(checked.error());
  if (const auto fault = TypeFault(object)) return Refuse(BadRequest(*fault));
  if (live) return Replace(target, **live, object, Owned::kByChange);
  if (!target.how->create_on_update) return Refuse(live.error());
  return Insert(target, object, Owned::kByChange);
}

Outcome<Reply> FakeWrites::Replace(const Target& target, const Json& live, Json next, Owned owned) {
  const FakeResource& how = *target.how;
  Json& metadata = next["metadata"];
  const Json& live_metadata = live.at("metadata");
  const std::string version = TextAt(next, {"metadata", "resourceVersion"});
  if (version.empty() && !how.unconditional_update) {
    return Refuse(
        Invalid(how.resource.group, how.resource.kind, target.name,
                {{"FieldValueInvalid", "Invalid value: 0x0: must be specified for an update",
                  "metadata.resourceVersion"}}));
  }
  const std::string uid = TextAt(next, {"metadata", "uid"});
  const std::string live_uid = TextAt(live, {"metadata", "uid"});
  if (!uid.empty() && uid != live_uid) {
    return Refuse(Conflict(
        how.resource, target.name,
        "Precondition failed: UID in precondition: " + uid + ", UID in object meta: " + live_uid));
  }
  if (!version.empty() && version != TextAt(live, {"metadata", "resourceVersion"})) {
    return Refuse(Conflict(how.resource, target.name,
                           "the object has been modified; please apply your changes to the latest "
                           "version and try again"));
  }
  for (const char* member : kOwnMetadata) TakeOver(metadata, live_metadata, member);
  TakeOver(metadata, live_metadata, "resourceVersion");
  TakeOver(metadata, live_metadata, "namespace");
  if (owned == Owned::kByChange) TakeOver(metadata, live_metadata, "managedFields");
  if (target.subresource == "status") {
    Json only_status = live;
    TakeOver(only_status, next, "status");
    TakeOver(only_status["metadata"], metadata, "managedFields");
    next = std::move(only_status);
  } else if (how.status) {
    TakeOver(next, live, "status");
  }
  if (const auto checked = CheckContent(target, next); !checked) return Refuse(checked.error());
  if (how.generation && Desired(next, how) != Desired(live, how)) {
    next["metadata"]["generation"] = live_metadata.value("generation", int64_t{0}) + 1;
  }
  if (owned == Owned::kByChange) OwnUpdate(live, next, Manager(target), how.custom, now_(0));
  if (next == live || target.Parameter("dryRun") == "All") return Reply{200, std::move(next)};

  const bool kubelet_has_it = next["metadata"].value("deletionGracePeriodSeconds", int64_t{0}) > 0;
  if (next["metadata"].contains("deletionTimestamp") && !HasFinalizers(next) && !kubelet_has_it) {
    store_.Remove(how.resource, target.ns, target.name);
    return Reply{200, std::move(next)};
  }
  if (how.resource == resources::kCustomResourceDefinitions) resources_.AddFrom(next);
  return Reply{200, *store_.Put(how.resource, target.ns, target.name, std::move(next))};
}

Outcome<Reply> FakeWrites::Patch(const Target& target, const std::string& content_type,
                                 const std::string& body) {
  if (const auto checked = CheckOptions(target); !checked) return Refuse(checked.error());
  const std::string type(Trim(std::string_view(content_type).substr(0, content_type.find(';'))));
  const bool json_patch = type == "application/json-patch+json";
  const bool apply = type == "application/apply-patch+yaml";
  if (!json_patch && !apply && type != "application/merge-patch+json") {
    return Refuse(UnsupportedPatchType());
  }
  auto patch = json::Decode(body);
  if (!patch) return Refuse(BadRequest("error decoding patch: " + patch.error().message));
  if (apply) return Apply(target, *std::move(patch));
  const auto live = Find(target);
  if (!live) return Refuse(live.error());
  Json next = **live;
  if (json_patch) {
    if (!patch->is_array()) return Refuse(BadRequest("error decoding patch: not a list"));
    try {
      next = next.patch(*patch);
    } catch (const Json::exception&) {
      return Refuse(UnprocessablePatch());
    }
  } else {
    next.merge_patch(*patch);
  }
  if (const auto fault = TypeFault(next)) {
    return Refuse(
        Invalid("", "", "", {{"FieldValueInvalid", "Invalid value: " + *fault, "patch"}}));
  }
  if (const auto checked = CheckIdentity(target, next); !checked) return Refuse(checked.error());
  return Replace(target, **live, std::move(next), Owned::kByChange);
}

Outcome<Reply> FakeWrites::Apply(const Target& target, Json patch) {
  const FieldManager manager = Manager(target);
  if (target.Parameter("fieldManager").empty()) {
    return Refuse(Invalid(
        "meta.k8s.io", "PatchOptions", "",
        {{"FieldValueRequired", "Required value: is required for apply patch", "fieldManager"}}));
  }
  if (!patch.is_object()) return Refuse(BadRequest("error decoding YAML: not an object"));
  const auto live = store_.Get(target.resource(), target.ns, target.name);
  if (TextAt(patch, {"metadata", "name"}).empty()) {
    if (live == nullptr) {
      return Refuse(BadRequest("the name of the object (" + target.name +
                               " based on URL) was undeterminable: name must be provided"));
    }
    patch["metadata"]["name"] = target.name;
  }
  if (const auto checked = CheckIdentity(target, patch); !checked) return Refuse(checked.error());
  if (patch["metadata"].contains("managedFields")) {
    return Refuse(BadRequest("metadata.managedFields must be nil"));
  }
  const std::string uid = TextAt(patch, {"metadata", "uid"});
  if (live != nullptr && !uid.empty() && uid != TextAt(*live, {"metadata", "uid"})) {
    return Refuse(
        Invalid(target.resource().group, target.resource().kind, target.name,
                {{"FieldValueInvalid", "Invalid value: \"" + uid + "\": field is immutable",
                  "metadata.uid"}}));
  }
  Json wanted = patch;
  if (target.subresource == "status") {
    wanted = {{"apiVersion", patch["apiVersion"]},
              {"kind", patch["kind"]},
              {"status", patch.value("status", Json::object())}};
  } else if (target.how->status) {
    wanted.erase("status");
  }
  const bool force = target.Parameter("force") == "true";
  auto next = ApplyFields(live == nullptr ? Json() : *live, wanted, manager, force,
                          target.how->custom, now_(0));
  if (!next) return Refuse(next.error());
  if (const auto fault = TypeFault(*next)) return Refuse(BadRequest(*fault));
  (*next)["metadata"]["name"] = target.name;
  if (live == nullptr) {
    if (!target.subresource.empty()) return Refuse(NotFound(target.resource(), target.name));
    return Insert(target, *std::move(next), Owned::kAlready);
  }
  const std::string version = TextAt(patch, {"metadata", "resourceVersion"});
  if (!version.empty()) (*next)["metadata"]["resourceVersion"] = version;
  return Replace(target, *live, *std::move(next), Owned::kAlready);
}

Outcome<Reply> FakeWrites::Delete(const Target& target, const Json& options) {
  const auto live = Find(target);
  if (!live) return Refuse(live.error());
  Json object = **live;
  Resource by_kind = target.resource();  // the real one names the kind here
  by_kind.plural = by_kind.kind;
  const std::string uid = TextAt(options, {"preconditions", "uid"});
  const std::string live_uid = TextAt(object, {"metadata", "uid"});
  if (!uid.empty() && uid != live_uid) {
    return Refuse(Conflict(by_kind, target.name,
                           "the UID in the precondition (" + uid +
                               ") does not match the UID in record (" + live_uid +
                               "). The object might have been deleted and then recreated"));
  }
  const std::string version = TextAt(options, {"preconditions", "resourceVersion"});
  const std::string live_version = TextAt(object, {"metadata", "resourceVersion"});
  if (!version.empty() && version != live_version) {
    return Refuse(Conflict(by_kind, target.name,
                           "the ResourceVersion in the precondition (" + version +
                               ") does not match the ResourceVersion in record (" + live_version +
                               "). The object might have been modified"));
  }
  const std::string propagation = options.value("propagationPolicy", "");
  for (const auto& [policy, finalizer] :
       {std::pair("Foreground", "foregroundDeletion"), std::pair("Orphan", "orphan")}) {
    if (propagation == policy) object["metadata"]["finalizers"].push_back(finalizer);
  }
  int64_t grace = 0;
  const std::string phase = TextAt(object, {"status", "phase"});
  if (target.how->graceful && !TextAt(object, {"spec", "nodeName"}).empty() &&
      phase != "Succeeded" && phase != "Failed") {
    grace = object["spec"].value("terminationGracePeriodSeconds", int64_t{30});
    grace = options.value("gracePeriodSeconds", grace);
  }
  const Json dry = options.value("dryRun", Json::array());
  const bool dry_run = target.Parameter("dryRun") == "All" || !dry.empty();
  if (grace > 0 || HasFinalizers(object)) {
    return MarkDeleted(target, std::move(object), grace, dry_run);
  }
  if (!dry_run) {
    store_.Remove(target.resource(), target.ns, target.name);
    if (target.resource() == resources::kNamespaces) store_.RemoveNamespace(target.name);
  }
  if (target.how->returns_deleted) return Reply{200, std::move(object)};
  Json details = DetailsOf(target.resource(), target.name);
  details["uid"] = live_uid;
  return Reply{200, SuccessStatus(details)};
}

// What has to wait for a kubelet or for finalizers.
Outcome<Reply> FakeWrites::MarkDeleted(const Target& target, Json object, int64_t grace,
                                       bool dry_run) {
  Json& metadata = object["metadata"];
  const bool again = metadata.contains("deletionTimestamp");
  if (again && metadata.value("deletionGracePeriodSeconds", int64_t{0}) <= grace) {
    return Reply{200, std::move(object)};
  }
  if (!again && metadata.contains("generation")) {
    metadata["generation"] = metadata["generation"].get<int64_t>() + 1;
  }
  metadata["deletionTimestamp"] = now_(grace);
  metadata["deletionGracePeriodSeconds"] = grace;
  if (dry_run) return Reply{200, std::move(object)};
  return Reply{200, *store_.Put(target.resource(), target.ns, target.name, std::move(object))};
}

Outcome<Reply> FakeWrites::Evict(const Target& target, const Json& eviction) {
  const auto live = Find(target);
  if (!live) return Refuse(live.error());
  if (eviction.value("kind", "") != "Eviction") return Refuse(BadRequest("no Eviction"));
  if (TextAt(eviction, {"metadata", "name"}) != target.name) {
    return Refuse(BadRequest("name in URL does not match name in Eviction object"));
  }
  const std::string phase = TextAt(**live, {"status", "phase"});
  const bool harmless = phase == "Pending" || phase == "Succeeded" || phase == "Failed" ||
                        (**live)["metadata"].contains("deletionTimestamp");
  const Json options = eviction.value("deleteOptions", Json::object());
  if (!harmless) {
    if (const auto asked = AskBudgets(target, **live); !asked) return Refuse(asked.error());
  }
  auto deleted = Delete(target, options);
  if (!deleted) return deleted;
  Json status = SuccessStatus(nullptr);
  status["code"] = 201;
  return Reply{201, std::move(status)};
}

// Disruption budgets as their controller left them.
Outcome<void> FakeWrites::AskBudgets(const Target& target, const Json& pod) {
  const Scope all{resources::kPodDisruptionBudgets, target.ns, {}};
  const auto budgets =
      store_.List(all, *resources_.Find(resources::kPodDisruptionBudgets), {{"", ""}});
  for (const Json& budget : budgets->at("items")) {
    const Json* selector = json::FindPath(budget, {"spec", "selector"});
    if (selector == nullptr || !Selectors::FromObject(*selector).Matches(pod)) continue;
    const std::string name = TextAt(budget, {"metadata", "name"});
    const auto at = [&budget](const char* member) {
      return json::AsInt(json::FindPath(budget, {"status", member})).value_or(0);
    };
    const bool seen = at("observedGeneration") >= budget["metadata"].value("generation", 0);
    if (seen && at("disruptionsAllowed") > 0) continue;
    Json details = {
        {"causes",
         Json::array({{{"reason", "DisruptionBudget"},
                       {"message", seen ? "The disruption budget " + name + " needs " +
                                              std::to_string(at("desiredHealthy")) +
                                              " healthy pods and has " +
                                              std::to_string(at("currentHealthy")) + " currently"
                                        : "The disruption budget " + name +
                                              " is still being processed by the server."}}})}};
    if (!seen) details["retryAfterSeconds"] = 10;
    return Refuse(StatusOf(429, "TooManyRequests",
                           "Cannot evict pod as it would violate the pod's disruption budget.",
                           details));
  }
  return {};
}

}  // namespace mindgate::kube::testing
