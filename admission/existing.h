#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "json/value.h"
#include "policies/engine.h"

// Whether what is wrong with an updated object was wrong before.
namespace mindgate::admission {

// Follows the message of a finding that the object had before.
inline constexpr std::string_view kExisted = " (it was so before this change)";

// A place that stays the same when the elements of a list move: elements that have a name are
// called by it.
std::string StablePlace(const json::Value& object, std::string_view path);

// What was found in an object.
struct Judged {
  const json::Value& object;
  std::span<const policies::Finding> findings;
};

// Marks those of `findings` (in `object`) that the object before the update had too: of the same
// rule, at the same place and with the same value; for a place that holds more than one value (a
// container, a whole text), with the same message. They warn instead of denying. Findings of a
// milder mode than `denying` stay as they are.
void MarkExisting(const Judged& before, const json::Value& object, schemas::Mode denying,
                  std::vector<policies::Finding>& findings);

}  // namespace mindgate::admission
