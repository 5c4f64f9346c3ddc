#include "admission/export/exported_rules.h"

#include <algorithm>
#include <array>

#include "admission/export/cel_text.h"
#include "schemas/names.h"
#include "schemas/npu.h"

namespace mindgate::exported {
namespace {

// Rules that cannot have a row, by the reason.
struct Reason {
  std::string_view why;
  std::string_view ids;
};

constexpr Reason kReasons[] = {
    {"the API server refuses such objects before policies see them", "MG001"},
    {"it is a limit of mindgate's own", "MG003"},
    {"it compares spellings, for which CEL has no function",
     "MG004 MG014 MG040 MG048 MG049 MG067 MG102 MG109 MG128 MG164"},
    {"it reads other objects",
     "MG020 MG027 MG031 MG032 MG033 MG038 MG046 MG111 MG112 MG116 MG162 MG165 MG167 MG171 MG179 "
     "MG195 MG196"},
    {"it reads a document inside of the object, for which CEL has no function",
     "MG035 MG036 MG037 MG039 MG045"},
    {"it needs the table of servers and their chips",
     "MG005 MG006 MG080 MG081 MG082 MG085 MG086 MG087 MG088 MG089 MG090 MG091 MG092 MG093 MG094 "
     "MG095 MG096 MG097 MG098 MG099 MG107 MG108 MG160 MG161 MG163 MG185 MG186 MG189"},
    {"it counts what a gang has and what a rollout leaves of it",
     "MG071 MG072 MG074 MG075 MG076 MG077 MG078 MG138 MG172 MG177"},
    {"it follows what mindgate injects", "MG009 MG028 MG068 MG103 MG180"},
};

// Labels and annotations with values of their own, wherever they reach pods or PodGroups.

// The texts under the key, in the maps of that variable, for which `broken` is true of `v`.
ExportedRule OfValues(std::string_view id, std::string_view maps, std::string_view key,
                      const std::string& broken) {
  return {.id = id,
          .found = ValuesIn("variables." + std::string(maps), key) +
                   ".filter(v, type(v) == string && (" + broken + "))"};
}

ExportedRule OfLabel(std::string_view id, std::string_view key, const std::string& broken) {
  return OfValues(id, "labelMaps", key, broken);
}

ExportedRule OfAnnotation(std::string_view id, std::string_view key, const std::string& broken) {
  return OfValues(id, "annotationMaps", key, broken);
}

std::string NoneOf(std::initializer_list<std::string_view> values) {
  return "!(v in " + ListOf(values) + ")";
}

std::string Unlike(std::string_view pattern) { return "!v.matches(" + Quoted(pattern) + ")"; }

// FAULT or FAULT:SECONDS, separated by commas; both may be full-width.
std::string FaultFilters() {
  constexpr std::string_view kSeconds =
      "([+]?0*([0-9]{1,4}|[1-7][0-9]{4}|8[0-5][0-9]{3}|86[0-3][0-9]{2}|86400)|-0+)";
  const std::string filter =
      "[^,:\xEF\xBC\x8C\xEF\xBC\x9A]*[^,:\xEF\xBC\x8C\xEF\xBC\x9A\\s]"
      "[^,:\xEF\xBC\x8C\xEF\xBC\x9A]*([:\xEF\xBC\x9A]\\s*" +
      std::string(kSeconds) + "\\s*)?";
  return "^" + filter + "([,\xEF\xBC\x8C]" + filter + ")*$";
}

Rows ValueRows() {
  constexpr std::string_view kStrategy =
      "(retry|recover|recover-in-place|elastic-training|dump|exit)";
  const std::string filters = "!v.contains('[') && " + Unlike(FaultFilters());
  const ExportedRule codes = OfAnnotation("MG062", "huawei.com/schedule.filter.faultCode", filters);
  const ExportedRule levels =
      OfAnnotation("MG062", "huawei.com/schedule.filter.faultLevel", filters);
  return {
      {.id = "MG002",
       .found = "(['mindgate.io/inject'].filter(k, k in variables.labels && "
                "!(variables.labels[k] in ['enabled', 'disabled'])).map(k, variables.labels[k])) + "
                "(['mindgate.io/inject'].filter(k, k in variables.annotations)"
                ".map(k, dyn('annotation')))"},
      OfLabel("MG050", schemas::kFaultScheduling,
              NoneOf({"force", "grace", "external-force", "external-grace", "off"})),
      OfLabel("MG051", schemas::kPodRescheduling, NoneOf({"on", "off", "false"})),
      OfLabel("MG052", schemas::kSubHealthyStrategy,
              NoneOf({"ignore", "graceExit", "forceExit", "hotSwitch"})),
      OfLabel("MG053", schemas::kFaultRetryTimes, Unlike(kWholeFromZero)),
      OfLabel("MG054", schemas::kProcessRecover, NoneOf({"on", "off", "pause"})),
      OfAnnotation("MG059", schemas::kRecoverPolicyPath, NoneOf({"pod"})),
      OfAnnotation("MG061", "wait-reschedule-timeout",
                   Unlike("^[+]?0*([3-9][0-9]|1[0-9][0-9]|2[0-6][0-9]|270)$")),
      {.id = "MG062", .found = codes.found + " + " + levels.found},
      OfAnnotation(
          "MG063", schemas::kRecoverStrategy,
          Unlike("^" + std::string(kStrategy) + "(," + std::string(kStrategy) + "){0,31}$")),
      OfLabel("MG064", schemas::kFaultScheduling, "v in ['external-force', 'external-grace']"),
      OfLabel("MG065", "tor-affinity", NoneOf({"large-model-schema", "normal-schema", "null"})),
      OfAnnotation("MG070", schemas::kMinAvailable,
                   Unlike("^[+]?0*([1-9][0-9]{0,8}|1[0-9]{9}|20[0-9]{8}|21[0-3][0-9]{7}|"
                          "214[0-6][0-9]{6}|2147[0-3][0-9]{5}|21474[0-7][0-9]{4}|"
                          "214748[0-2][0-9]{3}|2147483[0-5][0-9]{2}|21474836[0-3][0-9]|"
                          "214748364[0-7])$")),
      OfLabel("MG187", schemas::kSubHealthyStrategy,
              "v == 'hotSwitch' && !(request.kind.kind == 'Pod' && "
              "object.?metadata.?ownerReferences.orValue([])"
              ".exists(o, o.?controller.orValue(false)))"),
      OfLabel("MG188", schemas::kFaultScheduling,
              "v == 'force' && type(variables.annotations[?'recover-strategy'].orValue(null)) == "
              "string"),
  };
}

// What labels ask for together, and what stands in their way.

constexpr std::string_view kFaultLabels[] = {
    schemas::kFaultScheduling, schemas::kPodRescheduling, schemas::kFaultRetryTimes,
    schemas::kSubHealthyStrategy, schemas::kProcessRecover};

// Whether templates `t` and `u` share a PodGroup.
constexpr std::string_view kSameGroup = "t.group != '' && t.group == u.group";

// Whether a place of the PodGroup of `t` has the label, whatever its value.
std::string GroupHas(std::string_view key) {
  const std::string word = Quoted(key);
  return "(t.group != '' && variables.templates.exists(u, u.group == t.group && "
         "(u.labels.exists(m, " +
         word + " in m) || u.groupLabels.exists(m, " + word + " in m))))";
}

// Pairs of places of one PodGroup that have the key with different texts. Those of leader and
// workers, which seldom share one, are only warned of.
std::string Conflict(std::string_view key) {
  const std::string word = Quoted(key);
  const auto values = [&](std::string_view t) {
    return "([" + LabelOf(t, key) + "] + " + std::string(t) + ".groupLabels.filter(m, " + word +
           " in m).map(m, m[" + word + "])).filter(v, type(v) == string)";
  };
  return "variables.templates.exists(t, t.kindOfGroup != 'LeaderWorkerSet' && "
         "variables.templates.exists(u, " +
         std::string(kSameGroup) + " && " + values("t") + ".exists(a, " + values("u") +
         ".exists(b, a.lowerAscii() != b.lowerAscii()))))";
}

Rows RecoveryRows(const schemas::Config& config) {
  const std::string of_mindie_manager = "(" + IsOf(schemas::kAscendJobs) +
                                        " && variables.labels[?'app'].orValue('') in "
                                        "['mindie-ms-controller', 'mindie-ms-coordinator'])";
  const std::string owned_pod =
      "(" + IsOf(schemas::kPods) +
      " && object.?metadata.?ownerReferences.orValue([]).exists(o, o.?controller.orValue(false)))";
  std::string conflicts;
  for (std::string_view key : kFaultLabels) {
    if (!conflicts.empty()) conflicts += " + ";
    conflicts += "(" + Conflict(key) + " ? [" + Quoted(key) + "] : [])";
  }
  std::string active;
  for (std::string_view key :
       {schemas::kFaultRetryTimes, schemas::kPodRescheduling, schemas::kSubHealthyStrategy}) {
    if (!active.empty()) active += " || ";
    const std::string seen = SeenLabel("t", key);
    active += "type(" + seen + ") == string && !(" + seen + " in ['0', 'off', 'ignore'])";
  }
  // ascend-operator overwrites what a template says; a Job needs to say it.
  const std::string restart = "(" + IsOf(schemas::kAscendJobs) +
                              " ? t.part.?restartPolicy.orValue('Never') : "
                              "t.spec.?restartPolicy.orValue(" +
                              IsOf(schemas::kBatchJobs) + " ? '' : 'Always'))";
  const std::string timeout = std::to_string(config.grace_over_time.count());
  const std::string period = "t.spec.?terminationGracePeriodSeconds.orValue(30)";
  const std::string grace_of_u =
      "([" + LabelOf("u", schemas::kFaultScheduling) +
      "] + u.groupLabels.filter(m, 'fault-scheduling' in m).map(m, m['fault-scheduling']))"
      ".filter(v, v != null)";
  return {
      {.id = "MG029",
       .found = "variables.npuTemplates.filter(t, t.group != '' && t.hasSpec && type(" + period +
                ") == int && (" + period + " <= 0 || " + period + " > " + timeout +
                ") && variables.templates.exists(u, u.group == t.group && " + grace_of_u +
                ".exists(v, v == 'grace')) && variables.templates.all(u, u.group != t.group || " +
                grace_of_u + ".all(v, v == 'grace'))).map(t, t.name + ' ' + string(" + period +
                "))"},
      {.id = "MG055",
       .found = "(" + owned_pod + " || " + of_mindie_manager +
                ") ? [] : variables.npuTemplates.filter(t, !(" + restart +
                " in ['', 'Never', 'ExitCode']) && " +
                IsText(SeenLabel("t", schemas::kFaultRetryTimes), kWholeFromOne) +
                ").map(t, t.name + ' ' + " + restart + ")"},
      {.id = "MG056",
       .found = "variables.npuTemplates.filter(t, !t.router && " +
                SeenLabel("t", schemas::kFaultScheduling) + " == null && !" +
                GroupHas(schemas::kFaultScheduling) + " && (" + active + ")).map(t, t.name)",
       // fault-scheduling may be in their runtime.
       .without = schemas::kInferenceServices},
      {.id = "MG057", .found = conflicts},
      {.id = "MG058",
       .found = "variables.templates.filter(t, t.group != '' && t.kindOfGroup == 'PodSet' && " +
                SeenLabel("t", schemas::kPodRescheduling) + " == 'on').map(t, t.name)"},
      {.id = "MG060",
       .found = "variables.npuTemplates.filter(t, " +
                SeenAnnotation("t", schemas::kRecoverPolicyPath) + " == 'pod' && " +
                SeenLabel("t", schemas::kPodRescheduling) + " != 'on').map(t, t.name)"},
      {.id = "MG069",
       .found = of_mindie_manager + " ? " +
                ValuesIn("variables.labelMaps", schemas::kPodRescheduling) +
                ".filter(v, type(v) == string) : []"},
      {.id = "MG137",
       .shape = Shape::kBroken,
       .found = "object.spec.?leaderWorkerTemplate.?restartPolicy.orValue('') in ['None', "
                "'Default'] && object.spec.?leaderWorkerTemplate.?size.orValue(1) > 1 && "
                "size(variables.npuTemplates) > 0 && variables.templates.exists(t, type(" +
                LabelOf("t", schemas::kFaultScheduling) + ") == string && " +
                LabelOf("t", schemas::kFaultScheduling) + " != 'off')"},
  };
}

// Pod specs: scheduler, node, containers, variables, volumes.

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

constexpr std::string_view kAllContainers = "t.containers + t.init";
constexpr std::string_view kVariable = "ASCEND_VISIBLE_DEVICES";

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
       .found = Containers("templates", kAllContainers,
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
       .found = Containers("npuTemplates", kAllContainers,
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
           "templates", kAllContainers,
           "!t.foreign && (" + AsksFor("c", WholeCards(config)) + " || " + AsksFor("c", kSlices) +
               ") && c.?env.orValue([]).exists(e, e.?name.orValue('') == " + Quoted(kVariable) +
               " && c.env.exists(f, f.?name.orValue('') == " + Quoted(kVariable) + " && e != f))")},
  };
}

