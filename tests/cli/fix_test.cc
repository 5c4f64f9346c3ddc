#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/manifests/manifests.h"
#include "support/cli.h"
#include "support/samples.h"

namespace mindgate::cli {
namespace {

namespace fs = std::filesystem;

using json::Json;
using ::mindgate::testing::Cli;
using ::mindgate::testing::CliResult;
using ::mindgate::testing::OnlyConfig;
using ::mindgate::testing::Workspace;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr const char* kBefore = R"(# a pod
apiVersion: v1
kind: Pod
metadata:
  name: p
  labels:
    fault-scheduling: Force # at once
spec:
  containers:
  - name: main
    resources: {limits: {huawei.com/Ascend910: 1}}
)";

constexpr const char* kAfter = R"(# a pod
apiVersion: v1
kind: Pod
metadata:
  name: p
  labels:
    fault-scheduling: force # at once
spec:
  containers:
  - name: main
    resources: {limits: {huawei.com/Ascend910: 1}}
  schedulerName: volcano
)";

constexpr const char* kDiff =
    "@@ -4,8 +4,9 @@\n metadata:\n   name: p\n   labels:\n"
    "-    fault-scheduling: Force # at once\n+    fault-scheduling: force # at once\n spec:\n"
    "   containers:\n   - name: main\n     resources: {limits: {huawei.com/Ascend910: 1}}\n"
    "+  schedulerName: volcano\n";

// A value that no one can correct.
std::string Unclear() {
  std::string text = kBefore;
  return text.replace(text.find("Force"), 5, "maybe");
}

std::string TextIn(const std::string& file) { return testing::ReadText(file); }

class FixCommand : public ::testing::Test {
 protected:
  FixCommand() { workspace_.Write("mindgate.conf", OnlyConfig({"scheduler-name"}, {"MG050"})); }

  CliResult Run(std::vector<std::string> arguments, const std::string& in = "") {
    arguments.insert(arguments.begin(), "fix");
    arguments.insert(arguments.end(), {"--config", "mindgate.conf"});
    return Cli(arguments, in);
  }

  Workspace workspace_;
};

TEST_F(FixCommand, PrintsTheDifferenceAndWritesNothing) {
  workspace_.Write("a.yaml", kBefore);
  for (const std::vector<std::string>& flags :
       {std::vector<std::string>{}, {"--dry-run"}, {"--in-place", "--dry-run=client"}}) {
    std::vector<std::string> arguments = {"-f", "a.yaml"};
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    const CliResult result = Run(arguments);
    EXPECT_EQ(result.code, 1);
    EXPECT_EQ(result.out, std::string("--- a.yaml\n+++ a.yaml (fixed)\n") + kDiff);
    EXPECT_EQ(result.err, "");
    EXPECT_EQ(TextIn("a.yaml"), kBefore);
  }
}

TEST_F(FixCommand, InPlaceWritesOnceAndAFileKeepsItsMode) {
  workspace_.Write("a.yaml", kBefore);
  ASSERT_EQ(::chmod("a.yaml", 0640), 0);
  CliResult result = Run({"-f", "a.yaml", "--in-place"});
  EXPECT_EQ(result.code, 0);
  EXPECT_EQ(result.out, "fixed a.yaml: 2 fields\n");
  EXPECT_EQ(result.err, "");
  EXPECT_EQ(TextIn("a.yaml"), kAfter);
  struct stat status{};
  ASSERT_EQ(::stat("a.yaml", &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0640u);
  result = Run({"-f", "a.yaml", "--in-place"});
  EXPECT_EQ(result.code, 0);
  EXPECT_EQ(result.out, "nothing to fix\n");
  result = Run({"-f", "a.yaml"});
  EXPECT_EQ(result.code, 0);
  EXPECT_EQ(result.out, "");
}

TEST_F(FixCommand, IsAFilter) {
  const CliResult result = Run({"-f", "-"}, kBefore);
  EXPECT_EQ(result.code, 0);
  EXPECT_EQ(result.out, kAfter);
  EXPECT_EQ(result.err, "");
  EXPECT_EQ(Run({"-f", "-"}, kAfter).out, kAfter);
  EXPECT_EQ(Run({"-f", "-", "--dry-run"}, kBefore).out,
            std::string("--- <stdin>\n+++ <stdin> (fixed)\n") + kDiff);
}

TEST_F(FixCommand, AFilterKeepsLineEndsOfWindows) {
  std::string before = kBefore;
  for (size_t at = 0; (at = before.find('\n', at)) != std::string::npos; at += 2) {
    before.insert(at, 1, '\r');
  }
  std::string after = kAfter;
  for (size_t at = 0; (at = after.find('\n', at)) != std::string::npos; at += 2) {
    after.insert(at, 1, '\r');
  }
  EXPECT_EQ(Run({"-f", "-"}, before).out, after);
}

TEST_F(FixCommand, AFilterRefusesWhatCannotBePrinted) {
  const CliResult result = Run({"-f", "-"}, std::string("# \u202E\n") + kBefore);
  EXPECT_EQ(result.code, 2);
  EXPECT_EQ(result.out, "");
  EXPECT_THAT(result.err, HasSubstr("characters that act on a terminal"));
}

TEST_F(FixCommand, ListsWhatIsLeft) {
  workspace_.Write("a.yaml", Unclear());
  const CliResult result = Run({"-f", "a.yaml", "--in-place"});
  EXPECT_EQ(result.code, 1);
  EXPECT_EQ(result.out, "fixed a.yaml: 1 field\n");
  EXPECT_THAT(result.err, StartsWith("a.yaml:7:23: denied: MG050 fault-scheduling-value: "
                                     "metadata.labels[fault-scheduling]: fault-scheduling is "
                                     "\"maybe\", "));
  EXPECT_THAT(result.err, HasSubstr("; fix: write fault-scheduling: "));
  EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1);
}

