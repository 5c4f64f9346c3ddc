#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "base/text.h"
#include "json/pointer.h"
#include "json/yaml.h"
#include "schemas/json_schema.h"
#include "watcher/simulation/duration.h"
#include "watcher/simulation/scenario.h"
#include "watcher/simulation/scenario_schema.h"

namespace mindgate::watcher::simulation {
namespace {

using json::Child;
using json::Find;
using json::Json;

constexpr std::string_view kDefaultNamespace = "default";

const schemas::JsonSchema& CompiledSchema() {
  static const schemas::JsonSchema schema = schemas::JsonSchema::Compile(ScenarioSchema()).value();
  return schema;
}

std::string TextOf(const Json& object, std::string_view key, std::string_view otherwise = "") {
  return std::string(json::FindString(object, key).value_or(otherwise));
}

// A whole number that the schema has bounded; 8.0 is one.
int64_t WholeNumber(const Json& object, std::string_view key, int64_t otherwise) {
  const Json* value = Find(object, key);
  return value == nullptr ? otherwise : value->get<int64_t>();
}

// Names in order, with the numbers in them as numbers: npu-2 before npu-10.
bool NameLess(const std::string& left, const std::string& right) {
  const auto digits_of = [](std::string_view text) {
    return text.substr(0, text.find_first_not_of("0123456789"));
  };
  const auto value_of = [](std::string_view digits) {
    digits.remove_prefix(std::min(digits.find_first_not_of('0'), digits.size()));
    return std::pair(digits.size(), digits);
  };
  std::string_view a = left;
  std::string_view b = right;
  while (!a.empty() && !b.empty()) {
    const auto digits_a = digits_of(a);
    const auto digits_b = digits_of(b);
    if (!digits_a.empty() && !digits_b.empty()) {
      const auto value_a = value_of(digits_a);
      const auto value_b = value_of(digits_b);
      if (value_a != value_b) return value_a < value_b;
    } else if (a.front() != b.front()) {
      return a.front() < b.front();
    }
    a.remove_prefix(std::max<size_t>(digits_a.size(), 1));
    b.remove_prefix(std::max<size_t>(digits_b.size(), 1));
  }
  return a.empty() && b.empty() ? left < right : a.empty();
}

class Reader {
 public:
  Reader(const json::YamlDocument& document, json::Issues& issues)
      : root_(document.value), positions_(document.positions), issues_(issues) {}

  Scenario Read() {
    if (!FitsSchema()) return {};
    scenario_.name = TextOf(root_, "name");
    ReadNodes();
    ReadRules();
    ReadServices();
    ReadOptions();
    ReadTimeline();
    Order();
    return std::move(scenario_);
  }

 private:
  // Looking for a place takes time in proportion to the text: not for faults that are not shown.
  bool Shown() const { return issues_.items().size() < json::Issues::kMax; }

  void Fault(const std::string& path, std::string message, std::string hint) {
    json::Position at;
    if (Shown()) at = positions_.At(path);
    issues_.Add({at, json::FieldPath(root_, path), std::move(message), std::move(hint)});
  }

  template <typename Names>
  void Unknown(const std::string& path, std::string message, const std::string& written,
               const Names& known, std::string hint) {
    if (Shown()) {
      std::vector<std::string_view> words(known.begin(), known.end());
      std::erase(words, "");
      if (const auto near = NearestOf(written, words)) hint = "did you mean " + Quote(*near) + "?";
    }
    Fault(path, std::move(message), std::move(hint));
  }

  bool FitsSchema() {
    const auto faults = CompiledSchema().Validate(root_);
    for (const schemas::SchemaFault& fault : faults) {
      if (Shown()) {
        issues_.Add(schemas::ToIssue(fault, root_, positions_));
      } else {
        issues_.Add({});
      }
    }
    return faults.empty();
  }

  bool TooMany(const std::string& path, size_t count, size_t most, std::string_view what) {
    if (count <= most) return false;
    Fault(path,
          std::to_string(count) + " " + std::string(what) + " are more than the " +
              std::to_string(most) + " that can be played",
          "write fewer, or split the scenario");
    return true;
  }

