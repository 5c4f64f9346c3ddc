#include "export/cel_text.h"
#include "export/exported_rule.h"
#include "schemas/names.h"

// Volcano Jobs, Jobs of Kubernetes and LeaderWorkerSets.
namespace mindgate::exported {

Rows VolcanoRows(const schemas::Config& config) {
  using schemas::Component;
  const std::string total = "variables.parts.map(r, int(r.?replicas.orValue(0))).sum()";
  const std::string known = "variables.parts.all(r, type(r.?replicas.orValue(0)) == int)";
  const std::string least = "variables.holder.?minAvailable.orValue('')";
  constexpr std::string_view kQueue = "scheduling.volcano.sh/queue-name";
  const std::string queue = "t.annotations[0][?" + Quoted(kQueue) + "].orValue('')";
  return {
      {.id = "MG130",
       .found = "!(variables.isNpuWorkload) ? [] : variables.parts.filter(r, "
                "type(r.?minAvailable.orValue('')) == int && type(r.?replicas.orValue(0)) == int "
                "&& r.minAvailable > r.?replicas.orValue(0)).map(r, string(r.?name.orValue(''))) + "
                "(type(" +
                least + ") == int && " + known + " && " + least + " > " + total +
                " ? ['job'] : [])"},
      {.id = "MG132",
       .shape = Shape::kBroken,
       .found = "variables.isNpuWorkload && size(variables.holder) > 0 && (" + least +
                " == '' || " + least + " == 0)"},
      {.id = "MG133",
       .found = "!(variables.isNpuWorkload) ? [] : variables.parts.filter(r, "
                "r.?name.orValue('') == '' || size(variables.parts.filter(s, "
                "s.?name.orValue('') == r.?name.orValue(''))) > 1).map(r, "
                "string(r.?name.orValue('')))"},
      {.id = "MG135", .shape = Shape::kBroken, .found = "size(variables.npuTemplates) > 0"},
      {.id = "MG131",
       .shape = Shape::kBroken,
       .found = config.versions.IsFrom(Component::kVolcano, {1, 15})
                    ? "false"
                    : "variables.isNpuWorkload && size(variables.holder) > 0 && "
                      "variables.holder.?queue.orValue('') == ''"},
      {.id = "MG194",
       .shape = Shape::kBroken,
       .found = config.versions.IsBefore(Component::kLeaderWorkerSet, {0, 7})
                    ? "false"
                    : "variables.npuTemplates.exists(t, " + queue + " != '' && " + queue +
                          " != variables.annotations[?" + Quoted(kQueue) + "].orValue(''))"},
  };
}

}  // namespace mindgate::exported
