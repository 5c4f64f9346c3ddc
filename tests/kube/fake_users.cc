#include "kube/fake_users.h"

#include <algorithm>

namespace mindgate::kube::testing {
namespace {

const std::string kTester = "tester";  // may do everything but what is forbidden
const std::string kPowerless = "powerless";
const std::string kAnonymous = "system:anonymous";

}  // namespace

void FakeUsers::Accept(std::set<std::string> tokens, std::set<std::string> powerless) {
  authenticates_ = true;
  tokens_ = std::move(tokens);
  powerless_ = std::move(powerless);
}

void FakeUsers::Forbid(const std::string& verb, const std::string& resource) {
  forbidden_.emplace(verb, resource);
}

// Nothing: nobody whom this server knows.
std::optional<std::string> FakeUsers::UserOf(const HttpRequest& request) const {
  if (!authenticates_) return kTester;
  if (request.bad_client_certificate) return std::nullopt;
  const auto shown = request.headers.find("authorization");
  const std::string bearer = shown == request.headers.end() ? "" : shown->second;
  const std::string token = bearer.starts_with("Bearer ") ? bearer.substr(7) : "";
  if (token.empty()) return request.client_certificate.empty() ? kAnonymous : kTester;
  if (tokens_.contains(token)) return kTester;
  if (powerless_.contains(token)) return kPowerless;
  return std::nullopt;
}

std::optional<Refusal> FakeUsers::Refused(const HttpRequest& request, const Target* target,
                                          const std::string& verb) const {
  const auto user = UserOf(request);
  if (!user) return StatusOf(401, "Unauthorized", "Unauthorized");
  const std::string who = "User \"" + *user + "\" cannot " + verb;
  if (target == nullptr) {
    if (*user != kAnonymous) return std::nullopt;
    return StatusOf(403, "Forbidden", "forbidden: " + who + " path \"" + request.path + "\"",
                    Json::object());
  }
  const std::string resource =
      target->resource().plural + (target->subresource.empty() ? "" : "/" + target->subresource);
  const bool forbidden = std::any_of(forbidden_.begin(), forbidden_.end(), [&](const auto& rule) {
    return (rule.first == "*" || rule.first == verb) &&
           (rule.second == "*" || rule.second == resource);
  });
  if (!forbidden && *user == kTester) return std::nullopt;
  const std::string where =
      target->ns.empty() ? " at the cluster scope" : " in the namespace \"" + target->ns + "\"";
  return Forbidden(target->resource(), target->name,
                   who + " resource \"" + resource + "\" in API group \"" +
                       target->resource().group + "\"" + where);
}

}  // namespace mindgate::kube::testing
