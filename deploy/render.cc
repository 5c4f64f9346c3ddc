#include "deploy/render.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "base/text.h"
#include "deploy/cluster.h"
#include "json/pointer.h"
#include "json/value.h"

namespace mindgate::deploy {

using json::Json;

const Origin* RenderedObject::NearestOrigin(std::string_view path) const {
  const Origin* nearest = nullptr;
  for (const Origin& origin : origins) {
    const std::string& above = origin.rendered;
    const bool within =
        path.starts_with(above) && (path.size() == above.size() || path[above.size()] == '/');
    const bool longer = nearest == nullptr || above.size() >= nearest->rendered.size();
    if (within && longer) nearest = &origin;
  }
  return nearest;
}

RenderedObject NewObject(const Application& application, const std::string& api_version,
                         const std::string& kind, const std::string& name, Phase phase,
                         bool namespaced) {
  RenderedObject rendered;
  rendered.phase = phase;
  rendered.object = {{"apiVersion", api_version}, {"kind", kind}, {"metadata", {{"name", name}}}};
  if (namespaced) rendered.object["metadata"]["namespace"] = application.ns;
  rendered.origins = {{"/metadata/name", "/app_name"}, {"/metadata/namespace", "/app_namespace"}};
  return rendered;
}

void MergeMap(RenderedObject& rendered, const std::string& at, const StringMap& user,
              const std::string& written) {
  if (user.empty()) return;
  rendered.origins.push_back({at, written});
  Json& map = rendered.object[Json::json_pointer(at)];
  for (const auto& [key, value] : user) {
    const auto old = json::FindString(map, key);
    if (old && *old != value && !at.ends_with("/nodeSelector")) {
      rendered.overrides.push_back({json::Child(written, key), key, std::string(*old)});
    }
    map[key] = value;
  }
}

Json Variable(std::string_view name, std::string_view value) {
  return {{"name", name}, {"value", value}};
}

Json Variable(std::string_view name, int64_t value) {
  return Variable(name, std::to_string(value));
}

Json FieldVariable(std::string_view name, std::string_view field_path) {
  return {{"name", name}, {"valueFrom", {{"fieldRef", {{"fieldPath", field_path}}}}}};
}

void Append(Json& environment, const Variables& variables) {
  for (const auto& [name, value] : variables) {
    // One entry a name: an API server keeps both, and which one counts differs.
    const auto same =
        std::find_if(environment.begin(), environment.end(),
                     [&key = name](const Json& entry) { return entry.at("name") == key; });
    if (same != environment.end()) environment.erase(same);
    environment.push_back(Variable(name, value));
  }
}

Json NpuResources(const std::string& resource, int64_t count) {
  if (count == 0) return nullptr;
  return {{"requests", {{resource, count}}}, {"limits", {{resource, count}}}};
}

Json HostPath(std::string_view name, const std::string& path, std::string_view type) {
  Json volume = {{"name", name}, {"hostPath", {{"path", path}}}};
  if (!type.empty()) volume["hostPath"]["type"] = type;
  return volume;
}

void AddPathOrigin(RenderedObject& rendered, const std::string& pod_spec, std::string_view volume,
                   const std::string& written) {
  const Json& volumes = rendered.object.at(Json::json_pointer(pod_spec + "/volumes"));
  for (size_t i = 0; i < volumes.size(); ++i) {
    if (volumes[i].at("name") != volume || !volumes[i].contains("hostPath")) continue;
    rendered.origins.push_back(
        {pod_spec + "/volumes/" + std::to_string(i) + "/hostPath/path", written});
  }
}

Json Mount(std::string_view name, const std::string& path) {
  return {{"name", name}, {"mountPath", path}};
}

RenderedObject NewService(const Application& application, const std::string& name,
                          const Json& selector, Json ports) {
  RenderedObject service = NewObject(application, "v1", "Service", name, Phase::kFirst);
  service.object["metadata"]["labels"].update(selector);
  service.object["spec"] = {
      {"type", "ClusterIP"}, {"selector", selector}, {"ports", std::move(ports)}};
  return service;
}

Json Port(std::string_view name, int64_t port, int64_t target) {
  return {{"name", name}, {"protocol", "TCP"}, {"port", port}, {"targetPort", target}};
}

namespace {

// `patches:` of a configuration, for what its other keys do not say. `patch` is a list of RFC 6902
// operations (add, remove, replace, test), or an object that is merged as Kubernetes merges a
// strategic patch: null removes a member, lists whose items have a key (containers by name,
// volumeMounts by mountPath) are merged item by item, an item or an object with `$patch: delete` is
// removed and one with `$patch: replace` replaced, and other lists are replaced.
//
// Applies each patch to the objects of its kind and name, in the order of the file. A patch that
// fits no object, fails or changes what an object is known by is a fault of the object, or of the
// first object where it is of none. What it writes has its place in the file.
void ApplyPatches(const std::vector<ObjectPatch>& patches, std::vector<RenderedObject>& objects);

std::vector<RenderedObject> RenderFramework(const Application& application) {
  switch (application.framework()) {
    case Framework::kOme:
      return RenderOme(application, std::get<OmeService>(application.service));
    case Framework::kAibrix:
      return RenderAibrix(application, std::get<StormService>(application.service));
    case Framework::kMindie:
      return RenderMindie(application, std::get<MindieService>(application.service));
  }
  return {};
}

void Mark(const Application& application, Json& object) {
  Json& metadata = object["metadata"];
  metadata["labels"].update({{kManagedBy, kFieldManager},
                             {kInstance, application.name},
                             {kFrameworkLabel, FrameworkName(application.framework())}});
  metadata["annotations"][kApplication] = application.ns + "/" + application.name;
}

}  // namespace

std::vector<RenderedObject> Render(const Application& application) {
  std::vector<RenderedObject> objects = RenderFramework(application);
  // Here, so that no renderer can forget it, or lose it with what it writes.
  for (RenderedObject& each : objects) Mark(application, each.object);
  ApplyPatches(application.patches, objects);
  return objects;
}

namespace {

constexpr const char* kDirective = "$patch";

// By what the items of a list are known (k8s.io/api: patchMergeKey in core/v1/types.go; roles are a
// list map of AIBrix). Ports have their key from the kind they stand in.
struct MergeKey {
  std::string_view list;
  std::string_view key;
};
constexpr MergeKey kMergeKeys[] = {{"containers", "name"},
                                   {"initContainers", "name"},
                                   {"env", "name"},
                                   {"volumes", "name"},
                                   {"volumeMounts", "mountPath"},
                                   {"imagePullSecrets", "name"},
                                   {"ports", "containerPort"},
                                   {"roles", "name"},
                                   {"hostAliases", "ip"},
                                   {"ephemeralContainers", "name"}};

class Merger {
 public:
  explicit Merger(std::vector<Origin>& origins) : origins_(origins) {}

