#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "json/value.h"
#include "policies/rule.h"
#include "schemas/accelerator.h"

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

// Names that people number or letter on purpose (rule-a and rule-b, p0 and p1) are not misspelled.
bool IsNumberedLike(std::string_view a, std::string_view b);

// An object that is known here and was probably meant by a reference that finds nothing.
struct Meant {
  std::string_view name;
  std::string_view ns;  // of the object; empty when it does not say
};

// The object of that kind with the same name in another namespace, else the one in the namespace
// whose name is nearest, unless they are distinguished by a number or letter; nothing when there is
// none.
std::optional<Meant> FindMeant(const RuleContext& context, std::string_view group,
                               std::string_view kind, std::string_view ns, std::string_view name);

// What the NPU plugin counts in each PodGroup of a view: many rules ask, and most objects have no
// NPUs, so it is worked out when the first one asks. Lives no longer than the context;
// one thread at a time.
class ChipTable {
 public:
  explicit ChipTable(const RuleContext& context) : context_(context) {}

  // Of one of the view's groups; null pointer when no pod of it asks for whole cards, or Volcano
  // does not place them.
  const schemas::GroupChips* Of(const schemas::PodGroupView& group) const;

 private:
  const RuleContext& context_;
  mutable std::vector<std::optional<schemas::GroupChips>> groups_;  // as in the view
};

}  // namespace mindgate::policies