  std::chrono::seconds Duration(const Json& object, std::string_view key, const std::string& path,
                                std::chrono::seconds otherwise) {
    const Json* value = Find(object, key);
    if (value == nullptr) return otherwise;
    if (const auto text = json::AsString(value)) {
      if (const auto duration = ParseDuration(*text)) return *duration;
      Fault(Child(path, key), Quote(*text) + " is not a duration of at most a year",
            "write 90s, 5m, 1h or 1m30s");
    } else {
      Fault(Child(path, key), value->dump() + " has no unit", "write " + value->dump() + "s");
    }
    return otherwise;
  }

  void ReadNodes() {
    const Json& nodes = *Find(root_, "nodes");
    size_t total = 0;
    for (size_t i = 0; i < nodes.size(); ++i) {
      const Json& node = nodes[i];
      const std::string path = Child("/nodes", i);
      const auto name = json::FindString(node, "name");
      const auto prefix = json::FindString(node, "prefix");
      const int64_t count = WholeNumber(node, "count", 0);
      if (name ? prefix || count > 0 : !prefix || count == 0) {
        Fault(path, "a node has either a name, or a prefix and a count",
              "write name: npu-0, or prefix: npu- and count: 3");
        continue;
      }
      const int64_t npus = WholeNumber(node, "npus", 1);
      total += name ? 1 : static_cast<size_t>(count);
      if (TooMany(path, total, kMaxNodes, "nodes")) return;
      if (name) {
        AddNode(std::string(*name), npus, path);
      } else {
        for (int64_t n = 0; n < count; ++n) {
          AddNode(std::string(*prefix) + std::to_string(n), npus, path);
        }
      }
    }
    std::sort(scenario_.nodes.begin(), scenario_.nodes.end(),
              [](const NodeSpec& a, const NodeSpec& b) { return NameLess(a.name, b.name); });
    for (size_t i = 0; i < scenario_.nodes.size(); ++i) nodes_[scenario_.nodes[i].name] = i;
  }

  void AddNode(std::string name, int64_t npus, const std::string& path) {
    if (!nodes_.emplace(name, 0).second) {
      Fault(path, "there is a node " + Quote(name) + " above", "give each node a unique name");
      return;
    }
    scenario_.nodes.push_back({std::move(name), npus});
  }

  static RuleSpec RuleOf(const Json& value) {
    const Json& text = *Find(value, "text");
    return {{TextOf(value, "namespace", kDefaultNamespace), TextOf(value, "name")},
            text.is_string() ? text.get<std::string>() : text.dump(2)};
  }

  // Rules that are there at some time.
  void ReadRules() {
    const Json& rules = *Find(root_, "rules");
    for (size_t i = 0; i < rules.size(); ++i) {
      RuleSpec rule = RuleOf(rules[i]);
      if (!rules_.insert(rule.key).second) {
        Fault(Child(Child("/rules", i), "name"),
              "there is a rule " + Quote(rule.key.name) + " in this namespace above",
              "to change a rule later write setRule: in the timeline");
      }
      scenario_.rules.push_back(std::move(rule));
    }
    for (const Json& entry : *Find(root_, "timeline")) {
      if (const Json* value = Find(entry, "setRule")) rules_.insert(RuleOf(*value).key);
    }
  }

  void ReadServices() {
    const Json& services = *Find(root_, "services");
    for (size_t i = 0; i < services.size(); ++i) {
      const std::string path = Child("/services", i);
      ServiceSpec service{
          TextOf(services[i], "jobID"),
          {TextOf(services[i], "namespace", kDefaultNamespace), TextOf(services[i], "rule")}};
      if (!services_.emplace(service.job_id, i).second) {
        Fault(Child(path, "jobID"), "another service has the jobID " + Quote(service.job_id),
              "give each service a unique jobID: expect: names services by it");
      }
      CheckRule(Child(path, "rule"), service.rule);
      scenario_.services.push_back(std::move(service));
      if (const Json* instances = Find(services[i], "instances")) {
        ReadInstances(*instances, i, Child(path, "instances"));
      }
    }
  }

