#include "admission/admit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "policies/site/site_policies.h"
#include "support/bound_policy.h"
#include "support/objects.h"

// What was wrong before an update warns, what is new denies.
namespace mindgate::testing {
namespace {

using admission::Options;
using schemas::Config;
using schemas::Mode;

struct ExistingCase {
  std::string name;
  std::string old_object;
  std::string object;
  // "outcome", then "MG050 warn place [it was so]" of each finding that would deny a new object.
  std::vector<std::string> want;
  Config config = {};
  Options options = {};
};

schemas::AdmissionRequest UpdateOf(const json::Document& old_object, const json::Document& object) {
  schemas::AdmissionRequest request;
  request.operation = schemas::Operation::kUpdate;
  request.object = &object.root();
  request.old_object = &old_object.root();
  return request;
}

// Under modes of the test's own: other rules do not count.
Config Only(const schemas::RuleModes& modes) {
  Config config;
  for (const policies::Rule* rule : policies::Catalogue()) {
    config.rules[std::string(rule->id)] = Mode::kOff;
  }
  for (const auto& [id, mode] : modes) config.rules[id] = mode;
  return config;
}

void ExpectExisting(const std::vector<ExistingCase>& cases) {
  for (const ExistingCase& c : cases) {
    SCOPED_TRACE(c.name);
    const json::Document old_object = YamlDocument(c.old_object);
    const json::Document object = YamlDocument(c.object);
    const auto verdict = admission::Admit(UpdateOf(old_object, object), c.config, c.options);
    std::vector<std::string> got = {std::string(admission::OutcomeName(verdict.outcome))};
    for (const policies::Finding& finding : verdict.findings) {
      EXPECT_EQ(finding.existed, finding.message.ends_with(admission::kExisted));
      got.push_back(std::string(finding.rule->id) + " " +
                    std::string(schemas::ModeName(finding.mode)) + " " + finding.field +
                    (finding.existed ? " (before)" : ""));
    }
    EXPECT_EQ(got, c.want);
  }
}

// The label of the template, and what changes elsewhere.
std::string Deployment(const std::string& value, const std::string& note = "",
                       const std::string& image = "1") {
  return "{apiVersion: apps/v1, kind: Deployment, metadata: {name: a, labels: {" + note +
         "}}, spec: {template: {metadata: {labels: {fault-scheduling: " + value +
         "}}, spec: {schedulerName: volcano, containers: [{name: m, image: '" + image +
         "', resources: {limits: {huawei.com/Ascend910: 8}}}]}}}}";
}

TEST(Existing, ValuesOfOneRule) {
  const Config config = Only({{"MG050", Mode::kEnforce}});
  const std::string place = "spec.template.metadata.labels[fault-scheduling]";
  ExpectExisting({
      {"a label elsewhere",
       Deployment("Force"),
       Deployment("Force", "x: y"),
       {"admitted", "MG050 warn " + place + " (before)"},
       config},
      {"another image: the pods roll, and it is still as it was",
       Deployment("Force"),
       Deployment("Force", "", "2"),
       {"admitted", "MG050 warn " + place + " (before)"},
       config},
      {"another wrong value is new",
       Deployment("Force"),
       Deployment("Farce"),
       {"denied", "MG050 enforce " + place},
       config},
      {"a right value that becomes wrong",
       Deployment("force"),
       Deployment("Force"),
       {"denied", "MG050 enforce " + place},
       config},
      {"it is corrected", Deployment("Force"), Deployment("force"), {"admitted"}, config},
  });
}

TEST(Existing, TheConfigurationDecides) {
  Config enforce = Only({{"MG050", Mode::kEnforce}});
  enforce.existing_violations = Mode::kEnforce;
  const std::string place = "spec.template.metadata.labels[fault-scheduling]";
  const std::string stored = Deployment("Force");
  const std::string changed = Deployment("Force", "x: y");
  ExpectExisting({
      {"existingViolations: enforce",
       stored,
       changed,
       {"denied", "MG050 enforce " + place},
       enforce},
      {"what warns anyhow is not compared",
       stored,
       changed,
       {"admitted", "MG050 warn " + place},
       Only({{"MG050", Mode::kWarn}})},
      {"--strict: it warned before",
       stored,
       changed,
       {"admitted", "MG050 warn " + place + " (before)"},
       Only({{"MG050", Mode::kWarn}}),
       {.strict = true}},
      {"--strict: it is new",
       Deployment("force"),
       changed,
       {"denied", "MG050 warn " + place},
       Only({{"MG050", Mode::kWarn}}),
       {.strict = true}},
  });
}

// A vcjob of two tasks in that order, each with a label.
std::string Tasks(const std::string& first, const std::string& second, const std::string& more) {
  const auto task = [](const std::string& name) {
    return "{name: " + name +
           ", replicas: 1, template: {metadata: {labels: {fault-scheduling: Force}}, spec: "
           "{schedulerName: volcano, containers: [{name: m, resources: {limits: "
           "{huawei.com/Ascend910: 8}}}]}}}";
  };
  return "{apiVersion: batch.volcano.sh/v1alpha1, kind: Job, metadata: {name: a}, spec: {tasks: [" +
         task(first) + ", " + task(second) + more + "]}}";
}

TEST(Existing, NamedElementsOfAListMayMove) {
  const Config config = Only({{"MG050", Mode::kEnforce}});
  const auto place = [](int task) {
    return "spec.tasks[" + std::to_string(task) + "].template.metadata.labels[fault-scheduling]";
  };
  ExpectExisting({
      {"two tasks change places",
       Tasks("a", "b", ""),
       Tasks("b", "a", ""),
       {"admitted", "MG050 warn " + place(0) + " (before)", "MG050 warn " + place(1) + " (before)"},
       config},
      {"another task with the same mistake is new",
       Tasks("a", "b", ""),
       Tasks("c", "a", ""),
       {"denied", "MG050 enforce " + place(0), "MG050 warn " + place(1) + " (before)"},
       config},
  });
}

std::string Rule(const std::string& text) {
  return "{apiVersion: v1, kind: ConfigMap, metadata: {name: r}, data: {elastic_scaling.json: '" +
         text + "'}}";
}

TEST(Existing, TextsOfConfigMaps) {
  const Config config = Only({{"MG035", Mode::kEnforce}});
  const std::string field = "data[elastic_scaling.json]";
  const std::string broken =
      R"({"version": "1.0", "elastic_scaling_list": [{"group_list": [{"group_name": "g", "group_num": "x", "server_num_per_group": "1"}]}]})";
  ExpectExisting({
      {"the mistake moves with the lines above it",
       Rule(broken),
       Rule("\n\n" + broken),
       {"admitted", "MG035 warn " + field + " (before)"},
       config},
      {"another mistake", Rule(broken), Rule("{"), {"denied", "MG035 enforce " + field}, config},
  });
}

// More places than are named: any may be one of those that are not.
TEST(Existing, MorePlacesThanAreNamed) {
  const auto object = [](int first, int count) {
    json::Json tree = Yaml(
        "{apiVersion: ome.io/v1beta1, kind: InferenceService, metadata: {name: a}, spec: {engine: "
        "{}}}");
    for (int i = 0; i < count; ++i) {
      tree["metadata"]["labels"]["label-" + std::to_string(first + i)] = i;
    }
    return tree.dump();
  };
  const json::Document old_object = YamlDocument(object(100, 200));
  const json::Document fewer = YamlDocument(object(150, 150));
  const Config config = Only({{"MG001", Mode::kEnforce}});
  EXPECT_EQ(admission::Admit(UpdateOf(old_object, fewer), config).outcome,
            admission::Outcome::kAdmitted);
  const json::Document few = YamlDocument(object(100, 2));
  const json::Document others = YamlDocument(object(200, 2));
  EXPECT_EQ(admission::Admit(UpdateOf(few, others), config).outcome, admission::Outcome::kDenied);
}

// What a policy of the site finds in the whole object names no place. That is not the rest of
// something: another finding of the policy is new.
TEST(Existing, PoliciesThatFindSomethingInTheWholeObject) {
  std::string text = BoundPolicy("p", "true");
  const std::string one = R"([{expression: "true"}])";
  text.replace(text.find(one), one.size(),
               "[{expression: object.spec.replicas < 3, message: too many replicas}, {expression: "
               "'!object.spec.paused', message: it is paused}, {expression: "
               "object.metadata.annotations.size() < 9, message: never}]");
  auto set = policies::SitePolicies::Make({{"p.yaml", std::move(text)}});
  ASSERT_TRUE(set);
  Config config = Only({});
  config.policies = *std::move(set);
  const auto object = [](const std::string& spec, const std::string& metadata = "annotations: {}") {
    return "{apiVersion: apps/v1, kind: Deployment, metadata: {name: a, " + metadata +
           "}, spec: {" + spec + "}}";
  };
  const std::string before = object("replicas: 3, paused: false");
  ExpectExisting({
      {"the same", before, before, {"admitted", "policy/p warn  (before)"}, config},
      {"of another validation",
       before,
       object("replicas: 3, paused: true"),
       {"denied", "policy/p warn  (before)", "policy/p enforce "},
       config},
      {"an expression that fails now",
       before,
       object("replicas: 3, paused: false", "labels: {}"),
       {"denied", "policy/p warn  (before)", "policy/p enforce "},
       config},
      {"one that failed before",
       object("replicas: 3, paused: false", "labels: {}"),
       object("replicas: 3, paused: true", "labels: {}"),
       {"denied", "policy/p warn  (before)", "policy/p enforce ", "policy/p warn  (before)"},
       config},
  });
}

// A role of an ordered StatefulSet that only works as long as Volcano makes no gang of it (MG155).
std::string InstanceSet(const std::string& image, const std::string& spec = "") {
  return "{apiVersion: mindcluster.huawei.com/v1, kind: InstanceSet, metadata: {name: a, labels: "
         "{infer.huawei.com/gang-schedule: 'true'}}, spec: {name: p, workload: {apiVersion: "
         "apps/v1, kind: StatefulSet}, spec: {replicas: 2, template: {spec: {" +
         spec + "containers: [{name: m, image: '" + image +
         "', resources: {limits: {huawei.com/Ascend910: 8}}}]}}}}}";
}

std::vector<std::string> PathsOf(const admission::Verdict& verdict) {
  std::vector<std::string> paths;
  for (const mutators::Change& change : verdict.changes) paths.emplace_back(change.path);
  return paths;
}

TEST(Existing, NothingIsInjectedThatWouldBeTheOnlyReasonToDeny) {
  const Config config = Only({{"MG155", Mode::kEnforce}});
  const json::Document raw = YamlDocument(InstanceSet("1"));
  const json::Document rolled = YamlDocument(InstanceSet("2"));
  const auto update = admission::Admit(UpdateOf(raw, rolled), config, {.explain = true});
  EXPECT_EQ(update.outcome, admission::Outcome::kAdmitted);
  EXPECT_EQ(PathsOf(update), std::vector<std::string>());
  EXPECT_EQ(update.withheld.front().reason,
            "it was stored without what would be injected, and with it a rule would deny the "
            "update: only what was injected before is put back");
  // The webhook that mutates evaluates nothing else, and comes to the same.
  const auto mutating =
      admission::Admit(UpdateOf(raw, rolled), config, {.evaluate = false, .apply = false});
  EXPECT_EQ(PathsOf(mutating), std::vector<std::string>());

  schemas::AdmissionRequest create;
  create.object = &rolled.root();
  EXPECT_EQ(admission::Admit(create, config).outcome, admission::Outcome::kDenied);
  EXPECT_FALSE(PathsOf(admission::Admit(create, config)).empty());
  Config enforce = config;
  enforce.existing_violations = Mode::kEnforce;
  EXPECT_EQ(admission::Admit(UpdateOf(raw, rolled), enforce).outcome, admission::Outcome::kDenied);
  // Where no rule denies, a template that changes is injected.
  EXPECT_FALSE(PathsOf(admission::Admit(UpdateOf(raw, rolled), Only({}))).empty());
}

// Only in part, since an untouched template stays as it is.
TEST(Existing, NothingIsInjectedThatANewObjectWouldNotBeDeniedFor) {
  const auto group = [](const std::string& image) {
    const std::string container = "', resources: {limits: {huawei.com/Ascend910: 8}}}]}}";
    return "{apiVersion: leaderworkerset.x-k8s.io/v1, kind: LeaderWorkerSet, metadata: {name: a}, "
           "spec: {leaderWorkerTemplate: {size: 2, leaderTemplate: {spec: {containers: [{name: m, "
           "image: '" +
           image + container + ", workerTemplate: {spec: {containers: [{name: m, image: '1" +
           container + "}}}";
  };
  const json::Document raw = YamlDocument(group("1"));
  const json::Document rolled = YamlDocument(group("2"));
  const auto verdict = admission::Admit(UpdateOf(raw, rolled), Only({{"MG136", Mode::kEnforce}}));
  EXPECT_EQ(verdict.outcome, admission::Outcome::kAdmitted);
  EXPECT_EQ(PathsOf(verdict), std::vector<std::string>());
}

// Some of it was injected when less was known: that part is put back.
TEST(Existing, WhatWasInjectedBeforeIsPutBack) {
  const Config config = Only({{"MG155", Mode::kEnforce}});
  const json::Document stored = YamlDocument(InstanceSet("1", "schedulerName: volcano, "));
  const json::Document manifest = YamlDocument(InstanceSet("2"));
  const auto verdict = admission::Admit(UpdateOf(stored, manifest), config);
  EXPECT_EQ(verdict.outcome, admission::Outcome::kAdmitted);
  EXPECT_THAT(PathsOf(verdict), ::testing::Contains("/spec/spec/template/spec/schedulerName"));
}

// An update cannot take the injection away by a mistake of its own.
TEST(Existing, AMistakeOfTheUpdateIsDeniedWithAllThatIsInjected) {
  const Config config = Only({{"MG155", Mode::kEnforce}});
  const auto single = [](const std::string& replicas) {
    std::string text = InstanceSet("1");
    return text.replace(text.find("replicas: 2"), 11, "replicas: " + replicas);
  };
  const json::Document stored = YamlDocument(single("1"));
  const json::Document scaled = YamlDocument(single("2"));
  const auto verdict = admission::Admit(UpdateOf(stored, scaled), config);
  EXPECT_EQ(verdict.outcome, admission::Outcome::kAdmitted) << "it goes to another scheduler";
  json::Json changed = json::TreeOf(scaled.root());
  changed["spec"]["spec"]["template"]["spec"]["containers"][0]["image"] = "2";
  const json::Document rolled(changed);
  EXPECT_EQ(admission::Admit(UpdateOf(stored, rolled), config).outcome,
            admission::Outcome::kDenied);
}

TEST(Existing, WarningsKeepTheirEnd) {
  const json::Document old_object = YamlDocument(Deployment("Force"));
  const json::Document object = YamlDocument(Deployment("Force", "x: y"));
  const auto verdict =
      admission::Admit(UpdateOf(old_object, object), Only({{"MG050", Mode::kEnforce}}));
  ASSERT_EQ(verdict.warnings.size(), 2u);
  EXPECT_EQ(verdict.warnings[0],
            "MG050 fault-scheduling-value: fault-scheduling is \"Force\", which the scheduler "
            "does... (it was so before this change)");
  EXPECT_LE(verdict.warnings[0].size(), admission::kMaxWarning);
  EXPECT_EQ(verdict.warnings[1], "more: kubectl mindgate explain MG050");
}

// Of policies of a site's own the command knows nothing without their files.
TEST(Warnings, PointToAnExplanationOfRulesAlone) {
  const policies::Rule& rule = *policies::Catalogue().front();
  const auto set = policies::SitePolicies::Make({{"p.yaml", BoundPolicy("p", "false")}});
  ASSERT_TRUE(set);
  const policies::Rule& policy = *(*set)->Find("policy/p");
  EXPECT_EQ(admission::ExplainCommand({&policy}, 120), "");
  EXPECT_EQ(admission::ExplainCommand({&policy, &rule, &policy}, 120),
            "kubectl mindgate explain MG001");
  std::vector<policies::Finding> findings(
      1,
      {.rule = &policy, .mode = Mode::kWarn, .path = "", .field = "", .message = "m", .fix = ""});
  EXPECT_EQ(admission::Warnings(findings), std::vector<std::string>{"policy/p: m"});
  findings.resize(7, findings.front());
  for (size_t i = 0; i < findings.size(); ++i) findings[i].message = std::to_string(i);
  EXPECT_EQ(admission::Warnings(findings).back(), "and 3 more warnings");
  findings.back().rule = &rule;
  EXPECT_EQ(admission::Warnings(findings).back(),
            "and 3 more warnings: kubectl mindgate explain MG001");
}

TEST(Existing, AnExplanationNamesTheModeThatCounted) {
  const json::Document old_object = YamlDocument(Deployment("Force"));
  const json::Document object = YamlDocument(Deployment("Force", "x: y"));
  const auto verdict = admission::Admit(UpdateOf(old_object, object),
                                        Only({{"MG050", Mode::kEnforce}}), {.explain = true});
  for (const policies::RuleTrace& trace : verdict.traces) {
    if (trace.rule->id != "MG050") continue;
    EXPECT_EQ(trace.result, policies::RuleTrace::Result::kViolated);
    EXPECT_EQ(trace.mode, Mode::kWarn);
  }
}

TEST(StablePlace, NamesElements) {
  const json::Document object = YamlDocument(
      "{spec: {tasks: [{name: a, template: {x: 1}}, {template: {}}], list: [1, 2], 'a/b': {c: "
      "1}}}");
  const auto place = [&object](std::string_view path) {
    return admission::StablePlace(object.root(), path);
  };
  EXPECT_EQ(place(""), "");
  EXPECT_EQ(place("/spec/tasks/0/template/x"), "/spec/tasks/name=a/template/x");
  EXPECT_EQ(place("/spec/tasks/1/template"), "/spec/tasks/1/template");
  EXPECT_EQ(place("/spec/tasks/7/template"), "/spec/tasks/7/template");
  EXPECT_EQ(place("/spec/list/1"), "/spec/list/1");
  EXPECT_EQ(place("/spec/a~1b/c"), "/spec/a~1b/c");
  EXPECT_EQ(place("/spec/absent/c"), "/spec/absent/c");
}

}  // namespace
}  // namespace mindgate::testing
