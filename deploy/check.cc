#include "deploy/check.h"

#include <algorithm>
#include <deque>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "admission/admit.h"
#include "base/text.h"
#include "deploy/cluster.h"
#include "deploy/config.h"
#include "deploy/render.h"
#include "json/decode.h"
#include "json/pointer.h"
#include "json/value.h"
#include "schemas/request.h"

namespace mindgate::deploy {
namespace {

using json::Json;

// Where what stands at `path` of the object was written.
json::Position PositionOf(const RenderedObject& object, std::string_view path,
                          const json::Positions& positions) {
  const Origin* nearest = object.NearestOrigin(path);
  if (nearest == nullptr) return positions.At("/app_name");
  return positions.At(nearest->written + std::string(path.substr(nearest->rendered.size())));
}

}  // namespace

bool CheckedApplication::denied() const {
  return std::any_of(findings.begin(), findings.end(),
                     [](const CheckFinding& each) { return each.Denies(); });
}

CheckedApplication Check(const Configuration& configuration, std::vector<RenderedObject> objects,
                         const schemas::Config& config, const ClusterContext& cluster_context,
                         Time now) {
  std::deque<json::Document> documents;
  for (const Json& object : cluster_context.objects) documents.emplace_back(object);
  for (const RenderedObject& each : objects) documents.emplace_back(each.object);
  std::vector<schemas::KnownObjects::Known> known;
  for (const json::Document& document : documents) known.push_back({&document.root()});
  const schemas::KnownObjects all(known, "");
  const schemas::KnownObjects::Lookup lookup(all, nullptr);
  CheckedApplication checked;
  std::set<std::string> reported;
  for (size_t i = 0; i < objects.size(); ++i) {
    RenderedObject& each = objects[i];
    for (const Override& replaced : each.overrides) {
      if (!reported.insert(replaced.written).second) continue;  // several objects, one setting
      checked.override_warnings.Add({configuration.positions.At(replaced.written),
                                     json::FieldPath(configuration.document, replaced.written),
                                     "warning: " + Quote(replaced.key) + " replaces " +
                                         Quote(replaced.instead_of) + ", which mindgate writes",
                                     "remove it, unless it is on purpose"});
    }
    const json::Document document(each.object);
    schemas::AdmissionRequest request;
    request.object = &document.root();
    request.ns = each.Namespace();
    request.namespace_labels = cluster_context.namespace_labels;
    request.objects = &lookup;
    request.now = now;
    admission::Verdict verdict = admission::Admit(request, config);
    for (policies::Finding& finding : verdict.findings) {
      const json::Position at = PositionOf(each, finding.path, configuration.positions);
      checked.findings.push_back({i, std::move(finding), at});
    }
    if (verdict.mutated != nullptr) each.object = json::TreeOf(verdict.mutated->root());
    checked.objects.push_back(std::move(each));
  }
  return checked;
}

json::Issue IssueOf(const CheckFinding& finding, const CheckedApplication& application) {
  const policies::Finding& found = finding.finding;
  std::string message = finding.Denies() ? "denied: " : "warning: ";
  message += application.objects[finding.object].Title() + ": ";
  if (found.rule != nullptr) {
    message += policies::TitleOf(*found.rule) + ": ";
  }
  if (!found.field.empty()) message += found.field + ": ";
  return {finding.at, found.field, message + found.message, found.fix};
}

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
  for (const json::Issues* issues : {&read->warnings, &checked.override_warnings}) {
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
