#include "deploy/function.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "deploy/check.h"
#include "deploy/cluster.h"
#include "deploy/config.h"
#include "deploy/labels.h"
#include "json/value.h"

namespace mindgate::deploy {
namespace {

using schemas::FunctionSeverity;

constexpr std::string_view kWarningPrefix = "warning: ";

// Of the configuration, or of the object that `reference` names. Its message begins with what the
// severity means.
void ReportIssue(schemas::ResourceList& list, FunctionSeverity severity, json::Issue issue,
                 const Json& reference = nullptr) {
  for (const std::string_view prefix : {kWarningPrefix, std::string_view("denied: ")}) {
    if (issue.message.starts_with(prefix)) issue.message.erase(0, prefix.size());
  }
  Json more = Json::object();
  if (!issue.field.empty()) more["field"] = {{"path", issue.field}};
  const bool of_configuration = reference.is_null();
  if (!of_configuration) more["resourceRef"] = reference;
  const std::string where =
      of_configuration && !issue.field.empty() ? "spec." + issue.field : std::string();
  list.Report(severity, std::move(issue.message), issue.hint, where, std::move(more));
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

FunctionSeverity SeverityOf(const CheckFinding& finding) {
  if (finding.Denies()) return FunctionSeverity::kError;
  return finding.finding.mode == schemas::Mode::kAudit ? FunctionSeverity::kInfo
                                                       : FunctionSeverity::kWarning;
}

}  // namespace

schemas::FunctionAnswer RunFunction(schemas::ResourceList list, const schemas::Config& config,
                                    Time now) {
  Json items = list.items();
  const Json written = ConfigurationIn(list.function_config());
  const auto read = ReadConfiguration(written, json::Positions());
  if (!read) {
    for (const json::Issue& issue : read.error().items()) {
      ReportIssue(list, FunctionSeverity::kError, issue);
    }
    return std::move(list).Answer(std::move(items));
  }
  const CheckedApplication checked = Check(*read, Render(read->application), config, {}, now);
  for (const json::Issues* issues : {&read->warnings, &checked.overrides}) {
    for (const json::Issue& issue : issues->items()) {
      ReportIssue(list, FunctionSeverity::kWarning, issue);
    }
  }
  for (const CheckFinding& finding : checked.findings) {
    ReportIssue(list, SeverityOf(finding), IssueOf(finding, checked),
                schemas::ReferenceTo(checked.objects[finding.object].object));
  }
  Prune(items, read->application, checked.objects);
  for (const RenderedObject& each : checked.objects) Put(items, each.object);
  return std::move(list).Answer(std::move(items));
}

}  // namespace mindgate::deploy
