#include "deploy/objects.h"

#include <algorithm>
#include <string>
#include <utility>

#include "deploy/labels.h"
#include "deploy/patches.h"
#include "json/pointer.h"

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
  rendered.object = {
      {"apiVersion", api_version},
      {"kind", kind},
      {"metadata",
       {{"name", name},
        {"labels",
         {{kManagedBy, kFieldManager},
          {kInstance, application.name},
          {kFrameworkLabel, FrameworkName(application.framework())}}},
        {"annotations", {{kApplication, application.ns + "/" + application.name}}}}}};
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

}  // namespace

std::vector<RenderedObject> Render(const Application& application) {
  std::vector<RenderedObject> objects = RenderFramework(application);
  ApplyPatches(application.patches, objects);
  return objects;
}

}  // namespace mindgate::deploy
