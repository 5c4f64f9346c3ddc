#pragma once

#include <map>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "json/arena.h"
#include "json/value.h"
#include "kube/client.h"
#include "kube/resource.h"
#include "schemas/kinds.h"
#include "schemas/site_kinds.h"

namespace mindgate::audit {

// Which collections of a cluster an audit reads.

kube::Resource ResourceOf(const schemas::KindInfo& info);

// Collections that are read before anything is evaluated, since rules read their objects beside the
// one that they evaluate: runtimes, jobs that name each other, scaling rules, autoscalers.
struct ReferenceCollection {
  kube::Resource resource;
  // Of the kinds that mindgate handles: evaluated as well, from what was read.
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
// evaluated instead.
bool IsMade(const schemas::KindInfo& info, const json::Value& object,
            const schemas::SiteKinds& kinds);

// Whether nothing of the object runs any more, and nothing will: a Pod that ended, a job that is
// complete or has failed.
bool HasEnded(schemas::Kind kind, const json::Value& object);

// Where the objects of a cluster come from. One thread at a time.
class ObjectSource {
 public:
  virtual ~ObjectSource() = default;

  // Gives each object of a collection, with its apiVersion and kind. kNotFound: the cluster has no
  // such kind; kForbidden: the user may not list it.
  virtual kube::Answer<void> ForEach(const kube::Resource& resource,
                                     const kube::Listing& listing) = 0;
};

// Those that the API server has, in one namespace or in all of them.
class LiveObjects final : public ObjectSource {
 public:
  // `client` must outlive it. `ns`: empty for all namespaces. Collections that have none are read
  // whole, but for that of namespaces.
  LiveObjects(kube::Client& client, std::string ns, std::stop_token stop = {})
      : client_(client), ns_(std::move(ns)), stop_(std::move(stop)) {}

  kube::Answer<void> ForEach(const kube::Resource& resource, const kube::Listing& listing) override;

 private:
  kube::Client& client_;
  const std::string ns_;
  const std::stop_token stop_;
  json::Arena rows_{4 * 1024};  // of the object at hand
};

// Those of a snapshot. It has every kind.
class SnapshotObjects final : public ObjectSource {
 public:
  // The objects must outlive it; `ns` as above.
  SnapshotObjects(std::span<const json::Value* const> objects, const std::string& ns);

  kube::Answer<void> ForEach(const kube::Resource& resource, const kube::Listing& listing) override;
  bool HasAny(const schemas::KindInfo& info) const;

 private:
  std::map<std::pair<std::string, std::string>, std::vector<const json::Value*>>
      objects_;  // by group and kind
};

}  // namespace mindgate::audit
