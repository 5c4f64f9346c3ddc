#pragma once

#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>

#include "kube/fake_fields.h"
#include "kube/fake_resources.h"
#include "kube/fake_status.h"
#include "kube/fake_store.h"

namespace mindgate::kube::testing {

// One request for an object, as its path and query say.
struct Target {
  const FakeResource* how = nullptr;
  std::string ns;
  std::string name;
  std::string subresource;
  std::map<std::string, std::string> query;
  std::string user_agent;

  const Resource& resource() const { return how->resource; }
  std::string Parameter(const std::string& key) const;
};

struct Reply {
  int status = 200;
  Json body;
};

// What reads and writes of single objects do: the rules of k8s.io/apiserver's registry
// (generic/registry/store.go) and of the strategies of the resources above it. One thread at a
// time.
class FakeWrites {
 public:
  // `now`: a timestamp as metadata has them, so many seconds ahead.
  FakeWrites(FakeResources& resources, FakeStore& store,
             std::function<std::string(int64_t ahead)> now)
      : resources_(resources), store_(store), now_(std::move(now)) {}

  Outcome<Reply> Get(const Target& target) const;
  Outcome<Reply> Create(const Target& target, Json object);
  Outcome<Reply> Update(const Target& target, const Json& object);
  Outcome<Reply> Patch(const Target& target, const std::string& content_type,
                       const std::string& body);
  Outcome<Reply> Delete(const Target& target, const Json& options);
  Outcome<Reply> Evict(const Target& target, const Json& eviction);

 private:
  // Whether managedFields are right already, or follow from what changed.
  enum class Owned { kAlready, kByChange };

  Outcome<FakeStore::ObjectPtr> Find(const Target& target) const;
  Outcome<void> CheckOptions(const Target& target) const;
  Outcome<void> CheckIdentity(const Target& target, const Json& object) const;
  Outcome<void> CheckContent(const Target& target, const Json& object) const;

  Outcome<Reply> Insert(const Target& target, Json object, Owned owned);
  Outcome<Reply> Replace(const Target& target, const Json& live, Json next, Owned owned);
  Outcome<Reply> Apply(const Target& target, Json patch);
  Outcome<Reply> MarkDeleted(const Target& target, Json object, int64_t grace, bool dry_run);
  Outcome<void> AskBudgets(const Target& target, const Json& pod);

  FieldManager Manager(const Target& target) const;

  FakeResources& resources_;
  FakeStore& store_;
  const std::function<std::string(int64_t)> now_;
  int64_t made_ = 0;  // objects, for their uids and generated names
};

}  // namespace mindgate::kube::testing
