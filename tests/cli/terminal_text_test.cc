// No text of others reaches a terminal as more than text, whatever command prints it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>

#include "base/foreign_text.h"
#include "base/text.h"
#include "cli/console/terminal.h"
#include "json/decode.h"
#include "json/yaml.h"
#include "kube/fake_api_server.h"
#include "support/cli.h"
#include "support/golden.h"
#include "support/small_cluster.h"

namespace mindgate::cli {
namespace {

using ::mindgate::testing::Cli;
using ::mindgate::testing::Json;
using ::mindgate::testing::ReadSource;
using ::mindgate::testing::SmallCluster;
using ::mindgate::testing::SourcePath;
using ::mindgate::testing::Workspace;
namespace resources = kube::resources;

std::string Through(const std::vector<std::string>& pieces) {
  std::ostringstream target;
  {
    TerminalStream out(target);
    for (const std::string& piece : pieces) out << piece;
  }
  return target.str();
}

TEST(TerminalStream, EscapesWhatActsOnATerminal) {
  struct Case {
    std::string text;
    std::string shown;
  };
  const std::vector<Case> cases = {
      {"plain, \xE4\xB8\xAD\xE6\x96\x87, \xF0\x9F\x98\x80\n\tand\n",
       "plain, \xE4\xB8\xAD\xE6\x96\x87, \xF0\x9F\x98\x80\n\tand\n"},
      {"\x1b]0;owned\x07", "\\x1b]0;owned\\x07"},
      {"\x1b[31mred", "\\x1b[31mred"},
      {"\r", "\\x0d"},
      {"a\r\nb\rc\r\r\n", "a\r\nb\\x0dc\\x0d\r\n"},
      {"\x7f", "\\u007f"},
      {"\xC2\x9B\x32J", "\\u009b2J"},
      {"\xE2\x80\xA8", "\\u2028"},
      {"\xE2\x80\xA9", "\\u2029"},
      {"\xE2\x80\xAEtxt.exe", "\\u202etxt.exe"},
      {"\xD8\x9C", "\\u061c"},
      {"\xE2\x81\xA6", "\\u2066"},
      {"bad \xE2\x80", "bad \\xe2\\x80"},
      {"bad \xC0\xAF", "bad \\xc0\\xaf"},
      {std::string("a\0b", 3), "a\\x00b"},
      {"\xFF\033[31mours\xFF\033[0m", "\033[31mours\033[0m"},
      {"\xFF\033[5mnot ours", "\\xff\\x1b[5mnot ours"},
      {"\xFF", "\\xff"},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(Through({c.text}), c.shown);
    // However it is cut into pieces.
    std::vector<std::string> bytes;
    for (const char byte : c.text) bytes.emplace_back(1, byte);
    EXPECT_EQ(Through(bytes), c.shown);
  }
}

TEST(TerminalStream, JsonStaysJson) {
  const Json value = {{"key\x7f\x1b", "a\xC2\x9B\xE2\x80\xA8\xE2\x80\xAE\x07\n"}};
  const std::string shown = Through({value.dump(2)});
  EXPECT_EQ(Json::parse(shown), value);
}

TEST(TerminalStream, ReportsToWritersThatTheTargetIsBroken) {
  std::ostringstream target;
  target.setstate(std::ios::badbit);
  TerminalStream out(target);
  out << "text";
  EXPECT_FALSE(out);
}

// --- every command
// ---------------------------------------------------------------------------------

const std::vector<std::string> kHostile = {"\x1b]0;owned\x07\x1b[2K\x1b[1A",
                                           "\x1b[31mred",
                                           "\xE2\x80\xA8next \xE2\x80\xAEtxt",
                                           "\xC2\x9B\x32J\x7f",
                                           "\r\x08\x0b",
                                           "two\nlines\x1b[K"};

const std::string kPlain = [] {
  std::string plain = "\n\t";
  for (char c = ' '; c <= '~'; ++c) plain += c;
  return plain;
}();

// The first character that a terminal may act on; empty: there is none. Plain text, which is most
// of it, is skipped at once: with sanitizers, a call for each character took longer than all else.
std::string Raw(const std::string& text) {
  size_t at = 0;
  while ((at = text.find_first_not_of(kPlain, at)) != std::string::npos) {
    const std::string_view rest = std::string_view(text).substr(at);
    const size_t length = std::max<size_t>(1, Utf8Length(rest));
    if (IsUnsafe(rest.substr(0, length))) return HexEscaped(rest.substr(0, 20));
    at += length;
  }
  return "";
}

void ExpectSafe(const std::vector<std::string>& arguments, const std::string& in = "") {
  const auto reported = Cli(arguments, in);
  std::string line;
  for (const std::string& argument : arguments) line += " " + argument;
  EXPECT_EQ(Raw(reported.out), "") << line;
  EXPECT_EQ(Raw(reported.err), "") << line;
  EXPECT_LT(reported.out.size() + reported.err.size(), 16U << 20) << line;
}

// The text leaves of a tree, but for those that say what it is.
std::vector<Json::json_pointer> TextsIn(const Json& tree) {
  std::vector<Json::json_pointer> texts;
  const Json flat = tree.flatten();
  for (const auto& [pointer, value] : flat.items()) {
    const bool identity = pointer == "/apiVersion" || pointer == "/kind" || pointer == "/taken";
    if (value.is_string() && !identity) texts.emplace_back(pointer);
  }
  return texts;
}

// Calls `run` with the tree after each kind of change: all texts at once, each text of at most
// `most` by itself, and one text of a megabyte.
void ForEachChange(const Json& tree, size_t most, const std::function<void(const Json&)>& run) {
  const auto texts = TextsIn(tree);
  if (texts.empty()) return;
  for (const std::string& hostile : kHostile) {
    Json changed = tree;
    for (const auto& text : texts) changed[text] = changed[text].get<std::string>() + hostile;
    run(changed);
  }
  const size_t step = std::max<size_t>(1, texts.size() / most);
  size_t at = 0;
  for (size_t i = 0; i < texts.size(); i += step) {
    Json changed = tree;
    changed[texts[i]] = changed[texts[i]].get<std::string>() + kHostile[at++ % kHostile.size()];
    run(changed);
  }
  Json large = tree;
  large[texts[texts.size() / 2]] = std::string(1 << 20, 'x') + "\x1b[2K";
  run(large);
}

// The documents of a file that are objects.
std::vector<Json> DocumentsOf(const std::filesystem::path& file) {
  std::ifstream in(file);
  std::ostringstream text;
  text << in.rdbuf();
  std::vector<Json> trees;
  const auto documents = json::DecodeCoreYaml(text.str());
  if (!documents) return trees;
  for (const auto& document : *documents) {
    if (document.value.is_object()) trees.push_back(document.value);
  }
  return trees;
}

// kubectl reads it.
TEST(TerminalText, TheYamlOfApplyStaysWhatItIs) {
  Json pod = {{"apiVersion", "v1"},
              {"kind", "Pod"},
              {"metadata", {{"name", "p"}, {"annotations", Json::object()}}},
              {"spec", {{"containers", {{{"name", "main"}, {"image", "x"}}}}}}};
  for (size_t i = 0; i < kHostile.size(); ++i) {
    pod["metadata"]["annotations"]["note" + std::to_string(i)] = kHostile[i] + " \xE4\xB8\xAD";
  }
  const auto reported = Cli({"apply", "-f", "-", "-o", "yaml"}, pod.dump());
  ASSERT_EQ(reported.code, 0) << reported.err;
  const auto read = json::DecodeCoreYaml(reported.out);
  ASSERT_TRUE(read) << reported.out;
  EXPECT_EQ(read->front().value, pod);
}

TEST(TerminalText, OfSnapshots) {
  const Workspace workspace;
  const Json snapshot = Json::parse(ReadSource("examples/snapshots/serving.json"));
  const std::vector<std::string> formats = {"text", "json", "html"};
  size_t next = 0;
  ForEachChange(snapshot, 60, [&](const Json& changed) {
    workspace.Write("s.json", changed.dump());
    ExpectSafe({"what-if", "--snapshot", "s.json", "--node", "npu-4", "--card", "npu-0/0", "-o",
                formats[next++ % formats.size()]});
  });
}

TEST(TerminalText, OfScenariosSuitesAndConfigurations) {
  const Workspace workspace;
  const std::vector<std::pair<std::string, std::vector<std::string>>> files = {
      {"examples/scenarios/first-start.yaml", {"simulate", "-f", "x.yaml"}},
      {"examples/scenarios/fault-restarts-a-job.yaml", {"simulate", "-f", "x.yaml"}},
      {"examples/suites/chat.yaml", {"test", "x.yaml"}},
      {"examples/mindgate.yaml", {"config", "validate", "x.yaml"}}};
  for (const auto& [file, command] : files) {
    for (const Json& tree : DocumentsOf(SourcePath(file))) {
      ForEachChange(tree, 20, [&](const Json& changed) {
        workspace.Write("x.yaml", changed.dump());
        ExpectSafe(command);
      });
    }
  }
}

// The files below a folder of the project, in order.
std::vector<std::filesystem::path> FilesIn(const std::string& folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(SourcePath(folder))) {
    if (entry.path().extension() == ".yaml") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

TEST(TerminalText, OfManifests) {
  const Workspace workspace;
  const std::vector<std::vector<std::string>> commands = {
      {"apply", "-o", "table"}, {"apply", "-o", "diff"},  {"apply", "-o", "yaml", "--print-denied"},
      {"apply", "-o", "json"},  {"apply", "-o", "patch"}, {"explain"}};
  size_t documents = 0;
  size_t next = 0;
  for (const char* folder : {"tests/fixtures/manifests", "tests/fixtures/seeds"}) {
    for (const auto& file : FilesIn(folder)) {
      for (const Json& tree : DocumentsOf(file)) {
        ++documents;
        ForEachChange(tree, 3, [&](const Json& changed) {
          workspace.Write("x.yaml", changed.dump());
          std::vector<std::string> command = commands[next++ % commands.size()];
          command.insert(command.end(), {"-f", "x.yaml"});
          ExpectSafe(command);
        });
      }
    }
  }
  EXPECT_GE(documents, 39U);
}

TEST(TerminalText, OfForecastsForManifests) {
  const Workspace workspace;
  workspace.Write("s.json", ReadSource("examples/snapshots/serving.json"));
  for (const auto& file : FilesIn("tests/fixtures/seeds")) {
    for (const Json& tree : DocumentsOf(file)) {
      ForEachChange(tree, 2, [&](const Json& changed) {
        workspace.Write("x.yaml", changed.dump());
        ExpectSafe({"what-if", "--snapshot", "s.json", "--manifest", "x.yaml"});
      });
    }
  }
}

TEST(TerminalText, OfApplications) {
  const Workspace workspace;
  size_t applications = 0;
  size_t next = 0;
  const std::vector<std::vector<std::string>> commands = {
      {"deploy", "--dry-run=client"}, {"deploy", "--dry-run=client", "-o", "json"}};
  for (const auto& file : FilesIn("tests/fixtures/deploy")) {
    for (const Json& tree : DocumentsOf(file)) {
      ++applications;
      ForEachChange(tree, 10, [&](const Json& changed) {
        workspace.Write("x.yaml", changed.dump());
        std::vector<std::string> command = commands[next++ % commands.size()];
        command.insert(command.end(), {"-f", "x.yaml"});
        ExpectSafe(command);
      });
    }
  }
  EXPECT_GE(applications, 3U);
}

TEST(TerminalText, OfAClusterThatRuns) {
  for (const std::string& hostile : kHostile) {
    kube::testing::FakeApiServer server;
    server.Put(resources::kNamespaces, {{"metadata", {{"name", "infer"}}}});
    SmallCluster cluster;
    cluster.Node("n0");
    cluster.Group("pg", "Job/owner" + hostile, 1, {{"fault-scheduling", "force" + hostile}},
                  {{"huawei.com/recover_policy_path", hostile}});
    cluster.Pod({.name = "w",
                 .node = "n0",
                 .chips = "0",
                 .group = "pg",
                 .owner = "Job/owner" + hostile,
                 .labels = {{"jobID", "chat" + hostile},
                            {"mind-cluster/scaling-rule", "rule"},
                            {"mind-cluster/group-name", "g0" + hostile}}});
    cluster.Rule("rule", {{{"g0" + hostile, 2}}, {{"g0" + hostile, 1}}});
    cluster.Devices("n0", {{"huawei.com/Ascend910-Unhealthy", "Ascend910-0" + hostile}});
    for (const Json& node : cluster.nodes) server.Put(resources::kNodes, node);
    for (const Json& pod : cluster.pods) server.Put(resources::kPods, pod);
    for (const Json& group : cluster.pod_groups) server.Put(resources::kPodGroups, group);
    for (const Json& rule : cluster.scaling_rules) server.Put(resources::kConfigMaps, rule);
    server.Put(resources::kNamespaces, {{"metadata", {{"name", "mindx-dl"}}}});
    for (const Json& report : cluster.Reports()) server.Put(resources::kConfigMaps, report);
    const std::vector<std::vector<std::string>> commands = {
        {"status"},
        {"status", "-A"},
        {"status", "-A", "-o", "wide"},
        {"status", "-A", "-o", "json"},
        {"status", "--faults"},
        {"status", "--faults", "-o", "json"},
        {"status", "chat" + hostile, "-n", "infer"},
        {"doctor"},
        {"what-if", "--card", "n0/0"},
        {"release-gates", "-n", "infer", "w" + hostile},
        {"release-nodes"},
        {"snapshot"}};
    for (std::vector<std::string> command : commands) {
      command.insert(command.end(), {"--server", server.url()});
      ExpectSafe(command);
    }
  }
}

TEST(TerminalText, OfArguments) {
  for (const std::string& hostile : kHostile) {
    ExpectSafe({hostile});
    ExpectSafe({"apply", "-f", "x" + hostile});
    ExpectSafe({"apply", "--" + hostile});
    ExpectSafe({"explain", "rule/" + hostile});
    ExpectSafe({"status", "--kubeconfig", "k" + hostile});
    ExpectSafe({"what-if", "--snapshot", "s" + hostile, "--node", hostile});
  }
}

}  // namespace
}  // namespace mindgate::cli
