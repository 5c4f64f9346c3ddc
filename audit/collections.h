#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "json/value.h"
#include "kube/resource.h"
#include "schemas/kinds.h"
#include "schemas/site_kinds.h"

// Which collections of a cluster an audit reads.
namespace mindgate::audit {

kube::Resource ResourceOf(const schemas::KindInfo& info);

// Collections that are read before anything is judged, since rules read their objects beside the
// one that they judge: runtimes, jobs that name each other, scaling rules, autoscalers.
struct ReferenceCollection {
  kube::Resource resource;
  // Of the kinds that mindgate handles: judged as well, from what was read.
  std::optional<schemas::Kind> kind;
};
std::vector<ReferenceCollection> ReferenceCollections();

// Namespaces, the collections of all kinds that hold pods, and of all that ReferenceCollections
// has: what a snapshot with workloads keeps.
std::vector<kube::Resource> AllCollections(const schemas::SiteKinds& site = {});

// Whether a rule can read it beside another object: of ConfigMaps those with a scaling rule or a
// rank table, of all others every one.
bool IsReference(const json::Value& object);

// The rows of the kinds that a user names, as kubectl takes them, in any case: "deployments",
// "deployment", "Deployment", "deployments.apps", "lws". Several may have one name: "jobs". Empty:
// none has it. Rows of `site` live as long as a copy of it.
std::vector<const schemas::KindInfo*> KindsNamed(std::string_view name,
                                                 const schemas::SiteKinds& site = {});

// "ascendjobs", "deployments" and so on, each once: what KindsNamed takes.
std::vector<std::string> KindNames(const schemas::SiteKinds& site = {});

// Whether a controller that mindgate knows made the object, which is of that row: what made it is
// judged instead.
bool IsMade(const schemas::KindInfo& info, const json::Value& object,
            const schemas::SiteKinds& kinds);

// Whether nothing of the object runs any more, and nothing will: a Pod that ended, a job that is
// complete or has failed.
bool HasEnded(schemas::Kind kind, const json::Value& object);

}  // namespace mindgate::audit
