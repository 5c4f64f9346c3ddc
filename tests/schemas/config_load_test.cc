#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/text.h"
#include "json/yaml.h"
#include "schemas/config.h"

namespace mindgate::schemas {
namespace {

using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

// A catalogue of its own: what the real one holds does not matter here.
const KnownNames& Known() {
  static const KnownNames known = {
      {{"wrong-type", "MG001", "Members have the types that the API says."},
       {"fault-scheduling-value", "MG050", "The label has one of five values."}},
      {{"scheduler-name", "", "Writes the scheduler."}, {"min-available", "", "Writes K."}}};
  return known;
}

Config Load(std::string_view text) {
  auto config = LoadConfig(text, Known());
  if (!config) {
    ADD_FAILURE() << json::Render(config.error(), "mindgate.yaml", text);
    return {};
  }
  return *std::move(config);
}

// Every fault as "line:column field: message (hint)".
std::vector<std::string> Faults(std::string_view text) {
  const auto config = LoadConfig(text, Known());
  std::vector<std::string> out;
  if (config) return out;
  for (const json::Issue& issue : config.error().items()) {
    out.push_back(std::to_string(issue.at.line) + ":" + std::to_string(issue.at.column) + " " +
                  issue.field + ": " + issue.message +
                  (issue.hint.empty() ? "" : " (" + issue.hint + ")"));
  }
  return out;
}

TEST(LoadConfig, TextWithoutContentGivesTheDefaults) {
  for (const char* text : {"", "# only a comment\n", "{}\n", "---\n", "rules:\nprofiles:\n"}) {
    SCOPED_TRACE(text);
    Config config = Load(text);
    EXPECT_EQ(config.generation, HashText(text));
    config.generation = Config().generation;
    EXPECT_EQ(config, Config());
  }
}

TEST(LoadConfig, ExceptionsAreForKindsOfTheSiteToo) {
  for (const char* kind : {"RayCluster", "Ray*", "Deployment", "*"}) {
    const Config config =
        Load("exceptions: [{rules: [MG001], kind: \"" + std::string(kind) +
             "\", owner: o, reason: r, expires: 2026-01-01}]\nkinds: [{use: ray}]\n");
    ASSERT_EQ(config.exceptions.size(), 1u) << kind;
    EXPECT_EQ(config.exceptions[0].kind, kind);
  }
}

TEST(LoadConfig, EveryKey) {
  const std::string text = R"(
scheduler: volcano-2
profiles:
  ome: {faultScheduling: grace, podRescheduling: "", faultRetryTimes: 7}
  aibrix: {faultRetryTimes: "007"}
  pod:
mutators: {min-available: false, scheduler-name: true}
gangRepair: false
elasticScaling: {mode: enforce, upstreamCounts: true, reservation: 20s, startDeadline: 5m, rebalance: off, rebalanceAfter: 1m30s, coolDown: 7s,
                 giveUpsPerMinute: 3}
audit: {mode: on, interval: 30m}
maxMode: warn
existingViolations: enforce
rules: {MG001: audit, fault-scheduling-value: off, policy/whole-machines: warn}
policies: {files: [policies, more/queues.yaml], configMaps: true}
namespaces:
  - {name: team-a, inject: disabled, rules: {MG050: warn, policy/a.b: off}}
  - {name: team-*, rules: {wrong-type: enforce}}
exceptions:
  - rules: [wrong-type, MG050, policy/a.b]
    namespace: legacy-*
    kind: Deployment
    name: llama-*
    owner: serving
    reason: moves in December
    expires: 2026-12-31
graceOverTime: 20m
superPodSize: 24.0
versions: {volcano: "1.12", leaderworkerset: v0.7.1, ome: ""}
accelerators:
  - {schedulePolicy: chip8-node8, acceleratorType: module-910b-8, nodeChips: 8, podChips: [8, 1], superPod: true, wholeNodesWhenDistributed: true}
npuResources:
  - {name: huawei.com/Ascend910B4-1, servedBy: other}
  - {name: huawei.com/ascend-1980}
)";
  Config want;
  want.generation = HashText(text);
  want.scheduler = "volcano-2";
  want.profiles[static_cast<size_t>(Framework::kOme)] = {"grace", "", "7"};
  want.profiles[static_cast<size_t>(Framework::kAibrix)].fault_retry_times = "007";
  want.disabled_mutators = {"min-available"};
  want.gang_repair = false;
  want.elastic_scaling = {EnforcementMode::kEnforce, true,        seconds(20), seconds(300),
                          EnforcementMode::kOff,     seconds(90), seconds(7),  3};
  want.audit = {true, std::chrono::minutes(30)};
  want.max_mode = Mode::kWarn;
  want.existing_violations = Mode::kEnforce;
  want.versions.Set(Component::kVolcano, {1, 12});
  want.versions.Set(Component::kLeaderWorkerSet, {0, 7, 1});
  want.rules = {
      {"MG001", Mode::kAudit}, {"MG050", Mode::kOff}, {"policy/whole-machines", Mode::kWarn}};
  want.policy_sources = {{"policies", "more/queues.yaml"}, true};
  want.namespaces = {{"team-a", false, {{"MG050", Mode::kWarn}, {"policy/a.b", Mode::kOff}}},
                     {"team-*", true, {{"MG001", Mode::kEnforce}}}};
  want.exceptions = {{{"MG001", "MG050", "policy/a.b"},
                      "legacy-*",
                      "Deployment",
                      "llama-*",
                      "serving",
                      "moves in December",
                      *ParseTime("2026-12-31")}};
  want.grace_over_time = std::chrono::minutes(20);
  want.super_pod_size = 24;
  want.accelerators = {{"chip8-node8", "module-910b-8", 8, {1, 8}, true, true}};
  want.npu_resources = {{"huawei.com/Ascend910B4-1", NpuServer::kOther},
                        {"huawei.com/ascend-1980", NpuServer::kMindCluster}};
  EXPECT_EQ(Load(text), want);
}

// What was written before durations had units and booleans were true and false.
TEST(LoadConfig, OldSpellingsAreReadAndWarnedAbout) {
  const std::string text = R"(gangRepair: "off"
mutators: {min-available: "off", scheduler-name: "on"}
elasticScaling: {upstreamCounts: "on", reservation: 20, rebalanceAfter: 90.0, coolDown: 300}
graceOverTime: 1200
)";
  json::Issues warnings;
  auto config = LoadConfig(text, Known(), &warnings);
  ASSERT_TRUE(config);
  Config want;
  want.generation = HashText(text);
  want.gang_repair = false;
  want.disabled_mutators = {"min-available"};
  want.elastic_scaling.upstream_counts = true;
  want.elastic_scaling.reservation = seconds(20);
  want.elastic_scaling.rebalance_after = seconds(90);
  want.elastic_scaling.cool_down = seconds(300);
  want.grace_over_time = seconds(1200);
  EXPECT_EQ(*config, want);
  std::vector<std::string> reported;
  for (const json::Issue& issue : warnings.items()) {
    reported.push_back(std::to_string(issue.at.line) + " " + issue.field + ": " + issue.message +
                       " (" + issue.hint + ")");
  }
  EXPECT_THAT(
      reported,
      ElementsAre(
          "1 gangRepair: warning: \"off\" is an old spelling (write false)",
          "2 mutators[min-available]: warning: \"off\" is an old spelling (write false)",
          "2 mutators[scheduler-name]: warning: \"on\" is an old spelling (write true)",
          "3 elasticScaling.upstreamCounts: warning: \"on\" is an old spelling (write true)",
          "3 elasticScaling.reservation: warning: 20 has no unit and is read as seconds (write "
          "20s)",
          "3 elasticScaling.rebalanceAfter: warning: 90.0 has no unit and is read as seconds "
          "(write 1m30s)",
          "3 elasticScaling.coolDown: warning: 300 has no unit and is read as seconds (write 5m)",
          "4 graceOverTime: warning: 1200 has no unit and is read as seconds (write 20m)"));
}

