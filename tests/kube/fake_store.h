#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "kube/fake_resources.h"
#include "kube/fake_selectors.h"
#include "kube/fake_status.h"

namespace mindgate::kube::testing {

// A list or a watch, as its query says.
struct Scope {
  Resource resource;
  std::string ns;  // empty: all
  Selectors selectors;
};

// One open watch: lines that wait to be written. Guarded by the store's owner.
struct Subscription {
  Scope scope;
  int64_t after = 0;  // reports later versions only
  bool bookmarks = false;
  bool metadata_only = false;
  std::deque<std::string> lines;
  enum class End { kNo, kOrderly, kAbrupt } end = End::kNo;  // once `lines` are written
  int event_fd = -1;  // an eventfd(2), written to when one of the above changed
};

// Objects, each under a version of one counter; what they were before; and who watches. It knows
// nothing of what an object means. One thread at a time.
class FakeStore {
 public:
  using ObjectPtr = std::shared_ptr<const Json>;

  // Null: not there.
  ObjectPtr Get(const Resource& resource, const std::string& ns, const std::string& name) const;
  // Under a new resourceVersion, which is set in the object; watchers hear of it.
  ObjectPtr Put(const Resource& resource, const std::string& ns, const std::string& name,
                Json object);
  // Likewise; the last state, under the version of the removal.
  ObjectPtr Remove(const Resource& resource, const std::string& ns, const std::string& name);

  void RemoveNamespace(const std::string& ns);  // all objects in it

  // What is left of an object for who asks for PartialObjectMetadata; of a list likewise.
  static Json MetadataOf(const Json& object);
  static Json MetadataOfList(Json list);

  // The JSON of a list (kind and all). `query`: resourceVersion, resourceVersionMatch, limit,
  // continue.
  Outcome<Json> List(const Scope& scope, const FakeResource& how,
                     const std::map<std::string, std::string>& query) const;

  // What has happened since `resource_version` (empty or "0": what is there, as ADDED) is in its
  // lines at once, what happens from now on follows. A version that is no longer known gives one
  // ERROR line.
  Outcome<void> Subscribe(const std::shared_ptr<Subscription>& subscription,
                          const std::string& resource_version);
  void Unsubscribe(const std::shared_ptr<Subscription>& subscription);
  const std::vector<std::shared_ptr<Subscription>>& subscriptions() const { return subscriptions_; }

  // A BOOKMARK of now for each watch that wants them.
  void SendBookmarks();
  static std::string BookmarkLine(const Subscription& subscription, int64_t version);
  static void Wake(const Subscription& subscription);

  // History before now is gone: 410 to who asks for it, as after etcd's compaction.
  void Compact();

  int64_t version() const { return version_; }
  size_t size(const Resource& resource) const;

 private:
  // Group, plural, "namespace/name": objects of a list stand together, in the order of etcd's keys.
  // Versions of a group share their objects.
  using Key = std::tuple<std::string, std::string, std::string>;
  using Objects = std::map<Key, ObjectPtr>;
  struct Change {
    int64_t version;
    Key key;
    ObjectPtr before;  // null: it was created
    ObjectPtr after;   // null: it was removed
    ObjectPtr last;    // of a removal: `before` under the version of the removal
  };

  static Key KeyOf(const Resource& resource, const std::string& ns, const std::string& name);
  static bool Holds(const Scope& scope, const Key& key);
  void Record(Change change);
  static std::string LineFor(const Subscription& subscription, const Change& change);
  Outcome<Objects> StateAt(int64_t version, const Scope& scope) const;
  Outcome<Json> ListAt(int64_t version, const std::string& after, int64_t limit, const Scope& scope,
                       const FakeResource& how) const;

  Objects objects_;
  std::deque<Change> history_;
  int64_t version_ = 1000;  // as in a cluster that has been up for a while: 1 is long gone
  int64_t compacted_ = 1000;
  std::vector<std::shared_ptr<Subscription>> subscriptions_;
};

}  // namespace mindgate::kube::testing
