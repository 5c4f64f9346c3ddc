#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "base/time.h"
#include "json/value.h"
#include "schemas/kinds.h"

namespace mindgate::schemas {

enum class Operation { kCreate, kUpdate, kDelete, kConnect };

std::string_view OperationName(Operation operation);  // "CREATE"
std::optional<Operation> OperationNamed(std::string_view name);

// Other objects that a decision may read: the documents of the same `apply`, or a cluster's
// projection. Implementations answer from memory and are safe from many threads; objects live as
// long as the lookup.
class ObjectLookup {
 public:
  virtual ~ObjectLookup() = default;

  // The object, or a null pointer when it is not known. `group` and `kind` as in KindInfo, or of
  // any other kind
  // ("", "ConfigMap"), ("scheduling.volcano.sh", "Queue"). `ns` is empty for cluster scope.
  virtual const json::Value* Find(std::string_view group, std::string_view kind,
                                  std::string_view ns, std::string_view name) const = 0;

  // True when every object of that kind is known, so that not found means absent.
  virtual bool IsComplete(std::string_view group, std::string_view kind) const = 0;

  // Calls `visit` for each known object of a kind and name, whatever its namespace: for hints. The
  // default knows none.
  virtual void ForEachNamed(std::string_view /*group*/, std::string_view /*kind*/,
                            std::string_view /*name*/,
                            const std::function<void(const json::Value&)>& /*visit*/) const {}

  // Calls `visit` for each known object of a kind in a namespace, in name order.
  virtual void ForEach(std::string_view group, std::string_view kind, std::string_view ns,
                       const std::function<void(const json::Value&)>& visit) const = 0;
};

// The runtime that an InferenceService in that namespace names; null where it names none, or the
// lookup does not know it. OME looks for a ServingRuntime of the namespace when there is no
// ClusterServingRuntime, which is what its API makes of a reference without a kind (ome:
// pkg/runtimeselector/fetcher.go).
const json::Value* FindRuntime(const json::Value& inference_service, const ObjectLookup& objects,
                               std::string_view ns);

using NamespaceLabels = std::map<std::string, std::string, std::less<>>;

// One admission request, offline or on the wire.
struct AdmissionRequest {
  Operation operation = Operation::kCreate;
  std::string subresource;
  const json::Value* object = nullptr;      // null pointer on DELETE
  const json::Value* old_object = nullptr;  // on UPDATE and DELETE, when known
  std::string ns;  // of the request: it wins over an empty one in the object
  NamespaceLabels namespace_labels;
  bool knows_namespace_labels = true;      // false: the namespace may have others
  const json::Value* user_info = nullptr;  // who asks, as a review has it; null pointer: unknown
  bool dry_run = false;                    // nothing will be stored
  const json::Value* options = nullptr;    // CreateOptions, UpdateOptions; null pointer: unknown
  // Whether an owner reference shows that a controller made the object. Offline nobody else is
  // known to write one. On the wire what controllers make is not sent, and others may write what
  // they like.
  bool trusts_owners = false;
  const ObjectLookup* objects = nullptr;  // null pointer: nothing else is known
  Time now{};                             // for the expiry of exceptions
  // Whether nobody waits for the decision any more; asked between rules and mutators. Empty: never.
  std::function<bool()> is_over{};
};

// Objects that somebody has at hand: the documents of one invocation, an application that is
// rendered. Never complete, since a cluster may have others. An object without a namespace is found
// in `default_namespace` and, since it may be cluster-scoped, without one. It keeps no copies: the
// objects must outlive it. Many threads may read it.
class KnownObjects {
 public:
  struct Known {
    const json::Value* object;
    // Distinguishes objects of one origin from others, and is never followed; null: no particular
    // one.
    const void* source = nullptr;
  };
  KnownObjects(const std::vector<Known>& objects, std::string default_namespace);

  // If several objects have the same name, the one from `near` wins, else the last: folders contain
  // copies.
  class Lookup final : public ObjectLookup {
   public:
    Lookup(const KnownObjects& all, const void* near) : all_(all), near_(near) {}
    const json::Value* Find(std::string_view group, std::string_view kind, std::string_view ns,
                            std::string_view name) const override;
    bool IsComplete(std::string_view, std::string_view) const override { return false; }
    void ForEach(std::string_view group, std::string_view kind, std::string_view ns,
                 const std::function<void(const json::Value&)>& visit) const override;
    void ForEachNamed(std::string_view group, std::string_view kind, std::string_view name,
                      const std::function<void(const json::Value&)>& visit) const override;

   private:
    const KnownObjects& all_;
    const void* near_;
  };

 private:
  struct Entry {
    std::string group;
    std::string kind;
    std::string ns;
    Known known;
  };
  bool Matches(const Entry& entry, std::string_view group, std::string_view kind,
               std::string_view ns) const;

  using Names = std::set<std::string, std::less<>>;

  std::multimap<std::string, Entry, std::less<>>
      entries_;  // by name; equal names in the order given
  std::map<std::tuple<std::string, std::string, std::string>, Names, std::less<>>
      names_;  // by group, kind and namespace
  std::string default_namespace_;
};

}  // namespace mindgate::schemas
