#include <array>

#include "export/cel_text.h"
#include "export/exported_rule.h"
#include "schemas/names.h"

// Pod specs: scheduler, node, containers, variables, volumes.
namespace mindgate::exported {
namespace {

// Fields of a pod spec that end up in nodeSelector when a line is indented too far.
constexpr std::array kPodSpecFields = std::to_array<std::string_view>(
    {"schedulerName", "hostNetwork", "hostPID", "hostIPC", "priorityClassName", "nodeName",
     "restartPolicy", "serviceAccountName", "terminationGracePeriodSeconds", "dnsPolicy",
     "runtimeClassName", "automountServiceAccountToken", "enableServiceLinks", "preemptionPolicy",
     "activeDeadlineSeconds", "shareProcessNamespace"});

constexpr std::array kSchedulerOwned = std::to_array<std::string_view>(
    {"huawei.com/AscendReal", "huawei.com/kltDev", "huawei.com/pod-status", "hccl/rankIndex",
     "predicate-time", "distributed-job", "super-pod-rank", "super-pod-id",
     "ascend.kubectl.kubernetes.io/ascend-910-configuration",
     "ascend.kubectl.kubernetes.io/ascend-npu-configuration", "inHotSwitchFlow", "backupNewPodName",
     "backupSourcePodName", "needOperatorOpe", "needVolcanoOpe", "scheduling.k8s.io/group-name"});

// A pod that may be bound already.
std::string MayBeBound() {
  return "(" + IsOf(schemas::kPods) +
         " && (request.operation != 'CREATE' || object.?metadata.?ownerReferences.orValue([])"
         ".exists(o, o.?controller.orValue(false))))";
}

// Places of the containers of templates for which `broken` is true of `c`.
std::string Containers(std::string_view templates, std::string_view containers,
                       const std::string& broken) {
  return "variables." + std::string(templates) + ".map(t, (" + std::string(containers) +
         ").filter(c, " + broken + ").map(c, t.name + ' ' + c.?name.orValue('')))";
}

constexpr std::string_view kAll = "t.containers + t.init";
constexpr std::string_view kVariable = "ASCEND_VISIBLE_DEVICES";

}  // namespace

Rows PodRows(const schemas::Config& config) {
  const std::string volcano =
      ListOf({std::string_view(config.scheduler), schemas::kVolcanoScheduler});
  const std::string frozen =
      "(" +
      IsOf(schemas::KindsWith([](const schemas::KindInfo& info) { return info.template_frozen; })) +
      " && request.operation == 'UPDATE')";
  const std::string trees = R"(^/+([.]/+)*()"
                            R"(|boot|dev|etc|home|mnt|opt|proc|root|run|sys|usr|)"
                            R"(var(/+([.]/+)*(lib|run))?)(/+[.]?)*$)";
  return {
      {.id = "MG007",
       .shape = Shape::kNested,
       .found = Containers("templates", kAll,
                           "[" + Requests("c") + ", " + Limits("c") +
                               "].exists(m, m.exists(k, k in ['Ascend910', 'Ascend310P', "
                               "'Ascend310', 'npu', 'npu-core']))")},
      {.id = "MG008",
       .found = MayBeBound() +
                " ? [] : variables.npuTemplates.filter(t, t.spec.?nodeName.orValue('') != '')"
                ".map(t, t.name + ' ' + t.spec.nodeName)"},
      {.id = "MG066",
       .shape = Shape::kNested,
       .found = MayBeBound() +
                " ? [] : variables.templates.map(t, t.annotations[0].filter(k, k in " +
                ListOf(kSchedulerOwned) +
                " || k.matches('^huawei[.]com/(npu-core|(Ascend910|Ascend310P|Ascend310|npu)"
                "(-[0-9]+c.+|-[0-9]+c)?)$')).map(k, t.name + ' ' + k))"},
      {.id = "MG100",
       .shape = Shape::kNested,
       .found = "variables.templates.map(t, t.spec.?nodeSelector.orValue({}).filter(k, k in " +
                ListOf(kPodSpecFields) +
                " && (t.npus || k == 'schedulerName' && t.spec.nodeSelector[k] in " + volcano +
                ")).map(k, t.name + ' ' + k))"},
      {.id = "MG101",
       .found = "variables.npuTemplates.filter(t, "
                "!(t.spec.?nodeSelector[?'host-arch'].orValue('huawei-arm') in ['huawei-arm', "
                "'huawei-x86'])).map(t, t.name + ' ' + t.spec.nodeSelector['host-arch'])"},
      {.id = "MG104",
       .shape = Shape::kNested,
       .found = "variables.npuTemplates.map(t, (t.containers + t.init).filter(c, "
                "c.?env.orValue([]).exists(e, e.?value.orValue('') != '' && "
                "e.?valueFrom.hasValue())).map(c, t.name + ' ' + c.?name.orValue('')))"},
      {.id = "MG105",
       .found = "variables.npuTemplates.filter(t, !t.volcano && !(" + frozen + " && t.left) && !(" +
                IsOf(schemas::kInferenceServices) +
                " && t.scheduler == '')).map(t, t.name + ' ' + t.scheduler)"},
      {.id = "MG173",
       .shape = Shape::kNested,
       .found = Containers("npuTemplates", kAll,
                           "c.?securityContext.?privileged.orValue(false) == true")},
      {.id = "MG174",
       .shape = Shape::kNested,
       .found = "variables.npuTemplates.map(t, t.spec.?volumes.orValue([]).filter(v, "
                "v.?hostPath.?path.orValue('').matches(" +
                Quoted(trees) +
                ") && !((t.containers + t.init).exists(c, c.?volumeMounts.orValue([]).exists(m, "
                "m.?name.orValue('') == v.?name.orValue(''))) && (t.containers + t.init).all(c, "
                "c.?volumeMounts.orValue([]).all(m, m.?name.orValue('') != v.?name.orValue('') || "
                "m.?subPath.orValue('') != '' || m.?subPathExpr.orValue('') != '')))).map(v, "
                "t.name + ' ' + v.?name.orValue('') + ' ' + v.hostPath.path))"},
      {.id = "MG184",
       .shape = Shape::kNested,
       .found = Containers(
           "templates", kAll,
           "!t.foreign && (" + AsksFor("c", WholeCards(config)) + " || " + AsksFor("c", kSlices) +
               ") && c.?env.orValue([]).exists(e, e.?name.orValue('') == " + Quoted(kVariable) +
               " && c.env.exists(f, f.?name.orValue('') == " + Quoted(kVariable) + " && e != f))")},
  };
}

}  // namespace mindgate::exported
