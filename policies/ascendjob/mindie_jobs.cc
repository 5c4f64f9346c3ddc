#include <algorithm>
#include <array>

#include "base/text.h"
#include "json/pointer.h"
#include "policies/families.h"
#include "policies/lookups.h"
#include "policies/text_entries.h"
#include "schemas/names.h"
#include "schemas/raw_objects.h"

namespace mindgate::policies::ascendjob {
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

void CheckApp(const RuleContext& context, Findings& findings) {
  const WorkloadView& view = context.view;
  const auto app = view.Label(schemas::kApp);
  if (!app || IsKnownApp(app)) return;
  const auto near = NearestOf(*app, kApps);
  // Without jobID the label is just somebody's `app`, unless it is a slip of the pen.
  if (!near && !Has(view, schemas::kJobId)) return;
  findings.Violate(view.labels.path.Child(schemas::kApp),
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
  // With a scaling rule a missing or empty jobID is reported by scaling-labels.
  if (IsKnownApp(app) && !has_rule) {
    const Value* job_id = view.labels.Find(schemas::kJobId);
    const std::string fix = "write jobID with the id of the service, the same on all its jobs";
    if (job_id == nullptr) {
      findings.Violate(view.labels.path.Child(schemas::kJobId),
                       "label jobID is missing beside app " + Quote(*app) +
                           ", so the operator treats this as a training job",
                       fix);
    } else if (json::AsString(job_id) == "") {
      findings.Violate(view.labels.path.Child(schemas::kJobId),
                       "label jobID is empty, so the job belongs to no service", fix);
    }
  }
  if (has_rule && Has(view, schemas::kJobId) && !Has(view, schemas::kApp)) {
    findings.Violate(
        view.labels.path.Child(schemas::kApp),
        "label app is missing beside jobID, so the operator treats this as a training job",
        "write app: mindie-ms-server");
  }
}

// A rank table of the same service that no job here has the name of; empty when there is none.
std::string_view TableWithoutJob(const RuleContext& context, std::string_view job_id) {
  std::string_view name;
  if (context.request.objects == nullptr) return name;
  const schemas::ObjectLookup& objects = *context.request.objects;
  const auto& job = context.view.info();
  objects.ForEach("", "ConfigMap", context.ns(), [&](const Value& config_map) {
    const auto table = schemas::ReadRankTable(config_map);
    if (!name.empty() || !table || json::AsString(table->job_id) != job_id) return;
    if (objects.Find(job.group, job.name, context.ns(), table->job_name) != nullptr) return;
    name = json::FindString(json::Find(config_map, "metadata"), "name").value_or("");
  });
  return name;
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
                     meant->name != name ? "rename the ConfigMap to " + name
                                         : "write the job's namespace in the ConfigMap");
    return;
  }
  const std::string_view orphan =
      found.object == nullptr ? TableWithoutJob(context, *job_id) : std::string_view();
  if (!orphan.empty()) {
    findings.Violate("/metadata/name",
                     "ConfigMap " + Quote(name) + " is missing, but " + Quote(orphan) +
                         " has the same jobID and the name of no job: the operator finds the rank "
                         "table by the job's name, so MindIE does not learn the job's devices",
                     "rename the ConfigMap to " + name);
    return;
  }
  if (found.IsAbsent()) {
    findings.Violate(
        "/metadata/name",
        "ConfigMap " + Quote(name) +
            " is missing; the operator never creates it, so MindIE does not learn the job's "
            "devices",
        "create it before the job, with data hccl.json: {\"status\":\"initializing\"}");
    return;
  }
  if (found.object == nullptr) return;
  const auto table = schemas::ReadRankTable(*found.object);
  if (!table || json::AsString(table->job_id) == job_id) return;
  findings.Violate(view.labels.path.Child(schemas::kJobId),
                   "jobID " + Quote(*job_id) + " is not the jobID of ConfigMap " + Quote(name) +
                       ", so the job's devices are missing from the service's rank table",
                   "write the same jobID on the job and its ConfigMap");
}

constexpr Rule kMindieJobRules[] = {
    {.id = "MG040",
     .name = "mindie-app",
     .severity = Severity::kWarning,
     .default_mode = Mode::kWarn,
     .kinds = schemas::kAscendJobs,
     .summary = "The label app of a MindIE job is mindie-ms-server, mindie-ms-controller or "
                "mindie-ms-coordinator.",
     .why = "A job with both jobID and app counts as a MindIE job whatever the values, and gets "
            "none of the variables of a training job. Rescheduling and ClusterD compare the value: "
            "with another one a controller or coordinator is deleted with its whole gang after a "
            "fault, and is missing from the global rank table.",
     .fix =
         "Write one of the three values, or remove the label from a job that is not a MindIE job.",
     .source =
         "mind-cluster: component/ascend-operator/pkg/controllers/v1/env.go, "
         "component/ascend-for-volcano/internal/rescheduling, component/clusterd. The documents' "
         "own sample says mindeie-ms-server. A warning, because app is a common label.",
     .check = CheckApp},
    {.id = "MG041",
     .name = "mindie-template-labels",
     .severity = Severity::kWarning,
     .default_mode = Mode::kWarn,
     .kinds = schemas::kAscendJobs,
     .summary = "Pod templates of a MindIE job carry the job's jobID and app.",
     .why = "ClusterD finds controller and coordinator by the labels of their pods. The scheduler "
            "joins the labels of a PodGroup and its pods; two values of one key become a value "
            "that nothing recognises.",
     .fix = "Write the job's own values in metadata.labels of every template.",
     .source = "mind-cluster: component/clusterd/pkg/domain/epranktable, "
               "component/ascend-for-volcano/plugin/job.go. A warning, because MindIE's deploy "
               "script can make the global rank table without ClusterD.",
     .check = CheckTemplateLabels},
    {.id = "MG046",
     .name = "rank-table-exists",
     .severity = Severity::kWarning,
     .default_mode = Mode::kWarn,
     .kinds = schemas::kAscendJobs,
     .summary = "For a MindIE server job N there is a ConfigMap rings-config-N with its jobID in "
                "its namespace.",
     .why = "The operator fills the table only if it is there when the job starts; it never "
            "creates it and does not check again. ClusterD then leaves the instance out of the "
            "global rank table.",
     .fix = "Create the ConfigMap before the job.",
     .source = "mind-cluster: component/ascend-operator/pkg/controllers/v1/jobinfo.go; documents "
               "of MindIE Motor. A warning, because MindIE can run on a table from elsewhere.",
     .check = CheckRankTableExists},
    {.id = "MG047",
     .name = "mindie-identity",
     .severity = Severity::kWarning,
     .default_mode = Mode::kWarn,
     .kinds = schemas::kAscendJobs,
     .summary = "A job of a MindIE service carries both jobID and app, and jobID is not empty.",
     .why = "The operator recognises a MindIE job by the presence of both labels. With one of them "
            "it writes the variables of a training job, and ClusterD and elastic scaling do not "
            "find the job among those of its service.",
     .fix = "Write both labels in metadata.labels.",
     .source = "mind-cluster: component/ascend-operator/pkg/controllers/v1/env.go",
     .check = CheckIdentity},
};

}  // namespace

