#include "watcher/simulation/scenario_table.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/duration.h"
#include "base/text.h"
#include "json/pointer.h"
#include "schemas/config_table.h"

namespace mindgate::watcher::simulation {
namespace {

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
       {"npus", "NPUs of each.", &WrittenNode::npus, Whole(1, kMaxNpus), schemas::kRequired}});
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
          {"npusPerPod", "NPUs of each.", &S::npus_per_pod, Whole(1, kMaxNpus)}};
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
       {"instances", "Its instances, submitted at the start or at a time of their own.",
        &WrittenService::instances, List(Object(std::move(keys)))}});
}

Type<ScenarioOptions> OptionsTable() {
  auto keys = schemas::ScalingKeys<ScenarioOptions>();
  keys.emplace_back("seenAfter", "From a grant until the pods show it.",
                    &ScenarioOptions::seen_after, AnyDuration());
  keys.emplace_back("startTime", "From placed to running.", &ScenarioOptions::start_time,
                    AnyDuration());
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
                  "write a number, 1 for the fullest shape, or none");
    }
    return 0;
  };
  return Either(Whole(1, kMaxInstances), Parsed<int64_t>(Text(), none));
}

Type<Expectation> ExpectTable() {
  const Type<Counts> never =
      Object<Counts>({{"moreThan", "Instances that run, by group.",
                       [](Counts& counts) -> auto& { return counts; }, CountsByGroup()}});
  using ExpectKey = Key<Expectation>;
  std::vector<ExpectKey> keys = {
      {"service", "Which service, by jobID, where there are several.", &Expectation::job_id,
       NonEmptyText()},
      ExpectKey::Calling(
          "shape", "The fullest shape that runs whole: 1 is the fullest of the rule, or none.",
          Shape(),
          [](Expectation& expectation, int64_t shape, const Field& field) {
            expectation.shape = shape;
            expectation.shape_line = field.reading.At(field.path).line;
          }),
      ExpectKey::Calling("never", "What must not have happened at any time.", never,
                         [](Expectation& expectation, Counts most, const Field& field) {
                           expectation.never_more_than = std::move(most);
                           expectation.never_line = field.reading.At(field.path).line;
                         })};
  const std::pair<Claim::State, std::string_view> states[] = {
      {Claim::State::kRunning, "Instances that run"},
      {Claim::State::kStarting, "Instances that start"},
      {Claim::State::kNoRoom, "Instances that may start but are not on a node"},
      {Claim::State::kHeld, "Instances behind the gate"},
      {Claim::State::kGivenUp, "Instances that were given up"}};
  for (const auto& [state, what] : states) {
    keys.push_back(ExpectKey::Calling(
        std::string(StateName(state)),
        std::string(what) + ": counts by group ({g0: 2}), or a list of all their names.",
        ClaimType(), [state = state](Expectation& expectation, Claim claim, const Field& field) {
          claim.state = state;
          claim.line = field.reading.At(field.path).line;
          expectation.claims.push_back(std::move(claim));
        }));
  }
  return Object<Expectation>(std::move(keys), [](Expectation& expectation, const Field& field) {
    std::sort(expectation.claims.begin(), expectation.claims.end(),
              [](const Claim& a, const Claim& b) { return a.state < b.state; });
    for (const auto& [key, value] : field.value.items()) {
      const json::Json* what = key == "never" ? json::Find(value, "moreThan") : &value;
      if (key != "service" && what != nullptr && (key != "never" || !what->empty())) return;
    }
    field.Fault("nothing is expected, so this cannot fail",
                "write running:, starting:, noRoom:, held:, givenUp:, shape: or never:");
  });
}

template <typename Cards>
Type<Cards> CardsTable() {
  return Object<Cards>({{"node", "The node.", &Cards::name, Text(), schemas::kRequired},
                        {"count", "How many.", &Cards::count, Whole(1, kMaxNpus)}});
}

Type<InstanceSpec> SubmitTable() {
  auto keys = InstanceKeys<InstanceSpec>();
  keys.emplace_back("service", "Its service, by jobID, where there are several.",
                    &InstanceSpec::job_id, NonEmptyText());
  return Object(std::move(keys));
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
      ActionKey<Submit>("submit", "An instance that is submitted.", SubmitTable()),
      ActionKey<Delete>("delete", "The instance that is deleted.", Text()),
      ActionKey<FailInstance>("failInstance", "The instance whose processes exit.", Text()),
      ActionKey<SetRule>("setRule", "The rule is replaced, possibly by an invalid one.",
                         RuleTable()),
      ActionKey<DeleteRule>("deleteRule", "A rule that is deleted.", DeletedRule()),
      ActionKey<Expectation>("expect", "What must hold; what is left out is not checked.",
                             ExpectTable())};
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
       {"rules", "The scaling rules at the start.", &WrittenScenario::rules, List(RuleTable()),
        schemas::kRequired},
       {"options", "How the watcher decides, and how long things take.",
        [](WrittenScenario& written) -> auto& { return written.scenario.options; }, OptionsTable()},
       {"services", "The inference services.", &WrittenScenario::services, List(ServiceTable(), 1),
        schemas::kRequired},
       {"timeline", "What happens, and what is expected, in order of time.",
        &WrittenScenario::timeline, List(EntryTable(), 1), schemas::kRequired}},
      CheckOrderOfEntries);
}

}  // namespace

const schemas::Type<WrittenScenario>& ScenarioTable() {
  static const Type<WrittenScenario> table = MakeScenarioTable();
  return table;
}

schemas::OrderedJson ScenarioSchema() {
  return schemas::DocumentSchema(
      "mindgate scenario", "A cluster, services on it, what happens to them, and what is expected.",
      ScenarioTable().Schema());
}

}  // namespace mindgate::watcher::simulation
