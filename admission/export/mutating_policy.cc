#include <map>
#include <tuple>
#include <utility>

#include "admission/export/cel_text.h"
#include "admission/export/injections.h"
#include "admission/export/policy.h"
#include "base/text.h"
#include "schemas/names.h"

namespace mindgate::exported {
namespace {

using nlohmann::ordered_json;
using schemas::Config;
using schemas::KindInfo;

std::string ControllerOwns() {
  return "object.?metadata.?ownerReferences.orValue([]).exists(o, o.?controller.orValue(false))";
}

// Whether a variable of the policy can give anything: cheaper than all of them.
std::string MayBeInjected(const TemplatePlace& place, const Config& config) {
  const std::string labels = "object.?metadata.?labels";
  return AnyContainer(place, AsksFor("c", NpuNames(config))) + " || " + labels + "[?" +
         Quoted(schemas::kInject) + "].orValue('') == 'enabled' || " +
         Quoted(schemas::kScalingRule) + " in " + labels + ".orValue({})";
}

std::vector<Condition> ConditionsAt(const TemplatePlace& place, const Config& config,
                                    const ExportOptions& options) {
  std::vector<Condition> conditions = {NotBeingDeleted()};
  const std::string pod_template = TemplateAt(place, "object");
  // A LeaderWorkerSet without the leader's makes all pods of the worker's.
  if (!place.role.empty())
    conditions.push_back({"has-template", pod_template + ".?spec.hasValue()"});
  // What an update leaves alone stays as it is, or it would start a rollout.
  conditions.push_back({"new-or-changed-template", "request.operation == 'CREATE' || " +
                                                       pod_template +
                                                       " != " + TemplateAt(place, "oldObject")});
  if (auto not_made = NotMade(place.kinds, options)) conditions.push_back(*std::move(not_made));
  if (place.kinds.Has(schemas::Kind::kReplicaSet)) {
    // A controller compares the template with its own.
    conditions.push_back(
        {"not-of-a-controller", "request.kind.kind != 'ReplicaSet' || !" + ControllerOwns()});
  }
  conditions.push_back({"not-declined", "!(" + IsDeclined(config) + ")"});
  conditions.push_back({"concerns-npus", MayBeInjected(place, config)});
  return conditions;
}

// One row a group, version and set of operations: a template that cannot change is completed when
// it is created.
ordered_json RulesAt(const TemplatePlace& place) {
  std::map<std::tuple<std::string_view, std::string_view, bool>, ordered_json> resources;
  for (const KindInfo& info : schemas::kKinds) {
    if (!place.kinds.Has(info.kind)) continue;
    resources[{info.group, info.version, info.template_frozen}].push_back(info.plural);
  }
  ordered_json rules = ordered_json::array();
  for (const auto& [api, names] : resources) {
    const auto& [group, version, frozen] = api;
    ordered_json operations = {"CREATE"};
    if (!frozen) operations.push_back("UPDATE");
    rules.push_back({{"apiGroups", {group}},
                     {"apiVersions", {version}},
                     {"operations", std::move(operations)},
                     {"resources", names}});
  }
  return rules;
}

// "Object.spec.template" of "/spec/template".
std::string TypeAt(std::string_view path) {
  std::string type = "Object";
  for (const char c : path) type += c == '/' ? '.' : c;
  return type;
}

// An object of the type that holds `members` and nothing above it: of path "/spec/template",
// "Object{spec: Object.spec{template: Object.spec.template{...}}}".
std::string ObjectWith(std::string_view path, const std::string& members) {
  std::string before = "Object{";
  std::string after = "}";
  std::string type;
  for (const std::string_view token : Split(path, '/')) {
    if (token.empty()) continue;
    type += "/" + std::string(token);
    before += std::string(token) + ": " + TypeAt(type) + "{";
    after += "}";
  }
  return before + members + after;
}

// Adds a member to a list of them.
void Append(const std::string& member, std::string& members) {
  if (!members.empty()) members += ", ";
  members += member;
}

// Adds the member of metadata with those of the texts that are written there, if any is.
void AppendMap(std::string_view member, const std::vector<InjectedText>& texts,
               InjectedText::Where where, std::string& members) {
  std::string map;
  for (const InjectedText& text : texts) {
    if (text.where != where) continue;
    Append("?" + Quoted(text.key) + ": optional.ofNonZeroValue(variables." + text.variable + ")",
           map);
  }
  if (!map.empty()) Append(std::string(member) + ": {" + map + "}", members);
}

std::string RequestsAt(const std::string& spec, std::string_view list, std::string_view variable) {
  const std::string type = spec + "." + std::string(list);
  return "?" + std::string(list) + ": optional.ofNonZeroValue(variables." + std::string(variable) +
         ".map(c, " + type + "{name: c.name, resources: " + type +
         ".resources{requests: c.requests}}))";
}

std::string Configuration(const TemplatePlace& place, const Injections& injections) {
  const std::string type = TypeAt(place.path);
  std::string spec;
  for (const InjectedText& text : injections.texts) {
    if (text.where != InjectedText::Where::kSpec) continue;
    Append(
        "?" + std::string(text.key) + ": optional.ofNonZeroValue(variables." + text.variable + ")",
        spec);
  }
  if (injections.requests) {
    Append(RequestsAt(type + ".spec", "containers", "requests"), spec);
    Append(RequestsAt(type + ".spec", "initContainers", "initRequests"), spec);
  }
  std::string metadata;
  AppendMap("labels", injections.texts, InjectedText::Where::kLabel, metadata);
  AppendMap("annotations", injections.texts, InjectedText::Where::kAnnotation, metadata);
  return ObjectWith(place.path, "metadata: " + type + ".metadata{" + metadata + "}, spec: " + type +
                                    ".spec{" + spec + "}");
}

std::string DevicesPatch() {
  const std::string item = "{'name': dyn(" + Quoted(schemas::kVisibleDevices) +
                           "), 'valueFrom': dyn({'fieldRef': {'fieldPath': "
                           "'metadata.annotations[\\'' + d.resource + '\\']'}})}";
  return "variables.devices.map(d, JSONPatch{op: 'add', path: d.first ? d.path : d.path + '/-', "
         "value: d.first ? dyn([" +
         item + "]) : dyn(" + item + ")})";
}

// Lists of tasks have no keys by which a merge would find their items.
std::string TaskRequestsPatch() {
  const std::string path = "path: r.path + '/resources/requests";
  return "variables.taskRequests.filter(r, r.bare).map(r, JSONPatch{op: 'add', " + path +
         "', value: {}}) + variables.taskRequests.map(r, JSONPatch{op: 'add', " + path +
         "/' + jsonpatch.escapeKey(r.key), value: r.value})";
}

std::string TaskLabelsPatch() {
  const std::string metadata = "object.spec.tasks[0].?template.?metadata";
  const std::string path = "'/spec/tasks/0/template/metadata";
  return "size(variables.taskLabels) == 0 ? [] : !" + metadata +
         ".hasValue() ? [JSONPatch{op: 'add', path: " + path +
         "', value: {'labels': variables.taskLabels}}] : !" + metadata +
         ".?labels.hasValue() ? [JSONPatch{op: 'add', path: " + path +
         "/labels', value: variables.taskLabels}] : variables.taskLabels.map(k, JSONPatch{op: "
         "'add', path: " +
         path + "/labels/' + jsonpatch.escapeKey(k), value: variables.taskLabels[k]})";
}

ordered_json MutationsOf(const TemplatePlace& place, const Injections& injections) {
  ordered_json mutations = ordered_json::array();
  if (!injections.texts.empty() || injections.requests) {
    mutations.push_back(
        {{"patchType", "ApplyConfiguration"},
         {"applyConfiguration", {{"expression", Configuration(place, injections)}}}});
  }
  const auto patch = [&](bool wanted, const std::string& expression) {
    if (!wanted) return;
    mutations.push_back({{"patchType", "JSONPatch"}, {"jsonPatch", {{"expression", expression}}}});
  };
  patch(injections.task_labels, TaskLabelsPatch());
  patch(injections.task_requests, TaskRequestsPatch());
  patch(injections.devices, DevicesPatch());
  return mutations;
}

}  // namespace

std::vector<ordered_json> MutatingPolicies(const Config& config, const ExportOptions& options,
                                           std::string_view version) {
  std::vector<ordered_json> documents;
  const std::string api_version = "admissionregistration.k8s.io/" + std::string(version);
  for (const TemplatePlace& place : TemplatePlaces()) {
    const Injections injections = InjectionsAt(place, config);
    ordered_json mutations = MutationsOf(place, injections);
    if (mutations.empty()) continue;
    const std::string name = "mindgate-inject-" + std::string(place.name);
    const ordered_json metadata = {
        {"name", name}, {"labels", {{kNameKey, kNameValue}, {kComponentKey, kComponentValue}}}};
    ordered_json constraints = {{"matchPolicy", "Equivalent"}, {"resourceRules", RulesAt(place)}};
    ordered_json selector = NamespaceSelector({}, options);
    if (!selector.is_null()) constraints["namespaceSelector"] = std::move(selector);
    ordered_json variables = ordered_json::array();
    for (const Variable& each : injections.variables) {
      variables.push_back({{"name", each.name}, {"expression", each.expression}});
    }
    documents.push_back(
        {{"apiVersion", api_version},
         {"kind", "MutatingAdmissionPolicy"},
         {"metadata", metadata},
         {"spec",
          {{"failurePolicy", "Ignore"},
           {"reinvocationPolicy", "IfNeeded"},
           {"matchConstraints", std::move(constraints)},
           {"matchConditions", MatchConditions(ConditionsAt(place, config, options))},
           {"variables", std::move(variables)},
           {"mutations", std::move(mutations)}}}});
    documents.push_back({{"apiVersion", api_version},
                         {"kind", "MutatingAdmissionPolicyBinding"},
                         {"metadata", metadata},
                         {"spec", {{"policyName", name}}}});
  }
  return documents;
}

}  // namespace mindgate::exported
