#include "export/cel_text.h"
#include "export/exported_rule.h"

// ConfigMaps, Services and scaled pods of MindIE Motor.
namespace mindgate::exported {
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

}  // namespace mindgate::exported
