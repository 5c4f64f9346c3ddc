#include "simulation/player.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/time.h"
#include "simulation/cluster.h"

namespace mindgate::simulation {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;
using Texts = std::vector<std::string>;

using Pods = std::vector<size_t>;

TEST(Cluster, PlacesAllPodsOnTheFirstNodesWithRoom) {
  Cluster cluster({{"a", 8}, {"b", 16}, {"c", 8}});
  EXPECT_EQ(cluster.Place(Pods{0, 1, 2}, {8}), (Pods{0, 1, 1}));
  EXPECT_EQ(cluster.Place(Pods{3, 4}, {8}), std::nullopt) << "one of them would find room";
  EXPECT_EQ(cluster.Room({8}, 9), 1);
  EXPECT_EQ(cluster.Place(Pods{5}, {4}), (Pods{2})) << "refused ones take nothing";
  const uint64_t before = cluster.freed();
  for (const size_t pod : {0, 1, 2}) cluster.Release(pod);
  EXPECT_NE(cluster.freed(), before);
  EXPECT_EQ(cluster.Room({8}, 9), 3);
  EXPECT_EQ(cluster.Room({4}, 2), 2);
}

TEST(Cluster, WhatBreaksNamesItsPods) {
  Cluster cluster({{"a", 8}});
  cluster.Place(Pods{7}, {2});
  cluster.Place(Pods{8}, {2});
  EXPECT_EQ(cluster.BreakCards(0, 3), (Pods{7, 8})) << "cards 0 to 2";
  cluster.Release(7);
  cluster.Release(8);
  EXPECT_EQ(cluster.WorkingCards(0), 5);
  EXPECT_EQ(cluster.Room({1}, 9), 5);
  EXPECT_EQ(cluster.BreakCards(0, 9), Pods()) << "all that are left";
  EXPECT_EQ(cluster.WorkingCards(0), 0);
  cluster.RepairCards(0, 9);
  cluster.Place(Pods{9}, {8});
  EXPECT_EQ(cluster.BreakNode(0), (Pods{9}));
  cluster.Release(9);
  EXPECT_EQ(cluster.Room({1}, 9), 0);
  cluster.RepairNode(0);
  EXPECT_EQ(cluster.Room({1}, 9), 8);
}

TEST(Cluster, PodsGoWhereTheirSelectorsAndSuperPodsAllow) {
  Cluster cluster({{"a", 8, {{"kind", "x"}}, "s0"},
                   {"b", 8, {{"kind", "y"}}, "s1"},
                   {"c", 8, {{"kind", "x"}}, "s1"},
                   {"d", 8, {{"kind", "x"}}, ""}});
  EXPECT_EQ(cluster.Place(Pods{0}, {8, {{"kind", "y"}}}), (Pods{1}));
  EXPECT_EQ(cluster.Place(Pods{1}, {8, {{"kind", "z"}}}), std::nullopt);
  cluster.Release(0);
  EXPECT_EQ(cluster.Room({8, {}, true}, 9), 2);
  EXPECT_EQ(cluster.Place(Pods{2, 3}, {8, {}, true}), (Pods{1, 2})) << "not one here, one there";
  EXPECT_EQ(cluster.Place(Pods{4, 5}, {8, {}, true}), std::nullopt);
  cluster.Release(3);
  EXPECT_EQ(cluster.Place(Pods{6}, {8, {}, true}, 1), (Pods{2})) << "beside the one on b";
  EXPECT_EQ(cluster.Place(Pods{7}, {8, {}, true}, 1), std::nullopt)
      << "there is room, but not there";
}

TEST(Cluster, NoPodComesToNodesThatAreCordonedOrNotReady) {
  Cluster cluster({{"a", 8}, {"b", 8}});
  cluster.SetCordoned(0, true);
  cluster.SetReady(1, false);
  EXPECT_EQ(cluster.Room({8}, 9), 0);
  const uint64_t before = cluster.freed();
  cluster.SetReady(1, true);
  EXPECT_NE(cluster.freed(), before);
  EXPECT_EQ(cluster.Place(Pods{0}, {8}), (Pods{1}));
  cluster.SetCordoned(0, false);
  EXPECT_EQ(cluster.Place(Pods{1}, {8}), (Pods{0}));
}

// Two groups, {g0: 2, g1: 1} else {g0: 1, g1: 1}.
constexpr const char* kRules =
    R"(rules: [{name: rule, text: '{"version": "1.0", "elastic_scaling_list": [
  {"group_list": [{"group_name": "g0", "group_num": "2", "server_num_per_group": "1"},
                  {"group_name": "g1", "group_num": "1", "server_num_per_group": "1"}]},
  {"group_list": [{"group_name": "g0", "group_num": "1", "server_num_per_group": "1"},
                  {"group_name": "g1", "group_num": "1", "server_num_per_group": "1"}]}]}'}]
)";
constexpr const char* kService =
    "services: [{jobID: chat, rule: rule, instances: [{name: p0, group: g0}, {name: p1, group: g0},"
    " {name: d0, group: g1}]}]\n";

// "3:7: message | hint".
Texts Faults(const std::string& text) {
  Texts faults;
  const ScenarioReading reading = ReadScenarios(text);
  for (const json::Issue& issue : reading.issues.items()) {
    faults.push_back(std::to_string(issue.at.line) + ":" + std::to_string(issue.at.column) + ": " +
                     issue.message + (issue.hint.empty() ? "" : " | " + issue.hint));
  }
  EXPECT_EQ(reading.scenarios.empty(), !faults.empty());
  return faults;
}