TEST_F(FixCommand, ListsAliases) {
  workspace_.Write("a.yaml", R"(apiVersion: v1
kind: Pod
metadata:
  name: p
  annotations: &l {fault-scheduling: Force}
  labels: *l
spec: {schedulerName: volcano, containers: [{name: c, resources: {limits: {huawei.com/Ascend910: 1}}}]}
)");
  const CliResult result = Run({"-f", "a.yaml"});
  EXPECT_EQ(result.code, 1);
  EXPECT_EQ(result.out, "");
  EXPECT_THAT(result.err, StartsWith("a.yaml:6:11: denied: MG050 "));
  EXPECT_THAT(result.err, HasSubstr("it is not written here: labels is the alias *l"));
}

TEST_F(FixCommand, JsonListsEditsAndWhatIsLeft) {
  workspace_.Write("a.yaml", kBefore);
  workspace_.Write("b.yaml", Unclear());
  const CliResult result = Run({"-f", "a.yaml,b.yaml", "-o", "json"});
  EXPECT_EQ(result.code, 1);
  EXPECT_EQ(result.err, "");
  const Json json = Json::parse(result.out);
  EXPECT_EQ(json["summary"], (Json{{"changed", 2}, {"edits", 3}, {"left", 1}}));
  const Json& edits = json["files"][0]["edits"];
  ASSERT_EQ(edits.size(), 2u);
  EXPECT_EQ(edits[0]["rule"], "MG050");
  EXPECT_EQ(edits[0]["object"], "Pod default/p");
  EXPECT_EQ(edits[0]["field"], "metadata.labels[fault-scheduling]");
  EXPECT_EQ(edits[0]["line"], 7);
  EXPECT_EQ(edits[0]["old"], "Force");
  EXPECT_EQ(edits[0]["new"], "force");
  EXPECT_EQ(edits[1]["mutator"], "scheduler-name");
  EXPECT_EQ(edits[1]["old"], Json());
  EXPECT_EQ(edits[1]["new"], "volcano");
  EXPECT_EQ(json["files"][0]["written"], false);
  EXPECT_EQ(json["files"][1]["left"][0]["outcome"], "denied");
  EXPECT_EQ(json["files"][1]["left"][0]["by"], "MG050 fault-scheduling-value");
  const Json written = Json::parse(Run({"-f", "a.yaml", "--in-place", "-o", "json"}).out);
  EXPECT_EQ(written["files"][0]["written"], true);
  EXPECT_EQ(TextIn("a.yaml"), kAfter);
}

