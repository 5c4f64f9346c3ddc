#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "schemas/config.h"
#include "schemas/kinds.h"

// Where objects have their pod templates and the labels and annotations of their pods, as CEL: what
// schemas/views are for rules in C++. Each text is the value of one variable, for the kinds of one
// rule. What only a runtime of OME says is left out: a policy sees one object.
namespace mindgate::exported {

struct Variable {
  std::string name;
  std::string expression;
};

// A list of maps, one a template, as the variable rawTemplates and those that it names: each kind's
// is a variable of its own, since the API server's type checker takes time that grows with the
// square of an expression.
std::vector<Variable> RawTemplates(schemas::KindSet kinds);
// The same with the members
//   name, kindOfGroup ("PodSet", ...), group (the same for templates of one PodGroup, "" outside of
//   one), labels and annotations (the template's own map, then those that reach its pods too),
//   groupLabels and groupAnnotations (of the metadata that the PodGroup copies), spec, containers,
//   init, part (the role, task or replica type), scheduler (the template's, else the job's),
//   hasSpec and router (as in PodTemplateView).
// Each step has only the members that the reader, an expression, names of `t` and `u`.
std::string PodTemplates(std::string_view reader);
// With foreign and npus, as in PodTemplateView.
std::string CountedTemplates(const schemas::Config& config, std::string_view reader);
// With volcano (IsPlacedByVolcano) and left (IsLeftToDefault); group and router are as the roles of
// AIBrix have them.
std::string Templates(schemas::KindSet kinds, const schemas::Config& config,
                      std::string_view reader);
// Whether the text names the member of the variable `t` or `u`.
bool NamesMember(std::string_view text, std::string_view member);

// The maps of labels, or annotations, that reach pods or PodGroups, each once.
enum class Maps { kLabels, kAnnotations };
std::string ReachingMaps(schemas::KindSet kinds, Maps maps);

// The roles, tasks or replica types of the object: those that are maps.
std::string Parts(schemas::KindSet kinds);
// The spec that holds them.
std::string Holder(schemas::KindSet kinds);

// The variables of a policy that its expressions share.

// Those that the expression names, and those that these name, in an order in which each names
// earlier ones alone. With `old`, each of them that reads the object is followed by one of the
// object before the update, named as OfOld names it.
std::vector<Variable> VariablesFor(std::string_view expression, schemas::KindSet kinds,
                                   const schemas::Config& config, bool old);

// Whether the object, its namespace or the configuration declines injection.
std::string IsDeclined(const schemas::Config& config);

// The expression over the object before the update, and its variables.
std::string OfOld(std::string_view expression);

}  // namespace mindgate::exported