  void CheckRule(const std::string& path, const RuleKey& key) {
    if (rules_.contains(key)) return;
    std::vector<std::string_view> known;
    for (const RuleKey& rule : rules_) {
      if (rule.ns == key.ns) known.push_back(rule.name);
    }
    Unknown(
        path,
        "there is no rule " + Quote(key.name) + " in namespace " + Quote(key.ns) + " at any time",
        key.name, known, "add it to rules:, or write setRule: in the timeline");
  }

  void ReadInstances(const Json& instances, size_t service, const std::string& path) {
    for (size_t i = 0; i < instances.size(); ++i) {
      const std::string at = Child(path, i);
      Add(Duration(instances[i], "at", at, {}), Submit{InstanceOf(instances[i], service)}, at);
    }
  }

  InstanceSpec InstanceOf(const Json& value, size_t service) {
    InstanceSpec instance;
    instance.service = service;
    instance.name = TextOf(value, "name");
    instance.group = TextOf(value, "group");
    instance.pods = WholeNumber(value, "pods", instance.pods);
    instance.npus_per_pod = WholeNumber(value, "npusPerPod", instance.npus_per_pod);
    names_.insert(instance.name);
    groups_.insert(instance.group);
    return instance;
  }

  void ReadOptions() {
    const Json* options = Find(root_, "options");
    if (options == nullptr) return;
    const std::string path = "/options";
    scaling::Options& decision = scenario_.options;
    decision.upstream_counts = json::AsBool(Find(*options, "upstreamCounts")).value_or(false);
    if (const Json* rebalance = Find(*options, "rebalance")) {
      decision.rebalance = schemas::EnforcementModeNamed(json::AsString(rebalance).value_or(""))
                               .value_or(schemas::EnforcementMode::kOff);
    }
    decision.rebalance_after = Duration(*options, "rebalanceAfter", path, decision.rebalance_after);
    decision.cool_down = Duration(*options, "coolDown", path, decision.cool_down);
    decision.reservation = Duration(*options, "reservation", path, decision.reservation);
    scenario_.seen_after = Duration(*options, "seenAfter", path, scenario_.seen_after);
    scenario_.start_time = Duration(*options, "startTime", path, scenario_.start_time);
  }

  void ReadTimeline() {
    const Json& timeline = *Find(root_, "timeline");
    if (TooMany("/timeline", timeline.size(), kMaxEntries, "entries")) return;
    // What is expected may name instances and groups that come later in the file.
    for (const Json& entry : timeline) {
      if (const Json* submit = Find(entry, "submit")) InstanceOf(*submit, 0);
    }
    const auto expectations =
        std::count_if(timeline.begin(), timeline.end(),
                      [](const Json& entry) { return entry.contains("expect"); });
    if (TooMany("/timeline", static_cast<size_t>(expectations), kMaxExpectations, "expectations")) {
      return;
    }
    std::chrono::seconds before{0};
    for (size_t i = 0; i < timeline.size(); ++i) {
      const Json& entry = timeline[i];
      const std::string path = Child("/timeline", i);
      const auto at = Duration(entry, "at", path, before);
      if (at < before) {
        Fault(Child(path, "at"),
              FormatDuration(at) + " is before " + FormatDuration(before) + " of the entry above",
              "write the entries in order of time");
      }
      before = std::max(at, before);
      if (entry.size() != 2) {
        Fault(path,
              entry.size() < 2 ? "the entry says when, but not what happens"
                               : "the entry says several things, and their order would be unclear",
              "write one of breakNode, repairNode, breakCard, repairCard, submit, delete, "
              "failInstance, setRule, deleteRule and expect");
        continue;
      }
      ReadAction(entry, at, path);
    }
  }