TEST(Scenario, ItsFaultsComeAllAtOnceWithTheirPlaces) {
  const std::string words =
      "breakNode, repairNode, breakCard, repairCard, cordon, uncordon, notReady, ready, submit, "
      "delete, failInstance, failPod, rollout, setRule, deleteRule, setOptions, failCalls, "
      "loseLeader, expect, report, removeNode, pod, otherActs, changeJob, pause, disableNamespace "
      "and expectJob";
  const std::string nodes = "nodes: [{prefix: npu-, count: 2, npus: 8}]\n";
  const std::string rules = "rules: [{name: rule, text: ''}]\n";
  const std::string services =
      "services: [{jobID: chat, rule: rule, instances: [{name: p0, group: g0}]}]\n";
  const struct {
    const char* name;
    std::string text;
    Texts want;
  } cases[] = {
      {"nothing at all",
       "# nothing\n",
       {"0:0: holds no scenario | write nodes:, rules:, services: and timeline:"}},
      {"no YAML",
       "nodes: [\n",
       {"2:1: did not find expected node content while parsing a flow node"}},
      {"what the schema refuses",
       R"(nodes: [{name: a, npus: 65}, {prefix: b, count: 10001, npus: 1}]
rules: [{name: rule}]
options: {rebalance: enforced, coolDown: -5, upstreamCount: true}
services: [{rule: rule, instances: [{group: g0, pods: 0}]}]
timeline:
  - {breakNode: a}
  - {at: 1m, breakNod: a}
  - {at: 1m, expect: {running: 3, shape: 0, never: {moreThan: {g0: 10001}}}}
  - {at: 1m, breakCard: {count: 0}}
  - {at: 1m, setRule: {name: rule, text: 3}}
)",
       {"1:25: 65 is too large | write 64 or less",
        "1:49: 10001 is too large | write 10000 or less", "2:9: \"text\" is missing | add text:",
        "3:22: \"enforced\" is not allowed here: must be \"off\", \"observe\" or \"enforce\" | did "
        "you mean \"enforce\"?",
        "3:42: -5 is too short | write 1s or more",
        "3:61: unknown key \"upstreamCount\" | did you mean \"upstreamCounts\"?",
        "4:12: \"jobID\" is missing | add jobID:", "4:37: \"name\" is missing | add name:",
        "4:55: 0 is too small | write 1 or more", "6:5: \"at\" is missing | add at:",
        "7:24: unknown key \"breakNod\" | did you mean \"breakNode\"?",
        "8:32: must be an object or a list, not an integer",
        "8:42: 0 is too small | write 1 or more", "8:68: 10001 is too large | write 10000 or less",
        "9:14: \"node\" is missing | add node:", "9:33: 0 is too small | write 1 or more",
        "10:42: must be a string or an object, not an integer | quote it: \"3\""}},
      {"nodes",
       R"(nodes:
  - {name: a, npus: 8, prefix: b}
  - {count: 2, npus: 8}
  - {prefix: npu-, count: 2, npus: 8}
  - {name: npu-1, npus: 4}
)" + rules +
           services + "timeline: [{at: 1m, breakNode: npu-0}]\n",
       {"2:5: a node has either a name, or a prefix and a count | write name: npu-0, or prefix: "
        "npu- and count: 3",
        "3:5: a node has either a name, or a prefix and a count | write name: npu-0, or prefix: "
        "npu- and count: 3",
        "5:5: there is a node \"npu-1\" above | give each node a unique name"}},
      {"too many nodes",
       "nodes: [{prefix: npu-, count: 9999, npus: 8}, {prefix: m, count: 2, npus: 8}]\n" + rules +
           services + "timeline: [{at: 1m, breakNode: npu-0}]\n",
       {"1:47: 10001 nodes are more than the 10000 that can be played | write fewer, or split the "
        "scenario"}},
      {"rules that are there twice, and rules that are not there",
       nodes + R"(rules:
  - {name: rule, text: ''}
  - {name: rule, text: ''}
  - {name: rule, namespace: other, text: {}}
services:
  - {jobID: chat, rule: rul}
  - {jobID: code, namespace: other, rule: other}
timeline:
  - {at: 1m, setRule: {name: late, text: ''}}
  - {at: 2m, deleteRule: lat}
  - {at: 2m, deleteRule: {name: rule, namespace: others}}
)",
       {"4:12: there is a rule \"rule\" in this namespace above | to change a rule later write "
        "setRule: in the timeline",
        "7:25: there is no rule \"rul\" in namespace \"default\" at any time | did you mean "
        "\"rule\"?",
        "8:43: there is no rule \"other\" in namespace \"other\" at any time | add it to rules:, "
        "or write setRule: in the timeline",
        "11:26: there is no rule \"lat\" in namespace \"default\" at any time | did you mean "
        "\"late\"?",
        "12:33: there is no rule \"rule\" in namespace \"others\" at any time | add it to rules:, "
        "or write setRule: in the timeline"}},
      {"services with one jobID",
       nodes + rules + "services: [{jobID: chat, rule: rule}, {jobID: chat, rule: rule}]\n" +
           "timeline: [{at: 1m, breakNode: npu-0}]\n",
       {"3:47: another service has the jobID \"chat\" | give each service of a namespace a "
        "unique jobID: expect: names services by it"}},
      {"durations",
       nodes + rules + "options: {coolDown: 90, startTime: 2 minutes, reservation: 9000h}\n" +
           services + "timeline: [{at: 1m, breakNode: npu-0}]\n",
       {"3:36: \"2 minutes\" is not a duration of at most a year | write 90s, 5m, 1h or 1m30s",
        "3:60: \"9000h\" is not a duration of at most a year | write 90s, 5m, 1h or 1m30s"}},
      {"the order and kind of entries",
       nodes + rules + services + R"(timeline:
  - {at: 2m, breakNode: npu-0}
  - {at: 1m, breakNode: npu-1}
  - {at: 2m}
  - {at: 2m, breakNode: npu-0, repairNode: npu-1}
)",
       {"6:10: 1m is before 2m of the entry above | write the entries in order of time",
        "7:5: the entry says when, but not what happens | write one of " + words,
        "8:5: the entry says several things, and their order would be unclear | write one of " +
            words}},
      {"names that nothing has",
       nodes + rules + services + R"(timeline:
  - {at: 1m, breakNode: npu0}
  - {at: 1m, repairCard: {node: npu-00}}
  - {at: 1m, delete: po}
  - {at: 1m, failInstance: decode}
  - {at: 1m, submit: {name: p1, service: chatt}}
  - {at: 1m, expect: {running: [p2], starting: {g: 1}, never: {moreThan: {decode: 1}}}}
)",
       {"5:25: there is no node \"npu0\" | did you mean \"npu-0\"?",
        "6:33: there is no node \"npu-00\" | did you mean \"npu-0\"?",
        "7:22: there is no instance \"po\" at that time | did you mean \"p0\"?",
        "8:28: there is no instance \"decode\" at that time | submit it before",
        "9:42: no service has the jobID \"chatt\" | did you mean \"chat\"?",
        "10:33: there is no instance \"p2\" at any time | did you mean \"p0\"?",
        "10:52: no instance is of group \"g\" | did you mean \"g0\"?",
        "10:83: no instance is of group \"decode\" | write the group of an instance"}},
      {"instances that come twice and go twice",
       nodes + rules + services + R"(timeline:
  - {at: 1m, submit: {name: p0}}
  - {at: 2m, delete: p0}
  - {at: 3m, delete: p0}
  - {at: 4m, submit: {name: p0}}
  - {at: 5m, failInstance: p0}
)",
       {"5:29: there is an instance \"p0\" already | give each instance of a namespace a "
        "unique name: entries name instances without a service",
        "7:22: there is no instance \"p0\" at that time | submit it before"}},
      {"instances of two namespaces",
       nodes +
           R"(rules: [{name: rule, namespace: a, text: ""}, {name: rule, namespace: b, text: ""}]
services:
  - {jobID: chat, namespace: a, rule: rule, instances: [{name: p0}, {name: p1}]}
  - {jobID: chat, namespace: b, rule: rule, instances: [{name: p0}, {name: p0}]}
timeline:
  - {at: 1m, failInstance: p0}
  - {at: 1m, failInstance: a/p0}
  - {at: 1m, failInstance: p1}
  - {at: 1m, failInstance: b/p1}
  - {at: 1m, delete: a/p0}
  - {at: 2m, failInstance: a/p0}
)",
       {"5:76: there is an instance \"p0\" already | give each instance of a namespace a unique "
        "name: entries name instances without a service",
        "7:28: instances of several namespaces have the name \"p0\" | write namespace/name",
        "10:28: there is no instance \"b/p1\" at that time | submit it before",
        "12:28: there is no instance \"a/p0\" at that time | submit it before"}},
      {"an expectation that cannot fail",
       nodes + rules + services + R"(timeline:
  - {at: 1m, expect: {}}
  - {at: 1m, expect: {running: {}}}
  - {at: 1m, expect: {shape: full}}
)",
       {"5:14: nothing is expected, so this cannot fail | write running:, starting:, noRoom:, "
        "held:, givenUp:, withdrawn:, wouldGiveUp:, shape:, reason:, never: or always:",
        "6:23: no group is named, so this cannot fail | write {group: count}, or [] for no "
        "instance at all",
        "7:30: \"full\" is not a shape | write a number, 1 for the largest shape, or none"}},
      {"what the newer entries refuse",
       nodes + rules + R"(services:
  - jobID: chat
    rule: rule
    instances: [{name: p0, group: g0, pods: 2}, {name: P1, group: g1}, {name: p2, group: g2}]
timeline:
  - {at: 1m, cordon: npu-9}
  - {at: 1m, failPod: {instance: p0, pod: 2}}
  - {at: 1m, failPod: {instance: p9}}
  - {at: 1m, rollout: {group: g0}}
  - {at: 1m, rollout: {group: g1}}
  - {at: 1m, rollout: {instances: [p2, p3]}}
  - {at: 1m, rollout: {group: g2}}
  - {at: 2m, expect: {always: {from: 1m, to: 3m, atLeast: {g9: 1}}}}
  - {at: 2m, expect: {reason: {p7: x}, never: {givenUp: [p8]}}}
)",
       {"8:22: there is no node \"npu-9\" | did you mean \"npu-0\"?",
        "9:43: instance \"p0\" has no pod 2, but 2 from 0 | write 1 or less",
        "10:34: there is no instance \"p9\" at that time | did you mean \"p0\"?",
        "11:31: there can be no rollout of \"p0\": it has several pods | write pods: 1, since a "
        "Deployment replaces single pods",
        "12:31: there can be no rollout of \"P1\": a pod cannot have this name | write lower-case "
        "letters, digits and '-'",
        "13:40: the service has no instance \"p3\" | write the name of one of its instances",
        "14:31: there can be no rollout of \"p2\": it belongs to another rollout | write the same "
        "group or instances each time",
        "15:46: 3m is after this entry, at 2m | write the entry at that time or later",
        "15:64: no instance is of group \"g9\" | did you mean \"g0\"?",
        "16:36: there is no instance \"p7\" at any time | did you mean \"p0\"?",
        "16:58: there is no instance \"p8\" at any time | did you mean \"p0\"?"}},
      {"values of the newer entries",
       nodes + rules + R"(services:
  - {jobID: chat, rule: rule, instances: [{name: p0, group: g0, starts: nevr, superPod: a}]}
timeline:
  - {at: 1m, rollout: {group: g0, maxSurge: 0}}
  - {at: 1m, rollout: {group: g0, instances: [p0]}}
  - {at: 1m, failCalls: {verb: put, status: 200}}
  - {at: 1m, failCalls: {status: slow, for: 0s}}
  - {at: 1m, loseLeader: {}}
  - {at: 1m, setOptions: {rebalance: enforced, seenAfte: 1s}}
  - {at: 2m, expect: {always: {from: 2m, to: 1m, shape: 1}}}
  - {at: 2m, expect: {always: {from: 1m, to: 2m}}}
  - {at: 2m, expect: {never: {givenUp: []}, reason: {}}}
)",
       {"4:73: \"nevr\" is not allowed here: must be \"normally\" or \"never\" | did you mean "
        "\"never\"?",
        "4:89: \"a\" is not allowed here: must be true or false",
        "6:14: without surge and with none unavailable nothing can be replaced | write maxSurge: 1 "
        "or maxUnavailable: 1",
        "7:14: a rollout is either of a group or of instances | write group: or instances:",
        "8:14: \"for\" is missing | add for:",
        "8:32: \"put\" is not allowed here: must be \"get\", \"patch\", \"delete\" or \"evict\"",
        "8:45: 200 is too small | write 400 or more",
        "9:34: \"slow\" is not a status | write a number, 400 to 599, or timeout",
        "9:45: \"0s\" is too short | write 1s or more", "10:14: \"for\" is missing | add for:",
        "11:38: \"enforced\" is not allowed here: must be \"off\", \"observe\" or \"enforce\" | "
        "did you mean \"enforce\"?",
        "11:58: unknown key \"seenAfte\" | did you mean \"seenAfter\"?",
        "12:23: to is before from, so this cannot fail | write a time after from",
        "13:23: nothing is expected, so this cannot fail | write atLeast:, atMost:, running:, "
        "starting:, noRoom:, held: or shape:",
        "14:14: nothing is expected, so this cannot fail | write running:, starting:, noRoom:, "
        "held:, givenUp:, withdrawn:, wouldGiveUp:, shape:, reason:, never: or always:"}},
      {"one jobID in two namespaces",
       nodes + R"(rules: [{name: rule, text: ''}, {name: rule, namespace: b, text: ''}]
services: [{jobID: chat, rule: rule}, {jobID: chat, namespace: b, rule: rule}]
timeline:
  - {at: 1m, submit: {name: p0, service: chat}}
  - {at: 1m, submit: {name: p1, service: b/chat}}
  - {at: 1m, expect: {service: c/chat, shape: 1}}
)",
       {"5:42: services of several namespaces have the jobID \"chat\" | write namespace/jobID",
        "7:32: no service has the jobID \"c/chat\" | did you mean \"b/chat\"?"}},
      {"which of several services",
       nodes + rules + "services: [{jobID: chat, rule: rule}, {jobID: code, rule: rule}]\n" +
           R"(timeline:
  - {at: 1m, submit: {name: p0}}
  - {at: 1m, expect: {shape: 1}}
  - {at: 1m, expect: {service: codes, shape: none}}
)",
       {"5:14: there are several services, but this entry names none | add service: with a jobID",
        "6:14: there are several services, but this entry names none | add service: with a jobID",
        "7:32: no service has the jobID \"codes\" | did you mean \"code\"?"}},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(Faults(c.text), c.want);
  }
}

