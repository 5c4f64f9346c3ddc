#pragma once

#include <iosfwd>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "audit/audit.h"
#include "cli/console/output.h"
#include "cli/console/terminal.h"
#include "kube/access.h"
#include "offline/report.h"

namespace mindgate::cli {

// What `mindgate audit` prints of an audit.

// As a list of findings, with one for each loss that a workload does not recover from.
offline::Report ReportOf(const audit::Audit& audit);

// "recovers", or "stays down: no node has 8 free NPUs": what becomes of it, and why.
std::string EffectText(const what_if::InstanceForecast& instance);

// Counts by rule, namespace, framework and loss, then the workloads: the worst of them, or with
// `wide` all, each with its findings and what its losses do.
void PrintAudit(const audit::Audit& audit, bool wide, const Paint& paint, std::ostream& out);

nlohmann::ordered_json AuditJson(const audit::Audit& audit);

// PolicyReports (wgpolicyk8s.io/v1alpha2) of the namespaces, and a ClusterPolicyReport of what is
// in none, as documents for `kubectl apply -f -`. A report has at most kMaxResults results; what is
// more goes into another one.
void PrintPolicyReports(const audit::Audit& audit, std::ostream& out);

// etcd takes objects of 1.5 MiB, and a result has up to 2 KB.
inline constexpr size_t kMaxResults = 500;

struct AuditCommandOptions {
  kube::AccessFlags cluster = {};
  std::vector<std::string> kinds = {};  // as kubectl takes them; empty: all
  std::string selector = {};
  bool all_namespaces = false;
  std::string snapshot = {};               // a file, or "-"; empty: the live cluster
  std::string config_file = {};            // empty: that of the running watcher, else the defaults
  std::vector<std::string> policies = {};  // files and folders, beside those of the configuration
  bool strict = false;
  OutputFormat output = "table";
  ColorMode color = ColorMode::kAuto;
};

// Evaluates what a cluster runs as admission would, and shows what the death of a card or of a node
// does to each workload. Writes nothing. Returns kExitDenied if something would be denied,
// kExitUnusable if the arguments, the snapshot or the configuration are invalid, or the cluster
// cannot be reached.
int RunAudit(const AuditCommandOptions& options, Streams& io);

}  // namespace mindgate::cli