// YAML 1.1 reads these words as booleans; people write them without quotes all the same.
TEST(LoadConfig, OnAndOffMayStandUnquotedOrQuoted) {
  for (const char* off : {"off", "\"off\"", "no", "false"}) {
    SCOPED_TRACE(off);
    const std::string word = off;
    const Config config = Load("gangRepair: " + word + "\nrules: {MG001: " + word +
                               "}\nmutators: {min-available: " + word +
                               "}\nprofiles: {ome: {faultScheduling: " + word +
                               ", podRescheduling: " + word + "}}\n");
    EXPECT_FALSE(config.gang_repair);
    EXPECT_EQ(config.rules, (RuleModes{{"MG001", Mode::kOff}}));
    EXPECT_THAT(config.disabled_mutators, ElementsAre("min-available"));
    EXPECT_EQ(config.profile(Framework::kOme).fault_scheduling, "off");
    EXPECT_EQ(config.profile(Framework::kOme).pod_rescheduling, "off");
  }
  EXPECT_EQ(Load("profiles: {job: {podRescheduling: on}}").profile(Framework::kJob),
            (Profile{"force", "on", ""}));
}

// A list takes the place of the default, and is not added to it.
TEST(LoadConfig, PublicFaultsCountInTheNamespacesThatAreListed) {
  const auto namespaces = [](const char* text) {
    return Load(text).rescheduling.public_faults.namespaces;
  };
  EXPECT_THAT(namespaces(""), ElementsAre("kube-system", "mindx-dl"));
  EXPECT_THAT(namespaces("rescheduling: {publicFaults: {}}"),
              ElementsAre("kube-system", "mindx-dl"));
  EXPECT_THAT(namespaces("rescheduling: {publicFaults: {namespaces: [cluster-system]}}"),
              ElementsAre("cluster-system"));
  EXPECT_THAT(namespaces("rescheduling: {publicFaults: {namespaces: []}}"), ElementsAre());
  EXPECT_THAT(
      Faults("rescheduling: {publicFaults: {namespaces: [kube-system, '*', A]}}"),
      ElementsAre("1:57 rescheduling.publicFaults.namespaces[1]: \"*\" is not the name of a "
                  "namespace (write lower-case letters, digits and -, at most 63)",
                  "1:62 rescheduling.publicFaults.namespaces[2]: \"A\" is not the name of a "
                  "namespace (write lower-case letters, digits and -, at most 63)"));
}