TEST(Scenario, OldSpellingsAreReadAndWarnedAbout) {
  const ScenarioReading reading =
      ReadScenarios(std::string("nodes: [{name: a, npus: 8}]\n") + kRules + kService +
                    "options: {coolDown: 90, upstreamCounts: \"on\"}\n"
                    "timeline: [{at: 60, breakNode: a}]\n");
  ASSERT_EQ(reading.scenarios.size(), 1u);
  EXPECT_EQ(reading.scenarios[0].options.cool_down, seconds(90));
  EXPECT_TRUE(reading.scenarios[0].options.upstream_counts);
  EXPECT_EQ(reading.scenarios[0].timeline.back().at, seconds(60));
  Texts warnings;
  for (const json::Issue& issue : reading.warnings.items()) {
    warnings.push_back(issue.field + ": " + issue.message + " | " + issue.hint);
  }
  EXPECT_EQ(warnings,
            (Texts{"options.coolDown: warning: 90 has no unit and is read as seconds | write 1m30s",
                   "options.upstreamCounts: warning: \"on\" is an old spelling | write true",
                   "timeline[0].at: warning: 60 has no unit and is read as seconds | write 1m"}));
}

// The text that many repeats of a line make.
std::string Repeated(const std::string& before, size_t times, const std::string& after) {
  std::string text;
  for (size_t i = 0; i < times; ++i) text += before + std::to_string(i) + after;
  return text;
}

