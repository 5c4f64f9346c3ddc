#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "doctor/doctor.h"
#include "json/value.h"
#include "kube/client.h"
#include "schemas/config.h"
#include "schemas/site_kinds.h"
#include "schemas/versions.h"

namespace mindgate::doctor {

using json::Json;

// Objects of which a finding names the first ones.
class NameList {
 public:
  void Add(const std::string& name) {
    if (++count_ <= kMaxNamed) names_ += (names_.empty() ? "" : ", ") + name;
  }
  size_t count() const { return count_; }
  // "pod a", "5 pods (a, b, c and 2 more)".
  std::string Text(const std::string& what) const {
    const size_t others = count_ - std::min(count_, kMaxNamed);
    if (count_ == 1) return what + " " + names_;
    return std::to_string(count_) + " " + what + "s (" + names_ +
           (others > 0 ? " and " + std::to_string(others) + " more)" : ")");
  }

 private:
  static constexpr size_t kMaxNamed = 3;

  size_t count_ = 0;
  std::string names_;
};

// One webhook of one of the two configurations.
struct Hook {
  std::string name;  // "pods.mutate.mindgate.io"
  bool mutating = false;
  std::string service_ns;  // empty: it is called by URL
  std::string service;
  int64_t port = 443;
  std::string url;
  std::string bundle;  // caBundle in PEM, decoded; empty: none, or not decodable
  std::string failure_policy;
  Json namespace_selector;
  std::string source_condition;  // the match condition about who made the object; empty: none
};

// On the webhook configurations: how far the chart has rolled out. "observe" injects nothing and
// denies nothing, "warn" denies nothing.
inline constexpr const char* kRolloutPhase = "mindgate.io/rollout-phase";

// On a webhook configuration: what the values of the chart leave out beside it, "mutate" or
// "validate".
inline constexpr const char* kLeftOut = "mindgate.io/left-out";

// Where the watcher reads the reports of ClusterD and NodeD.
inline constexpr const char* kReportNamespace = "mindx-dl";

// Whether what the dry run creates is sent to the webhook.
inline constexpr std::string_view kSelectorsCheck = "selectors";

// What the checks share; each adds what later ones need.
struct Context {
  kube::Client& client;
  const Options& options;
  Time now;
  std::stop_token stop;
  Report& report;
  std::vector<Hook> hooks{};
  std::string release{};                     // of the webhook configurations; empty: not known
  std::string rollout_phase{};               // of the webhook configurations; empty: enforce
  std::vector<Json> pods{};                  // that the Service selects
  std::string serving_chain{};               // tls.crt of their Secret; empty: not known
  std::set<std::string> watcher_accounts{};  // that Pods of watchers run under
  // Whether a watcher's configuration says so; nothing when that is not known.
  std::optional<bool> enforces_scaling{};
  std::optional<bool> isolates_nodes{};         // likewise, with a mode of rescheduling that acts
  std::set<std::string> fault_namespaces{};     // whose ConfigMaps report faults to a watcher
  std::optional<schemas::Versions> versions{};  // of the watcher's configuration, when it is known
  schemas::SiteKinds kinds{};                   // the same
  std::optional<schemas::Config> config{};      // of the webhook's Pods, when it is known
  bool injection_is_off = false;                // by a label of the probe namespace
  bool webhook_answered = false;                // a dry run got its answer from mindgate
};

// Reports that something could not be checked: what it was, and the permission that would allow it.
void SkipFor(Context& context, std::string_view check, const std::string& what,
             const kube::Fault& fault);

// The object; nothing after it was reported that it is missing (with `fix`) or cannot be read.
std::optional<Json> RequireObject(Context& context, std::string_view check,
                                  const kube::Resource& resource, const std::string& ns,
                                  const std::string& name, const std::string& consequence,
                                  const std::string& fix);

// The checks, in this order.
bool CheckApiServer(Context& context);  // false: it cannot be asked
void CheckRegistrations(Context& context);
void CheckServing(Context& context);
void CheckCertificates(Context& context);
void CheckSelectors(Context& context);
void CheckPermissions(Context& context);
void CheckBounds(Context& context);
void CheckControllers(Context& context);
void CheckTrustedNamespaces(Context& context);
void CheckWatcher(Context& context);
void CheckGates(Context& context);
void CheckTaints(Context& context);
void CheckScaledJobs(Context& context);
void CheckVersions(Context& context);
void CheckDryRun(Context& context);

// Who counts as a controller: what these make of objects that were admitted is not sent to the
// webhook.
struct Trusted {
  std::set<std::string> users;
  std::set<std::string> namespaces;  // all their ServiceAccounts
};

// As the condition says that the chart writes into the webhooks (mindgate.cel.source in _cel.tpl).
// Nothing when none of them has it.
std::optional<Trusted> WhoIsTrusted(const Context& context);

// What the ServiceAccounts must be allowed for what the configuration switches on, as the chart
// grants it (charts/mindgate/templates/watcher-rbac.yaml and rbac.yaml).

struct Right {
  std::string_view group;
  std::string_view resource;  // "pods", "pods/eviction"
  const char* verb;
  std::string ns;    // empty: in all namespaces, or the kind has none
  std::string name;  // empty: of any name
};

// Rights for one purpose, and what happens without them.
struct Need {
  std::vector<Right> rights;
  std::string consequence;
  std::string value{};  // of the chart, that grants them: "config.rescheduling.mode enforce"
};

Need LeadingNeeds(const Options& options);
Need CertificateNeeds(const Options& options);
Need LookupNeeds();
Need NamespaceNeeds();
// Of whoever reads policies from ConfigMaps: webhook and watcher.
Need PolicyNeeds(const Options& options);
// What the configuration switches on. Its kinds outlive the result.
std::vector<Need> NeedsOf(const schemas::Config& config, const Options& options);

// Whether it restarts jobs, and does not only report it.
bool Reschedules(const schemas::Config& config);

}  // namespace mindgate::doctor
