#pragma once

#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "kube/fake_status.h"

// Who owns which field: metadata.managedFields and server-side apply, by the rules of
// sigs.k8s.io/structured-merge-diff as far as a schema is not needed for them. Lists whose items
// have a known key (containers, env, volumes, conditions, ...) merge by it, all others are one
// value, as are those of custom resources.
namespace mindgate::kube::testing {

// Who writes.
struct FieldManager {
  std::string name;
  std::string api_version;
  std::string subresource;
};

// Sets managedFields of `next`: what differs from `before` (null: everything) is `manager`'s from
// now on, and nobody else's.
void OwnUpdate(const Json& before, Json& next, const FieldManager& manager, bool custom,
               const std::string& now);

// What `live` (null: nothing) becomes when `manager` applies `patch`: fields that it applied before
// and now leaves out are removed unless another one owns them. Without `force`, a 409 that names
// each field that another manager owns with another value.
Outcome<Json> ApplyFields(const Json& live, const Json& patch, const FieldManager& manager,
                          bool force, bool custom, const std::string& now);

}  // namespace mindgate::kube::testing
