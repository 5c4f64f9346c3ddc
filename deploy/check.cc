#include "deploy/check.h"

#include <algorithm>
#include <deque>
#include <set>
#include <utility>

#include "admission/admit.h"
#include "base/text.h"
#include "json/decode.h"
#include "json/pointer.h"
#include "schemas/known_objects.h"
#include "schemas/request.h"

namespace mindgate::deploy {
namespace {

using json::Json;

// Where what stands at `path` of the object was written.
json::Position PlaceOf(const RenderedObject& object, std::string_view path,
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
                         const schemas::Config& config, const ClusterContext& surroundings,
                         Time now) {
  std::deque<json::Document> documents;
  for (const Json& object : surroundings.objects) documents.emplace_back(object);
  for (const RenderedObject& each : objects) documents.emplace_back(each.object);
  std::vector<schemas::KnownObjects::Known> known;
  for (const json::Document& document : documents) known.push_back({&document.root()});
  const schemas::KnownObjects all(known, "");
  const schemas::KnownObjects::Lookup lookup(all, nullptr);
  CheckedApplication checked;
  std::set<std::string> told;
  for (size_t i = 0; i < objects.size(); ++i) {
    RenderedObject& each = objects[i];
    for (const Override& replaced : each.overrides) {
      if (!told.insert(replaced.written).second) continue;  // several objects, one setting
      checked.overrides.Add({configuration.positions.At(replaced.written),
                             json::FieldPath(configuration.document, replaced.written),
                             "warning: " + Quote(replaced.key) + " replaces " +
                                 Quote(replaced.instead_of) + ", which mindgate writes",
                             "remove it, unless it is on purpose"});
    }
    const json::Document document(each.object);
    schemas::AdmissionRequest request;
    request.object = &document.root();
    request.ns = each.Namespace();
    request.namespace_labels = surroundings.namespace_labels;
    request.objects = &lookup;
    request.now = now;
    admission::Verdict verdict = admission::Admit(request, config);
    for (policies::Finding& finding : verdict.findings) {
      const json::Position at = PlaceOf(each, finding.path, configuration.positions);
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

}  // namespace mindgate::deploy
