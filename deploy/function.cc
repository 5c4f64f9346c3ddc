#include "deploy/function.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/text.h"
#include "deploy/check.h"
#include "deploy/cluster.h"
#include "deploy/config.h"
#include "deploy/labels.h"
#include "json/value.h"
#include "json/yaml.h"

namespace mindgate::deploy {
namespace {

constexpr const char* kWarningPrefix = "warning: ";

Json ResultOf(json::Issue issue, const std::string& severity) {
  // "warning: " and "denied: " are what the severity says.
  for (const std::string_view prefix :
       {std::string_view(kWarningPrefix), std::string_view("denied: ")}) {
    if (issue.message.starts_with(prefix)) issue.message.erase(0, prefix.size());
  }
  if (!issue.hint.empty()) issue.message += "; " + issue.hint;
  Json result = {{"message", issue.message}, {"severity", severity}};
  if (!issue.field.empty()) result["field"] = {{"path", issue.field}};
  return result;
}

Json ReferenceTo(const Json& object) {
  Json reference = {{"apiVersion", object.at("apiVersion")},
                    {"kind", object.at("kind")},
                    {"name", NameOf(object)}};
  if (!NamespaceOf(object).empty()) reference["namespace"] = NamespaceOf(object);
  return reference;
}

bool IsSame(const Json& a, const Json& b) {
  return KindOf(a) == KindOf(b) && NameOf(a) == NameOf(b) && NamespaceOf(a) == NamespaceOf(b) &&
         a.value("apiVersion", "") == b.value("apiVersion", "");
}

// Whether the annotation is of the tools between which the function runs, and of others who work on
// its output, rather than of MindCluster or ours: one of those that the configuration no longer has
// must go.
bool IsOfOthers(std::string_view key) {
  const size_t slash = key.find('/');
  if (slash == std::string_view::npos) return false;
  const std::string_view domain = key.substr(0, slash);
  for (const std::string_view ours :
       {"mindgate.io", "huawei.com", "mind-cluster", "scheduling.k8s.io", "volcano.sh"}) {
    const bool below = domain.size() > ours.size() && domain.ends_with(ours) &&
                       domain[domain.size() - ours.size() - 1] == '.';
    if (domain == ours || below) return false;
  }
  return true;
}

// Annotations say where the item came from and where it goes (config.kubernetes.io/index, the
// sync-wave of Argo CD): "must be careful about", functions-spec.md.
Json WithAnnotationsOf(const Json& item, Json object) {
  const Json* annotations = json::FindPath(item, {"metadata", "annotations"});
  if (!json::IsObject(annotations)) return object;
  Json& kept = object["metadata"]["annotations"];
  for (const auto& [key, value] : annotations->items()) {
    if (IsOfOthers(key) && !kept.contains(key)) kept[key] = value;
  }
  return object;
}

void Put(Json& items, const Json& object) {
  const auto same = std::find_if(items.begin(), items.end(),
                                 [&object](const Json& item) { return IsSame(item, object); });
  if (same == items.end()) {
    items.push_back(object);
  } else {
    *same = WithAnnotationsOf(*same, object);
  }
}

// Items that the function made before and makes no longer, as kpt keeps them between its runs.
void Prune(Json& items, const Application& application,
           const std::vector<RenderedObject>& rendered) {
  const std::string written = application.ns + "/" + application.name;
  items.erase(std::remove_if(items.begin(), items.end(),
                             [&](const Json& item) {
                               return IsOurs(item, application.name) &&
                                      Annotation(item, kApplication) == written &&
                                      std::none_of(rendered.begin(), rendered.end(),
                                                   [&item](const RenderedObject& each) {
                                                     return IsSame(item, each.object);
                                                   });
                             }),
              items.end());
}

// The configuration in a functionConfig.
Json ConfigurationIn(const Json& function_config) {
  Json configuration = function_config.value("spec", Json::object());
  if (!configuration.is_object()) return configuration;
  const auto fill = [&](const char* key, const std::string& value) {
    if (!configuration.contains(key) && !value.empty()) configuration[key] = value;
  };
  fill("app_name", NameOf(function_config));
  fill("app_namespace", NamespaceOf(function_config));
  return configuration;
}

// Of one that has no object, the field is of the configuration.
std::string LineOf(const Json& result) {
  std::string line = result.at("severity").get<std::string>() + ": ";
  const Json* field = json::FindPath(result, {"field", "path"});
  if (field != nullptr && !result.contains("resourceRef")) {
    line += "spec." + field->get<std::string>() + ": ";
  }
  return line + result.at("message").get<std::string>();
}

FunctionAnswer Answer(Json list, Json items, Json results) {
  FunctionAnswer answer;
  answer.failed = std::any_of(results.begin(), results.end(),
                              [](const Json& result) { return result.at("severity") == "error"; });
  for (const Json& result : results) answer.told.push_back(LineOf(result));
  if (!answer.failed) list["items"] = std::move(items);
  if (!results.empty()) list["results"] = std::move(results);
  answer.output = json::EncodeYaml(list);
  return answer;
}

}  // namespace

FunctionAnswer RunFunction(std::string_view resource_list, const schemas::Config& config,
                           Time now) {
  auto documents = json::DecodeCoreYaml(resource_list);
  if (!documents) {
    return {"",
            "line " + std::to_string(documents.error().at.line) + ": " + documents.error().message};
  }
  if (documents->size() != 1 || KindOf(documents->front().value) != "ResourceList") {
    return {"", "standard input is no ResourceList (config.kubernetes.io/v1)"};
  }
  Json list = std::move(documents->front().value);
  Json items = list.value("items", Json::array());
  const Json function_config = list.value("functionConfig", Json::object());
  if (!function_config.is_object()) {
    return {"", "functionConfig of the ResourceList must be an object, not " +
                    WithArticle(json::TypeName(function_config)) +
                    "; write the configuration of the application in its spec"};
  }
  if (!items.is_array() ||
      !std::all_of(items.begin(), items.end(), [](const Json& item) { return item.is_object(); })) {
    return {"", "items of the ResourceList must be a list of objects"};
  }
  Json results = Json::array();
  const Json written = ConfigurationIn(function_config);
  const auto read = ReadConfiguration(written, json::Positions());
  if (!read) {
    for (const json::Issue& issue : read.error().items()) {
      results.push_back(ResultOf(issue, "error"));
    }
    return Answer(std::move(list), std::move(items), std::move(results));
  }
  const CheckedApplication checked = Check(*read, Render(read->application), config, {}, now);
  for (const json::Issues* issues : {&read->warnings, &checked.overrides}) {
    for (const json::Issue& issue : issues->items()) {
      results.push_back(ResultOf(issue, "warning"));
    }
  }
  for (const CheckFinding& finding : checked.findings) {
    const bool audit = finding.finding.mode == schemas::Mode::kAudit && !finding.Denies();
    Json result = ResultOf(IssueOf(finding, checked), finding.Denies() ? "error"
                                                      : audit          ? "info"
                                                                       : "warning");
    result["resourceRef"] = ReferenceTo(checked.objects[finding.object].object);
    results.push_back(std::move(result));
  }
  Prune(items, read->application, checked.objects);
  for (const RenderedObject& each : checked.objects) Put(items, each.object);
  return Answer(std::move(list), std::move(items), std::move(results));
}

}  // namespace mindgate::deploy
