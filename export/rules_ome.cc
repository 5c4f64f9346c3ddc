#include "export/cel_text.h"
#include "export/exported_rule.h"
#include "schemas/names.h"

// Services and runtimes of OME, as far as one of them shows what is wrong.
namespace mindgate::exported {
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

std::string Mode(std::string_view value) {
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
                       Mode("p.value") +
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
                       Mode("p.value") +
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

}  // namespace mindgate::exported
