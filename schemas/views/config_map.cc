#include "schemas/names.h"
#include "schemas/views/adapters.h"

// ConfigMaps that hold a scaling rule or a rank table (name rings-config-*).
namespace mindgate::schemas::views {
namespace {

using json::Value;

bool IsOurConfigMap(const Value& object, std::string_view name) {
  return name.starts_with(kRankTablePrefix) ||
         json::Find(json::Find(object, "data"), kScalingRuleKey) != nullptr ||
         MisspelledRuleKey(object).has_value();
}

}  // namespace

void ReadConfigMap(Builder& builder) {
  WorkloadView& view = builder.view();
  const Value& object = builder.object();
  if (!IsOurConfigMap(object, view.name)) return builder.Decline();
  builder.StringMap(&object, "data", "/data");
  if (!builder.options().read_texts) return;
  if (const auto text = ScalingRuleText(object)) view.scaling_rule = ReadScalingRule(*text);
  view.rank_table = ReadRankTable(object);
}

}  // namespace mindgate::schemas::views