TEST_F(FixCommand, FoldersWithoutTemplatesOfCharts) {
  workspace_.Write("repo/a.yaml", kBefore);
  workspace_.Write("repo/deep/b.yml", std::string(kBefore) + "---\n" + kAfter);
  workspace_.Write("repo/values.yaml", "a: b # kept\n");
  workspace_.Write("repo/chart/Chart.yaml", "name: c\n");
  workspace_.Write("repo/chart/templates/c.yaml", "a: {{ .b }}\n");
  const CliResult result = Run({"-f", "repo", "--in-place"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(result.out, "fixed repo/a.yaml: 2 fields\nfixed repo/deep/b.yml: 2 fields\n");
  EXPECT_THAT(result.err, HasSubstr("1 template of a Helm chart"));
  EXPECT_EQ(TextIn("repo/deep/b.yml"), std::string(kAfter) + "---\n" + kAfter);
  EXPECT_EQ(TextIn("repo/values.yaml"), "a: b # kept\n");
}

TEST_F(FixCommand, AnInvalidDocumentKeepsItsFileAsItIs) {
  workspace_.Write("a.yaml", std::string(kBefore) + "---\nkind: [\n");
  workspace_.Write("b.yaml", kBefore);
  const CliResult result = Run({"-f", "a.yaml", "-f", "b.yaml", "--in-place"});
  EXPECT_EQ(result.code, 2);
  EXPECT_EQ(result.out, "fixed b.yaml: 2 fields\n");
  EXPECT_THAT(result.err, StartsWith("a.yaml:14:1: "));
  EXPECT_THAT(TextIn("a.yaml"), StartsWith(kBefore));
  EXPECT_EQ(Run({"-f", "-"}, "kind: [\n").out, "");
}

TEST_F(FixCommand, FollowsLinksToFiles) {
  workspace_.Write("real/a.yaml", kBefore);
  fs::create_symlink("real/a.yaml", "link.yaml");
  const CliResult result = Run({"-f", "link.yaml", "--in-place"});
  EXPECT_EQ(result.code, 0);
  EXPECT_EQ(result.out, "fixed link.yaml: 2 fields\n");
  EXPECT_TRUE(fs::is_symlink("link.yaml"));
  EXPECT_EQ(TextIn("real/a.yaml"), kAfter);
}

TEST_F(FixCommand, ReadOnlyFilesStay) {
  workspace_.Write("a.yaml", kBefore);
  ASSERT_EQ(::chmod("a.yaml", 0444), 0);
  const CliResult result = Run({"-f", "a.yaml", "--in-place"});
  EXPECT_EQ(result.code, 1);
  EXPECT_EQ(result.out, "");
  EXPECT_THAT(result.err, StartsWith("error: a.yaml: cannot be written: it is read-only"));
  EXPECT_EQ(TextIn("a.yaml"), kBefore);
}

struct Unusable {
  std::vector<std::string> arguments;
  std::string message;
};

TEST_F(FixCommand, RefusesWhatHasNoFile) {
  workspace_.Write("a.yaml", kBefore);
  const std::vector<Unusable> cases = {
      {{}, "error: no input\n"},
      {{"-f", "https://example.com/a.yaml"},
       "error: https://example.com/a.yaml is a URL, so there is nothing to write to\n"},
      {{"-f", "a.yaml,http://example.com/a.yaml"}, "error: http://example.com/a.yaml is a URL"},
      {{"-f", "a.yaml", "-k", "overlay"},
       "error: -k builds objects that are in no file, so there is nothing to write to\nhint: give "
       "the files of the kustomization: -f overlay\n"},
      {{"-f", "-", "--in-place"}, "error: --in-place cannot write to standard input\n"},
      {{"-f", "-", "-f", "a.yaml"}, "error: - is read beside other inputs"},
  };
  for (const Unusable& c : cases) {
    const CliResult result = Run(c.arguments);
    EXPECT_EQ(result.code, 2) << c.message;
    EXPECT_EQ(result.out, "");
    EXPECT_THAT(result.err, StartsWith(c.message));
  }
  EXPECT_EQ(TextIn("a.yaml"), kBefore);
}

TEST_F(FixCommand, StrictCountsWarnings) {
  workspace_.Write("mindgate.conf", OnlyConfig({}, {"MG051"}));
  std::string text = kAfter;
  text.replace(text.find("fault-scheduling: force"), 23, "pod-rescheduling: maybe");
  workspace_.Write("a.yaml", text);
  CliResult result = Run({"-f", "a.yaml"});
  EXPECT_EQ(result.code, 0);
  EXPECT_THAT(result.err, HasSubstr(": warning: MG051 "));
  result = Run({"-f", "a.yaml", "--strict"});
  EXPECT_EQ(result.code, 1);
  EXPECT_THAT(result.err, HasSubstr(": denied: MG051 "));
}

}  // namespace
}  // namespace mindgate::cli
