#pragma once

#include <array>
#include <chrono>
#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "base/time.h"
#include "json/issues.h"
#include "json/value.h"
#include "schemas/kinds.h"
#include "schemas/npu.h"
#include "schemas/site_kinds.h"
#include "schemas/versions.h"

namespace mindgate::policies {
class SitePolicies;
}

namespace mindgate::schemas {

// What a violated rule leads to, the mildest first.
enum class Mode : uint8_t { kOff, kAudit, kWarn, kEnforce };

std::string_view ModeName(Mode mode);  // "enforce", "warn", "audit", "off"

// What is injected for one framework; an empty value means that the label is not injected.
struct Profile {
  std::string fault_scheduling = "force";
  std::string pod_rescheduling;
  std::string fault_retry_times;
  bool operator==(const Profile&) const = default;
};

// Modes by rule id ("MG001").
using RuleModes = std::map<std::string, Mode, std::less<>>;

struct NamespaceOverride {
  std::string name;  // exact, or with a trailing '*' a prefix
  bool inject = true;
  RuleModes rules;
  bool operator==(const NamespaceOverride&) const = default;
};

// Lets named objects break named rules for a while. Fields are exact, or with a trailing '*' a
// prefix; empty matches all.
struct Exception {
  std::vector<std::string> rules;  // ids; never empty
  std::string ns;
  std::string kind;
  std::string name;
  std::string owner;   // who answers for it; never empty
  std::string reason;  // never empty
  Time expires{};
  bool operator==(const Exception&) const = default;
};

// One row of the chip-count table that a site adds or replaces.
struct AcceleratorRow {
  std::string schedule_policy;   // "" when the row has none
  std::string accelerator_type;  // nodeSelector value, "" when the row has none
  int64_t node_chips = 0;
  std::set<int64_t> pod_chips;  // allowed counts of one pod
  bool super_pod = false;       // sp-block applies
  bool whole_nodes_when_distributed = false;
  bool operator==(const AcceleratorRow&) const = default;
};

// Whether the watcher does something, or only says what it would do.
enum class EnforcementMode : uint8_t { kOff, kObserve, kEnforce };

// Elastic scaling by the watcher.
struct ElasticScaling {
  EnforcementMode mode = EnforcementMode::kObserve;
  // Counts only what runs, as upstream does: every instance of a group that lacks one is granted,
  // and together they may be more than the shape wants.
  bool upstream_counts = false;
  // For so long a grant counts that is not seen in the pods; then it is given again.
  std::chrono::seconds reservation{30};
  // How long a granted instance may take to run before its siblings no longer wait for it.
  std::chrono::seconds start_deadline{600};
  EnforcementMode rebalance = EnforcementMode::kObserve;
  // How long a wanted instance must find no room before another one is given up for it.
  std::chrono::seconds rebalance_after{60};
  // From one that was given up to the next.
  std::chrono::seconds cool_down{300};
  int64_t give_ups_per_minute = 10;  // of all services together
  bool operator==(const ElasticScaling&) const = default;
};

// What the watcher does about pods that faults took away. With takeover it acts only when nobody
// else has.
enum class ReschedulingMode : uint8_t { kOff, kObserve, kTakeover, kEnforce };

// Who reports faults: auto is ClusterD, and where it is absent the nodes themselves.
enum class FaultSource : uint8_t { kAuto, kClusterD, kNodes };

// Faults that systems outside of MindCluster report, where ClusterD does not read them.
struct PublicFaults {
  // Whose ConfigMaps count. Those of mindx-dl are as good as the reports of ClusterD there.
  std::set<std::string> namespaces = {"kube-system", "mindx-dl"};
  bool operator==(const PublicFaults&) const = default;
};

// Rescheduling by the watcher.
struct Rescheduling {
  ReschedulingMode mode = ReschedulingMode::kObserve;
  // How long others have time to act on a fault, with mode takeover.
  std::chrono::seconds takeover_after{30};
  // From a restart that left a job incomplete to one of a wider scope.
  std::chrono::seconds escalate_after{6};
  // How long no more nodes may become faulty before a restart begins.
  std::chrono::seconds settle{2};
  int64_t restarts_per_minute = 30;  // of all jobs together
  int64_t max_faulty_nodes = 30;     // percent of all; with more nothing is restarted
  // Pods that are not faulty go only where all that a restart takes find a place again.
  EnforcementMode only_where_room = EnforcementMode::kOff;
  bool isolate_nodes = false;  // by a taint
  bool graceful_exit = false;  // jobs are asked to, by their ConfigMaps
  FaultSource fault_source = FaultSource::kAuto;
  PublicFaults public_faults;
  bool operator==(const Rescheduling&) const = default;
};

// The audit by the watcher.
struct Auditing {
  bool on = false;
  std::chrono::seconds interval{3600};  // within which each namespace is audited again
  bool operator==(const Auditing&) const = default;
};

// Where the policies of a site's own are.
struct PolicySources {
  std::vector<std::string> files;  // and folders, relative to mindgate.yaml
  bool config_maps = false;        // of mindgate's namespace, with the label kPoliciesLabel
  bool operator==(const PolicySources&) const = default;
};

// mindgate.yaml, loaded. Immutable once made; shared by all who decide.
struct Config {
  Config();  // the documented defaults