TEST(Scenario, IsBounded) {
  const std::string head =
      "nodes: [{prefix: npu-, count: 2, npus: 8}]\nrules: [{name: rule, text: "
      "''}]\nservices: [{jobID: chat, rule: rule}]\ntimeline:\n";
  const struct {
    std::string entries;
    Texts want;
  } cases[] = {
      {Repeated("- {at: 1s, submit: {name: p", kMaxInstances + 1, "}}\n"),
       {"3:1: 10001 instances are more than the 10000 that can be played | write fewer, or split "
        "the scenario"}},
      {Repeated("- {at: ", kMaxExpectations + 1, "s, expect: {shape: none}}\n"),
       {"4:1: 10001 expectations are more than the 10000 that can be played | write fewer, or "
        "split "
        "the scenario"}},
  };
  for (const auto& c : cases) EXPECT_EQ(Faults(head + c.entries), c.want);
}

TEST(Scenario, NodesComeInTheOrderOfTheirNumbers) {
  const auto reading = ReadScenarios(
      "nodes: [{prefix: npu-, count: 11, npus: 8}, {name: npu-02, npus: 8}, {name: npu, npus: 8},"
      " {name: a-2, npus: 8}]\nrules: [{name: r, text: ''}]\nservices: [{jobID: c, rule: r}]\n"
      "timeline: [{at: 0s, breakNode: npu}]\n");
  ASSERT_EQ(reading.scenarios.size(), 1);
  Texts names;
  for (const NodeSpec& node : reading.scenarios.front().nodes) names.push_back(node.name);
  EXPECT_EQ(names, (Texts{"a-2", "npu", "npu-0", "npu-1", "npu-02", "npu-2", "npu-3", "npu-4",
                          "npu-5", "npu-6", "npu-7", "npu-8", "npu-9", "npu-10"}));
}

