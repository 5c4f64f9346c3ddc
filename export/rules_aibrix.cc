#include "export/cel_text.h"
#include "export/exported_rule.h"

// StormServices, RoleSets and PodSets of AIBrix.
namespace mindgate::exported {
namespace {

// Whether the role `r` has NPUs.
constexpr std::string_view kRoleHasNpus = "variables.npuTemplates.exists(t, t.part == r)";

// The strategies over pods with NPUs for which it holds, `s`, by their roles.
std::string Strategies(const std::string& holds) {
  return OfNpus(
      "([{'name': dyn(''), 'strategy': "
      "dyn(variables.holder.?schedulingStrategy.orValue({}))}] + "
      "variables.parts.filter(r, " +
      std::string(kRoleHasNpus) +
      ").map(r, {'name': dyn('role ' + string(r.?name.orValue(''))), 'strategy': "
      "dyn(r.?schedulingStrategy.orValue({}))})).filter(e, type(e.strategy) == map && "
      "[e.strategy].exists(s, " +
      holds + ")).map(e, string(e.name))");
}

constexpr std::string_view kNamesNpus =
    "s.volcanoSchedulingStrategy.?minResources.orValue({}).exists(k, k.startsWith('huawei.com/'))";

}  // namespace

Rows AibrixRows() {
  const std::string set = IsOf(schemas::kStormServices);
  const std::string pod_set = IsOf({schemas::Kind::kPodSet});
  const std::string name = "string(r.?name.orValue(''))";
  const std::string size = "r.?podGroupSize.orValue('')";
  return {
      {.id = "MG120",
       .found = OfNpus("(" + set +
                       " && !object.?spec.?replicas.hasValue() ? [''] : []) + "
                       "variables.parts.filter(r, !r.?replicas.hasValue()).map(r, 'role ' + " +
                       name + ")")},
      {.id = "MG121",
       .found =
           Strategies("s.?volcanoSchedulingStrategy.hasValue() && !" + std::string(kNamesNpus))},
      {.id = "MG122",
       .found = Strategies("s.exists(n, n != 'volcanoSchedulingStrategy' || " +
                           std::string(kNamesNpus) + ")")},
      {.id = "MG123",
       .found = OfNpus("!variables.holder.?schedulingStrategy.hasValue() ? [] : "
                       "variables.parts.filter(r, r.?schedulingStrategy.hasValue()).map(r, " +
                       name + ")")},
      {.id = "MG124",
       .shape = Shape::kBroken,
       .found = "object.?spec.?replicas.orValue(1) > 1 && variables.isNpuWorkload"},
      {.id = "MG125",
       .found = OfNpus("(" + set +
                       " && !object.?spec.?stateful.orValue(false) ? [''] : []) + "
                       "variables.parts.filter(r, !r.?stateful.orValue(false) && " +
                       std::string(kRoleHasNpus) + ").map(r, 'role ' + " + name + ")")},
      {.id = "MG126",
       .found = "variables.templates.filter(t, t.group == 'roles' && !t.npus && t.scheduler != '' "
                "&& t.volcano && variables.npuTemplates.exists(u, u.group == 'roles'))"
                ".map(t, string(t.name))"},
      {.id = "MG127",
       .found = OfNpus("variables.parts.filter(r, type(" + size + ") == int && (" + size +
                       " > 100 || " + size + " < (" + pod_set + " ? 2 : 1))).map(r, " + name +
                       " + ' ' + string(r.podGroupSize))")},
  };
}

}  // namespace mindgate::exported
