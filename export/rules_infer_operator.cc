#include "export/cel_text.h"
#include "export/exported_rule.h"

// InferServiceSets, InferServices and InstanceSets of infer-operator.
namespace mindgate::exported {
namespace {

constexpr std::string_view kGang = "infer.huawei.com/gang-schedule";
constexpr std::string_view kName = "string(r.?name.orValue(''))";
constexpr std::string_view kType = "variables.holder.?schedulingStrategy.?type.orValue('')";
constexpr std::string_view kSetReplicas = "object.?spec.?replicas.orValue(1)";

std::string Roles(const std::string& broken) {
  return "variables.parts.filter(r, " + broken + ").map(r, " + std::string(kName) + ")";
}

std::string RolesWith(const std::string& broken, const std::string& place) {
  return "variables.parts.filter(r, " + broken + ").map(r, " + std::string(kName) + " + ' ' + " +
         place + ")";
}

// Labels that the operator reads: of the role, or of the InstanceSet that it became.
std::string LabelsOfRole() {
  return "(" + IsOf(schemas::kInstanceSets) +
         " ? variables.labels : r.?metadata.?labels.orValue({}))";
}

std::string IsGang() { return LabelsOfRole() + "[?" + Quoted(kGang) + "].orValue('') == 'true'"; }

// Ports of the role's NodePort services for which `broken` is true of `p`.
std::string NodePorts(const std::string& broken) {
  return "variables.parts.map(r, r.?services.orValue([]).filter(s, s.?spec.?type.orValue('') == "
         "'NodePort' && s.?spec.?ports.orValue([]).exists(p, " +
         broken + ")).map(s, " + std::string(kName) + " + ' ' + s.?name.orValue('')))";
}

// Roles from whose names the operator makes names that are too long: of a StatefulSet, of a
// Service of its own, and of each of `services`.
std::string LongNames(const std::string& service) {
  const std::string set_name = "variables.labels[?'infer.huawei.com/instanceset-name'].orValue('')";
  const std::string role =
      "(" + IsOf(schemas::kInstanceSets) + " ? " + set_name + " : r.?name.orValue(''))";
  const std::string base = "size(" + service + " + '-' + " + role + ") + (" +
                           IsOf(schemas::kInferServiceSets) + " ? 2 : 0)";
  const std::string kind = "r.?workload.?kind.orValue('')";
  const std::string services = "r.?services.orValue([])";
  return "variables.parts.filter(r, " + service + " != '' && " + role + " != '').map(r, (" + kind +
         " == 'StatefulSet' && " + base + " + 2 > 52 || " + kind + " == 'Deployment' && size(" +
         services + ") == 0 && " + base + " + 10 > 63 ? [" + std::string(kName) + "] : []) + " +
         services + ".filter(s, size(s.?name.orValue('')) + 1 + " + base + " > 63).map(s, " +
         std::string(kName) + " + ' ' + s.name))";
}

}  // namespace

Rows InferOperatorRows() {
  const std::string number = "p.?nodePort.orValue(0)";
  const std::string is_port =
      "type(" + number + ") == int && " + number + " >= 1 && " + number + " <= 65535";
  // As many services as the set makes, 64 at most.
  const std::string replicas = "(" + IsOf(schemas::kInferServiceSets) + " ? (" +
                               std::string(kSetReplicas) +
                               " < 1 ? 1 : " + std::string(kSetReplicas) +
                               " > 64 ? 64 : " + std::string(kSetReplicas) + ") : 1)";
  const std::string service =
      "(" + IsOf(schemas::kInstanceSets) +
      " ? variables.labels[?'infer.huawei.com/inferservice-name'].orValue('') : "
      "object.?metadata.?name.orValue(''))";
  const std::string workload = "r.?workload.?kind.orValue('')";
  const std::string max = "r.scalingPolicy.?spec.?maxReplicas.orValue('')";
  const std::string min = "r.scalingPolicy.?spec.?minReplicas.orValue('')";
  const std::string priority = "r.?priority.orValue(1)";
  const std::string rule = LabelOf("t", "mind-cluster/scaling-rule");
  const std::string selector = "r.spec.?selector.?matchLabels.orValue({})";
  const std::string carried = "r.spec.template.?metadata.?labels.orValue({})";
  const std::string gang_of_pod = LabelOf("t", kGang);
  return {
      {.id = "MG140",
       .shape = Shape::kBroken,
       .found = std::string(kSetReplicas) + " < 1 || " + std::string(kSetReplicas) + " > 64"},
      {.id = "MG141",
       .shape = Shape::kBroken,
       .found = "size(variables.holder.?roles.orValue([])) > 32"},
      {.id = "MG142",
       .found = Roles("!r.?name.orValue('').matches('^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$') || "
                      "size(variables.parts.filter(s, s.?name.orValue('') == "
                      "r.?name.orValue(''))) > 1")},
      {.id = "MG143",
       .shape = Shape::kBroken,
       .found = "!(" + std::string(kType) + " in ['', 'Sequential', 'Parallel', 'Priority'])"},
      {.id = "MG144",
       .found = std::string(kType) + " != 'Priority' ? [] : " +
                RolesWith("type(" + priority + ") == int && (" + priority + " < 1 || " + priority +
                              " > 32)",
                          "string(" + priority + ")")},
      {.id = "MG145",
       .found = RolesWith("!(r.?workload.?apiVersion.orValue('') == 'apps/v1' && " + workload +
                              " in ['Deployment', 'StatefulSet'])",
                          "string(" + workload + ")")},
      {.id = "MG146",
       .found = Roles("!r.?spec.?template.hasValue() || size(" + selector +
                      ") == 0 && size(r.spec.?selector.?matchExpressions.orValue([])) == 0 || " +
                      selector + ".exists(k, !k.startsWith('infer.huawei.com/') && !(k in " +
                      carried + " && " + carried + "[k] == " + selector + "[k]))")},
      {.id = "MG147",
       .found = Roles("!r.?replicas.hasValue() || type(r.replicas) == int && r.replicas < 0")},
      {.id = "MG148", .found = Roles("r.?replicas.orValue(0) > 256")},
      {.id = "MG149",
       .found = "['infer.huawei.com/inferservice-name', "
                "'infer.huawei.com/instanceset-name'].filter(k, !(k in variables.labels))"},
      {.id = "MG150",
       .shape = Shape::kNested,
       .found = NodePorts("!p.?nodePort.hasValue() || p.nodePort == 0")},
      {.id = "MG152",
       .shape = Shape::kNested,
       .found = NodePorts(is_port + " && (" + number + " < 30000 || " + number + " + " + replicas +
                          " - 1 > 32767)")},
      {.id = "MG153",
       .shape = Shape::kBroken,
       .found = service + " != '' && !" + service +
                ".matches('-[+-]?[0-9]{1,18}$') && "
                "variables.parts.exists(r, r.?services.orValue([]).exists(s, "
                "s.?spec.?type.orValue('') == 'NodePort' && s.?spec.?ports.orValue([]).exists(p, " +
                is_port + ")))"},
      {.id = "MG154",
       .found = Roles("(" + IsGang() + " || " + workload +
                      " == 'StatefulSet') && r.?spec.hasValue() && !r.spec.?replicas.hasValue()")},
      {.id = "MG155",
       .found = Roles(IsGang() + " && " + workload +
                      " == 'StatefulSet' && r.?spec.?replicas.orValue(1) > 1 && "
                      "r.spec.?podManagementPolicy.orValue('') != 'Parallel' && "
                      "variables.templates.exists(t, t.part == r && t.scheduler != '' && "
                      "t.volcano)")},
      {.id = "MG156",
       .found = Roles("r.?scalingPolicy.hasValue() && r.scalingPolicy.?type.orValue('') != 'HPA'")},
      {.id = "MG157",
       .found = "variables.npuTemplates.filter(t, " + LabelOf("t", "fault-scheduling") +
                " in ['force', 'grace']).map(t, t.name + ' ' + " +
                LabelOf("t", "fault-scheduling") + ")"},
      {.id = "MG158", .shape = Shape::kNested, .found = LongNames(service)},
      {.id = "MG159", .shape = Shape::kBroken, .found = std::string(kType) + " == 'Sequential'"},
      {.id = "MG168",
       .shape = Shape::kBroken,
       .found = std::string(kType) + " == 'Priority' && variables.templates.exists(t, type(" +
                rule + ") == string)"},
      {.id = "MG178",
       .found =
           Roles("r.?scalingPolicy.?type.orValue('') == 'HPA' && (type(" + max + ") != int || " +
                 max + " < 1 || type(" + min + ") == int && " + min + " > " + max + ")")},
      {.id = "MG192",
       .shape = Shape::kNested,
       .found = "[" +
                Roles(Quoted(kGang) + " in " + LabelsOfRole() + " && !(" + LabelsOfRole() + "[" +
                      Quoted(kGang) + "] in ['true', 'false'])") +
                ", variables.templates.filter(t, [t.part].all(r, !(" + Quoted(kGang) + " in " +
                LabelsOfRole() + ")) && type(" + gang_of_pod + ") == string && " + gang_of_pod +
                " != 'false').map(t, 'pods of ' + t.name)]"},
  };
}

}  // namespace mindgate::exported
