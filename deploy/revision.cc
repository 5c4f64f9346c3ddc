#include <algorithm>

#include "base/text.h"
#include "deploy/cluster.h"
#include "deploy/health.h"
#include "deploy/render.h"
#include "json/value.h"

namespace mindgate::deploy {
namespace {

using json::FindPath;
using json::Json;

// Registries that are mirrored are put before the name by webhooks.
bool IsImage(std::string_view wanted, std::string_view actual) {
  return actual == wanted || actual.ends_with("/" + std::string(wanted));
}

int64_t CountOf(const Json& quantity) {
  if (const auto number = json::AsInt(&quantity)) return *number;
  const auto text = json::AsString(&quantity);
  return text ? ParseWholeQuantity(*text).value_or(-1) : -1;
}

bool HasVariable(const Json& container, const Json& wanted) {
  const Json* variables = json::Find(container, "env");
  if (!json::IsArray(variables)) return false;
  return std::any_of(variables->begin(), variables->end(), [&wanted](const Json& variable) {
    return json::FindString(variable, "name") == json::FindString(wanted, "name") &&
           json::FindString(variable, "value") == json::FindString(wanted, "value");
  });
}

bool IsMadeOf(const Json& wanted, const Json& container) {
  const auto image = json::FindString(wanted, "image");
  const auto actual = json::FindString(container, "image");
  if (image && actual && !IsImage(*image, *actual)) return false;
  const Json* variables = json::Find(wanted, "env");
  if (json::IsArray(variables)) {
    for (const Json& variable : *variables) {
      if (json::FindString(variable, "value") && !HasVariable(container, variable)) return false;
    }
  }
  const Json* requests = FindPath(wanted, {"resources", "requests"});
  if (!json::IsObject(requests)) return true;
  return std::all_of(requests->items().begin(), requests->items().end(), [&](const auto& request) {
    // Devices; amounts of other resources are what webhooks change.
    if (request.key().find('/') == std::string::npos) return true;
    const Json* amount = FindPath(container, {"resources", "requests", request.key()});
    return amount != nullptr && CountOf(*amount) == CountOf(request.value());
  });
}

// The containers that the pods of a component get, as far as the object says.
std::vector<const Json*> WantedContainers(const Json& object, const std::string& component) {
  std::vector<const Json*> wanted;
  const auto add_all = [&wanted](const Json* containers) {
    if (!json::IsArray(containers)) return;
    for (const Json& container : *containers) wanted.push_back(&container);
  };
  const std::string kind = KindOf(object);
  if (kind == "Deployment" && component == kStoreComponent) {
    add_all(FindPath(object, {"spec", "template", "spec", "containers"}));
  } else if (kind == "InferenceService") {
    // Leader and workers have the same runner.
    for (const std::initializer_list<std::string_view> path :
         {std::initializer_list<std::string_view>{"spec", component, "runner"},
          {"spec", component, "leader", "runner"}}) {
      if (const Json* runner = FindPath(object, path)) wanted.push_back(runner);
    }
  } else if (kind == "StormService") {
    const Json* roles = FindPath(object, {"spec", "template", "spec", "roles"});
    if (!json::IsArray(roles)) return wanted;
    for (const Json& role : *roles) {
      if (json::FindString(role, "name") == component) {
        add_all(FindPath(role, {"template", "spec", "containers"}));
      }
    }
  }
  return wanted;
}

// Of a job that was submitted again since.
bool IsOfDeletedOwner(const Json& pod, const Json& object) {
  const Json* owners = FindPath(pod, {"metadata", "ownerReferences"});
  return json::IsArray(owners) &&
         std::any_of(owners->begin(), owners->end(), [&object](const Json& owner) {
           return json::FindString(owner, "kind") == KindOf(object) &&
                  json::FindString(owner, "name") == NameOf(object) &&
                  json::FindString(owner, "uid") != UidOf(object);
         });
}

}  // namespace

bool IsOutdated(const Json& pod, const std::string& component, const std::vector<Json>& objects) {
  const Json* containers = FindPath(pod, {"spec", "containers"});
  for (const Json& object : objects) {
    if (IsOfDeletedOwner(pod, object)) return true;
    for (const Json* wanted : WantedContainers(object, component)) {
      if (!json::IsArray(containers)) continue;
      for (const Json& container : *containers) {
        const bool same = json::FindString(container, "name") == json::FindString(*wanted, "name");
        if (same && !IsMadeOf(*wanted, container)) return true;
      }
    }
  }
  return false;
}

}  // namespace mindgate::deploy
