#include "schemas/kinds.h"

#include <array>

namespace mindgate::schemas {
namespace {

constexpr std::array<std::string_view, kFrameworkCount> kFrameworkNames = {
    "mindie",  "ascendjob",  "ome",         "aibrix", "leaderworkerset",
    "volcano", "deployment", "statefulset", "job",    "infer-operator",
    "pod"};

}  // namespace

std::string_view FrameworkName(Framework framework) {
  return kFrameworkNames[static_cast<size_t>(framework)];
}

std::string_view KindName(Kind kind) { return InfoOf(kind).name; }

std::string_view GroupOf(std::string_view api_version) {
  const size_t slash = api_version.find('/');
  return slash == std::string_view::npos ? std::string_view() : api_version.substr(0, slash);
}

std::optional<Kind> KindOf(std::string_view group, std::string_view kind) {
  for (const KindInfo& info : kKinds) {
    if (info.name == kind && info.group == group) return info.kind;
  }
  return std::nullopt;
}

std::optional<Kind> KindOf(const json::Value& object) {
  const auto api_version = json::FindString(object, "apiVersion");
  const auto kind = json::FindString(object, "kind");
  if (!api_version || !kind) return std::nullopt;
  return KindOf(GroupOf(*api_version), *kind);
}

}  // namespace mindgate::schemas
