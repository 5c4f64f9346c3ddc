#include <array>

#include "base/text.h"
#include "json/pointer.h"
#include "policies/mindie_checks.h"
#include "policies/places.h"
#include "policies/references.h"
#include "schemas/names.h"
#include "schemas/rank_table.h"

namespace mindgate::policies::mindie {
namespace {

using json::Child;
using json::Value;
using schemas::WorkloadView;

constexpr std::array<std::string_view, 3> kApps = {
    schemas::kMindieServer, schemas::kMindieController, schemas::kMindieCoordinator};

bool IsKnownApp(std::optional<std::string_view> app) {
  return app == kApps[0] || app == kApps[1] || app == kApps[2];
}

bool Has(const WorkloadView& view, std::string_view label) {
  return view.labels.Find(label) != nullptr;
}

std::string LabelPath(const WorkloadView& view, std::string_view key) {
  return view.labels.path.Child(key);
}

}  // namespace

void CheckApp(const RuleContext& context, Findings& findings) {
  const WorkloadView& view = context.view;
  const auto app = view.Label(schemas::kApp);
  if (!app || IsKnownApp(app)) return;
  const auto near = NearestOf(*app, kApps);
  // Without jobID the label is just somebody's `app`, unless it is a slip of the pen.
  if (!near && !Has(view, schemas::kJobId)) return;
  findings.Violate(LabelPath(view, schemas::kApp),
                   near ? "app " + Quote(*app) + " is not known to MindCluster (did you mean " +
                              Quote(*near) + "?), so the job is not part of the service"
                        : "app " + Quote(*app) +
                              " together with jobID makes this a MindIE job of unknown role, "
                              "without RANK and MASTER_ADDR",
                   near ? "write app: " + std::string(*near)
                        : "write app: " + OneOf(kApps) +
                              ", or remove app or jobID from a job that is not a MindIE job");
}

void CheckTemplateLabels(const RuleContext& context, Findings& findings) {
  const WorkloadView& view = context.view;
  if (view.framework != schemas::Framework::kMindIE) return;
  const auto app = view.Label(schemas::kApp);
  const bool found_by_pods =
      app == schemas::kMindieController || app == schemas::kMindieCoordinator;
  for (const auto& pod : view.templates) {
    if (pod.labels.wrong_type) continue;
    for (std::string_view key : {schemas::kApp, schemas::kJobId}) {
      const auto wanted = view.Label(key);
      const Value* written = pod.labels.Find(key);
      if (!wanted || (written == nullptr && !found_by_pods)) continue;
      if (written != nullptr && (!written->is_string() || json::AsString(written) == wanted))
        continue;
      findings.Violate(
          pod.labels.path.Child(key),
          "pods of " + std::string(pod.name) + " carry " +
              (written == nullptr ? "no " + std::string(key)
                                  : std::string(key) + " " + Quote(*json::AsString(written))) +
              " while the job has " + Quote(*wanted) +
              (found_by_pods ? ", so ClusterD does not find them"
                             : ", and different values are joined to one that nothing recognises"),
          "write " + std::string(key) + ": " + std::string(*wanted));
    }
  }
}

void CheckIdentity(const RuleContext& context, Findings& findings) {
  const WorkloadView& view = context.view;
  if (view.labels.wrong_type) return;
  const bool has_rule = Has(view, schemas::kScalingRule);
  const auto app = view.Label(schemas::kApp);
  // With a scaling rule a missing or empty jobID is scaling-labels' to tell.
  if (IsKnownApp(app) && !has_rule) {
    const Value* job_id = view.labels.Find(schemas::kJobId);
    const std::string fix = "write jobID with the id of the service, the same on all its jobs";
    if (job_id == nullptr) {
      findings.Violate(LabelPath(view, schemas::kJobId),
                       "label jobID is missing beside app " + Quote(*app) +
                           ", so the operator treats this as a training job",
                       fix);
    } else if (json::AsString(job_id) == "") {
      findings.Violate(LabelPath(view, schemas::kJobId),
                       "label jobID is empty, so the job belongs to no service", fix);
    }
  }
  if (has_rule && Has(view, schemas::kJobId) && !Has(view, schemas::kApp)) {
    findings.Violate(LabelPath(view, schemas::kApp),
                     "label app is missing beside jobID, so the operator treats this as a training "
                     "job",
                     "write app: mindie-ms-server");
  }
}

void CheckRankTableExists(const RuleContext& context, Findings& findings) {
  const WorkloadView& view = context.view;
  const auto job_id = view.Label(schemas::kJobId);
  if (view.Label(schemas::kApp) != schemas::kMindieServer || !job_id || view.name.empty()) return;
  const std::string name = std::string(schemas::kRankTablePrefix) + std::string(view.name);
  const Reference found = LookUp(context, findings, "", "ConfigMap", context.ns(), name);
  const auto meant = found.object == nullptr
                         ? FindMeant(context, "", "ConfigMap", context.ns(), name)
                         : std::nullopt;
  if (meant) {
    findings.Violate("/metadata/name",
                     "ConfigMap " + Quote(name) + " is missing, but " +
                         (meant->name != name ? Quote(meant->name) + " is there"
                          : meant->ns.empty() ? "there is one that names no namespace"
                                              : "there is one in namespace " + Quote(meant->ns)) +
                         ": the operator finds the rank table by the job's name and namespace, so "
                         "MindIE does not learn the job's devices",
                     meant->name != name ? "write name: " + name + " in the ConfigMap"
                                         : "write the job's namespace in the ConfigMap");
    return;
  }
  if (found.IsAbsent()) {
    findings.Violate(
        "/metadata/name",
        "ConfigMap " + Quote(name) +
            " is missing; the operator never creates it, so MindIE does not learn the "
            "job's devices",
        "create it before the job, with data hccl.json: {\"status\":\"initializing\"}");
    return;
  }
  if (found.object == nullptr) return;
  const auto table = schemas::ReadRankTable(*found.object);
  if (!table || json::AsString(table->job_id) == job_id) return;
  findings.Violate(LabelPath(view, schemas::kJobId),
                   "jobID " + Quote(*job_id) + " is not the jobID of ConfigMap " + Quote(name) +
                       ", so the job's devices are missing from the service's rank table",
                   "write the same jobID on the job and its ConfigMap");
}

// The products that MindCluster's own manifests name.
constexpr std::array<std::string_view, 5> kRingControllers = {
    "ascend-910", "ascend-910b", "ascend-310", "ascend-310P", "ascend-npu"};

void CheckRingController(const RuleContext& context, Findings& findings) {
  for (const TextEntry& entry : ReachingLabels(context.view, schemas::kRingController)) {
    const auto nearest = NearestOf(entry.value, kRingControllers);
    if (!nearest) continue;
    findings.Violate(entry.Path(),
                     "ring-controller.atlas is " + Quote(entry.value) +
                         ", which names no product, did you mean " + Quote(*nearest) +
                         "? The scheduler cuts no virtual NPUs for it, and older releases make no "
                         "rank table",
                     "write ring-controller.atlas: " + std::string(*nearest));
  }
}

}  // namespace mindgate::policies::mindie
