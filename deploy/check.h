#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/time.h"
#include "deploy/config.h"
#include "deploy/render.h"
#include "json/issues.h"
#include "policies/engine.h"
#include "schemas/config.h"
#include "schemas/resource_list.h"

namespace mindgate::deploy {

// What a rule finds in an object of the application.
struct CheckFinding {
  size_t object = 0;  // index
  policies::Finding finding;
  json::Position at;  // in the configuration, where what is evaluated comes from

  bool Denies() const { return finding.error || finding.mode == schemas::Mode::kEnforce; }
};

// The objects as they are sent to a cluster.
struct CheckedApplication {
  std::vector<RenderedObject> objects;  // after mutation
  std::vector<CheckFinding> findings;   // those of mode audit as well
  json::Issues override_warnings;       // warnings: settings that replace those of mindgate

  bool denied() const;
};

// What is known of a cluster besides the application. All of it may be empty.
struct ClusterContext {
  std::vector<json::Json> objects;  // the runtime
  StringMap namespace_labels;
};

// Mutates and evaluates the objects, which know of each other, as objects that are being created:
// what is sent depends on the configuration alone, so that deploying twice changes nothing.
CheckedApplication Check(const Configuration& configuration, std::vector<RenderedObject> objects,
                         const schemas::Config& config, const ClusterContext& cluster_context,
                         Time now);

// "StormService chat: MG067 misspelled-key: spec...: message", with place and hint.
json::Issue IssueOf(const CheckFinding& finding, const CheckedApplication& application);

// As a KRM function: renders the application in the functionConfig into the items, and reports what
// rules find. The configuration is `spec` of an object of any kind; where it leaves
// out app_name and app_namespace, they are those of the object. An item of the same kind, namespace
// and name is replaced, but for the annotations of others; one of the application that is no longer
// made is removed.
schemas::FunctionAnswer RunFunction(schemas::ResourceList list, const schemas::Config& config,
                                    Time now);

}  // namespace mindgate::deploy