  void ReadAction(const Json& entry, std::chrono::seconds at, const std::string& path) {
    const auto member = std::next(entry.begin());  // keys are in order, and "at" is the first
    const std::string& word = member.key();
    const Json& value = member.value();
    const std::string where = Child(path, word);
    if (word == "breakNode") {
      Add(at, BreakNode{NodeNamed(value, where)}, where);
    } else if (word == "repairNode") {
      Add(at, RepairNode{NodeNamed(value, where)}, where);
    } else if (word == "breakCard") {
      Add(at,
          BreakCards{NodeNamed(value["node"], Child(where, "node")),
                     WholeNumber(value, "count", 1)},
          where);
    } else if (word == "repairCard") {
      Add(at,
          RepairCards{NodeNamed(value["node"], Child(where, "node")),
                      WholeNumber(value, "count", 1)},
          where);
    } else if (word == "submit") {
      Add(at, Submit{InstanceOf(value, ServiceOf(value, where))}, where);
    } else if (word == "delete") {
      Add(at, Delete{value.get<std::string>()}, where);
    } else if (word == "failInstance") {
      Add(at, FailInstance{value.get<std::string>()}, where);
    } else if (word == "setRule") {
      Add(at, SetRule{RuleOf(value)}, where);
    } else if (word == "deleteRule") {
      const RuleKey key =
          value.is_string()
              ? RuleKey{std::string(kDefaultNamespace), value.get<std::string>()}
              : RuleKey{TextOf(value, "namespace", kDefaultNamespace), TextOf(value, "name")};
      CheckRule(value.is_string() ? where : Child(where, "name"), key);
      Add(at, DeleteRule{key}, where);
    } else {
      Add(at, ExpectationOf(value, where), where);
    }
  }

  size_t NodeNamed(const Json& value, const std::string& path) {
    const std::string& name = value.get_ref<const std::string&>();
    const auto found = nodes_.find(name);
    if (found != nodes_.end()) return found->second;
    std::vector<std::string_view> known;
    for (const NodeSpec& node : scenario_.nodes) known.push_back(node.name);
    Unknown(path, "there is no node " + Quote(name), name, known, "add it to nodes:");
    return 0;
  }

  size_t ServiceOf(const Json& value, const std::string& path) {
    const auto job_id = json::FindString(value, "service");
    if (!job_id) {
      if (scenario_.services.size() > 1) {
        Fault(path, "there are several services, but this entry names none",
              "add service: with a jobID");
      }
      return 0;
    }
    const auto found = services_.find(*job_id);
    if (found != services_.end()) return found->second;
    std::vector<std::string_view> known;
    for (const ServiceSpec& service : scenario_.services) known.push_back(service.job_id);
    Unknown(Child(path, "service"), "no service has the jobID " + Quote(*job_id),
            std::string(*job_id), known, "add it to services:");
    return 0;
  }

  Expectation ExpectationOf(const Json& value, const std::string& path) {
    Expectation expectation;
    expectation.service = ServiceOf(value, path);
    for (const Claim::State state :
         {Claim::State::kRunning, Claim::State::kStarting, Claim::State::kNoRoom,
          Claim::State::kHeld, Claim::State::kGivenUp}) {
      const Json* claim = Find(value, StateName(state));
      if (claim == nullptr) continue;
      expectation.claims.push_back(ClaimOf(state, *claim, Child(path, StateName(state))));
    }
    if (const Json* shape = Find(value, "shape")) {
      if (shape->is_string() && *shape != "none") {
        Fault(Child(path, "shape"), Quote(shape->get<std::string>()) + " is not a shape",
              "write a number, 1 for the fullest shape, or none");
      }
      expectation.shape_line = positions_.At(Child(path, "shape")).line;
      expectation.shape = shape->is_string() ? 0 : WholeNumber(value, "shape", 0);
    }
    const Json* limits = Find(Find(value, "never"), "moreThan");
    if (limits != nullptr) {
      expectation.never_line = positions_.At(Child(path, "never")).line;
      expectation.never_more_than = CountsOf(*limits, Child(Child(path, "never"), "moreThan"));
    }
    if (expectation.claims.empty() && !expectation.shape && expectation.never_more_than.empty()) {
      Fault(path, "nothing is expected, so this cannot fail",
            "write running:, starting:, noRoom:, held:, givenUp:, shape: or never:");
    }
    return expectation;
  }

