#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "kube/resource.h"

namespace mindgate::kube::testing {

using Json = nlohmann::json;

// What an API server says no with: a Status, shaped as the real one's (k8s.io/apimachinery,
// pkg/api/errors/errors.go). Its `code` is that of the HTTP answer.
using Refusal = Json;

template <typename T>
using Outcome = tl::expected<T, Refusal>;

struct Cause {
  std::string reason;  // "FieldValueInvalid"
  std::string message;
  std::string field;
};

// An empty reason and a null `details` are left out.
Refusal StatusOf(int code, const std::string& reason, const std::string& message,
                 const Json& details = nullptr);
Json SuccessStatus(const Json& details);

// "deployments.apps", as messages name a resource.
std::string FullName(const Resource& resource);
Json DetailsOf(const Resource& resource, const std::string& name);

Refusal NotFound(const Resource& resource, const std::string& name);
Refusal AlreadyExists(const Resource& resource, const std::string& name);
Refusal Conflict(const Resource& resource, const std::string& name, const std::string& why);
Refusal BadRequest(const std::string& message);
Refusal Forbidden(const Resource& resource, const std::string& name, const std::string& message);
// `kind`: "Deployment.apps" in messages.
Refusal Invalid(const std::string& group, const std::string& kind, const std::string& name,
                const std::vector<Cause>& causes);
Refusal Expired(const std::string& message);
Refusal TooLargeResourceVersion(int64_t asked, int64_t current);
Refusal UnsupportedMediaType();
Refusal UnsupportedPatchType();
Refusal MethodNotAllowed();
Refusal UnknownResource();  // of a group and version that are served

inline tl::unexpected<Refusal> Refuse(Refusal refusal) {
  return tl::unexpected<Refusal>(std::move(refusal));
}

}  // namespace mindgate::kube::testing