// NPUs that containers ask for.

using Where = schemas::ForeignSign::Where;

// Whether an amount is a whole number from 0 on. isInteger is not asked alone: it is false for
// 8000m and 8.0, which the API server takes as 8.
std::string Whole(const std::string& amount) {
  const std::string quantity = "quantity(string(" + amount + "))";
  const std::string number = quantity + ".asApproximateFloat()";
  return "isQuantity(string(" + amount + ")) && !" + quantity + ".isLessThan(quantity('0')) && (" +
         quantity + ".isInteger() || " + number + " < 1e15 && double(int(" + number +
         ")) == " + number + ")";
}

std::string Equal(const std::string& a, const std::string& b) {
  return "quantity(string(" + a + ")).compareTo(quantity(string(" + b + "))) == 0";
}

std::string RequestsDiffer() {
  const std::string request = "c.resources.requests[k]";
  const std::string limit = "c.resources.limits[k]";
  const std::string fragment = IsOf(schemas::kOmeKinds);
  return Requests("c") + ".exists(k, k.startsWith('huawei.com/') && (!(" + Whole(request) +
         ") || (k in " + Limits("c") + " ? !(" + Whole(limit) + ") || !(" + Equal(request, limit) +
         ") : !(" + fragment + ")))) || " + Limits("c") +
         ".exists(k, k.startsWith('huawei.com/') && !(" + Whole(limit) + "))";
}

