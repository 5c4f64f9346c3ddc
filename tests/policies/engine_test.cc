#include "policies/engine.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>

#include "policies/families.h"
#include "support/objects.h"
#include "support/rich_objects.h"

namespace mindgate::policies {
namespace {

using schemas::Kind;
using schemas::KindSet;
using schemas::Mode;
using testing::Yaml;
using testing::YamlDocument;
using Result = RuleTrace::Result;

// --- the catalogue ---

bool IsKebabCase(std::string_view name) {
  if (name.empty() || name.front() == '-' || name.back() == '-') return false;
  if (name.find("--") != std::string_view::npos) return false;
  return name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") == std::string_view::npos;
}

TEST(Catalogue, HasIdsThatAreUniqueAndInOrder) {
  const auto& catalogue = Catalogue();
  std::set<std::string_view> names;
  for (size_t i = 0; i < catalogue.size(); ++i) {
    if (i > 0) {
      EXPECT_LT(catalogue[i - 1]->id, catalogue[i]->id);
    }
    const std::string_view id = catalogue[i]->id;
    EXPECT_TRUE(id.size() == 5 && id.starts_with("MG")) << id;
    EXPECT_TRUE(names.insert(catalogue[i]->name).second) << catalogue[i]->name;
  }
}

TEST(Catalogue, EveryRuleIsDocumented) {
  for (const Rule* rule : Catalogue()) {
    SCOPED_TRACE(rule->id);
    EXPECT_TRUE(IsKebabCase(rule->name)) << rule->name;
    EXPECT_NE(rule->check, nullptr);
    for (std::string_view text : {rule->summary, rule->why, rule->fix, rule->source}) {
      ASSERT_FALSE(text.empty());
      EXPECT_EQ(text.find("  "), std::string_view::npos) << text;
      EXPECT_EQ(text.find('\n'), std::string_view::npos) << text;
    }
    // Sentences; the source may be a bare citation.
    for (std::string_view text : {rule->summary, rule->why, rule->fix}) {
      EXPECT_TRUE(text.ends_with('.')) << text;
    }
    bool any_kind = false;
    for (int kind = 0; kind < schemas::kKindCount; ++kind) {
      any_kind = any_kind || rule->kinds.Has(static_cast<Kind>(kind));
    }
    EXPECT_TRUE(any_kind);
    EXPECT_NE(rule->default_mode, Mode::kOff);
    // What is denied must be an error, and what is only misleading must not bother anybody.
    if (rule->default_mode == Mode::kEnforce) {
      EXPECT_EQ(rule->severity, Severity::kError);
    }
    if (rule->severity == Severity::kInfo) {
      EXPECT_EQ(rule->default_mode, Mode::kAudit);
    }
  }
}

TEST(Catalogue, IsSearchedByIdAndName) {
  EXPECT_EQ(FindRule("MG001"), &common::StructureRules()[0]);
  EXPECT_EQ(FindRule("mg001"), &common::StructureRules()[0]);
  EXPECT_EQ(FindRule("wrong-type"), &common::StructureRules()[0]);
  EXPECT_EQ(FindRule("Wrong-Type"), nullptr);
  EXPECT_EQ(FindRule("MG000"), nullptr);
  EXPECT_EQ(FindRule(""), nullptr);
}

// --- evaluating ---

void Violate(const RuleContext&, Findings& findings) {
  findings.Violate("/metadata/labels/a~1b", "it is wrong", "write it right");
}
void ViolateTwice(const RuleContext&, Findings& findings) {
  findings.Violate("/spec", "first", "fix");
  findings.Violate("/spec", "first", "fix");  // the same again is dropped
  findings.Violate("/spec", "second", "fix");
}
void Fail(const RuleContext&, Findings& findings) { findings.Error("could not look it up"); }
void Throw(const RuleContext&, Findings&) { throw std::runtime_error("broken"); }
void Pass(const RuleContext&, Findings&) {}
void SkipIt(const RuleContext&, Findings& findings) { findings.Skip("needs the queue"); }
void ViolateEverywhere(const RuleContext&, Findings& findings) {
  for (int i = 0; i < 1000; ++i) findings.Violate("/" + std::to_string(i), "wrong", "fix");
}
void ViolateEverywhereMildly(const RuleContext& context, Findings& findings) {
  findings.SetAtMost(Mode::kWarn);
  ViolateEverywhere(context, findings);
}

Rule Make(std::string_view id, void (*check)(const RuleContext&, Findings&),
          Mode mode = Mode::kEnforce, KindSet kinds = schemas::kWorkloads) {
  return {id, "a-rule", Severity::kError, mode, kinds, "s", "w", "f", "so", check};
}

constexpr std::array<std::string_view, 7> kResults = {
    "not applicable", "off", "excepted", "skipped", "passed", "violated", "error"};

// Evaluates an object by rules of the test's own, under a configuration.
class Engine : public ::testing::Test {
 protected:
  // One line a finding: "MG001 enforce metadata.labels[a/b]: message", then the traces, then the
  // verdict.
  std::vector<std::string> Run(const std::vector<Rule>& rules, const std::string& ns = "") {
    std::vector<const Rule*> pointers;
    for (const Rule& rule : rules) pointers.push_back(&rule);
    schemas::AdmissionRequest request;
    const json::Document object(object_);
    request.object = &object.root();
    request.ns = ns;
    request.now = now_;
    const auto view = schemas::BuildView(object.root());
    std::vector<RuleTrace> traces;
    const Evaluation evaluation = Evaluate({*view, nullptr, request, config_}, pointers, &traces);
    std::vector<std::string> lines;
    for (const Finding& finding : evaluation.findings) {
      lines.push_back(std::string(finding.rule->id) + " " +
                      std::string(schemas::ModeName(finding.mode)) +
                      (finding.error ? " error" : "") + " " + finding.field + ": " +
                      finding.message + (finding.fix.empty() ? "" : " => " + finding.fix));
    }
    for (const RuleTrace& trace : traces) {
      lines.push_back(std::string(trace.rule->id) + " " +
                      std::string(kResults[static_cast<size_t>(trace.result)]) +
                      (trace.reason.empty() ? "" : ", " + trace.reason));
    }
    lines.push_back(evaluation.denied ? "denied" : "admitted");
    // Asking for traces must not change what is decided.
    EXPECT_EQ(Evaluate({*view, nullptr, request, config_}, pointers, nullptr).denied,
              evaluation.denied);
    return lines;
  }

