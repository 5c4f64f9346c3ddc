#include "kube/fake_status.h"

#include <utility>

namespace mindgate::kube::testing {

Refusal StatusOf(int code, const std::string& reason, const std::string& message,
                 const Json& details) {
  Json status = {{"kind", "Status"},    {"apiVersion", "v1"}, {"metadata", Json::object()},
                 {"status", "Failure"}, {"message", message}, {"code", code}};
  if (!reason.empty()) status["reason"] = reason;
  if (details.is_object()) status["details"] = details;
  return status;
}

Json SuccessStatus(const Json& details) {
  Json status = {{"kind", "Status"},
                 {"apiVersion", "v1"},
                 {"metadata", Json::object()},
                 {"status", "Success"}};
  if (details.is_object()) status["details"] = details;
  return status;
}

std::string FullName(const Resource& resource) {
  return resource.group.empty() ? resource.plural : resource.plural + "." + resource.group;
}

Json DetailsOf(const Resource& resource, const std::string& name) {
  Json details = {{"kind", resource.plural}};
  if (!resource.group.empty()) details["group"] = resource.group;
  if (!name.empty()) details["name"] = name;
  return details;
}

Refusal NotFound(const Resource& resource, const std::string& name) {
  return StatusOf(404, "NotFound", FullName(resource) + " \"" + name + "\" not found",
                  DetailsOf(resource, name));
}

Refusal AlreadyExists(const Resource& resource, const std::string& name) {
  return StatusOf(409, "AlreadyExists", FullName(resource) + " \"" + name + "\" already exists",
                  DetailsOf(resource, name));
}

Refusal Conflict(const Resource& resource, const std::string& name, const std::string& why) {
  return StatusOf(
      409, "Conflict",
      "Operation cannot be fulfilled on " + FullName(resource) + " \"" + name + "\": " + why,
      DetailsOf(resource, name));
}

Refusal BadRequest(const std::string& message) { return StatusOf(400, "BadRequest", message); }

Refusal Forbidden(const Resource& resource, const std::string& name, const std::string& message) {
  const std::string object = name.empty() ? "" : " \"" + name + "\"";
  return StatusOf(403, "Forbidden", FullName(resource) + object + " is forbidden: " + message,
                  DetailsOf(resource, name));
}

Refusal Invalid(const std::string& group, const std::string& kind, const std::string& name,
                const std::vector<Cause>& causes) {
  Json details = Json::object();
  if (!kind.empty()) details["kind"] = kind;
  if (!name.empty()) details["name"] = name;
  if (!group.empty()) details["group"] = group;
  std::string faults;
  for (const Cause& cause : causes) {
    details["causes"].push_back(
        {{"reason", cause.reason}, {"message", cause.message}, {"field", cause.field}});
    faults += (faults.empty() ? "" : ", ") + cause.field + ": " + cause.message;
  }
  if (causes.size() > 1) faults = "[" + faults + "]";
  const std::string full_kind = group.empty() ? kind : kind + "." + group;
  return StatusOf(422, "Invalid", full_kind + " \"" + name + "\" is invalid: " + faults, details);
}

Refusal Expired(const std::string& message) { return StatusOf(410, "Expired", message); }

Refusal TooLargeResourceVersion(int64_t asked, int64_t current) {
  return StatusOf(504, "Timeout",
                  "Timeout: Too large resource version: " + std::to_string(asked) +
                      ", current: " + std::to_string(current),
                  {{"causes", Json::array({{{"reason", "ResourceVersionTooLarge"},
                                            {"message", "Too large resource version"}}})},
                   {"retryAfterSeconds", 1}});
}

Refusal UnsupportedMediaType() {
  return StatusOf(415, "UnsupportedMediaType",
                  "the body of the request was in an unknown format - accepted media types "
                  "include: application/json, application/yaml, "
                  "application/vnd.kubernetes.protobuf");
}

Refusal UnsupportedPatchType() {
  return StatusOf(415, "UnsupportedMediaType", "415: Unsupported Media Type", Json::object());
}

Refusal MethodNotAllowed() {
  return StatusOf(405, "MethodNotAllowed",
                  "the server does not allow this method on the requested resource",
                  Json::object());
}

Refusal UnknownResource() {
  return StatusOf(404, "NotFound", "the server could not find the requested resource",
                  Json::object());
}

}  // namespace mindgate::kube::testing
