#include "admission/export/cel_text.h"
#include "admission/export/exported_rules.h"
#include "schemas/names.h"

namespace mindgate::exported {

// What ascend-operator itself wants of an AscendJob, and what Volcano makes of its gang.

namespace {

constexpr std::string_view kFrameworks = "['mindspore', 'pytorch', 'tensorflow']";
constexpr std::string_view kSpecs = "object.?spec.?replicaSpecs.orValue({})";
constexpr std::string_view kScheduling = "object.?spec.?runPolicy.?schedulingPolicy";

std::string PerType(const std::string& broken, const std::string& place) {
  return "variables.templates.filter(t, " + broken + ").map(t, t.name + ' ' + " + place + ")";
}

// A list of one place where the condition is true.
std::string If(const std::string& condition, std::string_view place) {
  return "(" + condition + " ? [" + Quoted(place) + "] : [])";
}

}  // namespace

Rows AscendJobRows(const schemas::Config& config) {
  const std::string framework = "variables.labels[?'framework'].orValue('')";
  const std::string least = std::string(kScheduling) + ".?minAvailable.orValue('')";
  const std::string policy = "object.?spec.?successPolicy.orValue('')";
  const std::string backoff = "object.?spec.?runPolicy.?backoffLimit.orValue('')";
  const std::string replicas = "t.part.?replicas.orValue(1)";
  const std::string restart = "t.part.?restartPolicy.orValue('Never')";
  const std::string effective = "(" + restart + " in ['', 'ExitCode'] ? 'Never' : " + restart + ")";
  const std::string in_template = "t.spec.?restartPolicy.orValue('')";
  const std::string names =
      "variables.templates.map(t, t.scheduler == '' ? 'default-scheduler' : t.scheduler)";
  const std::string leader =
      "variables.labels[?'framework'].orValue('') == 'mindspore' ? ['Scheduler', 'Worker'] : "
      "variables.labels[?'framework'].orValue('') == 'pytorch' ? ['Master', 'Worker'] : "
      "variables.labels[?'framework'].orValue('') == 'tensorflow' ? ['Chief', 'Worker'] : "
      "['Scheduler', 'Master', 'Chief', 'Worker']";
  // Before 26.1 the plugin does not read the annotation.
  const std::string without_plugin =
      config.versions.IsBefore(schemas::Component::kMindCluster, {26, 1})
          ? ""
          : "!('volcano.sh/schedule.plugin' in variables.annotations) && ";
  const std::string ascend = "c.?name.orValue('') == 'ascend'";
  return {
      {.id = "MG190",
       .shape = Shape::kBroken,
       .found = without_plugin + "variables.npuTemplates.exists(t, t.volcano) && [" +
                std::string(kScheduling) +
                ".?minResources.orValue('')].exists(m, type(m) == map && !m.exists(k, "
                "k.startsWith('huawei.com/')))"},
      {.id = "MG010", .shape = Shape::kBroken, .found = "size(" + std::string(kSpecs) + ") == 0"},
      {.id = "MG011",
       .found = "!('framework' in variables.labels) ? ['missing'] : " +
                std::string("[dyn(variables.labels['framework'])].filter(v, !(v in ") +
                std::string(kFrameworks) + "))"},
      {.id = "MG012", .found = std::string(kSpecs) + ".filter(k, !(k in (" + leader + ")))"},
      {.id = "MG013",
       .found = PerType("type(" + replicas +
                            ") == int && (t.name.lowerAscii() in ['master', "
                            "'scheduler', 'chief'] ? " +
                            replicas + " != 1 : " + replicas + " < 0 || " + replicas + " > 20000)",
                        "string(" + replicas + ")")},
      {.id = "MG015",
       .found = PerType("!t.spec.?containers.orValue([]).exists(c, " + ascend +
                            ") || t.spec.containers.exists(c, " + ascend +
                            " && c.?image.orValue('') == '')",
                        "string(size(t.spec.?containers.orValue([])))")},
      {.id = "MG016",
       .shape = Shape::kBroken,
       .found = "type(" + policy + ") == string && !(" + policy + " in ['', 'AllWorkers'])"},
      {.id = "MG017", .shape = Shape::kBroken, .found = policy + " == 'AllWorkers'"},
      {.id = "MG018",
       .shape = Shape::kBroken,
       .found = "!(variables.labels[?'scaleout-type'].orValue('').trim().upperAscii() in ['', "
                "'ROCE', 'UBOE'])"},
      {.id = "MG019",
       .shape = Shape::kBroken,
       .found = std::string(kScheduling) + ".hasValue() && " + std::string(kScheduling) +
                ".?queue.orValue('') == ''"},
      {.id = "MG021",
       .shape = Shape::kBroken,
       .found = "type(" + least +
                ") == int && size(variables.templates) > 0 && "
                "variables.templates.all(t, type(" +
                replicas + ") == int && " + replicas + " >= 0) && (" + least + " < 0 || " + least +
                " > variables.templates.map(t, int(" + replicas + ")).sum())"},
      {.id = "MG022", .shape = Shape::kBroken, .found = least + " == 0"},
      {.id = "MG023",
       .shape = Shape::kBroken,
       .found = "type(" + backoff + ") == int && " + backoff + " <= 0"},
      {.id = "MG024",
       .found = PerType("type(" + restart + ") == string && !(" + restart +
                            " in ['', 'Always', 'OnFailure', 'Never', 'ExitCode'])",
                        restart)},
      {.id = "MG025",
       .found =
           PerType(in_template + " != '' && " + in_template + " != " + effective, in_template)},
      {.id = "MG026",
       .shape = Shape::kBroken,
       .found = "variables.templates.exists(t, t.scheduler != '') && " + names +
                ".exists(n, n != " + names + "[0])"},
      {.id = "MG030",
       .found = "!('mind-cluster/scaling-rule' in variables.labels) ? [] : "
                "['mind-cluster/scaling-rule', 'mind-cluster/group-name', 'jobID'].filter(k, "
                "variables.labels[?k].orValue('') == '')"},
      {.id = "MG034",
       .found =
           If("'mind-cluster/scaling-rule' in variables.labels && "
              "variables.labels[?'app'].orValue('') in ['mindie-ms-controller', "
              "'mindie-ms-coordinator']",
              "app") +
           " + " +
           If("!('mind-cluster/scaling-rule' in variables.labels) && 'mind-cluster/group-name' "
              "in variables.labels",
              "mind-cluster/group-name") +
           " + ('mind-cluster/scaling-rule' in variables.labels ? [] : "
           "variables.templates.filter(t, 'mind-cluster/scaling-rule' in t.labels[0])"
           ".map(t, string(t.name)))"},
      {.id = "MG041",
       .shape = Shape::kNested,
       .found = "!('jobID' in variables.labels && 'app' in variables.labels) ? [] : "
                "variables.templates.map(t, ['app', 'jobID'].filter(k, k in t.labels[0] ? "
                "type(t.labels[0][k]) == string && t.labels[0][k] != variables.labels[k] : "
                "variables.labels['app'] in ['mindie-ms-controller', 'mindie-ms-coordinator'])"
                ".map(k, t.name + ' ' + k + ' ' + (k in t.labels[0] ? t.labels[0][k] : '')))"},
      {.id = "MG047",
       .found = "('mind-cluster/scaling-rule' in variables.labels) ? " +
                If("'jobID' in variables.labels && !('app' in variables.labels)", "app") + " : " +
                If("variables.labels[?'app'].orValue('') in ['mindie-ms-server', "
                   "'mindie-ms-controller', 'mindie-ms-coordinator'] && "
                   "variables.labels[?'jobID'].orValue('') == ''",
                   "jobID")},
  };
}

// Volcano Jobs, Jobs of Kubernetes and LeaderWorkerSets, and Services that controllers make.

namespace {

// Whether pods or the PodGroup get the label, or annotation, with a value `v` for which it holds.
std::string Reaches(std::string_view maps, std::string_view key, const std::string& holds) {
  return ValuesIn("variables." + std::string(maps), key) + ".exists(v, " + holds + ")";
}

std::string Retries(const std::string& more) {
  return Reaches("labelMaps", schemas::kFaultRetryTimes, IsText("v", kWholeFromOne) + more);
}

// Whether what task `r`, else its job, does first on the event is an action `a` for which it holds.
std::string ActsOn(std::string_view event, const std::string& holds) {
  const std::string is = " in [" + Quoted(event) + ", '*']";
  const auto named = [&](const std::string& holder) {
    return "[" + holder +
           ".?policies.orValue([])].map(l, type(l) == list ? l : [])[0].filter(p, "
           "p.?event.orValue('')" +
           is + " || p.?events.orValue([]).exists(e, e" + is + "))";
  };
  return "[[" + named("r") + ", " + named("variables.holder") +
         "].map(l, size(l) > 0 ? l[0].?action.orValue('') : '').filter(a, a != '')].exists(l, "
         "size(l) > 0 && [l[0]].exists(a, " +
         holds + "))";
}

// The tasks with NPUs that act so.
std::string TasksThat(std::string_view event, const std::string& by, const std::string& holds) {
  return "variables.parts.filter(r, variables.npuTemplates.exists(t, t.part == r" + by + ") && " +
         ActsOn(event, holds) + ").map(r, string(r.?name.orValue('')) + ' " + std::string(event) +
         "')";
}

constexpr std::string_view kByVolcano = " && t.volcano";

// Tasks that end their job on an event after which pods are to be recreated.
std::string Endings() {
  const std::string ends = "a in ['AbortJob', 'TerminateJob', 'CompleteJob']";
  const std::string by(kByVolcano);
  return "(" + Reaches("labelMaps", schemas::kFaultScheduling, "v in ['force', 'grace']") + " ? " +
         TasksThat("PodEvicted", by, ends) + " : []) + (" + Retries("") + " ? " +
         TasksThat("PodFailed", by, ends) + " : [])";
}

// Tasks that delete more than the pod at fault. Before Volcano 1.11, RestartTask did not.
std::string WiderRestarts(bool old) {
  const std::string several = "r.?replicas.orValue(0) != 1";
  const std::string wider =
      "a in ['RestartJob', 'AbortJob', 'TerminateJob', 'CompleteJob'] || a == 'RestartPartition' "
      "&& r.?partitionPolicy.?partitionSize.orValue(0) != 1 && " +
      several + (old ? "" : " || a == 'RestartTask' && " + several);
  return "!(" + Reaches("labelMaps", schemas::kPodRescheduling, "v == 'on'") + " || " +
         Reaches("annotationMaps", schemas::kRecoverPolicyPath, "v == 'pod'") +
         ") ? [] : " + TasksThat("PodEvicted", "", wider) + " + " +
         TasksThat("PodFailed", "", wider);
}

std::string FewRetries() {
  const std::string most = "variables.holder.?maxRetry.orValue('')";
  const std::string restarts = "a == 'RestartJob'";
  const std::string by(kByVolcano);
  return "type(" + most + ") == int && " + most + " >= 1 && " + most + " < 2147483647 && " +
         Retries(" && int(v) > " + most) + " && size(" + TasksThat("PodEvicted", by, restarts) +
         " + " + TasksThat("PodFailed", by, restarts) + ") > 0";
}

// Names of Services that controllers make which a Service may not have, as schemas/children.h has
// them.
std::string ServiceNames() {
  const std::string name = "object.metadata.?name.orValue('')";
  const std::string leaders =
      "variables.templates.map(t, t.name.lowerAscii()).filter(n, n in ['master', 'scheduler', "
      "'chief'])";
  const std::string replicas = "object.?spec.?replicas.orValue(1)";
  const std::string of_group =
      "(object.?spec.?networkConfig.?subdomainPolicy.orValue('') != "
      "'UniquePerReplica' ? [" +
      name + "] : " + replicas + " == 0 ? [] : [" + name + " + '-' + string(" + replicas +
      " - 1)])";
  return "(" + name + " == '' ? [] : " + IsOf(schemas::kAscendJobs) + " ? [" + leaders +
         "].filter(l, size(l) > 0).map(l, " + name +
         " + '-' + l[0] + '-0') : " + IsOf({schemas::Kind::kVolcanoJob}) +
         " ? (object.?spec.?plugins.?svc.hasValue() ? [" + name +
         "] : []) : " + IsOf(schemas::kLeaderWorkerSets) + " ? " + of_group + " : " +
         IsOf(schemas::kStormServices) + " ? [" + name +
         "] : []).filter(n, size(n) > 63 || !n.matches('^[a-z][^.]*$'))";
}

}  // namespace

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
      {.id = "MG134",
       .found = WiderRestarts(config.versions.IsBefore(Component::kVolcano, {1, 11}))},
      {.id = "MG176", .found = ServiceNames()},
      {.id = "MG191", .found = Endings()},
      {.id = "MG193", .shape = Shape::kBroken, .found = FewRetries()},
      {.id = "MG136",
       .found = config.versions.IsBefore(Component::kLeaderWorkerSet, {0, 7})
                    ? "[]"
                    : "variables.templates.filter(t, t.kindOfGroup == 'LeaderWorkerSet' && "
                      "t.hasSpec && !(t.volcano ? t.scheduler != '' : t.npus) && "
                      "variables.npuTemplates.exists(u, u.kindOfGroup == 'LeaderWorkerSet' && "
                      "u.group == t.group && u.scheduler != '' && u.volcano))"
                      ".map(t, string(t.name))"},
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
