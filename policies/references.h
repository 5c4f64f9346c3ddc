#pragma once

#include <string>
#include <string_view>

#include "json/value.h"
#include "policies/rule.h"

namespace mindgate::policies {

// What is known about another object that a rule names.
struct Reference {
  const json::Value* object = nullptr;
  bool known = false;  // false: neither found nor certainly absent
  bool IsAbsent() const { return known && object == nullptr; }
};

// Looks the object up. When nothing is known about it, the rule is noted as skipped, with the
// reason.
Reference LookUp(const RuleContext& context, Findings& findings, std::string_view group,
                 std::string_view kind, std::string_view ns, std::string_view name);

}  // namespace mindgate::policies
