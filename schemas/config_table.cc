#include "schemas/config_table.h"

#include <algorithm>
#include <array>
#include <limits>

#include "base/text.h"
#include "base/time.h"
#include "schemas/names.h"
#include "schemas/site_kinds.h"

namespace mindgate::schemas {
namespace {

using json::Child;
using json::Json;
using std::chrono::hours;
using std::chrono::seconds;

using Profiles = std::array<Profile, kFrameworkCount>;
using MutatorNames = std::set<std::string, std::less<>>;

// A summary as a sentence of its own.
std::string Sentence(std::string_view summary) {
  std::string text(summary);
  if (!text.empty() && text[0] >= 'a' && text[0] <= 'z') {
    text[0] = static_cast<char>(text[0] - 'a' + 'A');
  }
  if (!text.ends_with('.')) text += '.';
  return text;
}

// --- values ----------------------------------------------------------------------------------

// A '*' matches only at the end; elsewhere it would be taken as itself, which no name holds.
Type<std::string> Pattern(const Type<std::string>& type) {
  return Parsed<std::string>(type, [](std::string pattern, const Field& field) {
    if (const size_t star = pattern.find('*'); star < pattern.size() - 1) {
      field.Fault(Quote(pattern) + " cannot match anything: * is allowed only at the end",
                  "write a name, or the beginning of names followed by *");
    }
    return pattern;
  });
}

Type<std::string> NamespaceName() {
  return Parsed<std::string>(Text(), [](std::string name, const Field& field) {
    if (!IsDns1123Label(name)) {
      field.Fault(Quote(name) + " is not the name of a namespace",
                  "write lower-case letters, digits and -, at most 63");
    }
    return name;
  });
}

// A list that takes the place of the default.
Type<std::set<std::string>> NamespaceNames() {
  auto type = Parsed<std::set<std::string>>(
      ListInto<std::set<std::string>>(NamespaceName()),
      [](std::set<std::string> names, const Field&) { return names; });
  type.write = [](const std::set<std::string>& names) { return OrderedJson(names); };
  return type;
}

Type<PublicFaults> PublicFaultsTable() {
  return Object<PublicFaults>(
             {{"namespaces", "The namespaces whose ConfigMaps with a public fault count.",
               &PublicFaults::namespaces, NamespaceNames()}})
      .OrNull();
}

Type<Time> Date() {
  return Parsed<Time>(NonEmptyText(), [](const std::string& text, const Field& field) {
    const auto time = ParseTime(text);
    if (!time) {
      field.Fault(Quote(text) + " is not a date",
                  "write a day (2026-12-31) or a time (2026-12-31T12:00:00Z)");
    }
    return time.value_or(Time());
  });
}

// The label is text, but people write the number that it holds.
Type<std::string> RetryTimes() {
  const auto read = [](const Field& field, std::string& out) {
    if (const auto text = json::AsString(&field.value)) {
      const auto parsed = ParseGoInt(*text);
      if (!text->empty() && (!parsed || *parsed < 0)) {
        field.Fault(Quote(*text) + " is not a whole number of 0 or more",
                    "write a number such as 3, or \"\" to inject nothing");
      } else {
        out = *text;
      }
      return;
    }
    int64_t number = 0;
    if (Read(Whole(0, std::numeric_limits<int64_t>::max()), field, number)) {
      out = std::to_string(number);
    }
  };
  return {{"string", "integer"}, {{"minimum", 0}}, read, [](const std::string& text) {
            return OrderedJson(text);
          }};
}

Type<Mode> RuleMode() {
  return Choice<Mode>({{"enforce", Mode::kEnforce},
                       {"warn", Mode::kWarn},
                       {"audit", Mode::kAudit},
                       {"off", Mode::kOff}});
}

constexpr std::string_view kPolicyPrefix = "policy/";

// "policy/NAME": whether there is such a policy is not known here.
bool IsPolicyId(std::string_view text) {
  if (!text.starts_with(kPolicyPrefix)) return false;
  const auto parts = Split(text.substr(kPolicyPrefix.size()), '.');
  return std::all_of(parts.begin(), parts.end(),
                     [](std::string_view part) { return IsDns1123Label(part); });
}

// --- objects ---------------------------------------------------------------------------------

Type<Profile> ProfileTable(const Profile& defaults) {
  return Object<Profile>(
             {{"faultScheduling",
               "The label fault-scheduling: what the scheduler does with pods on faulty hardware.",
               &Profile::fault_scheduling,
               Word({"", "force", "grace", "external-force", "external-grace", "off"})},
              {"podRescheduling",
               "The label pod-rescheduling: on replaces single pods before whole jobs.",
               &Profile::pod_rescheduling, Word({"", "on", "off"})},
              {"faultRetryTimes",
               "The label fault-retry-times: how many pod failures are repaired, 0 or more.",
               &Profile::fault_retry_times, RetryTimes()}},
             {}, defaults)
      .OrNull();
}

Type<Profiles> ProfilesTable() {
  const Config defaults;
  std::vector<Key<Profiles>> keys;
  for (const FrameworkInfo& info : kFrameworks) {
    const auto index = static_cast<size_t>(info.framework);
    keys.emplace_back(
        std::string(info.name), info.title,
        [index](Profiles& profiles) -> Profile& { return profiles[index]; },
        ProfileTable(defaults.profile(info.framework)));
  }
  return Object(std::move(keys)).OrNull();
}

Type<MutatorNames> MutatorsTable(const KnownNames& known) {
  std::vector<Key<MutatorNames>> keys;
  for (const KnownNames::Name& mutator : known.mutators) {
    const auto set = [name = std::string(mutator.name)](MutatorNames& disabled, bool on,
                                                        const Field&) {
      if (!on) disabled.insert(name);
    };
    keys.push_back(Key<MutatorNames>::Calling(std::string(mutator.name), Sentence(mutator.summary),
                                              Boolean(), set, true));
  }
  return Object(std::move(keys)).OrNull();
}

Type<Versions> VersionsTable() {
  std::vector<Key<Versions>> keys;
  for (const ComponentInfo& info : kComponents) {
    const auto set = [component = info.component](Versions& versions, const std::string& text,
                                                  const Field& field) {
      if (text.empty()) return;
      if (const auto version = ReadVersion(text)) return versions.Set(component, *version);
      field.Fault(Quote(text) + " is not a version",
                  R"(write it with two or three numbers, such as "1.12")");
    };
    keys.push_back(Key<Versions>::Calling(std::string(info.key),
                                          "The version of " + std::string(info.name) + ".", Text(),
                                          set, std::string()));
  }
  return Object(std::move(keys)).OrNull();
}

Type<RuleModes> RuleModesTable(const KnownNames& known) {
  const Type<Mode> mode_type = RuleMode();
  std::vector<Key<RuleModes>> keys;
  for (const KnownNames::Name& rule : known.rules) {
    const auto set = [id = std::string(rule.id)](RuleModes& modes, Mode mode, const Field& field) {
      if (modes.emplace(id, mode).second) return;
      field.Fault("rule " + id + " is set twice, by its id and by its name", "keep one of them");
    };
    for (const std::string_view name : {rule.id, rule.name}) {
      keys.push_back(
          Key<RuleModes>::Calling(std::string(name), Sentence(rule.summary), mode_type, set));
    }
  }
  auto table = Object<RuleModes>(std::move(keys), {}, {}, "`mindgate explain` lists the rules");
  table.keywords["patternProperties"] = {
      {"^policy/[a-z0-9]([-a-z0-9.]*[a-z0-9])?$", mode_type.Schema()}};
  // Policies of a site's own are no keys that are known here.
  table.read = [read = table.read, mode_type](const Field& field, RuleModes& modes) {
    if (!field.value.is_object()) return read(field, modes);
    Json rules = field.value;
    for (const auto& [name, value] : field.value.items()) {
      if (!IsPolicyId(name)) continue;
      Mode mode{};
      if (Read(mode_type, {value, Child(field.path, name), field.reading}, mode)) {
        modes.emplace(name, mode);
      }
      rules.erase(name);
    }
    read({rules, field.path, field.reading}, modes);
  };
  table = std::move(table).OrNull();
  table.write = [](const RuleModes&) { return OrderedJson::object(); };
  return table;
}

Type<PolicySources> PoliciesTable() {
  return Object<PolicySources>(
             {{"files",
               "Files, and folders whose .yaml, .yml and .json files are read; a path that is not "
               "absolute counts from the folder of this file. A change is seen within 10 s.",
               &PolicySources::files, List(NonEmptyText())},
              {"configMaps",
               "With true, the keys of ConfigMaps that end in .yaml, .yml or .json are read, too: "
               "of those in mindgate's namespace with the label mindgate.io/policies: enabled. "
               "Webhook and watcher follow them; whoever may write them decides about admission.",
               &PolicySources::config_maps, Boolean()}})
      .OrNull();
}

Type<ElasticScaling> ElasticScalingTable() {
  auto keys = ScalingKeys<ElasticScaling>();
  keys.insert(keys.begin(),
              {"mode",
               "With enforce, pods under a rule are created behind a scheduling gate, which the "
               "watcher opens as the rule says. With observe the watcher only reports what it "
               "sees; with off it does not watch these pods.",
               &ElasticScaling::mode, EnforcementModeWord()});
  keys.emplace_back(
      "giveUpsPerMinute",
      "How many instances of all services together may be given up within a minute; the others "
      "wait, so that a cluster that suddenly looks full is not taken apart.",
      &ElasticScaling::give_ups_per_minute, Whole(1, 1000));
  return Object(std::move(keys)).OrNull();
}

Type<Auditing> AuditTable() {
  return Object<Auditing>(
             {{"mode",
               "With on, the watcher evaluates what the cluster runs as admission would if it were "
               "created now, and publishes the findings as metrics and, where the cluster has the "
               "CRD of OpenReports or PolicyReports, as one report for each workload with "
               "findings.",
               &Auditing::on, Choice<bool>({{"off", false}, {"on", true}})},
              {"interval",
               "Each namespace is audited again within this time, although nothing changed in it. "
               "The default is an hour.",
               &Auditing::interval, Duration(std::chrono::minutes(5), std::chrono::hours(24))}})
      .OrNull();
}

Type<NamespaceOverride> NamespaceTable(const Type<RuleModes>& rule_modes) {
  return Object<NamespaceOverride>(
      {{"name", "The namespace, or the beginning of its name with a * at the end.",
        &NamespaceOverride::name, Pattern(NonEmptyText()), kRequired},
       {"inject",
        "With disabled nothing is injected into this namespace; rules still apply. The default is "
        "enabled.",
        &NamespaceOverride::inject, Choice<bool>({{"enabled", true}, {"disabled", false}})},
       {"rules",
        "Modes of rules in this namespace, written as under the top-level key of the same name.",
        &NamespaceOverride::rules, rule_modes}});
}

Type<Exception> ExceptionTable(const KnownNames& known) {
  return Object<Exception>(
      {{"rules", "The rules that may be broken, by id or name, and policy/NAME for policies.",
        &Exception::rules, List(RuleName(known), 1), kRequired},
       {"namespace",
        "Only in this namespace; a * at the end matches every ending. Left out, in all namespaces.",
        &Exception::ns, Pattern(Text())},
       {"kind",
        "Only objects of this kind, built in or under kinds. Left out, objects of every kind.",
        &Exception::kind, Text()},
       {"name",
        "Only the object of this name; a * at the end matches every ending, and what the API "
        "server appends to a generateName. Left out, every object.",
        &Exception::name, Pattern(Text())},
       {"owner", "Who answers for the exception.", &Exception::owner, NonEmptyText(), kRequired},
       {"reason", "Why the rule may be broken.", &Exception::reason, NonEmptyText(), kRequired},
       {"expires",
        "The last day of the exception (2026-12-31, in UTC) or a time (2026-12-31T12:00:00Z).",
        &Exception::expires, Date(), kRequired}});
}

void CheckAccelerator(AcceleratorRow& row, const Field& field) {
  if (json::Find(field.value, "schedulePolicy") == nullptr &&
      json::Find(field.value, "acceleratorType") == nullptr) {
    field.Fault("nothing selects this row", "add schedulePolicy, acceleratorType or both");
  }
  const Json* chips = json::Find(field.value, "podChips");
  for (size_t i = 0; row.node_chips > 0 && json::IsArray(chips) && i < chips->size(); ++i) {
    const Json& count = (*chips)[i];
    if (!count.is_number() || count.get<double>() <= static_cast<double>(row.node_chips)) continue;
    field.reading.Fault(
        Child(Child(field.path, "podChips"), i),
        count.dump() + " is more than a node of " + std::to_string(row.node_chips) + " chips has",
        "write at most " + std::to_string(row.node_chips));
  }
}

Type<AcceleratorRow> AcceleratorTable() {
  return Object<AcceleratorRow>(
      {{"schedulePolicy",
        "The value of the annotation huawei.com/schedule_policy that selects this row.",
        &AcceleratorRow::schedule_policy, NonEmptyText()},
       {"acceleratorType",
        "The value of accelerator-type in the nodeSelector that selects this row.",
        &AcceleratorRow::accelerator_type, NonEmptyText()},
       {"nodeChips", "Chips of one node.", &AcceleratorRow::node_chips, Whole(1, 1024), kRequired},
       {"podChips", "Numbers of chips that one pod may request.", &AcceleratorRow::pod_chips,
        ListInto<std::set<int64_t>>(Whole(1, 1024), 1), kRequired},
       {"superPod",
        "True when nodes of this type form super pods, so that sp-block applies. The default is "
        "false.",
        &AcceleratorRow::super_pod, Boolean()},
       {"wholeNodesWhenDistributed",
        "True when each pod of a job of several pods must take all chips of its node. The default "
        "is false.",
        &AcceleratorRow::whole_nodes_when_distributed, Boolean()}},
      CheckAccelerator);
}

Type<std::string> NpuResourceName() {
  return Parsed<std::string>(NonEmptyText(), [](std::string name, const Field& field) {
    if (!name.starts_with(kResourcePrefix) || name.size() == kResourcePrefix.size()) {
      field.Fault(Quote(name) + " is not the name of an NPU resource",
                  "write it with its domain, such as huawei.com/Ascend910B3");
    }
    return name;
  });
}

Type<NpuResourceRow> NpuResourceTable() {
  return Object<NpuResourceRow>(
      {{"name", "The resource as pods request it, with huawei.com/ before it.",
        &NpuResourceRow::name, NpuResourceName(), kRequired},
       {"servedBy",
        "With mindcluster its pods are injected and evaluated like those of huawei.com/Ascend910. "
        "With other they are left alone, and nothing is reported. The default is mindcluster.",
        &NpuResourceRow::served_by,
        Choice<NpuServer>(
            {{"mindcluster", NpuServer::kMindCluster}, {"other", NpuServer::kOther}})}});
}

// An override that an earlier one hides would have no effect.
void CheckOverrides(const Config& config, const Field& field) {
  for (auto late = config.namespaces.begin(); late != config.namespaces.end(); ++late) {
    // A prefix pattern that matches the pattern's own text matches all that it matches.
    const auto early = std::find_if(
        config.namespaces.begin(), late,
        [&](const NamespaceOverride& other) { return MatchesPattern(other.name, late->name); });
    if (early == late || late->name.empty()) continue;  // an empty one was refused
    const auto index = static_cast<size_t>(late - config.namespaces.begin());
    field.reading.Fault(Child(Child(Child(field.path, "namespaces"), index), "name"),
                        Quote(late->name) + " has no effect: " + Quote(early->name) +
                            " above it matches the same namespaces",
                        "move it up, or merge the two");
  }
}

// "add {use: ray} under kinds" for a kind that mindgate describes but that is not switched on.
std::string HowToUse(std::string_view kind) {
  for (const ShippedKinds& shipped : AllShippedKinds()) {
    for (const SiteKind& each : ShippedKindsNamed(shipped.name)) {
      if (each.kind == kind) return "add {use: " + std::string(shipped.name) + "} under kinds";
    }
  }
  return "";
}

// Which kinds there are is known once the whole file is read.
void CheckExceptionKinds(const Config& config, const Field& field) {
  const Json* const kinds = json::Find(field.value, "kinds");
  const bool refused = json::IsArray(kinds) && !kinds->empty() && config.kinds.empty();
  if (refused) return;  // what it would add is not known
  std::vector<std::string_view> names;
  for (const KindInfo* info : AllKinds(config.kinds)) names.push_back(info->name);
  for (size_t i = 0; i < config.exceptions.size(); ++i) {
    const std::string& kind = config.exceptions[i].kind;
    const auto matches = [&kind](std::string_view name) { return MatchesPattern(kind, name); };
    if (kind.empty() || std::any_of(names.begin(), names.end(), matches)) continue;
    std::string hint = HowToUse(kind);
    const auto near = NearestOf(kind, names);
    if (hint.empty() && near) hint = "did you mean " + Quote(*near) + "?";
    field.reading.Fault(Child(Child(Child(field.path, "exceptions"), i), "kind"),
                        Quote(kind) + " is not a kind that rules check", std::move(hint));
  }
}

void CheckConfig(Config& config, const Field& field) {
  CheckOverrides(config, field);
  CheckExceptionKinds(config, field);
}

}  // namespace

Type<Rescheduling> ReschedulingTable() {
  return Object<Rescheduling>(
             {{"mode",
               "With enforce the watcher restarts pods on faulty hardware, and pods that failed, "
               "as "
               "their labels ask for. With takeover it does so only when nobody else has within "
               "takeoverAfter; with observe it reports what it would do; with off it does not look "
               "at faults.",
               &Rescheduling::mode,
               Choice<ReschedulingMode>({{"off", ReschedulingMode::kOff},
                                         {"observe", ReschedulingMode::kObserve},
                                         {"takeover", ReschedulingMode::kTakeover},
                                         {"enforce", ReschedulingMode::kEnforce}})},
              {"takeoverAfter",
               "With mode takeover: how long Volcano's plugin, or anybody else, has time to act on "
               "a fault.",
               &Rescheduling::takeover_after, Duration(seconds(1), hours(1))},
              {"escalateAfter",
               "How long a job that lost only its faulty pods may take to find room for new ones "
               "before more of it is restarted: after half of it the rack blocks of the faulty "
               "pods, after one such time their logical super pods, after two the whole job.",
               &Rescheduling::escalate_after, Duration(seconds(1), hours(1))},
              {"settle",
               "How long no more nodes may become faulty before anything is restarted or isolated, "
               "so that all faults of one moment are counted first; while more follow, 10 s at "
               "most, or settle if that is longer. 0s: nothing waits.",
               &Rescheduling::settle, Duration(seconds(0), seconds(60))},
              {"restartsPerMinute",
               "How many restarts of jobs there may be within a minute in the whole cluster; a "
               "namespace gets a share of them. The others wait.",
               &Rescheduling::restarts_per_minute, Whole(1, 10'000)},
              {"maxFaultyNodes",
               "Percentage of the cluster's nodes that may be faulty at once. With more, and more "
               "than two, nothing is restarted: what looks like so many faults is more likely one "
               "mistake, and there would be little room for what is restarted.",
               &Rescheduling::max_faulty_nodes, Whole(1, 100)},
              {"onlyWhereRoom",
               "With enforce a restart takes pods that are not faulty only when all pods that go "
               "would find a place again: with pod-rescheduling the rest of the job keeps its "
               "nodes and waits, without it the rest keeps running if that is all that the job "
               "needs. With observe the reports name such restarts; with off nobody asks for room, "
               "as MindCluster's plugin does.",
               &Rescheduling::only_where_room, EnforcementModeWord()},
              {"isolateNodes",
               "When true, nodes that NodeD or a switch calls unhealthy get the taint "
               "mindgate.io/faulty:NoSchedule until they are healthy again. Only with mode "
               "takeover "
               "or enforce.",
               &Rescheduling::isolate_nodes, Boolean()},
              {"gracefulExit",
               "When true, training jobs with subHealthyStrategy graceExit are asked to end before "
               "their pods are evicted: GracefulExit in ConfigMap reset-config-JOB is 1 until the "
               "job has its pods again. Only with mode takeover or enforce.",
               &Rescheduling::graceful_exit, Boolean()},
              {"faultSource",
               "Where faults are read from: clusterd is the ConfigMaps cluster-info-* in mindx-dl, "
               "nodes is those that Ascend Device Plugin and NodeD write for each node, auto is "
               "clusterd, and nodes where there is no ClusterD.",
               &Rescheduling::fault_source,
               Choice<FaultSource>({{"auto", FaultSource::kAuto},
                                    {"clusterd", FaultSource::kClusterD},
                                    {"nodes", FaultSource::kNodes}})},
              {"publicFaults",
               "Where ClusterD is absent: the namespaces whose ConfigMaps with the label "
               "mc-consumer-publicfault count. Whoever may write ConfigMaps in one of them can "
               "have "
               "the pods of others deleted. List only namespaces that exist and that no tenant can "
               "create.",
               &Rescheduling::public_faults, PublicFaultsTable()}})
      .OrNull();
}

Type<EnforcementMode> EnforcementModeWord() {
  return Choice<EnforcementMode>({{"off", EnforcementMode::kOff},
                                  {"observe", EnforcementMode::kObserve},
                                  {"enforce", EnforcementMode::kEnforce}});
}

Type<std::string> RuleName(const KnownNames& known) {
  return Parsed<std::string>(Text(), [&known](const std::string& written, const Field& field) {
    if (IsPolicyId(written)) return written;
    std::vector<std::string_view> names;
    for (const KnownNames::Name& rule : known.rules) {
      if (rule.id == written || rule.name == written) return std::string(rule.id);
      names.push_back(rule.id);
      names.push_back(rule.name);
    }
    const auto near = NearestOf(written, names);
    field.Fault("unknown rule " + Quote(written),
                near ? "did you mean " + Quote(*near) + "?" : "`mindgate explain` lists the rules");
    return std::string();
  });
}

Type<Config> ConfigTable(const KnownNames& known) {
  const Type<RuleModes> rule_modes = RuleModesTable(known);
  std::vector<Key<Config>> keys = {
      {"scheduler",
       "The scheduler that the mutator scheduler-name writes into templates that request NPUs and "
       "name no scheduler of their own.",
       &Config::scheduler, NonEmptyText()},
      {"profiles",
       "What is injected for each framework where the user wrote nothing. An empty value means "
       "that the label is not injected.",
       &Config::profiles, ProfilesTable()},
      {"mutators",
       "Switches individual mutators off. A mutator that is off injects nothing; rules still "
       "apply.",
       &Config::disabled_mutators, MutatorsTable(known)},
      {"gangRepair",
       "When true, the watcher lowers the gang size of a new ReplicaSet to the pods that can "
       "exist, so that a rolling update of a gang-scheduled Deployment is not blocked. When false, "
       "huawei.com/schedule_minAvailable is not injected where such an update could not proceed.",
       &Config::gang_repair, Boolean()},
      {"elasticScaling",
       "How the watcher treats the instances of services under a scaling rule (label "
       "mind-cluster/scaling-rule).",
       &Config::elastic_scaling, ElasticScalingTable()},
      {"rescheduling",
       "What the watcher does about pods that faults of nodes, chips, switches and software took "
       "away, beside Volcano's plugin or instead of it.",
       &Config::rescheduling, ReschedulingTable()},
      {"audit", "The audit of what the cluster runs, by the watcher.", &Config::audit,
       AuditTable()},
      {"maxMode",
       "The most that any violated rule leads to, here and in namespaces: with warn what a rule "
       "would deny is admitted with a warning, with audit findings are only recorded. Rules whose "
       "own mode is less keep it. For a rollout; enforce leaves every rule its mode.",
       &Config::max_mode,
       Choice<Mode>({{"audit", Mode::kAudit}, {"warn", Mode::kWarn}, {"enforce", Mode::kEnforce}})},
      {"existingViolations",
       "What an update leads to that breaks a rule only as the stored object did already, at the "
       "same place and with the same value: with warn it is admitted with a warning, with enforce "
       "it is denied like a new object.",
       &Config::existing_violations,
       Choice<Mode>({{"warn", Mode::kWarn}, {"enforce", Mode::kEnforce}})},
      {"rules",
       "What a violated rule leads to, by rule id or name, or policy/NAME for a policy of the "
       "site: enforce denies, warn admits with a "
       "warning, audit only records, off does not check. Rules that are not listed keep their own "
       "default; `mindgate explain` shows it.",
       &Config::rules,
       rule_modes,
       {.example = R"({"MG050": "enforce", "MG051": "off"})"}},
      {"policies",
       "Policies of this site, in Kubernetes' format (ValidatingAdmissionPolicy).",
       &Config::policy_sources,
       PoliciesTable(),
       {.example = R"({"files": ["policies"]})"}},
      {"namespaces",
       "Overrides for namespaces. The first entry that matches applies.",
       &Config::namespaces,
       List(NamespaceTable(rule_modes)).OrNull(),
       {.example = R"([{"name": "team-*", "inject": "disabled", "rules": {"MG050": "warn"}}])"}},
      {"exceptions",
       "Lets named objects break named rules until a date.",
       &Config::exceptions,
       List(ExceptionTable(known)).OrNull(),
       {.example = R"([{"rules": ["MG050"], "namespace": "legacy", "name": "llama-*",
                        "owner": "serving team", "reason": "moves to OME in December",
                        "expires": "2026-12-31"}])"}},
      {"graceOverTime",
       "Time after which the scheduler turns a graceful rescheduling into a forced one: the value "
       "of grace-over-time (in seconds) in the init-params of volcano-scheduler.",
       &Config::grace_over_time, Duration(seconds(2), hours(1))},
      {"superPodSize",
       "Nodes in one super pod: the value of super-pod-size in the init-params of "
       "volcano-scheduler.",
       &Config::super_pod_size, Whole(1, 1024)},
      {"versions",
       "Versions of what the cluster runs, such as volcano: \"1.12\", in quotes. Rules whose facts "
       "differ between versions then use these; for those left empty they say what holds "
       "for all. `mindgate doctor` prints what it finds.",
       &Config::versions, VersionsTable()},
      {"accelerators",
       "Rows that are added to the chip-count table, or that replace its row of the same schedule "
       "policy and accelerator type.",
       &Config::accelerators,
       List(AcceleratorTable()).OrNull(),
       {.example = R"([{"schedulePolicy": "chip8-node8", "acceleratorType": "module-910b-8",
                        "nodeChips": 8, "podChips": [1, 2, 4, 8]}])"}},
      {"npuResources",
       "Names of NPU resources that the nodes of this site offer although MindCluster does not use "
       "them, such as those of HAMi or of Huawei Cloud's CCE. Without an entry mindgate leaves "
       "pods that request one alone and reports it.",
       &Config::npu_resources,
       List(NpuResourceTable()).OrNull(),
       {.example = R"([{"name": "huawei.com/Ascend910B3", "servedBy": "other"}])"}},
      Key<Config>::Calling(
          "kinds",
          "Kinds beside the built-in ones: those of Ray, Kubeflow, JobSet, kthena, KServe and "
          "OpenKruise by name, others by where their pod templates are. Their objects are injected "
          "and evaluated like built-in workloads. The chart registers the webhook for them.",
          SiteKindsTable(),
          [](Config& config, SiteKinds kinds, const Field&) { config.kinds = std::move(kinds); },
          OrderedJson::array(), {.example = R"([{"use": "ray"}])"}),
  };
  return Object<Config>(std::move(keys), CheckConfig).OrNull();
}

}  // namespace mindgate::schemas