  Claim ClaimOf(Claim::State state, const Json& value, const std::string& path) {
    Claim claim;
    claim.state = state;
    claim.line = positions_.At(path).line;
    if (value.is_object()) {
      if (value.empty()) {
        Fault(path, "no group is named, so this cannot fail",
              "write {group: count}, or [] for no instance at all");
      }
      claim.counts = CountsOf(value, path);
      return claim;
    }
    claim.names = value.get<std::vector<std::string>>();
    for (size_t i = 0; i < value.size(); ++i) CheckName((*claim.names)[i], Child(path, i));
    std::sort(claim.names->begin(), claim.names->end());
    return claim;
  }

  std::map<std::string, int64_t> CountsOf(const Json& value, const std::string& path) {
    std::map<std::string, int64_t> counts;
    for (const auto& [group, count] : value.items()) {
      counts[group] = count.get<int64_t>();
      if (groups_.contains(group)) continue;
      Unknown(Child(path, group), "no instance is of group " + Quote(group), group, groups_,
              "write the group of an instance");
    }
    return counts;
  }

  void CheckName(const std::string& name, const std::string& path) {
    if (names_.contains(name)) return;
    Unknown(path, "there is no instance " + Quote(name) + " at any time", name, names_,
            "write the name of an instance");
  }

  void Add(std::chrono::seconds at, Action action, std::string path) {
    scenario_.timeline.push_back({at, std::move(action)});
    paths_.push_back(std::move(path));
  }

  // Puts instances of services among the entries, and follows which are there.
  void Order() {
    std::vector<size_t> order(scenario_.timeline.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(), [this](size_t a, size_t b) {
      return scenario_.timeline[a].at < scenario_.timeline[b].at;
    });
    std::vector<Entry> timeline;
    std::set<std::string> there;
    size_t submitted = 0;
    for (const size_t i : order) {
      const Action& action = scenario_.timeline[i].action;
      if (const auto* submit = std::get_if<Submit>(&action)) {
        ++submitted;
        if (!there.insert(submit->instance.name).second) {
          Fault(Child(paths_[i], "name"),
                "there is an instance " + Quote(submit->instance.name) + " already",
                "give each instance a unique name: entries name instances without a service");
        }
      } else if (const auto* removal = std::get_if<Delete>(&action)) {
        CheckThere(removal->instance, there, paths_[i]);
        there.erase(removal->instance);
      } else if (const auto* failure = std::get_if<FailInstance>(&action)) {
        CheckThere(failure->instance, there, paths_[i]);
      }
      timeline.push_back(std::move(scenario_.timeline[i]));
    }
    TooMany("/services", submitted, kMaxInstances, "instances");
    scenario_.timeline = std::move(timeline);
  }

  void CheckThere(const std::string& name, const std::set<std::string>& there,
                  const std::string& path) {
    if (there.contains(name)) return;
    Unknown(path, "there is no instance " + Quote(name) + " at that time", name, there,
            "submit it before");
  }

  const Json& root_;
  const json::Positions& positions_;
  json::Issues& issues_;
  Scenario scenario_;
  std::map<std::string, size_t, std::less<>> nodes_;
  std::map<std::string, size_t, std::less<>> services_;
  std::set<RuleKey> rules_;
  std::set<std::string> names_;     // of instances
  std::set<std::string> groups_;    // that instances have
  std::vector<std::string> paths_;  // of scenario_.timeline before it is ordered
};

}  // namespace

std::string_view StateName(Claim::State state) {
  switch (state) {
    case Claim::State::kRunning:
      return "running";
    case Claim::State::kStarting:
      return "starting";
    case Claim::State::kNoRoom:
      return "noRoom";
    case Claim::State::kHeld:
      return "held";
    case Claim::State::kGivenUp:
      return "givenUp";
  }
  return "";
}

ScenarioReading ReadScenarios(std::string_view text) {
  ScenarioReading reading;
  const auto documents = json::DecodeYaml(text);
  if (!documents) {
    reading.issues.Add(documents.error());
    return reading;
  }
  for (const json::YamlDocument& document : *documents) {
    reading.scenarios.push_back(Reader(document, reading.issues).Read());
  }
  if (documents->empty()) {
    reading.issues.Add(
        {{}, "", "holds no scenario", "write nodes:, rules:, services: and timeline:"});
  }
  if (!reading.issues.empty()) reading.scenarios.clear();
  return reading;
}

}  // namespace mindgate::watcher::simulation