  // `at` and `written` are the pointers of the two.
  void Merge(Json& target, const Json& change, const std::string& at, const std::string& written) {
    const bool replaces = json::FindString(change, kDirective) == "replace";
    if (!change.is_object() || replaces) return Put(target, change, at, written);
    if (!target.is_object()) target = Json::object();
    for (const auto& [name, value] : change.items()) {
      if (name == kDirective) continue;
      const std::string below = json::Child(at, name);
      const std::string place = json::Child(written, name);
      if (value.is_null() || json::FindString(value, kDirective) == "delete") {
        target.erase(name);
        continue;
      }
      const bool lists = value.is_array() && target.contains(name) && target[name].is_array();
      const std::string_view key = lists ? MergeKeyOf(name, target[name], value) : "";
      if (key.empty()) {
        Merge(target[name], value, below, place);
      } else {
        MergeLists(target[name], value, key, below, place);
      }
    }
  }

 private:
  void MergeLists(Json& target, const Json& change, std::string_view key, const std::string& at,
                  const std::string& written) {
    for (size_t i = 0; i < change.size(); ++i) {
      const Json& item = change[i];
      auto same = std::find_if(target.begin(), target.end(), [&](const Json& each) {
        return each.at(std::string(key)) == item.at(std::string(key));
      });
      if (json::FindString(item, kDirective) == "delete") {
        if (same != target.end()) target.erase(same);
        continue;
      }
      if (same == target.end()) {
        target.push_back(Json::object());
        same = target.end() - 1;
      }
      Merge(*same, item, json::Child(at, static_cast<size_t>(same - target.begin())),
            json::Child(written, i));
    }
  }

