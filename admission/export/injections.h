#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "schemas/config.h"
#include "schemas/kinds.h"

namespace mindgate::exported {

// Where objects have their pod templates and the labels and annotations of their pods, as CEL: what
// schemas/views are for rules in C++. Each text is the value of one variable, for the kinds of one
// rule. What only a runtime of OME says is left out: a policy sees one object.

struct Variable {
  std::string name;
  std::string expression;
};

// Kinds whose pod templates are not written in CEL yet: no policy is about them. A new kind is one
// until admission/export/templates.cc has its texts, unless its row has a template_holder.
schemas::KindSet UnreadKinds();

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

// What mutators write, as CEL: the values that admission/export/policy.h puts into objects. Whoever
// changes a mutator changes its value: both are compared over all fixtures
// (tests/admission/export/injections_test.cc).

// Where objects of some kinds have a pod template, and who shares its PodGroup.
struct TemplatePlace {
  std::string_view name;  // "templates", of policies
  schemas::KindSet kinds;
  std::string_view path;       // "/spec/template"; empty: the object is the template, or has tasks
  std::string_view role = {};  // "leader", where two templates of an object share a PodGroup
  bool tasks =
      false;  // /spec/tasks has the templates, and the PodGroup copies the object's metadata
};
const std::vector<TemplatePlace>& TemplatePlaces();

// "object.?spec.?template", of `root` object or oldObject.
std::string TemplateAt(const TemplatePlace& place, std::string_view root);
// Whether the condition holds for a container `c` of a template that shares the PodGroup.
std::string AnyContainer(const TemplatePlace& place, std::string_view condition);

// One label, annotation or member that a mutator writes: the variable's value is its text, and
// empty where nothing is written.
struct InjectedText {
  enum class Where { kLabel, kAnnotation, kSpec };
  std::string_view mutator;
  std::string variable;
  Where where = Where::kLabel;
  std::string_view key;
};

struct Injections {
  // All that expressions read, in an order in which each names earlier ones alone.
  std::vector<Variable> variables;
  std::vector<InjectedText> texts;
  // Whether there is a variable `devices`: for each variable ASCEND_VISIBLE_DEVICES that is
  // written, the path of the container's env, whether it is the first there, and the resource.
  bool devices = false;
  // Whether there are `requests` and `initRequests`: of each container to which requests are
  // written its name and these.
  bool requests = false;
  // The same where /spec/tasks has the templates: `taskRequests`, of each request that is written
  // the path and name of the container, whether it is `bare`, without any before, key and value;
  // and `taskLabels`, a map of what is written into the labels of the only task.
  bool task_requests = false;
  bool task_labels = false;
};
// Of the mutators that the configuration leaves on.
Injections InjectionsAt(const TemplatePlace& place, const schemas::Config& config);

// Why what the mutator writes is not exported, as a clause; empty when it is. A new mutator is not
// until InjectionsAt has its texts.
std::string_view WhyNotInjected(std::string_view mutator);

}  // namespace mindgate::exported
