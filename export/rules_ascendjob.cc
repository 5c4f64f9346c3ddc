#include "export/cel_text.h"
#include "export/exported_rule.h"
#include "schemas/names.h"

// What ascend-operator itself wants of an AscendJob, and what Volcano makes of its gang.
namespace mindgate::exported {
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

}  // namespace mindgate::exported