  void Put(Json& target, const Json& change, const std::string& at, const std::string& written) {
    target = change;
    if (target.is_object()) target.erase(kDirective);
    origins_.push_back({at, written});
  }

  std::vector<Origin>& origins_;
};

// Why an operation cannot be done; empty: it was.
std::string Operate(Json& object, const Json& operation) {
  // nlohmann::json::patch throws; what it says begins with "[json.exception.out_of_range.403] ".
  try {
    object.patch_inplace(Json::array({operation}));
  } catch (const Json::exception& failure) {
    const std::string text = failure.what();
    const size_t end = text.find("] ");
    return end == std::string::npos ? text : text.substr(end + 2);
  }
  return "";
}

// What mindgate and the API server know an object by.
Json IdentityOf(const Json& object) {
  Json identity = {{"apiVersion", object.value("apiVersion", Json())},
                   {"kind", object.value("kind", Json())},
                   {"name", NameOf(object)},
                   {"namespace", NamespaceOf(object)},
                   {"application", Annotation(object, kApplication)}};
  for (const std::string_view label : {kManagedBy, kInstance, kFrameworkLabel}) {
    identity[std::string(label)] = Label(object, label);
  }
  return identity;
}

void ApplyOne(const ObjectPatch& patch, const std::string& written, RenderedObject& rendered) {
  const Json before = IdentityOf(rendered.object);
  const std::string body = written + "/patch";
  Json changed = rendered.object;
  if (patch.body.is_array()) {
    for (size_t i = 0; i < patch.body.size(); ++i) {
      const Json& operation = patch.body[i];
      const std::string place = json::Child(body, i);
      const std::string why = Operate(changed, operation);
      if (!why.empty()) {
        rendered.faults.push_back({place, "this does not work on " + rendered.Title() + ": " + why,
                                   "--dry-run without the patch shows the object"});
        return;
      }
      if (operation.contains("value")) {
        rendered.origins.push_back({operation.value("path", ""), json::Child(place, "value")});
      }
    }
  } else {
    Merger(rendered.origins).Merge(changed, patch.body, "", body);
  }
  if (!changed.is_object() || IdentityOf(changed) != before) {
    rendered.faults.push_back({body,
                               "this changes what " + rendered.Title() +
                                   " is known by: apiVersion, kind, name, namespace, the labels " +
                                   std::string(kManagedBy) + ", " + std::string(kInstance) +
                                   " and " + std::string(kFrameworkLabel) + ", or the annotation " +
                                   std::string(kApplication),
                               "leave them as they are"});
    return;
  }
  rendered.object = std::move(changed);
}

}  // namespace

std::string_view MergeKeyOf(std::string_view list, const Json& items, const Json& change) {
  for (const MergeKey& each : kMergeKeys) {
    if (each.list != list) continue;
    const auto has = [](const Json& of, std::string_view key) {
      return std::all_of(of.begin(), of.end(), [key](const Json& item) {
        return item.is_object() && item.contains(key);
      });
    };
    if (has(items, each.key) && has(change, each.key)) return each.key;
    // Those of a Service.
    if (list == "ports" && has(items, "port") && has(change, "port")) return "port";
  }
  return "";
}

namespace {

void ApplyPatches(const std::vector<ObjectPatch>& patches, std::vector<RenderedObject>& objects) {
  for (size_t i = 0; i < patches.size(); ++i) {
    const ObjectPatch& patch = patches[i];
    const std::string written = "/patches/" + std::to_string(i);
    bool found = false;
    for (RenderedObject& each : objects) {
      if (each.Kind() != patch.kind || (!patch.name.empty() && each.Name() != patch.name)) continue;
      found = true;
      ApplyOne(patch, written, each);
    }
    if (found || objects.empty()) continue;
    std::vector<std::string> titles;
    for (const RenderedObject& each : objects) titles.push_back(each.Title());
    constexpr size_t kMost = 8;
    objects.front().faults.push_back({json::Child(written, patch.name.empty() ? "kind" : "name"),
                                      "the application has no " + patch.kind +
                                          (patch.name.empty() ? "" : " " + patch.name) +
                                          " to patch",
                                      "it has " + JoinFirst(titles, kMost)});
  }
}

}  // namespace

}  // namespace mindgate::deploy
