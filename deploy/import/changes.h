#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "json/value.h"

// What two states of an object differ in, as Kubernetes understands them.
namespace mindgate::deploy {

// One field, or a list whose items have no names. Null: the object does not have it.
struct FieldChange {
  std::string path;  // "spec.engine.runner.env[TP_SIZE].value"
  json::Json before;
  json::Json after;

  bool operator==(const FieldChange&) const = default;
};

// From `before` to `after`, two states of one object, in the order of the paths. Lists whose items
// have a key (MergeKeyOf) are compared item by item, whatever their order; of a variable that
// refers to another one, which of them stands first is compared as well. Compared are labels,
// annotations and all that is not metadata or status. These are equal:
// - an absent member, null, an empty list and an empty object;
// - an absent member and the value that an API server or a kubelet takes for it (k8s.io/kubernetes:
//   pkg/apis/core/v1/defaults.go, pkg/apis/apps/v1/defaults.go);
// - an absent amount of a resource and none of it, and an amount as number and as text.
// Left out is what others keep on the object for themselves: addresses that an API server gave a
// Service, the annotations of kubectl apply, of Deployments and of OME's defaulter, owners and
// finalizers.
std::vector<FieldChange> ChangesBetween(const json::Json& before, const json::Json& after);

// The object without what ChangesBetween leaves out, and without nulls: labels and annotations are
// all of its metadata.
json::Json Essence(const json::Json& object);

// Whether a member means the same when it is absent. `holder`: the name of the member that holds
// it, or of the list whose item does ("containers"); `siblings`: the object that it stands in.
bool MeansAbsent(std::string_view holder, std::string_view key, const json::Json& value,
                 const json::Json& siblings);

// Whether two values of a member mean the same, or the two values of an item of a list. `holder`:
// its name, or that of the list.
bool MeansTheSame(std::string_view holder, const json::Json& before, const json::Json& after);

// A path and one step more: ".key", "[a/b]" for keys that are no plain names.
std::string Below(const std::string& path, std::string_view key);
std::string BelowItem(const std::string& path, const json::Json& key);

}  // namespace mindgate::deploy
