#include "export/cel_text.h"
#include "export/exported_rule.h"
#include "schemas/names.h"

// What labels ask for together, and what stands in their way.
namespace mindgate::exported {
namespace {

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

// Pairs of places of one PodGroup that have the key with different texts.
std::string Conflict(std::string_view key) {
  const std::string word = Quoted(key);
  const auto values = [&](std::string_view t) {
    return "([" + LabelOf(t, key) + "] + " + std::string(t) + ".groupLabels.filter(m, " + word +
           " in m).map(m, m[" + word + "])).filter(v, type(v) == string)";
  };
  return "variables.templates.exists(t, variables.templates.exists(u, " + std::string(kSameGroup) +
         " && " + values("t") + ".exists(a, " + values("u") +
         ".exists(b, a.lowerAscii() != b.lowerAscii()))))";
}

}  // namespace

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

}  // namespace mindgate::exported
