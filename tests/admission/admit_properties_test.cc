#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <string>

#include "admission/admit.h"
#include "json/decode.h"
#include "json/yaml.h"
#include "support/generators.h"
#include "support/mutations.h"
#include "support/objects.h"
#include "support/promises.h"

// What holds for every object, whatever its kind and however damaged.
namespace mindgate::testing {
namespace {

using admission::Admit;
using admission::Options;
using admission::Outcome;
using admission::Verdict;
using json::Document;
using json::Json;
using json::Value;
using schemas::AdmissionRequest;
using schemas::Config;
using schemas::Kind;

const Config& Defaults() {
  static const Config config;
  return config;
}

AdmissionRequest Create(const Value& object, const FakeObjects& others) {
  AdmissionRequest request;
  request.object = &object;
  request.objects = &others;
  return request;
}

AdmissionRequest Update(const Value& object, const Value& old_object, const FakeObjects& others) {
  AdmissionRequest request = Create(object, others);
  request.operation = schemas::Operation::kUpdate;
  request.old_object = &old_object;
  return request;
}

// A rule that throws is caught and reported as an error; both are bugs of ours.
void AssertNoErrors(const Verdict& verdict) {
  RC_ASSERT(verdict.outcome != Outcome::kError);
  for (const auto& finding : verdict.findings) {
    if (finding.error)
      RC_FAIL((finding.rule == nullptr ? "" : std::string(finding.rule->id)) + ": " +
              finding.message);
  }
}

std::string Patch(const Verdict& verdict) { return json::ToJsonPatch(verdict.patch).dump(); }

// The runtime that generated services name, in about half of the cases.
std::unique_ptr<FakeObjects> Others() {
  std::vector<std::string> others;
  if (internal::OneIn(2)) others.push_back(AnyObjectOf(Kind::kClusterServingRuntime).dump());
  return std::make_unique<FakeObjects>(others, false);
}

// Every leaf of `before` stands in `after`, but for what counts as missing.
bool Survives(const Json& before, const Json& after, std::string_view key = "") {
  if (before.is_null()) return true;
  if (before.is_object()) {
    if (!after.is_object()) return false;
    for (const auto& [name, value] : before.items()) {
      const auto found = after.find(name);
      if (found == after.end() || !Survives(value, *found, name)) return false;
    }
    return true;
  }
  if (before.is_array()) {
    if (!after.is_array() || after.size() < before.size()) return false;
    for (size_t i = 0; i < before.size(); ++i) {
      if (!Survives(before[i], after[i])) return false;
    }
    return true;
  }
  if (key == "schedulerName" && (before == "" || before == "default-scheduler")) return true;
  return before == after;
}

// The object as text with its keys in descending order, as a client might write it.
std::string DumpReversed(const Json& value) {
  if (!value.is_structured()) return value.dump();
  const bool object = value.is_object();
  std::string text;
  for (auto it = value.rbegin(); it != value.rend(); ++it) {
    if (object) {
      text += (text.empty() ? "" : ",") + Json(it.key()).dump() + ":" + DumpReversed(*it);
    } else {
      text = DumpReversed(*it) + (text.empty() ? "" : ",") + text;
    }
  }
  return object ? "{" + text + "}" : "[" + text + "]";
}

TEST(Properties, TwiceEqualsOnceAndPatchesApply) {
  EXPECT_TRUE(rc::check([] {
    const auto others = Others();
    const Json tree = AnyObject();
    RC_LOG() << tree.dump() << "\n";
    const Document document(tree);
    const Value& object = document.root();
    const Verdict first = Admit(Create(object, *others), Defaults());
    AssertNoErrors(first);
    RC_ASSERT(first.patch.empty() == first.changes.empty());
    RC_ASSERT(first.patch.empty() == (first.mutated == nullptr));
    if (!first.mutated) return;
    RC_ASSERT(tree.patch(json::ToJsonPatch(first.patch)) == TreeOf(first.mutated->root()));
    const Options patch_only{.evaluate = false, .apply = false};
    const Verdict unapplied = Admit(Create(object, *others), Defaults(), patch_only);
    RC_ASSERT(Patch(unapplied) == Patch(first));
    RC_ASSERT(unapplied.mutated == nullptr);
    const Verdict second = Admit(Create(first.mutated->root(), *others), Defaults());
    AssertNoErrors(second);
    RC_ASSERT(Patch(second) == "[]");
    RC_ASSERT(second.findings.size() == first.findings.size());
  }));
}

TEST(Properties, WhatTheUserWroteSurvives) {
  Options mutate_only;
  mutate_only.evaluate = false;
  EXPECT_TRUE(rc::check([&] {
    const auto others = Others();
    const Json tree = AnyObject();
    RC_LOG() << tree.dump() << "\n";
    const Document document(tree);
    const Value& object = document.root();
    const Verdict verdict = Admit(Create(object, *others), Defaults(), mutate_only);
    RC_ASSERT(Survives(tree, TreeOf(AdmittedObject(verdict, object))));
  }));
}

TEST(Properties, NoFindingAboutOurOwnAndNoFixThatIsRefused) {
  EXPECT_TRUE(rc::check([] {
    const auto others = Others();
    const Json tree = AnyObject();
    RC_LOG() << tree.dump() << "\n";
    const Document document(tree);
    for (const std::string& broken : BrokenPromises(Create(document.root(), *others), Defaults())) {
      RC_FAIL(broken);
    }
  }));
}

TEST(Properties, UpdatesAreStable) {
  Options mutate_only;
  mutate_only.evaluate = false;
  EXPECT_TRUE(rc::check([&] {
    const auto others = Others();
    const Json stored_tree = AnyObject();
    RC_LOG() << stored_tree.dump() << "\n";
    const Document stored_document(stored_tree);
    const Value& stored = stored_document.root();
    RC_ASSERT(Patch(Admit(Update(stored, stored, *others), Defaults(), mutate_only)) == "[]");
    Json tree = stored_tree;
    Damage(tree);
    RC_LOG() << "becomes " << tree.dump() << "\n";
    const Document document(tree);
    const Value& object = document.root();
    const Verdict first = Admit(Update(object, stored, *others), Defaults());
    AssertNoErrors(first);
    const Value& after = AdmittedObject(first, object);
    RC_ASSERT(Survives(tree, TreeOf(after)));
    RC_ASSERT(Patch(Admit(Update(after, stored, *others), Defaults(), mutate_only)) == "[]");
    RC_ASSERT(Patch(Admit(Update(after, after, *others), Defaults(), mutate_only)) == "[]");
  }));
}

// A client that puts its original manifest back must not take away what was injected.
TEST(Properties, PuttingTheOriginalBackChangesNothing) {
  Options mutate_only;
  mutate_only.evaluate = false;
  EXPECT_TRUE(rc::check([&] {
    const auto others = Others();
    const Json tree = AnyObject();
    RC_LOG() << tree.dump() << "\n";
    const Document document(tree);
    const Value& original = document.root();
    const Verdict created = Admit(Create(original, *others), Defaults(), mutate_only);
    if (!created.mutated) return;
    const Verdict again =
        Admit(Update(original, created.mutated->root(), *others), Defaults(), mutate_only);
    RC_ASSERT(AdmittedObject(again, original) == created.mutated->root());
  }));
}

TEST(Properties, OrderAndFormOfTheTextDoNotMatter) {
  EXPECT_TRUE(rc::check([] {
    const auto others = Others();
    const Json tree = AnyObject();
    RC_LOG() << tree.dump() << "\n";
    const Document document(tree);
    const Value& object = document.root();
    const auto reversed = json::Decode(DumpReversed(tree));
    RC_ASSERT(static_cast<bool>(reversed));
    RC_ASSERT(reversed->dump() == tree.dump());
    const auto yaml = json::DecodeYaml(json::EncodeYaml(tree));
    RC_ASSERT(static_cast<bool>(yaml));
    RC_ASSERT(yaml->size() == 1u);
    const Verdict verdict = Admit(Create(object, *others), Defaults());
    for (const Json* form : {&*reversed, &yaml->front().value}) {
      const Document written(*form);
      const Verdict other = Admit(Create(written.root(), *others), Defaults());
      RC_ASSERT(Patch(other) == Patch(verdict));
      RC_ASSERT(other.outcome == verdict.outcome);
      RC_ASSERT(other.warnings == verdict.warnings);
    }
  }));
}

// Nothing but the request and the configuration counts, so the same question has the same answer.
TEST(Properties, DamagedBeyondRecognition) {
  EXPECT_TRUE(rc::check([] {
    const auto others = Others();
    Json tree = AnyObject();
    const int wounds = internal::Draw(20);
    for (int i = 0; i < wounds; ++i) Damage(tree);
    const Document document(tree);
    const Value& object = document.root();
    const Verdict verdict = Admit(Create(object, *others), Defaults());
    AssertNoErrors(verdict);
    RC_ASSERT(Patch(Admit(Create(object, *others), Defaults())) == Patch(verdict));
  }));
}

}  // namespace
}  // namespace mindgate::testing