// "1m30s granted p0: reason", without the rules and submissions of the start.
Texts TimelineOf(const std::string& text) {
  Texts lines;
  const ScenarioReading reading = ReadScenarios(text);
  EXPECT_TRUE(reading.issues.empty()) << json::Render(reading.issues, "scenario.yaml", text);
  for (const Scenario& scenario : reading.scenarios) {
    for (const Event& event : Play(scenario).events) {
      const bool given = event.kind == EventKind::kSubmitted || event.kind == EventKind::kRule;
      if (given && event.at == seconds(0)) continue;
      lines.push_back(FormatDuration(event.at) + " " + std::string(EventName(event.kind)) + " " +
                      event.subject + ": " + event.reason);
    }
  }
  return lines;
}

std::string Three(const std::string& rest) {
  return "nodes: [{prefix: npu-, count: 3, npus: 8}]\n" + std::string(kRules) + kService + rest;
}
std::string Two(const std::string& rest) {
  return "nodes: [{prefix: npu-, count: 2, npus: 8}]\n" + std::string(kRules) + rest;
}

TEST(Play, ReportsTheWholeStory) {
  const std::string refused =
      "the rule in ConfigMap rule cannot be used: line 1, column 2: not valid JSON: expected a key "
      "in double quotes, found the end of the text, so the operator refuses the whole rule";
  const std::string missing =
      "there is no ConfigMap \"rule\" with the key elastic_scaling.json in namespace default";
  const struct {
    const char* name;
    std::string text;
    Texts want;
  } cases[] = {
      {"the minimal shape starts before the largest",
       Three(R"(timeline: [{at: 2m, expect: {running: [p0, p1, d0], shape: 1}}]
)"),
       {"0s granted d0: shape 2 of 2 wants 1 of g1, and none runs or starts",
        "0s granted p0: shape 2 of 2 wants 1 of g0, and none runs or starts",
        "0s placed d0: on npu-0", "0s placed p0: on npu-1",
        "0s held p1: shape 2 of 2 wants 1 of g0, and 1 starts; shape 1 waits for g0 (0 of 1 run) "
        "and g1 (0 of 1 run)",
        "30s running p0: all of its pods", "30s running d0: all of its pods",
        "30s granted p1: shape 1 of 2 wants 2 of g0, and 1 runs", "30s placed p1: on npu-2",
        "30s shape chat: 2 of 2 runs: 1 of g0 and 1 of g1", "1m running p1: all of its pods",
        "1m shape chat: 1 of 2 runs: 2 of g0 and 1 of g1",
        "2m expected line 8: running: d0, p0, p1", "2m expected line 8: shape: 1"}},
      {"a fault without a spare node, rebalanced",
       Three(R"(options: {rebalance: enforce}
timeline:
  - {at: 5m, breakNode: npu-0}
  - {at: 10m, repairNode: npu-0}
)"),
       {"0s granted d0: shape 2 of 2 wants 1 of g1, and none runs or starts",
        "0s granted p0: shape 2 of 2 wants 1 of g0, and none runs or starts",
        "0s placed d0: on npu-0",
        "0s placed p0: on npu-1",
        "0s held p1: shape 2 of 2 wants 1 of g0, and 1 starts; shape 1 waits for g0 (0 of 1 run) "
        "and g1 (0 of 1 run)",
        "30s running p0: all of its pods",
        "30s running d0: all of its pods",
        "30s granted p1: shape 1 of 2 wants 2 of g0, and 1 runs",
        "30s placed p1: on npu-2",
        "30s shape chat: 2 of 2 runs: 1 of g0 and 1 of g1",
        "1m running p1: all of its pods",
        "1m shape chat: 1 of 2 runs: 2 of g0 and 1 of g1",
        "5m broken npu-0: the node",
        "5m lost d0: npu-0 broke; its pod comes back behind the gate",
        "5m granted d0: shape 2 of 2 wants 1 of g1, and none runs or starts",
        "5m no room d0: 1 pod with 8 NPUs, and there is room for none",
        "5m shape chat: none of 2 runs",
        "6m given up p1: shape 2 of 2 needs d0 of g1 but there is no room for it; it wants 1 of "
        "g0, and 2 run",
        "6m placed d0: on npu-2",
        "6m held p1: shape 2 of 2 wants 1 of g0, and 1 runs; shape 1 waits for g1 (0 of 1 run)",
        "6m30s running d0: all of its pods",
        "6m30s granted p1: shape 1 of 2 wants 2 of g0, and 1 runs",
        "6m30s no room p1: 1 pod with 8 NPUs, and there is room for none",
        "6m30s shape chat: 2 of 2 runs: 1 of g0 and 1 of g1",
        "10m repaired npu-0: the node",
        "10m placed p1: on npu-0",
        "10m30s running p1: all of its pods",
        "10m30s shape chat: 1 of 2 runs: 2 of g0 and 1 of g1"}},
      {"observing gives nothing up",
       Three(R"(options: {rebalance: observe, startTime: 10s}
timeline:
  - {at: 2m, breakNode: npu-0}
  - {at: 5m, expect: {running: [p0, p1], noRoom: [d0], givenUp: []}}
)"),
       {"0s granted d0: shape 2 of 2 wants 1 of g1, and none runs or starts",
        "0s granted p0: shape 2 of 2 wants 1 of g0, and none runs or starts",
        "0s placed d0: on npu-0",
        "0s placed p0: on npu-1",
        "0s held p1: shape 2 of 2 wants 1 of g0, and 1 starts; shape 1 waits for g0 (0 of 1 run) "
        "and g1 (0 of 1 run)",
        "10s running p0: all of its pods",
        "10s running d0: all of its pods",
        "10s granted p1: shape 1 of 2 wants 2 of g0, and 1 runs",
        "10s placed p1: on npu-2",
        "10s shape chat: 2 of 2 runs: 1 of g0 and 1 of g1",
        "20s running p1: all of its pods",
        "20s shape chat: 1 of 2 runs: 2 of g0 and 1 of g1",
        "2m broken npu-0: the node",
        "2m lost d0: npu-0 broke; its pod comes back behind the gate",
        "2m granted d0: shape 2 of 2 wants 1 of g1, and none runs or starts",
        "2m no room d0: 1 pod with 8 NPUs, and there is room for none",
        "2m shape chat: none of 2 runs",
        "5m would give up p1: shape 2 of 2 needs d0 of g1 but there is no room for it; it wants 1 "
        "of g0, and 2 run",
        "5m expected line 11: running: p0, p1",
        "5m expected line 11: noRoom: d0",
        "5m expected line 11: givenUp: none"}},
      {"upstream counts only what runs",
       Two(R"(options: {upstreamCounts: true, rebalance: off}
services: [{jobID: chat, rule: rule, instances: [{name: p0, group: g0}, {name: p1, group: g0},
            {name: p2, group: g0, npusPerPod: 1}, {name: d0, group: g1, at: 1s}]}]
timeline: [{at: 1m, expect: {running: [p0, p1], noRoom: [d0], held: [p2]}}]
)"),
       {"0s granted p0: shape 2 of 2 wants 1 of g0, and none runs",
        "0s granted p1: shape 2 of 2 wants 1 of g0, and none runs",
        "0s granted p2: shape 2 of 2 wants 1 of g0, and none runs", "0s placed p0: on npu-0",
        "0s placed p1: on npu-1", "0s no room p2: 1 pod with 1 NPU, and there is room for none",
        "1s submitted d0: group g1, 1 pod with 8 NPUs",
        "1s granted d0: shape 2 of 2 wants 1 of g1, and none runs",
        "1s no room d0: 1 pod with 8 NPUs, and there is room for none",
        "30s running p0: all of its pods", "30s running p1: all of its pods",
        "30s withdrawn p2: shape 2 of 2 wants 1 of g0, and there is no room for this one: its pods "
        "return behind the gate",
        "30s held p2: no shape wants more than 2 of g0, and 2 run",
        "1m expected line 10: running: p0, p1", "1m expected line 10: noRoom: d0",
        "1m expected line 10: held: p2"}},
      {"a grant that was answered is not given again, however late its pods show it",
       Three(R"(options: {seenAfter: 40s, reservation: 30s, startTime: 0s}
timeline: [{at: 50s, delete: p1}]
)"),
       {"0s granted d0: shape 2 of 2 wants 1 of g1, and none runs or starts",
        "0s granted p0: shape 2 of 2 wants 1 of g0, and none runs or starts",
        "0s held p1: shape 2 of 2 wants 1 of g0, and 1 starts; shape 1 waits for g0 (0 of 1 run) "
        "and g1 (0 of 1 run)",
        "40s placed d0: on npu-0", "40s placed p0: on npu-1", "40s running p0: all of its pods",
        "40s running d0: all of its pods", "40s granted p1: shape 1 of 2 wants 2 of g0, and 1 runs",
        "40s shape chat: 2 of 2 runs: 1 of g0 and 1 of g1", "50s deleted p1: its pods go with it"}},
      {"nothing waits for pods that run at once",
       Three(R"(options: {startTime: 0s}
timeline: [{at: 0s, expect: {running: [p0, p1, d0], shape: 1}}]
)"),
       {"0s granted d0: shape 2 of 2 wants 1 of g1, and none runs or starts",
        "0s granted p0: shape 2 of 2 wants 1 of g0, and none runs or starts",
        "0s placed d0: on npu-0", "0s placed p0: on npu-1", "0s running p0: all of its pods",
        "0s running d0: all of its pods", "0s granted p1: shape 1 of 2 wants 2 of g0, and 1 runs",
        "0s placed p1: on npu-2", "0s running p1: all of its pods",
        "0s shape chat: 1 of 2 runs: 2 of g0 and 1 of g1",
        "0s expected line 9: running: d0, p0, p1", "0s expected line 9: shape: 1"}},
      {"an instance without a group stops all grants",
       Three(R"(timeline:
  - {at: 1m, submit: {name: x}}
  - {at: 2m, failInstance: p0}
  - {at: 3m, delete: x}
)"),
       {"0s granted d0: shape 2 of 2 wants 1 of g1, and none runs or starts",
        "0s granted p0: shape 2 of 2 wants 1 of g0, and none runs or starts",
        "0s placed d0: on npu-0",
        "0s placed p0: on npu-1",
        "0s held p1: shape 2 of 2 wants 1 of g0, and 1 starts; shape 1 waits for g0 (0 of 1 run) "
        "and g1 (0 of 1 run)",
        "30s running p0: all of its pods",
        "30s running d0: all of its pods",
        "30s granted p1: shape 1 of 2 wants 2 of g0, and 1 runs",
        "30s placed p1: on npu-2",
        "30s shape chat: 2 of 2 runs: 1 of g0 and 1 of g1",
        "1m running p1: all of its pods",
        "1m submitted x: no group, 1 pod with 8 NPUs",
        "1m held x: x belongs to the service but has no label mind-cluster/group-name, so its "
        "instances cannot be counted",
        "1m shape chat: unknown: the instances are not counted",
        "2m lost p0: its processes exit; its pod comes back behind the gate",
        "2m held p0: x belongs to the service but has no label mind-cluster/group-name, so its "
        "instances cannot be counted",
        "3m deleted x: its pods go with it",
        "3m granted p0: shape 1 of 2 wants 2 of g0, and 1 runs",
        "3m placed p0: on npu-1",
        "3m shape chat: 2 of 2 runs: 1 of g0 and 1 of g1",
        "3m30s running p0: all of its pods",
        "3m30s shape chat: 1 of 2 runs: 2 of g0 and 1 of g1"}},
      {"what changes nothing says so",
       Three(R"(timeline:
  - {at: 0s, failInstance: p1}
  - {at: 5m, breakCard: {node: npu-0, count: 2}}
  - {at: 5m, breakNode: npu-0}
  - {at: 5m, breakNode: npu-0}
  - {at: 6m, repairNode: npu-1}
  - {at: 6m, repairCard: {node: npu-1}}
)"),
       {"0s lost p1: nothing: none of its processes runs yet",
        "0s granted d0: shape 2 of 2 wants 1 of g1, and none runs or starts",
        "0s granted p0: shape 2 of 2 wants 1 of g0, and none runs or starts",
        "0s placed d0: on npu-0",
        "0s placed p0: on npu-1",
        "0s held p1: shape 2 of 2 wants 1 of g0, and 1 starts; shape 1 waits for g0 (0 of 1 run) "
        "and g1 (0 of 1 run)",
        "30s running p0: all of its pods",
        "30s running d0: all of its pods",
        "30s granted p1: shape 1 of 2 wants 2 of g0, and 1 runs",
        "30s placed p1: on npu-2",
        "30s shape chat: 2 of 2 runs: 1 of g0 and 1 of g1",
        "1m running p1: all of its pods",
        "1m shape chat: 1 of 2 runs: 2 of g0 and 1 of g1",
        "5m broken npu-0: 2 NPUs; 6 of 8 work",
        "5m lost d0: 2 NPUs of npu-0 broke; its pod comes back behind the gate",
        "5m broken npu-0: the node",
        "5m broken npu-0: it was broken already",
        "5m granted d0: shape 2 of 2 wants 1 of g1, and none runs or starts",
        "5m no room d0: 1 pod with 8 NPUs, and there is room for none",
        "5m shape chat: none of 2 runs",
        "6m repaired npu-1: it was not broken",
        "6m repaired npu-1: 0 NPUs; 8 of 8 work",
        "6m would give up p1: shape 2 of 2 needs d0 of g1 but there is no room for it; it wants 1 "
        "of g0, and 2 run"}},
      {"all pods of an instance go with one",
       Two(R"(services: [{jobID: chat, rule: rule, instances: [{name: p0, group: g0, pods: 2},
            {name: p1, group: g0, pods: 2, npusPerPod: 4, at: 1s}, {name: d0, group: g1, npusPerPod: 1, at: 2s}]}]
timeline:
  - {at: 1m, breakCard: {node: npu-1}}
  - {at: 2m, delete: p0}
)"),
       {"0s granted p0: shape 2 of 2 wants 1 of g0, and none runs or starts",
        "0s placed p0: on npu-0 and npu-1",
        "1s submitted p1: group g0, 2 pods with 4 NPUs each",
        "1s held p1: shape 2 of 2 wants 1 of g0, and 1 starts; shape 1 waits for g0 (0 of 1 run) "
        "and g1 (0 of 1 run)",
        "2s submitted d0: group g1, 1 pod with 1 NPU",
        "2s granted d0: shape 2 of 2 wants 1 of g1, and none runs or starts",
        "2s no room d0: 1 pod with 1 NPU, and there is room for none",
        "2s held p1: shape 2 of 2 wants 1 of g0, and 1 starts; shape 1 waits for g0 (0 of 1 run) "
        "and g1 (0 of 1 run, there is no room for d0)",
        "30s running p0: all of its pods",
        "30s held p1: shape 2 of 2 wants 1 of g0, and 1 runs; shape 1 waits for g1 (0 of 1 run, "
        "there is no room for d0)",
        "1m broken npu-1: 1 NPU; 7 of 8 work",
        "1m lost p0: 1 NPU of npu-1 broke; its pods come back behind the gate",
        "1m placed d0: on npu-0",
        "1m granted p1: shape 2 of 2 wants 1 of g0, and none runs or starts",
        "1m placed p1: on npu-0 and npu-1",
        "1m held p0: shape 2 of 2 wants 1 of g0, and 1 starts; shape 1 waits for g0 (0 of 1 run) "
        "and g1 (0 of 1 run)",
        "1m30s running p1: all of its pods",
        "1m30s running d0: all of its pods",
        "1m30s granted p0: shape 1 of 2 wants 2 of g0, and 1 runs",
        "1m30s no room p0: 2 pods with 8 NPUs each, and there is room for none",
        "1m30s shape chat: 2 of 2 runs: 1 of g0 and 1 of g1",
        "2m deleted p0: its pods go with it"}},
      {"a rule that is refused, then deleted, then right again",
       Three(R"(timeline:
  - {at: 2m, setRule: {name: rule, text: "{"}}
  - {at: 3m, failInstance: p0}
  - {at: 4m, deleteRule: rule}
  - {at: 5m, setRule: {name: rule, text: {elastic_scaling_list: [{group_list: [
      {group_name: g0, group_num: "1", server_num_per_group: "1"}]}]}}}
)"),
       {"0s granted d0: shape 2 of 2 wants 1 of g1, and none runs or starts",
        "0s granted p0: shape 2 of 2 wants 1 of g0, and none runs or starts",
        "0s placed d0: on npu-0",
        "0s placed p0: on npu-1",
        "0s held p1: shape 2 of 2 wants 1 of g0, and 1 starts; shape 1 waits for g0 (0 of 1 run) "
        "and g1 (0 of 1 run)",
        "30s running p0: all of its pods",
        "30s running d0: all of its pods",
        "30s granted p1: shape 1 of 2 wants 2 of g0, and 1 runs",
        "30s placed p1: on npu-2",
        "30s shape chat: 2 of 2 runs: 1 of g0 and 1 of g1",
        "1m running p1: all of its pods",
        "1m shape chat: 1 of 2 runs: 2 of g0 and 1 of g1",
        "2m rule rule: refused: line 1: not valid JSON: expected a key in double quotes, found "
        "the end of the text, so the operator refuses the whole rule",
        "2m kept d0: " + refused,
        "2m kept p0: " + refused,
        "2m kept p1: " + refused,
        "2m shape chat: unknown: " + refused,
        "3m lost p0: its processes exit; its pod comes back behind the gate",
        "4m rule rule: deleted",
        "4m kept d0: " + missing,
        "4m held p0: " + missing,
        "4m kept p1: " + missing,
        "4m shape chat: unknown: " + missing,
        "5m rule rule: 1 of g0",
        "5m held p0: the largest shape runs, which wants 1 of g0",
        "5m shape chat: 1 of 1 runs: 1 of g0"}},
      {"what is not met says what was found",
       Three(R"(timeline:
  - at: 10s
    expect: {running: {g0: 1, g1: 0}, starting: [p0], noRoom: [], held: {g0: 0}, shape: 2, givenUp: [p1]}
  - {at: 2m, expect: {shape: none, never: {moreThan: {g0: 1, g1: 1}}}}
)"),
       {"0s granted d0: shape 2 of 2 wants 1 of g1, and none runs or starts",
        "0s granted p0: shape 2 of 2 wants 1 of g0, and none runs or starts",
        "0s placed d0: on npu-0",
        "0s placed p0: on npu-1",
        "0s held p1: shape 2 of 2 wants 1 of g0, and 1 starts; shape 1 waits for g0 (0 of 1 run) "
        "and g1 (0 of 1 run)",
        "10s NOT MET line 10: running: expected 1 of g0 and 0 of g1, found 0 of g0 and 0 of g1",
        "10s NOT MET line 10: starting: expected p0, found d0, p0",
        "10s expected line 10: noRoom: none",
        "10s NOT MET line 10: held: expected 0 of g0, found 1 of g0 (p1)",
        "10s NOT MET line 10: givenUp: expected p1, found none",
        "10s NOT MET line 10: shape: expected 2, found none",
        "30s running p0: all of its pods",
        "30s running d0: all of its pods",
        "30s granted p1: shape 1 of 2 wants 2 of g0, and 1 runs",
        "30s placed p1: on npu-2",
        "30s shape chat: 2 of 2 runs: 1 of g0 and 1 of g1",
        "1m running p1: all of its pods",
        "1m shape chat: 1 of 2 runs: 2 of g0 and 1 of g1",
        "2m NOT MET line 11: shape: expected none, found 1 of 2",
        "2m NOT MET line 11: never: expected at most 1 of g0 and at most 1 of g1, found 2 of g0 at "
        "1m and 1 of g1 at 30s"}},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(TimelineOf(c.text), c.want);
  }
}