Family MindieJobRules() { return kMindieJobRules; }

// Services beside MindIE Motor: the few of which its samples fix name or port.

namespace {

bool HasMindiePort(const Value& service) {
  const Value* ports = json::FindPath(service, {"spec", "ports"});
  return json::IsArray(ports) && std::any_of(ports->begin(), ports->end(), [](const Value& port) {
           return json::AsInt(json::Find(port, "nodePort")) == schemas::kMindieNodePort;
         });
}

// "namespace/name" of another Service with MindIE's NodePort; empty when none is known: one of the
// same name elsewhere, as when a sample is deployed twice, or another one of the namespace.
std::string OtherWithPort(const RuleContext& context) {
  std::string other;
  const schemas::ObjectLookup* objects = context.request.objects;
  if (objects == nullptr) return other;
  const auto look = [&](const Value& service) {
    const Value* metadata = json::Find(service, "metadata");
    const std::string_view name = json::FindString(metadata, "name").value_or("");
    const std::string_view ns = json::FindString(metadata, "namespace").value_or("");
    const bool itself = name == context.view.name && ns == context.view.ns;
    if (itself || !other.empty() || !HasMindiePort(service)) return;
    other = (ns.empty() ? "" : std::string(ns) + "/") + std::string(name);
  };
  objects->ForEachNamed("", "Service", context.view.name, look);
  objects->ForEach("", "Service", context.ns(), look);
  return other;
}

void CheckNodePort(const RuleContext& context, Findings& findings) {
  const Value* ports = json::FindPath(*context.view.object, {"spec", "ports"});
  if (!json::IsArray(ports)) return;
  for (size_t i = 0; i < ports->size(); ++i) {
    if (json::AsInt(json::Find((*ports)[i], "nodePort")) != schemas::kMindieNodePort) continue;
    const std::string other = OtherWithPort(context);
    findings.Violate(json::Child("/spec/ports", i) + "/nodePort",
                     other.empty() ? "nodePort 31015 is that of every sample of MindIE Motor: only "
                                     "one Service of the cluster can have it"
                                   : "nodePort 31015 belongs to Service " + other +
                                         " already: Kubernetes refuses the second",
                     "write a nodePort of this service's own, or leave it out");
  }
}

void CheckServiceName(const RuleContext& context, Findings& findings) {
  if (context.view.name != schemas::kMindieCoordinator) return;
  findings.Violate(
      "/metadata/name",
      "Kubernetes gives every pod of the namespace variables that begin with MINDIE_MS_COORDINATOR "
      "for this Service, and MindIE's controller reads its own setting under such a name",
      "write another name, such as mindie-ms-coordinator-infer");
}

constexpr Rule kServiceRules[] = {
    {.id = "MG169",
     .name = "mindie-node-port",
     .severity = Severity::kWarning,
     .default_mode = Mode::kWarn,
     .kinds = schemas::kServices,
     .summary = "A Service does not take NodePort 31015 from the samples of MindIE Motor.",
     .why = "A NodePort belongs to one Service of the whole cluster. The second MindIE service "
            "that is deployed from the sample gets no Service for its coordinator, and no request "
            "reaches it.",
     .fix = "Give each service a nodePort of its own, or leave it out and let Kubernetes choose.",
     .source =
         "MindIE Motor: deployment samples (mindie-ms-coordinator-infer); Kubernetes "
         "documentation, Service type NodePort. The first such Service works: therefore a warning",
     .check = CheckNodePort},
    {.id = "MG170",
     .name = "mindie-service-name",
     .severity = Severity::kError,
     .default_mode = Mode::kWarn,
     .kinds = schemas::kServices,
     .summary = "No Service is named mindie-ms-coordinator.",
     .why = "For each Service Kubernetes sets variables in the pods of its namespace, named after "
            "it. Those of this name clash with a variable that MindIE's controller reads as its "
            "own setting, and the controller does not find its coordinator.",
     .fix = "Write another name; the samples use mindie-ms-coordinator-infer.",
     .source = "Kubernetes documentation: environment variables of Services; MindIE Motor, its "
               "deploy scripts. Pods with enableServiceLinks: false do not get the variables: "
               "therefore a warning",
     .check = CheckServiceName},
};

}  // namespace

Family ServiceRules() { return kServiceRules; }

}  // namespace mindgate::policies::ascendjob
