#include "offline/fix.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "base/text.h"
#include "json/pointer.h"
#include "support/samples.h"
#include "support/workspace.h"

namespace mindgate::offline {
namespace {

using json::Json;
using ::mindgate::testing::Cases;
using ::mindgate::testing::ReadSample;
using ::mindgate::testing::Sample;
using ::mindgate::testing::Samples;
using ::mindgate::testing::Workspace;

Fixes FixesOf(const std::string& file) {
  std::istringstream in;
  std::ostringstream err;
  FixOptions options;
  options.input.files = {file};
  options.places_before = true;
  auto fixes = Fix(options, in, err);
  EXPECT_TRUE(fixes) << err.str();
  return fixes ? *std::move(fixes) : Fixes();
}

// Where the lines before are not all among the lines after, in their order: the first that is
// missing. Lines that an edit writes into are given.
std::string FirstLost(const std::string& before, const std::string& after, size_t& changed) {
  const auto lines = Split(after, '\n');
  size_t at = 0;
  for (const std::string_view line : Split(before, '\n')) {
    const auto found =
        std::find(lines.begin() + static_cast<std::ptrdiff_t>(at), lines.end(), line);
    if (found != lines.end()) {
      at = static_cast<size_t>(found - lines.begin()) + 1;
    } else if (changed == 0) {
      return std::string(line);
    } else {
      --changed;
    }
  }
  return "";
}

std::vector<std::string_view> CommentsOf(const std::string& text) {
  std::vector<std::string_view> comments;
  for (const std::string_view line : Split(text, '\n')) {
    const size_t at = line.starts_with('#') ? 0 : line.find(" #");
    if (at != std::string_view::npos) comments.push_back(Trim(line.substr(at)));
  }
  return comments;
}

// Lines that an edit may change: one for each value that was there, and for each member in
// brackets.
size_t MostChangedLines(const FixedFile& file) {
  size_t count = 0;
  for (const FixedField& field : file.fixed) count += field.old ? 1 : 0;
  const bool in_brackets =
      file.before.find('{') != std::string::npos || file.before.find('[') != std::string::npos;
  return in_brackets ? count + file.fixed.size() : count;
}

bool HasUnwritten(const FixedFile& file) {
  return std::any_of(file.left.begin(), file.left.end(),
                     [](const LeftField& left) { return left.unwritten; });
}

class FixedSamples : public ::testing::Test {
 protected:
  std::vector<Sample> All() {
    std::vector<Sample> all = Samples();
    for (Sample& sample : Cases()) all.push_back(std::move(sample));
    return all;
  }
  Workspace workspace_;
};

TEST_F(FixedSamples, KeepEveryLineAndCommentAndAreAdmitted) {
  size_t changed_files = 0;
  size_t fields = 0;
  size_t shared = 0;
  for (const Sample& sample : All()) {
    SCOPED_TRACE(sample.name);
    const std::string name = workspace_.Write(sample.path.filename(), ReadSample(sample));
    const Fixes fixes = FixesOf(name);
    ASSERT_EQ(fixes.files.size(), 1u);
    const FixedFile& file = fixes.files[0];
    EXPECT_EQ(file.before, ReadSample(sample));
    changed_files += file.IsChanged() ? 1 : 0;
    fields += file.fixed.size();
    EXPECT_EQ(file.IsChanged(), !file.fixed.empty());
    size_t changed = MostChangedLines(file);
    EXPECT_EQ(FirstLost(file.before, file.after, changed), "");
    EXPECT_EQ(CommentsOf(file.before), CommentsOf(file.after));
    bool invalid = false;
    bool must = false;
    for (const LeftField& left : file.left) {
      invalid = invalid || left.level == FindingLevel::kError;
      must = must || left.MustChange();
    }
    shared += HasUnwritten(file) ? 1 : 0;
    if (invalid) {
      EXPECT_EQ(file.before, file.after);
      continue;
    }
    for (const Decision& decision : fixes.after.decisions) {
      EXPECT_EQ(decision.verdict.patch.empty(), !HasUnwritten(file)) << decision.Title();
      if (must) continue;
      EXPECT_NE(decision.verdict.outcome, admission::Outcome::kDenied) << decision.Title();
    }
    // A second run.
    workspace_.Write(name, file.after);
    const Fixes again = FixesOf(name);
    EXPECT_EQ(again.files[0].after, file.after);
    EXPECT_TRUE(again.files[0].fixed.empty());
  }
  EXPECT_GT(changed_files, 60u);
  EXPECT_GT(fields, 300u);
  EXPECT_EQ(shared, 1u);  // two containers are one, by an anchor and its alias
}

// What admission makes of the object as it was is what the fixed text says, where no finding was
// corrected.
TEST_F(FixedSamples, AreWhatApplyPrints) {
  for (const Sample& sample : All()) {
    SCOPED_TRACE(sample.name);
    const std::string name = workspace_.Write(sample.path.filename(), ReadSample(sample));
    const Fixes fixes = FixesOf(name);
    const auto& fixed = fixes.files[0].fixed;
    const bool corrected = std::any_of(fixed.begin(), fixed.end(),
                                       [](const FixedField& field) { return !field.injected; });
    if (corrected || HasUnwritten(fixes.files[0])) continue;
    std::istringstream in;
    std::ostringstream err;
    InputOptions input;
    input.files = {name};
    const auto applied = Evaluate(input, {}, in, err);
    ASSERT_TRUE(applied);
    ASSERT_EQ(applied->decisions.size(), fixes.after.decisions.size());
    for (size_t i = 0; i < applied->decisions.size(); ++i) {
      const json::Value* wanted = applied->decisions[i].ObjectAfter();
      const json::Value* got = fixes.after.decisions[i].input.object;
      if (wanted == nullptr || got == nullptr) continue;
      if (applied->decisions[i].input.from_review) continue;
      EXPECT_TRUE(*wanted == *got) << applied->decisions[i].Title();
    }
  }
}

constexpr const char* kPod = R"(apiVersion: v1
kind: Pod
metadata:
  name: p  # the name
  labels:
    fault-scheduling: Force
    fault-retry-times: 3
spec:
  containers:
  - name: main
    image: a
    resources: {limits: {huawei.com/Ascend910: 1}}
)";

TEST(Fix, ListsWhatItWroteAndWhy) {
  const Workspace workspace;
  workspace.Write("pod.yaml", kPod);
  const Fixes fixes = FixesOf("pod.yaml");
  ASSERT_EQ(fixes.files.size(), 1u);
  const auto& fixed = fixes.files[0].fixed;
  std::vector<std::string> got;
  for (const FixedField& field : fixed) {
    got.push_back(std::to_string(field.at.line) + " " + field.by + " " + field.field + ": " +
                  (field.old ? field.old->dump() : "-") + " -> " + field.now.dump());
    EXPECT_EQ(field.object, "Pod default/p");
    EXPECT_NE(field.why, "");
  }
  const std::vector<std::string> want = {
      R"(7 MG001 metadata.labels[fault-retry-times]: 3 -> "3")",
      R"(6 MG050 metadata.labels[fault-scheduling]: "Force" -> "force")"};
  for (const std::string& line : want) EXPECT_THAT(got, ::testing::Contains(line));
  EXPECT_THAT(
      got, ::testing::Contains(::testing::StartsWith("8 scheduler-name spec.schedulerName: - ->")));
  EXPECT_THAT(fixes.files[0].after, ::testing::HasSubstr("  name: p  # the name\n"));
  EXPECT_THAT(fixes.files[0].after, ::testing::HasSubstr("    fault-retry-times: '3'\n"));
}

TEST(Fix, LeavesFilesWithAnInvalidDocumentAlone) {
  const Workspace workspace;
  workspace.Write("a.yaml", std::string(kPod) + "---\n{\n");
  const Fixes fixes = FixesOf("a.yaml");
  EXPECT_FALSE(fixes.files[0].IsChanged());
  ASSERT_FALSE(fixes.files[0].left.empty());
  EXPECT_EQ(fixes.files[0].left.back().level, FindingLevel::kError);
}

TEST(Fix, QuotesNumbersAsTheyAreWritten) {
  const Workspace workspace;
  std::string text = kPod;
  text.replace(text.find("fault-retry-times: 3"), 20, "version: 1.10 # v");
  workspace.Write("a.yaml", text);
  const Fixes fixes = FixesOf("a.yaml");
  EXPECT_THAT(fixes.files[0].after, ::testing::HasSubstr("    version: '1.10' # v\n"));
}

TEST(Fix, ListsWhatStandsBehindAnAlias) {
  const Workspace workspace;
  workspace.Write("a.yaml", R"(apiVersion: apps/v1
kind: Deployment
metadata:
  name: d
  labels: &labels
    app: a
spec:
  selector: {matchLabels: *labels}
  template:
    metadata:
      labels: *labels
    spec:
      containers:
      - name: main
        image: a
        resources: {requests: {huawei.com/Ascend910: 8}, limits: {huawei.com/Ascend910: 8}}
)");
  const Fixes fixes = FixesOf("a.yaml");
  const FixedFile& file = fixes.files[0];
  EXPECT_THAT(file.after, ::testing::HasSubstr("      schedulerName: volcano\n"));
  ASSERT_FALSE(file.left.empty());
  const LeftField& left = file.left.back();
  EXPECT_TRUE(left.unwritten);
  EXPECT_EQ(left.at.line, 11);
  EXPECT_THAT(left.message, ::testing::HasSubstr("labels is the alias *labels"));
  EXPECT_TRUE(left.MustChange());
}

TEST(Fix, NoRecordedReviewIsChanged) {
  const Workspace workspace;
  workspace.Write("review.json", R"({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview",
 "request": {"uid": "1", "operation": "CREATE", "object": {"apiVersion": "v1", "kind": "Pod",
  "metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "a",
   "resources": {"limits": {"huawei.com/Ascend910": 1}}}]}}}})");
  const Fixes fixes = FixesOf("review.json");
  EXPECT_FALSE(fixes.files[0].IsChanged());
  ASSERT_FALSE(fixes.files[0].left.empty());
  EXPECT_THAT(fixes.files[0].left.back().message, ::testing::HasSubstr("AdmissionReview"));
}

}  // namespace
}  // namespace mindgate::offline