TEST(Play, EndsWhenNothingMoreHappensOrAnHourAfterTheLastEntry) {
  const auto end_of = [](const std::string& options) {
    const auto reading = ReadScenarios(Three(options + "timeline: [{at: 5m, breakNode: npu-2}]\n"));
    return Play(reading.scenarios.at(0)).end;
  };
  EXPECT_EQ(end_of(""), minutes(15)) << "when it looks at p1 again, which is late then";
  const std::string late = "options: {startDeadline: 24h, startTime: ";
  EXPECT_EQ(end_of(late + "64m}\n"), minutes(65)) << "when it looks at p1, which has no room";
  EXPECT_EQ(end_of(late + "66m}\n"), minutes(5)) << "more than an hour later";
}

TEST(Play, StopsAtItsLimits) {
  const auto reading = ReadScenarios(Three("timeline: [{at: 5m, expect: {shape: 1}}]\n"));
  ASSERT_EQ(reading.scenarios.size(), 1);
  const struct {
    PlayLimits limits;
    Event last;
  } cases[] = {
      {{.events = 3}, {seconds(0), EventKind::kStopped, "", "", "there are more than 3 events"}},
      {{.rounds = 1},
       {seconds(0), EventKind::kStopped, "", "",
        "the decision does not settle: in round 1 at this time it still grants, gives up or "
        "restarts"}},
  };
  for (const auto& c : cases) {
    const Playback playback = Play(reading.scenarios.front(), c.limits);
    EXPECT_TRUE(playback.stopped);
    EXPECT_FALSE(playback.Passed());
    EXPECT_EQ(playback.events.back(), c.last);
  }
}

TEST(Play, OfOneScenarioIsAlwaysTheSame) {
  const auto reading = ReadScenarios(Three("timeline: [{at: 5m, breakNode: npu-0}]\n"));
  ASSERT_EQ(reading.scenarios.size(), 1);
  const Playback once = Play(reading.scenarios.front());
  EXPECT_EQ(TimelineText("a", once), TimelineText("a", Play(reading.scenarios.front())));
}

}  // namespace
}  // namespace mindgate::simulation
