#include <nlohmann/json.hpp>
#include <string>

#include "cli/manifests/explain.h"
#include "schemas/kinds.h"
#include "schemas/names.h"

namespace mindgate::cli {

using json::Json;

namespace {

// The one mutator that adds to lists of what people write.
constexpr std::string_view kListMutator = "visible-devices";

}  // namespace

Json ArgocdSettings(const schemas::Config& config) {
  Json ignored = Json::array();
  const std::string path = ".spec | .. | .env? | arrays | .[] | select(.name? == \"" +
                           std::string(schemas::kVisibleDevices) + "\")";
  for (const schemas::KindInfo& info : schemas::kKinds) {
    if (info.built_in || !schemas::kPodMakers.Has(info.kind)) continue;
    if (config.disabled_mutators.contains(kListMutator)) continue;
    ignored.push_back({{"group", std::string(info.group)},
                       {"kind", std::string(info.name)},
                       {"jqPathExpressions", Json::array({path})}});
  }
  return {{"ignoreDifferences", std::move(ignored)}};
}

}  // namespace mindgate::cli
