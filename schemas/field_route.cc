#include "schemas/field_route.h"

#include <algorithm>
#include <utility>

#include "base/text.h"

namespace mindgate::schemas {
namespace {

bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

// Names of fields in Kubernetes' API conventions, and the longest of them is far shorter.
bool IsFieldName(std::string_view text) {
  constexpr size_t kMaxName = 63;
  return !text.empty() && text.size() <= kMaxName && IsLetter(text.front()) &&
         std::ranges::all_of(
             text, [](char c) { return IsLetter(c) || IsDigit(c) || c == '_' || c == '-'; });
}

}  // namespace

tl::expected<FieldRoute, std::string> FieldRoute::Read(std::string_view text, bool may_branch) {
  FieldRoute route;
  size_t branches = 0;
  for (std::string_view part : Split(text, '.')) {
    Step step;
    if (part.ends_with("[]") || part.ends_with("{}")) {
      step.each = part.ends_with("[]") ? Each::kItems : Each::kValues;
      part.remove_suffix(2);
      ++branches;
    }
    if (!IsFieldName(part)) {
      return tl::unexpected(Quote(part) + " in " + Quote(text) + " is not the name of a field");
    }
    step.member = part;
    route.steps_.push_back(std::move(step));
  }
  if (route.steps_.size() > kMaxSteps) {
    return tl::unexpected("the path has more than " + std::to_string(kMaxSteps) + " members");
  }
  if (!may_branch && branches > 0) {
    return tl::unexpected<std::string>("[] and {} are only for the path of a template");
  }
  if (branches > kMaxEach)
    return tl::unexpected<std::string>("the path has more than one [] or {}");
  return route;
}

std::string FieldRoute::Text() const {
  std::string text;
  for (const Step& step : steps_) {
    if (!text.empty()) text += '.';
    text += step.member;
    if (step.each == Each::kItems) text += "[]";
    if (step.each == Each::kValues) text += "{}";
  }
  return text;
}

}  // namespace mindgate::schemas