TEST(LoadConfig, GenerationIsTheHashOfTheText) {
  EXPECT_EQ(HashText(""), "cbf29ce484222325");
  EXPECT_EQ(HashText("a"), "af63dc4c8601ec8c");  // FNV-1a's published vectors
  EXPECT_EQ(HashText("foobar"), "85944171f73967e8");
  EXPECT_NE(Load("scheduler: a").generation, Load("scheduler: b").generation);
}

TEST(LoadConfig, AllFaultsAtOnceWithTheirPlaces) {
  std::vector<std::string> frameworks;
  for (const FrameworkInfo& info : kFrameworks) frameworks.emplace_back(info.name);
  std::ranges::sort(frameworks);
  EXPECT_THAT(
      Faults(R"(scheduler: ""
profile: {}
profiles:
  sglang: {}
  ome:
    faultScheduling: Force
    podRescheduling: maybe
    faultRetryTimes: -1
  aibrix: {faultRetryTimes: many}
mutators: {min-avaliable: off}
gangRepair: 1
maxMode: off
rules:
  MG001: deny
  wrong-typ: warn
superPodSize: 0
versions: {volcano: latest, kubernetes: 1.34, aibrics: "0.7"}
)"),
      ElementsAre(
          "1:12 scheduler: must not be empty",
          "2:1 profile: unknown key \"profile\" (did you mean \"profiles\"?)",
          "4:3 profiles.sglang: unknown key \"sglang\" (known keys: " + Join(frameworks, ", ") +
              ")",
          "6:22 profiles.ome.faultScheduling: \"Force\" is not allowed here: must be \"\", "
          "\"force\", "
          "\"grace\", \"external-force\", \"external-grace\" or \"off\" (did you mean \"force\"?)",
          "7:22 profiles.ome.podRescheduling: \"maybe\" is not allowed here: must be \"\", \"on\" "
          "or "
          "\"off\"",
          "8:22 profiles.ome.faultRetryTimes: -1 is too small (write 0 or more)",
          "9:29 profiles.aibrix.faultRetryTimes: \"many\" is not a whole number of 0 or more "
          "(write a "
          "number such as 3, or \"\" to inject nothing)",
          "10:27 mutators[min-avaliable]: unknown key \"min-avaliable\" (did you mean "
          "\"min-available\"?)",
          "11:13 gangRepair: 1 is not allowed here: must be true or false",
          "12:10 maxMode: false is not allowed here (YAML reads off, no and false as false): must "
          "be \"audit\", \"warn\" or \"enforce\"",
          "14:10 rules.MG001: \"deny\" is not allowed here: must be \"enforce\", \"warn\", "
          "\"audit\" "
          "or \"off\"",
          "15:14 rules[wrong-typ]: unknown key \"wrong-typ\" (did you mean \"wrong-type\"?)",
          "16:15 superPodSize: 0 is too small (write 1 or more)",
          "17:21 versions.volcano: \"latest\" is not a version (write it with two or three "
          "numbers, such as \"1.12\")",
          "17:41 versions.kubernetes: must be a string, not a number (quote it: \"1.34\")",
          "17:56 versions.aibrics: unknown key \"aibrics\" (did you mean \"aibrix\"?)"));
}