// NPUs that limits alone name, of a container that is not an init container.
std::string LimitedOnly(const schemas::Config& config) {
  return Limits("c") + ".exists(k, (k.matches(" + Quoted(WholeCards(config)) + ") || k.matches(" +
         Quoted(kSlices) + ")) && !(k in " + Requests("c") + ") && " +
         Whole("c.resources.limits[k]") +
         " && quantity(string(c.resources.limits[k])).isGreaterThan(quantity('0')))";
}

// Whether pods `t`, or those of a PodGroup, ask for two NPU resources, or for one beside another of
// that prefix.
std::string Mixed(const schemas::Config& config) {
  const auto any = [](std::string_view t, std::string_view c, const std::string& names,
                      std::string_view n, const std::string& holds) {
    const std::string of(t);
    return "(" + of + ".containers + " + of + ".init).exists(" + std::string(c) + ", " + names +
           ".exists(" + std::string(n) + ", " + holds + "))";
  };
  const std::string npu = "k.matches(" + Quoted(NpuNames(config)) + ")";
  const std::string card = "k.matches(" + Quoted(WholeCards(config)) + ")";
  const std::string other = "(k.startsWith('huawei.com/') || " + npu + ")";
  const std::string in_pod = any("t", "c", NamesAskedFor("c", npu), "n",
                                 any("t", "d", NamesAskedFor("d", other), "m", "n != m"));
  const std::string in_group = any("t", "c", NamesAskedFor("c", card), "n",
                                   any("u", "d", NamesAskedFor("d", card), "m", "n != m"));
  return "variables.npuTemplates.exists(t, t.volcano && (" + in_pod +
         " || t.group != '' && variables.npuTemplates.exists(u, u.volcano && u.group == t.group && "
         "u.kindOfGroup == t.kindOfGroup && " +
         in_group + ")))";
}