  // Hash of what was loaded (16 hex digits), "defaults" without a file; every answer's audit
  // annotation carries it.
  std::string generation = "defaults";

  std::array<Profile, kFrameworkCount> profiles;
  const Profile& profile(Framework framework) const {
    return profiles[static_cast<size_t>(framework)];
  }

  std::string scheduler = "volcano";  // written by scheduler-name
  std::set<std::string, std::less<>> disabled_mutators;
  bool gang_repair = true;  // the watcher repairs gangs that a rolling update would block
  ElasticScaling elastic_scaling;
  Rescheduling rescheduling;
  Auditing audit;
  // The most that any rule leads to, whatever `rules` and `namespaces` say.
  Mode max_mode = Mode::kEnforce;
  // What an update meets that breaks a rule as the object before it did: kWarn or kEnforce.
  Mode existing_violations = Mode::kWarn;
  RuleModes rules;
  std::vector<NamespaceOverride> namespaces;  // the first that matches counts
  std::vector<Exception> exceptions;
  std::chrono::seconds grace_over_time{900};  // scheduler init-param grace-over-time
  int64_t super_pod_size = 48;                // scheduler init-param super-pod-size, nodes
  std::vector<AcceleratorRow> accelerators;
  std::vector<NpuResourceRow> npu_resources;  // names beside those of MindCluster
  SiteKinds kinds;                            // beside the built-in ones
  Versions versions;                          // of the cluster
  PolicySources policy_sources;
  // What whoever loads a configuration reads there; null pointer: none.
  std::shared_ptr<const policies::SitePolicies> policies;

  const NamespaceOverride* OverrideFor(std::string_view ns) const;

  bool operator==(const Config&) const = default;
};

// True when `pattern` (exact, or a prefix with a trailing '*') matches.
bool MatchesPattern(std::string_view pattern, std::string_view text);

// What mindgate.yaml may name but this folder does not know: the rules and mutators of the folders
// above it. Views of constants.
struct KnownNames {
  struct Name {
    std::string_view name;     // kebab-case
    std::string_view id;       // of a rule, "MG001"; empty for a mutator
    std::string_view summary;  // one sentence
  };
  std::vector<Name> rules;
  std::vector<Name> mutators;
};

// mindgate.yaml to a Config whose generation is a hash of the text, or every fault of the text at
// once, each with its place. An empty text, and one of comments only, gives the defaults. Never
// throws; safe from many threads. Reading is exact, not lenient: whatever would have no effect
// (an unknown key, a rule set twice, an override that an earlier one hides) is a fault. `warnings`
// gets what a sound text should write differently (a duration without a unit).
tl::expected<Config, json::Issues> LoadConfig(std::string_view text, const KnownNames& known,
                                              json::Issues* warnings = nullptr);

// FNV-1a, 64 bits, as 16 hex digits. Distinguishes texts that people write; no defence against
// forgery.
std::string HashText(std::string_view text);

// The JSON Schema (draft 7) of mindgate.yaml: the description of every key is its documentation.
// Keys are in the order in which people read them.
nlohmann::ordered_json ConfigSchema(const KnownNames& known);

// A mindgate.yaml that spells out every default, with the schema's descriptions as comments.
// Loading it gives Config().
std::string DefaultConfigFile(const KnownNames& known);

}  // namespace mindgate::schemas
