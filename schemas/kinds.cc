#include "schemas/kinds.h"

namespace mindgate::schemas {

std::string ApiVersionOf(const KindInfo& info) {
  return (info.group.empty() ? "" : std::string(info.group) + "/") + std::string(info.version);
}

std::string_view KindName(Kind kind) { return InfoOf(kind).name; }

std::string_view GroupOf(std::string_view api_version) {
  const size_t slash = api_version.find('/');
  return slash == std::string_view::npos ? std::string_view() : api_version.substr(0, slash);
}

const KindInfo* FindKind(std::string_view group, std::string_view kind) {
  const auto* const found = std::ranges::find_if(
      kKinds, [&](const KindInfo& info) { return info.name == kind && info.group == group; });
  return found == std::end(kKinds) ? nullptr : found;
}

std::optional<Kind> KindOf(std::string_view group, std::string_view kind) {
  const KindInfo* const found = FindKind(group, kind);
  return found == nullptr ? std::nullopt : std::optional(found->kind);
}

std::optional<Kind> KindOf(const json::Value& object) {
  const auto api_version = json::FindString(object, "apiVersion");
  const auto kind = json::FindString(object, "kind");
  if (!api_version || !kind) return std::nullopt;
  return KindOf(GroupOf(*api_version), *kind);
}

}  // namespace mindgate::schemas
