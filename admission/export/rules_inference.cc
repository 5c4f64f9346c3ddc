#include "admission/export/cel_text.h"
#include "admission/export/exported_rules.h"
#include "schemas/names.h"

namespace mindgate::exported {

// ConfigMaps, Services and scaled pods of MindIE Motor.

namespace {

// A rank table of a MindIE service.
constexpr std::string_view kIsTable =
    "object.?metadata.?name.orValue('').startsWith('rings-config-') && ['jobID', "
    "'mx-consumer-cim', "
    "'grt-server/deploy-server', 'grt-group/deploy-server'].exists(k, k in variables.labels)";

std::string OfTable(std::string_view broken) {
  return std::string(kIsTable) + " && (" + std::string(broken) + ")";
}

}  // namespace

Rows MindieRows() {
  // The labels of an object count for the pods of its only template.
  const auto label = [](std::string_view key) {
    const std::string own = LabelOf("t", key);
    return "(type(" + own + ") == string || size(variables.templates) != 1 ? " + own +
           " : variables.labels[?" + Quoted(key) + "].orValue(null))";
  };
  const std::string rule = label("mind-cluster/scaling-rule");
  const auto lacks = [&](std::string_view key) {
    const std::string value = label(key);
    return "(type(" + value + ") == string ? " + value + " == '' : !(" + Quoted(key) +
           " in t.labels[0]))";
  };
  return {
      {.id = "MG042",
       .shape = Shape::kBroken,
       .found = OfTable("'grt-server/deploy-server' in variables.labels && "
                        "'grt-group/deploy-server' in variables.labels")},
      {.id = "MG043",
       .shape = Shape::kBroken,
       .found = OfTable("!('grt-server/deploy-server' in variables.labels) && "
                        "!('grt-group/deploy-server' in variables.labels)")},
      {.id = "MG044",
       .found = "!(" + std::string(kIsTable) +
                ") ? [] : ['jobID', 'mx-consumer-cim', 'ring-controller.atlas'].filter(k, "
                "!(k in variables.labels) || k == 'jobID' && variables.labels[k] == '' || "
                "k == 'mx-consumer-cim' && variables.labels[k] != 'true')"},
      {.id = "MG166",
       .shape = Shape::kNested,
       .found = "variables.templates.filter(t, type(" + rule + ") == string && " + rule +
                " != '').map(t, (" + lacks("mind-cluster/group-name") +
                " ? [t.name + ' group-name'] : []) + (" + lacks("jobID") +
                " ? [t.name + ' jobID'] : []))"},
      {.id = "MG169",
       .found = "object.?spec.?ports.orValue([]).filter(p, p.?nodePort.orValue(0) == 31015)"
                ".map(p, string(p.?port.orValue(0)))"},
      {.id = "MG170",
       .shape = Shape::kBroken,
       .found = "object.?metadata.?name.orValue('') == 'mindie-ms-coordinator'"},
  };
}

// Services and runtimes of OME, as far as one of them shows what is wrong.

namespace {

// The components that serve the model, as [{'name': ..., 'value': ...}].
std::string Components() {
  const auto of = [](std::string_view suffix) {
    std::string list;
    for (std::string_view name : {"engine", "decoder"}) {
      const std::string value = "object.?spec.?" + std::string(name) + std::string(suffix);
      if (!list.empty()) list += " + ";
      list += "(" + value + ".hasValue() ? [{'name': dyn(" + Quoted(name) + "), 'value': " + value +
              ".value()}] : [])";
    }
    return list;
  };
  return "(" + IsOf(schemas::kInferenceServices) + " ? " + of("") + " : " + of("Config") + ")";
}

std::string NormalMode(std::string_view value) {
  return std::string(value) + ".?annotations[?" + Quoted(schemas::kOmeDeploymentMode) +
         "].orValue('')";
}

}  // namespace

Rows OmeRows() {
  constexpr std::string_view kQueue = "scheduling.volcano.sh/queue-name";
  constexpr std::string_view kOmeQueue = "ome.io/volcano-queue";
  // Of the fields containers directly under spec, which OME does not read.
  const std::string legacy = "object.?spec.?containers.orValue([]).exists(c, " + Requests("c") +
                             ".exists(k, k.matches(" + Quoted(NpuNames({})) + ")) || " +
                             Limits("c") + ".exists(k, k.matches(" + Quoted(NpuNames({})) + ")))";
  const std::string in_gang =
      "t.group != '' && !t.router && t.volcano && t.scheduler != "
      "'default-scheduler' && t.kindOfGroup != 'LeaderWorkerSet' && ";
  const std::string k = AnnotationOf("t", schemas::kMinAvailable);
  const auto at_least = [&](std::string_view number) {
    return "type(" + k + ") == string && " + k + ".matches(" + Quoted(kWholeFromOne) + ") && int(" +
           k + ".replace('+', '')) >= " + std::string(number) + " && int(" + k +
           ".replace('+', '')) <= 2147483647";
  };
  return {
      {.id = "MG073",
       .found = "variables.npuTemplates.filter(t, " + in_gang + at_least("1") +
                ").map(t, string(t.name))"},
      {.id = "MG079",
       .found = "variables.templates.filter(t, " + in_gang + at_least("2") + " && " +
                AnnotationOf("t", schemas::kOmeAutoscalerClass) +
                " == 'external').map(t, string(t.name))"},
      {.id = "MG110",
       .shape = Shape::kBroken,
       .found = "object.?spec.?decoder.hasValue() && !object.?spec.?engine.hasValue() && "
                "!object.?spec.?predictor.hasValue()"},
      {.id = "MG113",
       .shape = Shape::kNested,
       .found = OfNpus(Components() +
                       ".filter(p, p.value.?leader.hasValue() && !(p.name == "
                       "'engine' && " +
                       NormalMode("p.value") +
                       " == 'RawDeployment')).map(p, ['runner', 'containers', 'schedulerName']"
                       ".filter(k, k in p.value).map(k, p.name + ' ' + k))")},
      {.id = "MG114",
       .found = OfNpus("['engine', 'decoder', 'router'].filter(k, "
                       "object.?spec[?k].?runner.hasValue() && "
                       "!object.?spec[?k].?runner.?name.hasValue())")},
      {.id = "MG115",
       .shape = Shape::kNested,
       .found = OfNpus(Components() + ".map(p, (" + IsOf(schemas::kInferenceServices) +
                       " && p.value.?minReplicas.orValue(1) == 0 ? [p.name + ' minReplicas'] : []) "
                       "+ (" +
                       NormalMode("p.value") +
                       " in ['Serverless', 'MultiNodeRayVLLM'] ? [p.name + ' mode'] : []))")},
      {.id = "MG117",
       .found = "!(variables.isNpuWorkload) && !(" + legacy +
                ") ? [] : ['schedulerName', 'workers'].filter(k, k in object.?spec.orValue({}))"},
      {.id = "MG118",
       .shape = Shape::kNested,
       .found = "variables.templates.filter(t, (t.npus || !t.router && variables.isNpuWorkload) && "
                "type(" +
                AnnotationOf("t", kQueue) +
                ") != string).map(t, [t.annotations[0], "
                "variables.annotations].filter(m, " +
                Quoted(kOmeQueue) + " in m).map(m, t.name + ' ' + m[" + Quoted(kOmeQueue) + "]))"},
      {.id = "MG119",
       .found =
           OfNpus(Components() + ".filter(p, 'minReplicas' in p.value).map(p, string(p.name))")},
  };
}

// StormServices, RoleSets and PodSets of AIBrix.

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

// InferServiceSets, InferServices and InstanceSets of infer-operator.

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