TEST(LoadConfig, WhatWouldHaveNoEffectIsAFault) {
  const struct {
    const char* text;
    const char* want;
  } cases[] = {
      {"rules: {MG001: warn, wrong-type: audit}",
       "1:34 rules[wrong-type]: rule MG001 is set twice, by its id and by its name (keep one of "
       "them)"},
      {"namespaces: [{name: team-*}, {name: team-a}]",
       "1:37 namespaces[1].name: \"team-a\" has no effect: \"team-*\" above it matches the same "
       "namespaces (move it up, or merge the two)"},
      {"namespaces: [{name: a}, {name: a}]",
       "1:32 namespaces[1].name: \"a\" has no effect: \"a\" above it matches the same namespaces "
       "(move it up, or merge the two)"},
      {"namespaces: [{name: '*-team'}]",
       "1:21 namespaces[0].name: \"*-team\" cannot match anything: * is allowed only at the end "
       "(write a "
       "name, or the beginning of names followed by *)"},
      {"settle: 5s", "1:9 settle: unknown key \"settle\" (write it under rescheduling)"},
      {"namespaces: [{inject: enabled}]",
       "1:14 namespaces[0].name: \"name\" is missing (add name:)"},
      {"rules: {policy/a: deny}",
       "1:19 rules[policy/a]: \"deny\" is not allowed here: must be \"enforce\", \"warn\", "
       "\"audit\" or \"off\""},
      {"rules: {policy/A_b: warn}",
       "1:21 rules[policy/A_b]: unknown key \"policy/A_b\" (known keys: MG001, MG050, "
       "fault-scheduling-value, wrong-type)"},
      {"policies: {files: ['']}", "1:20 policies.files[0]: must not be empty"},
      {"exceptions: [{rules: [], owner: '', reason: r, expires: soon}]",
       "1:15 exceptions[0].rules: needs at least 1 item"},
      {"exceptions: [{rules: [MG999], owner: o, reason: r, expires: 2026-01-01}]",
       "1:23 exceptions[0].rules[0]: unknown rule \"MG999\" (`mindgate explain` lists the rules)"},
      {"exceptions: [{rules: [MG051], owner: o, reason: r, expires: 2026-01-01}]",
       "1:23 exceptions[0].rules[0]: unknown rule \"MG051\" (did you mean \"MG001\"?)"},
      {"exceptions: [{rules: [MG001], kind: Deploy, owner: o, reason: r, expires: 2026-01-01}]",
       "1:37 exceptions[0].kind: \"Deploy\" is not a kind that rules check"},
      {"exceptions: [{rules: [MG001], kind: Deploymnt, owner: o, reason: r, expires: 2026-01-01}]",
       "1:37 exceptions[0].kind: \"Deploymnt\" is not a kind that rules check (did you mean "
       "\"Deployment\"?)"},
      {"exceptions: [{rules: [MG001], kind: RayCluster, owner: o, reason: r, expires: "
       "2026-01-01}]",
       "1:37 exceptions[0].kind: \"RayCluster\" is not a kind that rules check (add {use: ray} "
       "under kinds)"},
      {"{exceptions: [{rules: [MG001], kind: RayClustr, owner: o, reason: r, expires: "
       "2026-01-01}], kinds: [{use: ray}]}",
       "1:38 exceptions[0].kind: \"RayClustr\" is not a kind that rules check (did you mean "
       "\"RayCluster\"?)"},
      // With a fault in kinds nobody can know which they are.
      {"{exceptions: [{rules: [MG001], kind: RayClustr, owner: o, reason: r, expires: "
       "2026-01-01}], kinds: [{use: rai}]}",
       "1:107 kinds[0].use: \"rai\" is not allowed here: must be \"ray\", \"kubeflow\", "
       "\"jobset\", \"kthena\", \"kserve\" or \"kruise\" (did you mean \"ray\"?)"},
      {"exceptions: [{rules: [MG001], owner: o, reason: r, expires: 2026-13-01}]",
       "1:61 exceptions[0].expires: \"2026-13-01\" is not a date (write a day (2026-12-31) or a "
       "time "
       "(2026-12-31T12:00:00Z))"},
      {"accelerators: [{nodeChips: 8, podChips: [1, 16]}]",
       "1:16 accelerators[0]: nothing selects this row (add schedulePolicy, acceleratorType or "
       "both)"},
      {"npuResources: [{name: Ascend910B3}]",
       "1:23 npuResources[0].name: \"Ascend910B3\" is not the name of an NPU resource (write it "
       "with its domain, such as huawei.com/Ascend910B3)"},
      {"[]", "1:1 : must be an object, not a list"},
      {"profiles: {ome: {faultRetryTimes: 18446744073709551615}}",
       "1:35 profiles.ome.faultRetryTimes: 18446744073709551615 is too large (write "
       "9223372036854775807 or less)"},
      {"a: 1\n---\nb: 2\n",
       "3:1 : a configuration file holds only one document (remove the line of three dashes, or "
       "this "
       "document)"},
      {"rules: {MG001: warn", "1:20 : "},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.text);
    const auto faults = Faults(c.text);
    ASSERT_FALSE(faults.empty());
    EXPECT_THAT(faults.front(), ::testing::StartsWith(c.want));
  }
}

