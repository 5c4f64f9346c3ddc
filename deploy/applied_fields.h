#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "json/json.h"

namespace mindgate::deploy {

// What a manager has applied to an object, as it would be applied again: identity and the fields
// that metadata.managedFields gives it (FieldsV1, k8s.io/apimachinery: pkg/apis/meta/v1). Null when
// the manager has applied nothing.
json::Json AppliedBy(const json::Json& object, std::string_view manager);

// Whether what we applied to the object is still what `stored` has, which the API server answered
// when we did. `seeded`: others write its data.
bool IsAsStored(const json::Json& live, const json::Json& stored, bool seeded);
// Who wrote since: "kubectl-edit", "another mindgate deploy".
std::string WhoChanged(const json::Json& live, const json::Json& stored);

}  // namespace mindgate::deploy
