#include "export/cel_text.h"
#include "export/exported_rule.h"
#include "schemas/foreign.h"
#include "schemas/names.h"

// NPUs that containers ask for.
namespace mindgate::exported {
namespace {

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

}  // namespace

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

}  // namespace mindgate::exported
