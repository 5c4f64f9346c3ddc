#include "offline/admission_function.h"

#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "admission/config_files.h"
#include "base/text.h"
#include "json/pointer.h"
#include "json/value.h"
#include "offline/report.h"
#include "schemas/config_table.h"
#include "schemas/field_types.h"

namespace mindgate::offline {
namespace {

using json::Json;
using schemas::FunctionSeverity;
using schemas::ResourceList;

// The `spec` of the functionConfig.
struct AdmissionSpec {
  std::optional<schemas::Config> config;
  bool strict = false;
  std::string ns;
  std::map<std::string, std::string, std::less<>> namespace_labels;
};

schemas::Type<AdmissionSpec> SpecTable() {
  return schemas::Object<AdmissionSpec>(
      {{"config", "The keys of mindgate.yaml.", &AdmissionSpec::config,
        schemas::ConfigTable(admission::KnownNames())},
       {"strict", "Whether warnings deny.", &AdmissionSpec::strict, schemas::Boolean()},
       {"namespace", "Of items that name none.", &AdmissionSpec::ns, schemas::NonEmptyText()},
       {"namespaceLabels", "The labels of the namespaces on the cluster.",
        &AdmissionSpec::namespace_labels, schemas::Map(schemas::Text())}});
}

// Nothing after reporting the faults.
std::optional<AdmissionSpec> ReadSpec(ResourceList& list) {
  const Json spec = list.function_config().value("spec", Json::object());
  const json::Positions nowhere;
  schemas::ReadContext reading(spec, nowhere);
  AdmissionSpec read;
  if (schemas::ReadDocument(SpecTable().OrNull(), spec, reading, read)) return read;
  for (const schemas::ReadContext::LocatedIssue& found : reading.found_faults()) {
    const std::string field = "spec" + (found.issue.field.empty() ? "" : "." + found.issue.field);
    list.Report(FunctionSeverity::kError, found.issue.message, found.issue.hint, field,
                {{"field", {{"path", field}}}});
  }
  return std::nullopt;
}

// The items as objects of JSON that follow each other: the documents are in their order.
std::unique_ptr<Source> SourceOf(const Json& items) {
  InputText text{.name = kStdin, .text = {}};
  for (const Json& item : items) text.text += item.dump() + "\n";
  if (items.empty()) return std::make_unique<Source>();
  return Decode(std::move(text));
}

FunctionSeverity SeverityOf(FindingLevel level) {
  switch (level) {
    case FindingLevel::kAudit:
    case FindingLevel::kNote:
      return FunctionSeverity::kInfo;
    case FindingLevel::kWarning:
      return FunctionSeverity::kWarning;
    case FindingLevel::kDenied:
    case FindingLevel::kError:
      break;
  }
  return FunctionSeverity::kError;
}

// Where the item came from, which orchestrators write into annotations.
Json FileOf(const Json& item) {
  const Json* annotations = json::FindPath(item, {"metadata", "annotations"});
  Json file;
  for (const std::string prefix : {"internal.config.kubernetes.io/", "config.kubernetes.io/"}) {
    if (annotations == nullptr || file.contains("path")) break;
    const std::string path = json::TextAt(*annotations, {prefix + "path"});
    if (path.empty()) continue;
    file["path"] = path;
    const auto index = ParseGoInt(json::TextAt(*annotations, {prefix + "index"}));
    if (index) file["index"] = *index;
  }
  return file;
}

void ReportFindings(const ReportedObject& object, const Json& item, ResourceList& list) {
  const Json reference = schemas::ReferenceTo(item);
  const Json file = FileOf(item);
  for (const ReportedFinding& finding : object.findings) {
    Json more = {{"resourceRef", reference}};
    if (!finding.field.empty()) more["field"] = {{"path", finding.field}};
    if (!file.is_null()) more["file"] = file;
    list.Report(SeverityOf(finding.level), RuleTitle(finding) + ": " + finding.message, finding.fix,
                object.title + (finding.field.empty() ? "" : ": " + finding.field),
                std::move(more));
  }
}

}  // namespace

bool IsAdmission(const ResourceList& list) {
  return json::TextAt(list.function_config(), {"kind"}) == "Admission";
}

schemas::FunctionAnswer RunAdmissionFunction(ResourceList list, const schemas::Config& config,
                                             Time now) {
  Json items = list.items();
  const auto spec = ReadSpec(list);
  if (!spec) return std::move(list).Answer(std::move(items));
  RequestOptions request;
  request.ns = spec->ns;
  request.namespace_labels = spec->namespace_labels;
  request.now = now;
  const schemas::Config& chosen = spec->config ? *spec->config : config;
  std::vector<std::unique_ptr<Source>> sources;
  sources.push_back(SourceOf(items));
  const auto inputs = ObjectsOf(sources);
  const Decider decider(inputs, {}, request, chosen, {.strict = spec->strict});
  Reporter reporter(spec->strict);
  for (const InputObject& input : inputs) {
    const Decision decision = decider.Decide(input);
    // Items beyond the limits of what is decoded have no document.
    const bool known = input.document != nullptr;
    Json none;
    Json& item = known ? items.at(static_cast<size_t>(input.document->number) - 1) : none;
    ReportFindings(reporter.Of(decision), item, list);
    if (!known || decision.verdict.mutated == nullptr || input.from_review) continue;
    item[Json::json_pointer(input.path)] = json::TreeOf(*decision.ObjectAfter());
  }
  return std::move(list).Answer(std::move(items));
}

}  // namespace mindgate::offline
