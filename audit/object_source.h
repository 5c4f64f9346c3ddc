#pragma once

#include <map>
#include <span>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "json/arena.h"
#include "json/value.h"
#include "kube/client.h"
#include "schemas/kinds.h"

namespace mindgate::audit {

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
