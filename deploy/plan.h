#pragma once

#include <nlohmann/json.hpp>
#include <stop_token>
#include <string>
#include <vector>

#include "base/problem.h"
#include "deploy/cluster.h"
#include "deploy/render.h"

namespace mindgate::deploy {

enum class Action { kCreate, kUpdate, kNone };

// One object, and what deploying does to it.
struct PlannedObject {
  RenderedObject rendered;
  Json live;     // null: it does not exist
  Json desired;  // what is applied
  Json after;    // what the API server would store; null when it was not asked or refused
  Action action = Action::kNone;
  bool replace = false;  // deleted and made again: its controller reads it only once

  std::string Title() const { return rendered.Title(); }
};

struct PlanOptions {
  bool force = false;    // take over objects and fields of others
  bool replace = false;  // delete and make again what cannot be changed
  bool prune = true;     // surplus objects are going to be deleted
  // Whether the API server tries the changes. Without, only what stands in the way already is
  // found: for applications that cannot be deployed anyway.
  bool try_out = true;
};

struct Plan {
  std::vector<PlannedObject> objects;  // in the order in which they are applied
  std::vector<Json> surplus;           // ours, and no longer part of the application
  std::vector<Problem> blockers;       // why it cannot be carried out as things are

  bool changes() const;  // whether anything would be written, but for surplus objects
};

// Compares the application with the cluster, and lets the API server try every change and every
// deletion (server-side dry run). Writes nothing.
kube::Answer<Plan> MakePlan(kube::Client& client, const Application& application,
                            std::vector<RenderedObject> objects, const PlanOptions& options,
                            const std::stop_token& stop);

// What an object says, without what the API server writes and controllers report.
Json Comparable(Json object);

// The rendered object with what only the cluster knows: the owner, and data that others write.
Json DesiredOf(const RenderedObject& rendered, const Json& live, const Json& root);

}  // namespace mindgate::deploy
