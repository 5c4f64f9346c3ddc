#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "deploy/application.h"
#include "json/json.h"

namespace mindgate::deploy {

// What stands below `rendered` in an object was written below `written` in the configuration; both
// are pointers (RFC 6901).
struct Origin {
  std::string rendered;
  std::string written;
};

// A value of the user that replaces one that mindgate writes by default.
struct Override {
  std::string written;  // pointer into the configuration
  std::string key;
  std::string instead_of;
};

// What of the configuration cannot be rendered.
struct RenderFault {
  std::string written;
  std::string message;
  std::string hint;
};

// In which order objects are applied. Those of a phase that are waited for are ready before the
// next one begins.
enum class Phase { kFirst, kManagers, kServers };

struct RenderedObject {
  json::Json object;
  Phase phase = Phase::kServers;
  // Engine and decoder look for the store once, when they start.
  bool wait_ready = false;
  // Others go on to write `data`: it is ours only while the object is made.
  bool seeded = false;
  // The custom resource that stands for the application, and what goes with it.
  bool is_root = false;
  bool of_root = false;
  std::vector<Origin> origins;
  std::vector<Override> overrides;
  std::vector<RenderFault> faults;  // none of a configuration that ReadConfiguration accepted

  // Of what stands at a path, the nearest one above it; null: there is none.
  const Origin* NearestOrigin(std::string_view path) const;
  std::string Kind() const { return object.at("kind"); }
  std::string Name() const { return object.at("metadata").at("name"); }
  std::string Namespace() const { return object.at("metadata").value("namespace", ""); }
  std::string Title() const { return Kind() + " " + Name(); }
};

// The objects of an application in the order in which they are applied. They are what
// mindcluster-deploy renders from the same configuration (k8s-deploy-tool/src/templates), with
// labels by which they are found again, but: defaults are written, never null; no gang size where
// several pods make an instance; the store is ready when its port answers; the router of AIBrix has
// a Service. What the mutators write is not part of it.
std::vector<RenderedObject> Render(const Application& application);

}  // namespace mindgate::deploy
