#pragma once

#include <optional>
#include <set>
#include <string>
#include <utility>

#include "kube/fake_status.h"
#include "kube/fake_writes.h"
#include "kube/http_server.h"

namespace mindgate::kube::testing {

// Who is known to a server, and what they may do. One thread at a time.
class FakeUsers {
 public:
  // From now on who is not known is refused; before, everybody is.
  void Accept(std::set<std::string> tokens, std::set<std::string> powerless);
  void Forbid(const std::string& verb, const std::string& resource);
  void AllowAll() { forbidden_.clear(); }

  // Why a request is not let in, if it is not. Null `target`: it is about no resource.
  std::optional<Refusal> Refused(const HttpRequest& request, const Target* target,
                                 const std::string& verb) const;

 private:
  std::optional<std::string> UserOf(const HttpRequest& request) const;

  bool authenticates_ = false;
  std::set<std::string> tokens_;
  std::set<std::string> powerless_;
  std::set<std::pair<std::string, std::string>> forbidden_;  // verb and resource, or "*"
};

}  // namespace mindgate::kube::testing