TEST(LoadConfig, RenderedWithExcerptAndCaret) {
  const std::string text = "scheduler: volcano\ngraceOverTme: 30\n";
  const auto config = LoadConfig(text, Known());
  ASSERT_FALSE(config);
  EXPECT_EQ(json::Render(config.error(), "mindgate.yaml", text),
            "mindgate.yaml:2:15: unknown key \"graceOverTme\"\n"
            "graceOverTme: 30\n"
            "              ^\n"
            "hint: did you mean \"graceOverTime\"?\n");
}

TEST(DefaultConfigFile, LoadingItGivesTheDefaults) {
  json::Issues warnings;
  const auto loaded = LoadConfig(DefaultConfigFile(Known()), Known(), &warnings);
  ASSERT_TRUE(loaded);
  EXPECT_TRUE(warnings.empty()) << "nothing in it is an old spelling";
  Config config = *loaded;
  config.generation = Config().generation;
  EXPECT_EQ(config, Config());
}

// The examples stand in comments; taken out of them they must load too.
TEST(DefaultConfigFile, ItsExamplesLoad) {
  const auto schema = ConfigSchema(Known());
  for (const auto& [key, property] : schema["properties"].items()) {
    if (!property.contains("examples")) continue;
    for (const auto& example : property["examples"]) {
      json::Json written = {{key, json::Json(example)}};
      if (key == "rules") written = {{key, {{"MG050", "enforce"}}}};
      const std::string text = json::EncodeYaml(written);
      EXPECT_THAT(Faults(text), IsEmpty()) << text;
    }
  }
}

TEST(DefaultConfigFile, DocumentsEveryKey) {
  const std::string text = DefaultConfigFile(Known());
  const auto schema = ConfigSchema(Known());
  for (const auto& [key, property] : schema["properties"].items()) {
    EXPECT_THAT(text, ::testing::HasSubstr("\n" + key + ":")) << key;
    EXPECT_TRUE(property["description"].get<std::string>().ends_with('.')) << key;
    if (!property.contains("items")) continue;
    for (const auto& [member, described] : property["items"]["properties"].items()) {
      EXPECT_THAT(text, ::testing::HasSubstr("\n# - " + member + ": ")) << key;
      EXPECT_TRUE(described["description"].get<std::string>().ends_with('.')) << key << member;
    }
  }
}

}  // namespace
}  // namespace mindgate::schemas