// The resource names of one product's own, as a pattern.
std::string NamesOfOthers() {
  std::string names;
  for (const schemas::ForeignSign& sign : schemas::ForeignSigns()) {
    if (sign.where != Where::kResource) continue;
    if (!names.empty()) names += "|";
    names += sign.text;
  }
  return "^huawei[.]com/(" + names + ")$";
}

Rows ResourceRows(const schemas::Config& config) {
  const std::string frozen =
      "(" + IsOf({schemas::Kind::kVolcanoJob}) + " && request.operation == 'UPDATE')";
  const std::string slices = "(t.containers + t.init).map(c, (" + Requests("c") +
                             ".filter(k, k.matches(" + Quoted(kStaticSlices) +
                             ") && string(c.resources.requests[k]).matches('^[0-9]{1,9}$'))"
                             ".map(k, int(c.resources.requests[k])) + " +
                             Limits("c") + ".filter(k, !(k in " + Requests("c") +
                             ") && k.matches(" + Quoted(kStaticSlices) +
                             ") && string(c.resources.limits[k]).matches('^[0-9]{1,9}$'))"
                             ".map(k, int(c.resources.limits[k]))).sum()).sum()";
  const std::string by_volcano = "t.npus && t.volcano && ";
  return {
      {.id = "MG083", .shape = Shape::kBroken, .found = Mixed(config)},
      {.id = "MG084",
       .shape = Shape::kNested,
       .found = "variables.templates.map(t, (t.containers + t.init).filter(c, " + RequestsDiffer() +
                ").map(c, t.name + ' ' + c.?name.orValue('')))"},
      {.id = "MG106",
       .found = "variables.npuTemplates.filter(t, t.volcano && " + slices + " > 1).map(t, t.name)"},
      {.id = "MG181",
       .shape = Shape::kNested,
       .found = "variables.templates.map(t, " + by_volcano +
                "t.kindOfGroup == 'LeaderWorkerSet' ? t.containers.filter(c, " +
                LimitedOnly(config) + ").map(c, t.name + ' ' + c.?name.orValue('')) : [])",
       .without = schemas::kInferenceServices},
      {.id = "MG183",
       .shape = Shape::kBroken,
       .found = "variables.templates.exists(t, t.foreign && t.scheduler != 'hami-scheduler' && "
                "!('huawei.com/vnpu-mode' in t.annotations[0]) && !(t.containers + "
                "t.init).exists(c, " +
                AsksFor("c", "-(memory|core)$") + ") && (t.containers + t.init).exists(c, " +
                AsksFor("c", NamesOfOthers()) + "))"},
  };
}

}  // namespace

Rows ExportedRules(const schemas::Config& config) {
  Rows all;
  for (const Rows& family : {ValueRows(), RecoveryRows(config), PodRows(config),
                             ResourceRows(config), AscendJobRows(config), MindieRows(),
                             VolcanoRows(config), OmeRows(), AibrixRows(), InferOperatorRows()}) {
    all.insert(all.end(), family.begin(), family.end());
  }
  std::ranges::sort(all, {}, &ExportedRule::id);
  return all;
}

std::string_view WhyNotExported(std::string_view id) {
  for (const Reason& reason : kReasons) {
    if (reason.ids.find(id) != std::string_view::npos) return reason.why;
  }
  static const Rows rows = ExportedRules({});
  const bool exported = std::ranges::find(rows, id, &ExportedRule::id) != rows.end();
  return exported ? std::string_view() : kNotInCel;
}

}  // namespace mindgate::exported
