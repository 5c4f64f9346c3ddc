#include "simulation/scenario_table.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/text.h"
#include "base/time.h"
#include "json/pointer.h"
#include "schemas/config_table.h"

namespace mindgate::simulation {
namespace {

using schemas::Boolean;
using schemas::Duration;
using schemas::Either;
using schemas::Field;
using schemas::Key;
using schemas::List;
using schemas::NonEmptyText;
using schemas::Object;
using schemas::Parsed;
using schemas::Text;
using schemas::Type;
using schemas::Whole;
using std::chrono::seconds;

Type<seconds> AnyDuration() { return Duration(seconds(0), kMaxDuration); }

// --- nodes, rules and services ---------------------------------------------------------------

Type<WrittenNode> NodeTable() {
  return Object<WrittenNode>(
      {{"name", "The name of one node.", &WrittenNode::name, NonEmptyText()},
       {"count", "How many nodes like this.", &WrittenNode::count, Whole(1, kMaxNodes)},
       {"prefix", "Their names without the number, which begins at 0.", &WrittenNode::prefix,
        NonEmptyText()},
       {"npus", "NPUs of each.", &WrittenNode::npus, Whole(1, kMaxNpus), schemas::kRequired},
       {"labels", "Labels of each, which nodeSelector asks for.", &WrittenNode::labels,
        schemas::Map(Text())},
       {"superPod", "The super pod that each is in.", &WrittenNode::super_pod, NonEmptyText()}});
}

template <typename S, typename Rule>
std::vector<Key<S>> RuleKeys(Rule rule) {
  return {{"name", "The ConfigMap.", [rule](S& s) -> auto& { return rule(s).name; }, NonEmptyText(),
           schemas::kRequired},
          {"namespace", "Its namespace.", [rule](S& s) -> auto& { return rule(s).ns; },
           NonEmptyText()}};
}

Type<RuleSpec> RuleTable() {
  auto keys = RuleKeys<RuleSpec>([](RuleSpec& rule) -> RuleKey& { return rule.key; });
  const Type<std::string> text = {
      {"string", "object"}, {}, [](const Field& field, std::string& out) {
        out = field.value.is_string() ? field.value.get<std::string>() : field.value.dump(2);
      }};
  keys.emplace_back("text", "elastic_scaling.json, as text or as YAML.", &RuleSpec::text, text,
                    schemas::kRequired);
  return Object(std::move(keys));
}

template <typename S>
std::vector<Key<S>> InstanceKeys() {
  return {{"name", "Its name.", &S::name, NonEmptyText(), schemas::kRequired},
          {"group", "Its label mind-cluster/group-name.", &S::group, Text()},
          {"pods", "How many pods.", &S::pods, Whole(1, kMaxPods)},
          {"npusPerPod", "NPUs of each.", &S::npus_per_pod, Whole(1, kMaxNpus)},
          {"priority",
           "The scheduler places instances with a higher one first; it ends no pods for them.",
           &S::priority, Whole(-kMaxPriority, kMaxPriority)},
          {"gated", "Whether its pods come with the gate; false: as without mindgate's admission.",
           &S::gated, Boolean()},
          {"starts", "normally, or never: its pods get nodes and do not run.", &S::ever_starts,
           schemas::Choice<bool>({{"normally", true}, {"never", false}})},
          {"startTime", "From placed to running, if not as options say.", &S::start_time,
           AnyDuration()},
          {"terminationTime",
           "How long a deleted pod stays on its node, with its NPUs, if not as options say.",
           &S::termination_time, AnyDuration()},
          {"nodeSelector", "Labels of the nodes that its pods may go to.", &S::node_selector,
           schemas::Map(Text())},
          {"superPod", "Whether all of its pods must be in one super pod.", &S::one_super_pod,
           Boolean()}};
}

Type<WrittenService> ServiceTable() {
  auto keys = InstanceKeys<WrittenInstance>();
  keys.emplace_back("at", "When it is submitted.", &WrittenInstance::at, AnyDuration());
  return Object<WrittenService>(
      {{"jobID", "Its label jobID.", &WrittenService::job_id, NonEmptyText(), schemas::kRequired},
       {"namespace", "Its namespace.",
        [](WrittenService& service) -> auto& { return service.rule.ns; }, NonEmptyText()},
       {"rule", "Its label mind-cluster/scaling-rule.",
        [](WrittenService& service) -> auto& { return service.rule.name; }, NonEmptyText(),
        schemas::kRequired},
       {"labels",
        "Of the PodGroups and pods of its instances: {fault-scheduling: force}. Without any they "
        "have no PodGroups, and are not rescheduled.",
        &WrittenService::labels, schemas::Map(Text())},
       {"instances", "Its instances, submitted at the start or at a time of their own.",
        &WrittenService::instances, List(Object(std::move(keys)))}});
}

Type<ScenarioOptions> OptionsTable() {
  auto keys = schemas::ScalingKeys<ScenarioOptions>();
  keys.emplace_back("seenAfter", "From a grant until the pods show it.",
                    &ScenarioOptions::seen_after, AnyDuration());
  keys.emplace_back("startTime", "From placed to running.", &ScenarioOptions::start_time,
                    AnyDuration());
  keys.emplace_back("terminationTime", "How long a deleted pod stays on its node, with its NPUs.",
                    &ScenarioOptions::termination_time, AnyDuration());
  keys.emplace_back("watchDelay", "How late the watcher sees changes of pods, rules and nodes.",
                    &ScenarioOptions::watch_delay, AnyDuration());
  keys.emplace_back("watchDelays",
                    "For faults: how late single watches are, if not as watchDelay says.",
                    &ScenarioOptions::watch_delays, WatchDelaysTable());
  keys.emplace_back("clusterD",
                    "For faults: whether ClusterD runs and reports what device plugins, NodeD and "
                    "public faults say. When it stops, it leaves its ConfigMaps as they are.",
                    &ScenarioOptions::clusterd, Boolean());
  keys.emplace_back("rescheduling", "As in mindgate.yaml; settle is 0s unless it is written here.",
                    &ScenarioOptions::rescheduling, schemas::ReschedulingTable());
  keys.emplace_back("graceOverTime", "The scheduler's grace-over-time.",
                    &ScenarioOptions::grace_over_time, Duration(seconds(2), std::chrono::hours(1)));
  return Object(std::move(keys));
}

// --- the timeline ----------------------------------------------------------------------------

Type<Counts> CountsByGroup() { return schemas::Map(Whole(0, kMaxInstances)); }

Type<Claim> ClaimType() {
  const auto counted = [](Counts counts, const Field& field) {
    if (counts.empty()) {
      field.Fault("no group is named, so this cannot fail",
                  "write {group: count}, or [] for no instance at all");
    }
    Claim claim;
    claim.counts = std::move(counts);
    return claim;
  };
  const auto named = [](std::vector<std::string> names, const Field&) {
    Claim claim;
    claim.names = std::move(names);
    return claim;
  };
  return Either(Parsed<Claim>(CountsByGroup(), counted), Parsed<Claim>(List(Text()), named));
}

Type<int64_t> Shape() {
  const auto none = [](const std::string& text, const Field& field) -> int64_t {
    if (text != "none") {
      field.Fault(Quote(text) + " is not a shape",
                  "write a number, 1 for the largest shape, or none");
    }
    return 0;
  };
  return Either(Whole(1, kMaxInstances), Parsed<int64_t>(Text(), none));
}

int LineOf(const Field& field) { return field.reading.At(field.path).line; }

Type<Never> NeverTable() {
  return Object<Never>(
      {{"moreThan", "Instances that run at once, by group.", &Never::more_than, CountsByGroup()},
       {"givenUp", "Instances that were given up.", &Never::given_up, List(Text())},
       {"withdrawn", "Instances whose grant was taken back.", &Never::withdrawn, List(Text())}});
}

using StateWords = std::vector<std::pair<Claim::State, std::string_view>>;

StateWords StatesOfInstances() {
  return {{Claim::State::kRunning, "Instances that run"},
          {Claim::State::kStarting, "Instances that start"},
          {Claim::State::kNoRoom, "Instances that may start but are not on a node"},
          {Claim::State::kHeld, "Instances behind the gate"}};
}

// Keys of claims, which `claims` of an S holds.
template <typename S>
void AddClaims(const StateWords& states, std::vector<Key<S>>& keys) {
  for (const auto& [each, what] : states) {
    keys.push_back(Key<S>::Calling(
        std::string(StateName(each)),
        std::string(what) + ": counts by group ({g0: 2}), or a list of all their names.",
        ClaimType(), [state = each](S& s, Claim claim, const Field& field) {
          claim.state = state;
          claim.line = LineOf(field);
          s.claims.push_back(std::move(claim));
        }));
  }
}

template <typename S>
Key<S> ShapeKey() {
  return Key<S>::Calling(
      "shape", "The largest shape that is complete: 1 is the largest of the rule, or none.",
      Shape(), [](S& s, int64_t shape, const Field& field) {
        s.shape = shape;
        if constexpr (requires { s.shape_line; }) s.shape_line = LineOf(field);
      });
}

Type<Always> AlwaysTable() {
  std::vector<Key<Always>> keys = {
      {"from", "The first moment.", &Always::from, AnyDuration(), schemas::kRequired},
      {"to", "The last moment, not after this entry.", &Always::to, AnyDuration(),
       schemas::kRequired},
      {"atLeast", "Instances that run, by group.", &Always::at_least, CountsByGroup()},
      {"atMost", "Instances that run, by group.", &Always::at_most, CountsByGroup()},
      ShapeKey<Always>()};
  AddClaims<Always>(StatesOfInstances(), keys);
  return Object<Always>(std::move(keys), [](Always& always, const Field& field) {
    always.line = LineOf(field);
    if (!field.value.contains("from") || !field.value.contains("to")) return;
    if (always.to < always.from) {
      field.Fault("to is before from, so this cannot fail", "write a time after from");
    } else if (field.value.size() == 2 ||
               (field.value.size() == 3 && always.empty() && always.claims.empty())) {
      field.Fault("nothing is expected, so this cannot fail",
                  "write atLeast:, atMost:, running:, starting:, noRoom:, held: or shape:");
    }
  });
}

Type<Expectation> ExpectTable() {
  using ExpectKey = Key<Expectation>;
  std::vector<ExpectKey> keys = {
      {"service", "Which service, by jobID or namespace/jobID, where there are several.",
       &Expectation::job_id, NonEmptyText()},
      ShapeKey<Expectation>(),
      ExpectKey::Calling("never", "What must not have happened at any time.", NeverTable(),
                         [](Expectation& expectation, Never never, const Field& field) {
                           expectation.never = std::move(never);
                           expectation.never.line = LineOf(field);
                         }),
      {"always", "What must have held at all times between two.", &Expectation::always,
       AlwaysTable()},
      ExpectKey::Calling(
          "reason", "By instance: text that the last reason which the watcher gave must contain.",
          schemas::Map(NonEmptyText()),
          [](Expectation& expectation, Labels reasons, const Field& field) {
            expectation.reasons = std::move(reasons);
            expectation.reasons_line = LineOf(field);
          })};
  AddClaims<Expectation>(StatesOfInstances(), keys);
  AddClaims<Expectation>({{Claim::State::kGivenUp, "Instances that were given up"},
                          {Claim::State::kWithdrawn, "Instances whose grant was taken back"},
                          {Claim::State::kWouldGiveUp,
                           "Instances that would have been given up, were rebalancing enforced"}},
                         keys);
  return Object<Expectation>(std::move(keys), [](Expectation& expectation, const Field& field) {
    std::sort(expectation.claims.begin(), expectation.claims.end(),
              [](const Claim& a, const Claim& b) { return a.state < b.state; });
    for (const auto& [key, value] : field.value.items()) {
      const bool expects_nothing = (key == "never" && expectation.never.empty()) ||
                                   (key == "reason" && value.empty()) || key == "service";
      if (!expects_nothing) return;
    }
    field.Fault("nothing is expected, so this cannot fail",
                "write running:, starting:, noRoom:, held:, givenUp:, withdrawn:, wouldGiveUp:, "
                "shape:, reason:, never: or always:");
  });
}

template <typename Cards>
Type<Cards> CardsTable() {
  return Object<Cards>({{"node", "The node.", &Cards::name, Text(), schemas::kRequired},
                        {"count", "How many.", &Cards::count, Whole(1, kMaxNpus)}});
}

Type<InstanceSpec> SubmitTable() {
  auto keys = InstanceKeys<InstanceSpec>();
  keys.emplace_back("service", "Its service, by jobID or namespace/jobID, where there are several.",
                    &InstanceSpec::job_id, NonEmptyText());
  return Object(std::move(keys));
}

Type<FailPod> FailPodTable() {
  return Object<FailPod>(
      {{"instance", "The instance, by name or namespace/name.", &FailPod::instance, Text(),
        schemas::kRequired},
       {"pod", "Which of its pods, from 0.", &FailPod::pod, Whole(0, kMaxPods - 1)}});
}

Type<Rollout> RolloutTable() {
  return Object<Rollout>(
      {{"group", "The instances of a group.", &Rollout::group, NonEmptyText()},
       {"instances", "Else these.", &Rollout::instances, List(Text(), 1)},
       {"service", "Their service, by jobID or namespace/jobID, where there are several.",
        &Rollout::job_id, NonEmptyText()},
       {"maxSurge", "How many more there may be meanwhile.", &Rollout::max_surge,
        Whole(0, kMaxInstances)},
       {"maxUnavailable", "How many fewer may run meanwhile.", &Rollout::max_unavailable,
        Whole(0, kMaxInstances)}},
      [](Rollout& rollout, const Field& field) {
        if (field.value.contains("group") == field.value.contains("instances")) {
          field.Fault("a rollout is either of a group or of instances",
                      "write group: or instances:");
        }
        if (rollout.max_surge == 0 && rollout.max_unavailable == 0) {
          field.Fault("without surge and with none unavailable nothing can be replaced",
                      "write maxSurge: 1 or maxUnavailable: 1");
        }
      });
}

Type<FailCalls> FailCallsTable() {
  const auto timeout = [](const std::string& text, const Field& field) {
    if (text != "timeout") {
      field.Fault(Quote(text) + " is not a status", "write a number, 400 to 599, or timeout");
    }
    return int64_t{0};
  };
  return Object<FailCalls>(
      {{"verb", "Which calls; all of them where this is left out.", &FailCalls::verb,
        schemas::Word({"get", "patch", "delete", "evict"})},
       {"status", "The status that they are answered with, or timeout.", &FailCalls::status,
        Either(Whole(400, 599), Parsed<int64_t>(Text(), timeout)), schemas::kRequired},
       {"for", "For how long.", &FailCalls::lasts, Duration(seconds(1), kMaxDuration),
        schemas::kRequired}});
}

Type<LoseLeader> LoseLeaderTable() {
  return Object<LoseLeader>({{"for", "Until another replica leads, which remembers nothing.",
                              &LoseLeader::lasts, AnyDuration(), schemas::kRequired}});
}

// Read twice: for its faults, and onto the options as they are then.
Type<WrittenOptions> SetOptionsTable() {
  const Type<ScenarioOptions> table = OptionsTable();
  return {table.types, table.keywords, [table](const Field& field, WrittenOptions& out) {
            ScenarioOptions checked;
            if (!schemas::Read(table, field, checked)) return;
            out.change = [table, &value = field.value](ScenarioOptions& options) {
              const json::Positions nowhere;
              schemas::ReadContext known(value, nowhere);
              table.read({value, "", known}, options);
            };
          }};
}

Type<RuleKey> DeletedRule() {
  const auto in_default = [](std::string name, const Field&) {
    return RuleKey{.name = std::move(name)};
  };
  return Either(Parsed<RuleKey>(Text(), in_default),
                Object(RuleKeys<RuleKey>([](RuleKey& key) -> RuleKey& { return key; })));
}

// The key of an entry whose value, a Written, makes an action.
template <typename Done, typename Written>
Key<WrittenEntry> ActionKey(std::string name, std::string_view description,
                            const Type<Written>& type) {
  return Key<WrittenEntry>::Calling(std::move(name), description, type,
                                    [](WrittenEntry& entry, Written value, const Field& field) {
                                      entry.action = Done{std::move(value)};
                                      entry.path = field.path;
                                    });
}

Type<WrittenEntry> EntryTable() {
  std::vector<Key<WrittenEntry>> keys = {
      {"at", "When: 90s, 5m, 1m30s.", &WrittenEntry::at, AnyDuration(), schemas::kRequired},
      ActionKey<BreakNode>("breakNode", "The node that fails with all its pods.", Text()),
      ActionKey<RepairNode>("repairNode", "The node that comes back.", Text()),
      ActionKey<BreakCards>("breakCard", "NPUs that fail, lowest numbers first.",
                            CardsTable<BreakCards>()),
      ActionKey<RepairCards>("repairCard", "NPUs that come back, lowest numbers first.",
                             CardsTable<RepairCards>()),
      ActionKey<Cordon>("cordon", "The node that no more pods come to.", Text()),
      ActionKey<Uncordon>("uncordon", "The node that pods may come to again.", Text()),
      ActionKey<NotReady>("notReady", "The node that is not ready: its pods stay, no more come.",
                          Text()),
      ActionKey<Ready>("ready", "The node that is ready again.", Text()),
      ActionKey<Submit>("submit", "An instance that is submitted.", SubmitTable()),
      ActionKey<Delete>("delete",
                        "The instance that is deleted, by name, or by namespace/name where two "
                        "namespaces have one of that name.",
                        Text()),
      ActionKey<FailInstance>("failInstance", "The instance whose processes exit, likewise.",
                              Text()),
      ActionKey<FailPod>("failPod", "One pod that exits.", FailPodTable()),
      ActionKey<Rollout>("rollout",
                         "A rolling update as of a Deployment: instances of a new revision, p0-r2 "
                         "for p0, come beside those of the old one and take their place.",
                         RolloutTable()),
      ActionKey<SetRule>("setRule", "The rule is replaced, possibly by an invalid one.",
                         RuleTable()),
      ActionKey<DeleteRule>("deleteRule", "A rule that is deleted.", DeletedRule()),
      Key<WrittenEntry>::Calling(
          "setOptions", "Options that are others from now on; those left out stay.",
          SetOptionsTable(),
          [](WrittenEntry& entry, WrittenOptions options, const Field& field) {
            entry.action = SetOptions();
            entry.options = std::move(options);
            entry.path = field.path;
          }),
      ActionKey<FailCalls>("failCalls", "Calls of the watcher that fail.", FailCallsTable()),
      ActionKey<LoseLeader>("loseLeader", "The replica that leads loses the Lease.",
                            LoseLeaderTable()),
      ActionKey<Expectation>("expect", "What must hold; what is left out is not checked.",
                             ExpectTable()),
      ActionKey<ReportFaults>("report", "What MindCluster reports of a node from now on.",
                              ReportTable()),
      ActionKey<RemoveNode>("removeNode", "The Node that is deleted; ready brings it back.",
                            Text()),
      ActionKey<ChangePod>("pod", "What becomes of a pod of a job.", ChangePodTable()),
      ActionKey<ExternalDeletion>("otherActs", "Volcano's plugin, or anybody else, restarts pods.",
                                  ExternalDeletionTable()),
      ActionKey<ChangeJob>("changeJob", "A job is changed.", ChangeJobTable()),
      ActionKey<PauseRescheduling>("pause", "Whether the Lease has mindgate.io/pause-rescheduling.",
                                   Boolean()),
      ActionKey<DisableNamespace>("disableNamespace",
                                  "The namespace that gets mindgate.io/rescheduling: disabled.",
                                  NonEmptyText()),
      ActionKey<JobExpectation>("expectJob",
                                "What must hold of a job; what is left out is not checked.",
                                JobExpectationTable())};
  std::string words;
  for (size_t i = 1; i < keys.size(); ++i) {
    words += (i == 1 ? "" : i + 1 == keys.size() ? " and " : ", ") + keys[i].name;
  }
  return Object<WrittenEntry>(
      std::move(keys), [hint = "write one of " + words](WrittenEntry&, const Field& field) {
        if (!field.value.contains("at") || field.value.size() == 2) return;
        field.Fault(field.value.size() < 2
                        ? "the entry says when, but not what happens"
                        : "the entry says several things, and their order would be unclear",
                    hint);
      });
}

void CheckOrderOfEntries(WrittenScenario& written, const Field& field) {
  seconds before{0};
  for (size_t i = 0; i < written.timeline.size(); ++i) {
    const seconds at = written.timeline[i].at.value_or(before);
    if (at < before) {
      field.reading.Fault(
          json::Child(json::Child("/timeline", i), "at"),
          FormatDuration(at) + " is before " + FormatDuration(before) + " of the entry above",
          "write the entries in order of time");
    }
    before = std::max(at, before);
  }
}

Type<WrittenScenario> MakeScenarioTable() {
  return Object<WrittenScenario>(
      {{"name", "What the scenario shows.",
        [](WrittenScenario& written) -> auto& { return written.scenario.name; }, NonEmptyText()},
       {"nodes", "The nodes.", &WrittenScenario::nodes, List(NodeTable(), 1), schemas::kRequired},
       {"rules", "The scaling rules at the start.", &WrittenScenario::rules, List(RuleTable())},
       {"options", "How the watcher decides, and how long things take.",
        [](WrittenScenario& written) -> auto& { return written.scenario.options; }, OptionsTable()},
       {"services", "The inference services.", &WrittenScenario::services, List(ServiceTable(), 1)},
       {"jobs", "Jobs that are restarted because of faults, beside services or without any.",
        &WrittenScenario::jobs, List(JobTable(), 1)},
       {"timeline", "What happens, and what is expected, in order of time.",
        &WrittenScenario::timeline, List(EntryTable(), 1), schemas::kRequired}},
      [](WrittenScenario& written, const Field& field) {
        CheckOrderOfEntries(written, field);
        if (field.value.contains("jobs")) return;
        schemas::CheckRequired({"rules", "services"}, field);
      });
}

}  // namespace

const schemas::Type<WrittenScenario>& ScenarioTable() {
  static const Type<WrittenScenario> table = MakeScenarioTable();
  return table;
}

schemas::OrderedJson ScenarioSchema() {
  return schemas::DocumentSchema(
      "mindgate scenario",
      "A cluster, services and jobs on it, what happens to them, and what is expected.",
      ScenarioTable().Schema());
}

}  // namespace mindgate::simulation
