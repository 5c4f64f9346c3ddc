#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

#include "base/result.h"
#include "deploy/application.h"
#include "deploy/check.h"
#include "deploy/cluster.h"
#include "deploy/render.h"
#include "json/value.h"

namespace mindgate::deploy {

// What one role of an application needs of the nodes.
struct RoleNeeds {
  std::string role;  // "engine", "prefill"
  std::string npu_resource;
  int64_t pods = 0;
  int64_t npus_per_pod = 0;
  StringMap node_selector;
};

// Of the pods with NPUs that controllers make of the objects (schemas/children.h), as the objects
// stand; an object whose runtime fills in what is missing says nothing of it.
std::vector<RoleNeeds> NeedsOf(const std::vector<RenderedObject>& objects);

// What an application takes of a namespace, by the keys of a ResourceQuota ("requests.memory",
// "pods", "count/services"); processors in thousandths. At least: what controllers and runtimes add
// is not known.
struct Demand {
  std::map<std::string, int64_t> amounts;
  // Keys of which some pods say nothing, though nobody adds to them.
  std::set<std::string> unstated;
};
Demand DemandOf(const std::vector<json::Json>& objects);

struct QuotaFindings {
  std::vector<Problem> blockers;  // more than is allowed, however little is used
  std::vector<Problem> notes;     // more than is free
};
// `existing`: what the application has already, which counts as used.
QuotaFindings CompareWithQuotas(const std::vector<json::Json>& quotas, const std::string& ns,
                                const Demand& demand, const Demand& existing);

enum class Action { kCreate, kUpdate, kNone };

// One object, and what deploying does to it.
struct PlannedObject {
  RenderedObject rendered;
  Json live;     // null: it does not exist
  Json desired;  // what is applied
  Json after;    // what the API server would store; null when it was not asked or refused
  Action action = Action::kNone;
  bool replace = false;  // deleted and recreated: its controller reads it only once

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

// What the cluster says before anything is written to it.
struct Preflight {
  std::vector<Problem> blockers;   // all at once
  std::vector<Problem> notes;      // what may become one, and what could not be found out
  ClusterContext cluster_context;  // for Check
  bool outgrows_cluster = false;   // the nodes are too few even when they are empty
};

// Looks for what the application needs: the kinds of its objects, the namespace, the model, a
// runtime of the right shape, ConfigMaps, NPUs on nodes that may be chosen, and quota. What the
// user may not read is a note. Writes nothing.
kube::Answer<Preflight> RunPreflight(kube::Client& client, const Application& application,
                                     const std::vector<RenderedObject>& objects,
                                     const std::stop_token& stop);

}  // namespace mindgate::deploy
