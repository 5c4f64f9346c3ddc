#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "cel/context.h"
#include "cel/value.h"
#include "json/arena.h"
#include "policies/rule.h"

namespace mindgate::policies::site {

// The variable `workload`: the view of the object and what its controllers will make of it
// (docs/policies.md has its members). A number that the object does not show is left out. Rows and
// texts are in `arena`, or are borrowed from the view.
cel::Value WorkloadValue(const RuleContext& context, json::Arena& arena);

}  // namespace mindgate::policies::site

namespace mindgate::policies {

// What policies of a site's own read of one request, each made when the first of them asks for it.
// Lives as long as its evaluation; one thread at a time.
class SiteFacts {
 public:
  // Variables that all policies have, in the order of the environment.
  enum Variable : size_t {
    kObject,
    kOldObject,
    kRequest,
    kUserInfo,  // of the request, by itself: who asks is not known offline
    kNamespaceObject,
    kWorkload,
    kVariableCount
  };

  explicit SiteFacts(const RuleContext& context) : context_(context) {}

  cel::Value Get(Variable variable, cel::Context& evaluation);

  // What was asked for since the last Forget() and is not known here; empty when all was.
  std::string_view unknown() const { return unknown_; }
  void Forget() { unknown_ = {}; }
  // Asked for once more, in a value that was kept.
  void Recall(std::string_view unknown) {
    if (unknown_.empty()) unknown_ = unknown;
  }

  // For one policy; it begins with Clear().
  json::Arena& scratch() { return scratch_; }

 private:
  cel::Value RequestValue();
  std::optional<cel::Value> NamespaceValue();

  const RuleContext& context_;
  json::Arena arena_{16 * 1024};
  json::Arena scratch_{16 * 1024};
  std::optional<cel::Value> request_;
  std::optional<std::optional<cel::Value>> namespace_;
  std::optional<cel::Value> workload_;
  std::string_view unknown_;
};

}  // namespace mindgate::policies