  using Lines = std::vector<std::string>;

  json::Json object_ = Yaml(
      "{apiVersion: apps/v1, kind: Deployment, metadata: {name: chat-1, namespace: llm, labels: "
      "{a/b: c}}}");
  schemas::Config config_;
  Time now_ = *ParseTime("2026-06-01T00:00:00Z");
};

TEST_F(Engine, ThreeOutcomesAndWhatTheyLeadTo) {
  EXPECT_EQ(Run({Make("MG901", Pass)}), (Lines{"MG901 passed", "admitted"}));
  EXPECT_EQ(Run({Make("MG901", Violate)}),
            (Lines{"MG901 enforce metadata.labels[a/b]: it is wrong => write it right",
                   "MG901 violated", "denied"}));
  EXPECT_EQ(Run({Make("MG901", Fail)}),
            (Lines{"MG901 enforce error : could not look it up", "MG901 error", "denied"}));
}

TEST_F(Engine, ARuleThatThrowsIsAnErrorOfThatRuleAndTheOthersStillRun) {
  EXPECT_EQ(Run({Make("MG901", Throw), Make("MG902", Violate, Mode::kWarn)}),
            (Lines{"MG901 enforce error : the rule failed: broken",
                   "MG902 warn metadata.labels[a/b]: it is wrong => write it right", "MG901 error",
                   "MG902 violated", "denied"}));
}

TEST_F(Engine, OnlyEnforceDenies) {
  for (Mode mode : {Mode::kWarn, Mode::kAudit}) {
    const std::string name(schemas::ModeName(mode));
    EXPECT_EQ(Run({Make("MG901", Violate, mode)}),
              (Lines{"MG901 " + name + " metadata.labels[a/b]: it is wrong => write it right",
                     "MG901 violated", "admitted"}));
    EXPECT_EQ(
        Run({Make("MG901", Throw, mode)}),
        (Lines{"MG901 " + name + " error : the rule failed: broken", "MG901 error", "admitted"}));
  }
  EXPECT_EQ(Run({Make("MG901", Throw, Mode::kOff)}), (Lines{"MG901 off", "admitted"}));
}

TEST_F(Engine, ReportsAllViolationsAtOnceEachOnce) {
  EXPECT_EQ(Run({Make("MG901", ViolateTwice), Make("MG902", Pass), Make("MG903", Violate)}),
            (Lines{"MG901 enforce spec: first => fix", "MG901 enforce spec: second => fix",
                   "MG903 enforce metadata.labels[a/b]: it is wrong => write it right",
                   "MG901 violated", "MG902 passed", "MG903 violated", "denied"}));
}

TEST_F(Engine, ManyViolationsAreCutAndCounted) {
  const Lines lines = Run({Make("MG901", ViolateEverywhere)});
  ASSERT_EQ(lines.size(), Findings::kMax + 3);
  EXPECT_EQ(lines[Findings::kMax],
            "MG901 enforce : 936 more places break this rule => correct the places named first and "
            "apply again");
}

// What is left out under a milder binding of a policy leads to no more than the binding says.
TEST_F(Engine, WhatIsCutIsNoWorseThanWhatWasFound) {
  const Lines lines = Run({Make("MG901", ViolateEverywhereMildly)});
  ASSERT_EQ(lines.size(), Findings::kMax + 3);
  EXPECT_EQ(lines[Findings::kMax],
            "MG901 warn : 936 more places break this rule => correct the places named first and "
            "apply again");
  EXPECT_EQ(lines.back(), "admitted");
}

TEST_F(Engine, RulesOfOtherKindsDoNotApply) {
  EXPECT_EQ(Run({Make("MG901", Violate, Mode::kEnforce, KindSet{Kind::kJob})}),
            (Lines{"MG901 not applicable, does not apply to Deployment", "admitted"}));
}

TEST_F(Engine, SkippedIsVisible) {
  EXPECT_EQ(Run({Make("MG901", SkipIt)}), (Lines{"MG901 skipped, needs the queue", "admitted"}));
}

TEST_F(Engine, ModesByRuleAndNamespace) {
  struct Row {
    const char* name;
    schemas::RuleModes rules;
    std::vector<schemas::NamespaceOverride> namespaces;
    const char* want;
  };
  const auto with = [](const char* pattern, Mode mode) {
    return schemas::NamespaceOverride{pattern, true, {{"MG901", mode}}};
  };
  const auto silent = [](const char* pattern) {
    return schemas::NamespaceOverride{pattern, true, {}};
  };
  const Rule rule = Make("MG901", Violate, Mode::kAudit);
  for (const Row& row : std::vector<Row>{
           {"default", {}, {}, "audit"},
           {"global", {{"MG901", Mode::kWarn}}, {}, "warn"},
           {"another rule's", {{"MG902", Mode::kWarn}}, {}, "audit"},
           {"namespace over global",
            {{"MG901", Mode::kWarn}},
            {with("llm", Mode::kEnforce)},
            "enforce"},
           {"another namespace's", {}, {with("llm2", Mode::kEnforce)}, "audit"},
           {"by prefix", {}, {with("ll*", Mode::kOff)}, "off"},
           {"the first that matches counts",
            {},
            {with("l*", Mode::kWarn), with("llm", Mode::kEnforce)},
            "warn"},
           {"a matching override that is silent on the rule leaves the global mode",
            {{"MG901", Mode::kWarn}},
            {silent("llm"), with("llm", Mode::kEnforce)},
            "warn"},
       }) {
    config_.rules = row.rules;
    config_.namespaces = row.namespaces;
    EXPECT_EQ(schemas::ModeName(ModeFor(rule, config_, "llm")), row.want) << row.name;
    const Lines lines = Run({rule});
    const bool off = std::string_view(row.want) == "off";
    EXPECT_EQ(lines.front(), off ? "MG901 off"
                                 : "MG901 " + std::string(row.want) +
                                       " metadata.labels[a/b]: it is wrong => write it right")
        << row.name;
  }
}

TEST_F(Engine, NoRuleLeadsToMoreThanTheMaximum) {
  struct Row {
    Mode most;
    const char* global;
    const char* of_namespace;
    const char* quiet;
  };
  // Enforced globally, enforced in the namespace, and switched off.
  for (const Row& row :
       {Row{Mode::kEnforce, "enforce", "enforce", "off"}, Row{Mode::kWarn, "warn", "warn", "off"},
        Row{Mode::kAudit, "audit", "audit", "off"}}) {
    config_.max_mode = row.most;
    config_.rules = {{"MG901", Mode::kEnforce}, {"MG903", Mode::kOff}};
    config_.namespaces = {{"llm", true, {{"MG902", Mode::kEnforce}}}};
    const auto mode = [&](const char* id) {
      return std::string(ModeName(ModeFor(Make(id, Violate, Mode::kAudit), config_, "llm")));
    };
    EXPECT_EQ(mode("MG901"), row.global);
    EXPECT_EQ(mode("MG902"), row.of_namespace);
    EXPECT_EQ(mode("MG903"), row.quiet);
    EXPECT_EQ(mode("MG904"), "audit") << "a rule that asks for less keeps its mode";
    const Rule enforced = Make("MG901", Violate, Mode::kEnforce);
    const Lines lines = Run({enforced});
    EXPECT_EQ(lines.front(), "MG901 " + std::string(row.global) +
                                 " metadata.labels[a/b]: it is wrong => write it right");
  }
}

TEST_F(Engine, TheRequestsNamespaceCountsWhereTheObjectNamesNone) {
  config_.namespaces = {{"team", true, {{"MG901", Mode::kOff}}}};
  EXPECT_EQ(Run({Make("MG901", Violate)}, "team").back(), "denied");
  object_["metadata"].erase("namespace");
  EXPECT_EQ(Run({Make("MG901", Violate)}, "team").back(), "admitted");
}

TEST_F(Engine, Exceptions) {
  struct Row {
    const char* name;
    schemas::Exception exception;
    bool holds;
  };
  const auto exception = [](std::vector<std::string> rules, std::string ns, std::string kind,
                            std::string name, std::string_view expires) {
    return schemas::Exception{std::move(rules),   std::move(ns), std::move(kind),
                              std::move(name),    "ops",         "old cluster",
                              *ParseTime(expires)};
  };
  for (const Row& row : std::vector<Row>{
           {"everything of this rule", exception({"MG901"}, "", "", "", "2026-12-31"), true},
           {"one of several rules", exception({"MG7", "MG901"}, "", "", "", "2026-12-31"), true},
           {"another rule", exception({"MG902"}, "", "", "", "2026-12-31"), false},
           {"all fields", exception({"MG901"}, "llm", "Deployment", "chat-1", "2026-12-31"), true},
           {"prefixes", exception({"MG901"}, "l*", "Dep*", "chat-*", "2026-12-31"), true},
           {"another namespace", exception({"MG901"}, "x", "", "", "2026-12-31"), false},
           {"another kind", exception({"MG901"}, "", "Job", "", "2026-12-31"), false},
           {"another name", exception({"MG901"}, "", "", "chat", "2026-12-31"), false},
           {"in its last second", exception({"MG901"}, "", "", "", "2026-06-01T00:00:00Z"), true},
           {"through its last day", exception({"MG901"}, "", "", "", "2026-06-01"), true},
           {"expired", exception({"MG901"}, "", "", "", "2026-05-31"), false},
       }) {
    config_.exceptions = {row.exception};
    const Lines lines = Run({Make("MG901", Violate)});
    if (row.holds) {
      EXPECT_EQ(lines, (Lines{"MG901 excepted, excepted until " +
                                  FormatTime(row.exception.expires) + " by ops: old cluster",
                              "admitted"}))
          << row.name;
    } else {
      EXPECT_EQ(lines.back(), "denied") << row.name;
    }
  }
  // An expired one does not hide another that still holds; what passes needs none.
  config_.exceptions = {exception({"MG901"}, "", "", "", "2026-05-31"),
                        exception({"MG901"}, "", "", "", "2026-12-31")};
  EXPECT_EQ(Run({Make("MG901", Violate)}).back(), "admitted");
  EXPECT_EQ(Run({Make("MG901", Pass)}).front(), "MG901 passed");
}

// The API server completes the name after the decision.
TEST_F(Engine, ExceptionsCoverGeneratedNames) {
  struct Row {
    const char* pattern;
    const char* name;
    const char* generate_name;
    bool holds;
  };
  for (const Row& row : std::vector<Row>{
           {"legacy-*", "", "legacy-", true},
           {"legacy-*", "", "legacy-chat-", true},
           {"legacy-*", "", "legacy", false},
           {"legacy*", "", "legacy", true},
           {"legacy-", "", "legacy-", false},
           {"legacy-*", "chat", "legacy-", false},
           {"legacy-*", "", "", false},
           {"", "", "", true},
       }) {
    object_["metadata"]["name"] = row.name;
    object_["metadata"]["generateName"] = row.generate_name;
    config_.exceptions = {{{"MG901"}, "", "", row.pattern, "ops", "old", *ParseTime("2026-12-31")}};
    EXPECT_EQ(Run({Make("MG901", Violate)}).back(), row.holds ? "admitted" : "denied")
        << row.pattern << " for " << row.name << "|" << row.generate_name;
  }
}

TEST_F(Engine, FindingsOfTheCatalogueComeById) {
  const json::Document object = YamlDocument(R"(
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: s, labels: {replicas: 3}}
spec:
  replicas: 2
  template:
    metadata:
      labels: {fault-scheduling: Force}
      annotations: {huawei.com/schedule_minAvailable: "0"}
    spec: {containers: [{name: m, resources: {limits: {huawei.com/Ascend910: 8}}}]}
)");
  schemas::AdmissionRequest request;
  request.object = &object.root();
  const auto view = schemas::BuildView(object.root());
  const Evaluation evaluation = Evaluate({*view, nullptr, request, config_});
  std::vector<std::string_view> ids;
  for (const Finding& finding : evaluation.findings) ids.push_back(finding.rule->id);
  EXPECT_TRUE(std::is_sorted(ids.begin(), ids.end()));
  for (std::string_view id : {"MG001", "MG050", "MG070"}) {
    EXPECT_NE(std::find(ids.begin(), ids.end(), id), ids.end()) << id;
  }
  EXPECT_TRUE(evaluation.denied);
}

// Nothing that a user may write makes a rule fail: every member of every kind, replaced by what
// does not belong there.
TEST(Catalogue, NoRuleFailsOnAnyValueAtAnyPlace) {
  const schemas::Config config;
  size_t evaluated = 0;
  for (const std::string& text : testing::RichObjects()) {
    const json::Json object = Yaml(text);
    for (const std::string& pointer : testing::AllPointers(object)) {
      for (const json::Json& value :
           {json::Json(nullptr), json::Json(-1), json::Json(""), json::Json("/~\x01|\xC3\xA9"),
            json::Json::array({nullptr, "x", json::Json::object()}),
            json::Json{{"fault-scheduling", "x"}, {"huawei.com/schedule_minAvailable", "2"}}}) {
        json::Json changed = object;
        changed[json::Json::json_pointer(pointer)] = value;
        const json::Document laid(changed);
        const auto view = schemas::BuildView(laid.root());
        if (!view) continue;
        schemas::AdmissionRequest request;
        request.object = &laid.root();
        ++evaluated;
        for (const Finding& finding : Evaluate({*view, &*view, request, config}).findings) {
          EXPECT_FALSE(finding.error) << finding.rule->id << ": " << finding.message << " for "
                                      << pointer << " = " << value << " in " << text;
          EXPECT_FALSE(finding.message.empty());
        }
      }
    }
  }
  EXPECT_GT(evaluated, 1000u);
}

}  // namespace
}  // namespace mindgate::policies
