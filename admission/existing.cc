#include "admission/existing.h"

#include <algorithm>

#include "json/issues.h"
#include "json/pointer.h"

namespace mindgate::admission {
namespace {

using json::Value;
using policies::Finding;

// The texts of a ConfigMap are documents: their value is all that is in them.
bool IsInText(const Finding& finding) {
  return finding.within.line > 0 || finding.path.starts_with("/data/");
}

// The message without its line and column, which move with the lines above.
std::string_view Essence(const Finding& finding) {
  const std::string position = json::LineText(finding.within) + ": ";
  std::string_view message = finding.message;
  if (message.starts_with(position)) message.remove_prefix(position.size());
  return message;
}

bool IsStructured(const Value* value) {
  return value != nullptr && (value->is_object() || value->is_array());
}

// One finding, with what is compared of it.
struct Located {
  const Finding& finding;
  std::string place;
  const Value* value;  // null pointer: there is none

  Located(const Value& object, const Finding& found)
      : finding(found),
        place(StablePlace(object, found.path)),
        value(json::Resolve(object, found.path)) {}
};

bool IsSame(const Located& before, const Located& after) {
  if (before.finding.rule != after.finding.rule || before.finding.error != after.finding.error ||
      before.place != after.place) {
    return false;
  }
  if (IsInText(after.finding) || IsStructured(before.value) || IsStructured(after.value)) {
    return Essence(before.finding) == Essence(after.finding);
  }
  if (before.value == nullptr || after.value == nullptr) return before.value == after.value;
  return *before.value == *after.value;
}

// More places broke the rule than were named.
bool IsOfTheRest(const Finding& finding) { return finding.path.empty() && !finding.error; }

}  // namespace

std::string StablePlace(const Value& object, std::string_view path) {
  std::string place;
  const Value* holder = &object;
  for (size_t begin = 0; begin < path.size();) {
    const size_t end = json::TokenEnd(path, begin);
    const std::string_view token = path.substr(begin, end - begin);
    const Value* const value = holder == nullptr ? nullptr : json::Resolve(*holder, token);
    const bool item = holder != nullptr && holder->is_array();
    const auto name = item ? json::FindString(value, "name") : std::nullopt;
    place += name ? "/name=" + std::string(*name) : std::string(token);
    holder = value;
    begin = end;
  }
  return place;
}

void MarkExisting(const Judged& before, const Value& object, schemas::Mode denying,
                  std::vector<Finding>& findings) {
  std::vector<Located> known;
  known.reserve(before.findings.size());
  for (const Finding& finding : before.findings) known.emplace_back(before.object, finding);
  for (Finding& finding : findings) {
    if (finding.mode < denying) continue;
    const Located located(object, finding);
    // Of a rule that was broken in more places than are named, any may be one of the others.
    finding.existed = std::any_of(known.begin(), known.end(), [&](const Located& old) {
      return IsSame(old, located) || (old.finding.rule == finding.rule && IsOfTheRest(old.finding));
    });
    if (!finding.existed) continue;
    finding.message += kExisted;
    finding.mode = schemas::Mode::kWarn;
  }
}

}  // namespace mindgate::admission
