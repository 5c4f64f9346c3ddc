#pragma once

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "policies/engine.h"
#include "support/fixes.h"
#include "support/objects.h"

// Manifests that break one rule, with what its fix makes of them: it must end the finding, and the
// manifest must then be admitted.
namespace mindgate::testing {

struct Edit {
  std::string path;        // RFC 6901 pointer
  std::string value = {};  // YAML; empty: the member goes
};

struct FixCase {
  std::string rule;
  std::string broken;                    // YAML
  std::string advises = {};              // what the fix must contain, where the edits carry it out
  std::vector<Edit> edits = {};          // none: the fix itself is read and written
  bool as_sent = false;                  // mindgate writes nothing, as where injection is disabled
  schemas::Versions versions = {};       // of the cluster
  std::vector<std::string> others = {};  // applied with it, in namespace ns; YAML each
  schemas::EnforcementMode elastic_scaling = schemas::Config{}.elastic_scaling.mode;
};

namespace internal {

inline json::Json Edited(json::Json object, const std::vector<Edit>& edits) {
  for (const Edit& edit : edits) {
    const json::Json::json_pointer path(edit.path);
    if (edit.value.empty()) {
      object[path.parent_pointer()].erase(path.back());
    } else {
      object[path] = Yaml("v: " + edit.value)["v"];
    }
  }
  return object;
}

inline admission::Verdict Answer(const json::Value& object, const FixCase& c) {
  schemas::AdmissionRequest request;
  request.object = &object;
  request.ns = "ns";
  const FakeObjects others(c.others, false);
  if (!c.others.empty()) request.objects = &others;
  schemas::Config config;
  config.versions = c.versions;
  config.elastic_scaling.mode = c.elastic_scaling;
  return admission::Admit(request, config, {.mutate = !c.as_sent});
}

inline std::vector<FixedObject> FixedBy(const FixCase& c, const json::Json& broken,
                                        const std::vector<policies::Finding>& of_rule) {
  if (!c.edits.empty()) return {{Edited(broken, c.edits), {}, "the edits"}};
  std::vector<FixedObject> fixed = FixedObjects(of_rule, broken);
  for (const FixedObject& one : fixed) {
    EXPECT_EQ(one.paths.size(), of_rule.size()) << "a fix that no program can read";
  }
  return fixed;
}

}  // namespace internal

inline void ExpectFixed(const FixCase& c) {
  SCOPED_TRACE(c.rule + ": " + c.broken);
  const policies::Rule* rule = policies::FindRule(c.rule);
  ASSERT_NE(rule, nullptr);
  const json::Document broken = YamlDocument(c.broken);
  const auto of_rule = FindingsOf(rule, internal::Answer(broken.root(), c).findings);
  EXPECT_FALSE(of_rule.empty()) << "the manifest does not break the rule";
  for (const policies::Finding& finding : of_rule) {
    EXPECT_NE(finding.fix.find(c.advises), std::string::npos) << finding.fix;
  }
  const auto alternatives = internal::FixedBy(c, json::TreeOf(broken.root()), of_rule);
  EXPECT_FALSE(alternatives.empty())
      << "no fix that a program can read: " << (of_rule.empty() ? "" : of_rule.front().fix);
  for (const FixedObject& fixed : alternatives) {
    SCOPED_TRACE(fixed.written);
    const json::Document document(fixed.object);
    const auto answer = internal::Answer(document.root(), c);
    for (const policies::Finding& finding : answer.findings) {
      const bool denies = finding.mode == schemas::Mode::kEnforce;
      EXPECT_FALSE(finding.rule == rule || denies)
          << internal::IdOf(finding) << " at " << finding.path << ": " << finding.message;
    }
    // A Service may be none of those that are evaluated any more.
    if (answer.outcome != admission::Outcome::kIgnored) {
      EXPECT_EQ(answer.outcome, admission::Outcome::kAdmitted);
    }
  }
}

}  // namespace mindgate::testing
