#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "export/templates.h"
#include "schemas/config.h"
#include "schemas/kinds.h"

// What mutators write, as CEL: the values that export/mutating_policy.h puts into objects. Whoever
// changes a mutator changes its value: both are compared over all fixtures
// (tests/export/injections_test.cc).
namespace mindgate::exported {

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

// Why what the mutator writes is not exported, as a clause; empty when it is.
std::string_view WhyNotInjected(std::string_view mutator);

}  // namespace mindgate::exported
