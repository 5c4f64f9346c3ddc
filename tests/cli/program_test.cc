// The program as a process: exit codes, standard streams, help, environment, completion.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "schemas/config_load.h"
#include "schemas/json_schema.h"
#include "support/cli.h"
#include "support/places.h"

namespace mindgate::cli {
namespace {

using ::mindgate::testing::Cli;
using ::mindgate::testing::CliResult;
using ::mindgate::testing::Shell;
using ::mindgate::testing::Workspace;
using ::testing::HasSubstr;

const std::string kBinary = ::mindgate::testing::Program();

constexpr const char* kBadPod =
    "apiVersion: v1\nkind: Pod\nmetadata: {name: p, labels: {fault-scheduling: Force}}\n"
    "spec: {containers: [{name: c, resources: {limits: {huawei.com/npu: 1}}}]}\n";

TEST(Program, ExitCodesAndStreams) {
  const Workspace workspace;
  workspace.Write("good.yaml", "apiVersion: v1\nkind: Service\n");
  workspace.Write("denied.yaml", kBadPod);
  workspace.Write("bad.yaml", "kind: [\n");
  const struct {
    const char* arguments;
    int code;
  } cases[] = {
      {"apply -f good.yaml", 0},
      {"apply -f denied.yaml", 1},
      {"apply -f bad.yaml", 2},
      {"apply -f denied.yaml bad.yaml", 2},
      {"apply -f good.yaml denied.yaml", 1},
      {"apply -f gone.yaml", 2},
      {"apply", 2},
      {"apply -f - < good.yaml", 0},
      {"apply -f - < /dev/null", 2},
      {"apply -f good.yaml > /dev/full", 2},
      {"explain MG050", 0},
      {"explain MG999", 2},
      {"config defaults", 0},
      {"config validate good.yaml", 2},
      {"version", 0},
      {"--help", 0},
      {"apply --help", 0},
      {"", 2},
      {"bogus", 2},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(Shell(kBinary + " " + c.arguments + " 2>&1").code, c.code) << c.arguments;
  }
  EXPECT_EQ(Shell(kBinary + " apply -f bad.yaml 2>/dev/null").out, "");
  EXPECT_EQ(Shell("cat good.yaml | " + kBinary + " apply -f -").out,
            "apiVersion: v1\nkind: Service\n");
}

TEST(Program, TheNameItIsCalledByDoesNotMatter) {
  const Workspace workspace;
  std::filesystem::create_symlink(kBinary, "kubectl-mindgate");
  EXPECT_EQ(Shell("./kubectl-mindgate version").out, Shell(kBinary + " version").out);
  EXPECT_EQ(Shell("./kubectl-mindgate apply --help").out, Shell(kBinary + " apply --help").out);
}

TEST(Program, NoColourWithoutATerminal) {
  const Workspace workspace;
  workspace.Write("denied.yaml", kBadPod);
  EXPECT_THAT(Shell(kBinary + " apply -f denied.yaml -o diff 2>&1").out,
              ::testing::Not(HasSubstr("\033")));
  EXPECT_THAT(Shell(kBinary + " apply -f denied.yaml -o diff --color=always 2>&1").out,
              HasSubstr("\033[31mdenied\033[0m: MG050"));
}

TEST(Program, FlagsComeFromTheEnvironment) {
  const Workspace workspace;
  workspace.Write("denied.yaml", kBadPod);
  EXPECT_EQ(
      Shell("MINDGATE_FILENAME=denied.yaml MINDGATE_OUTPUT=patch " + kBinary + " apply 2>/dev/null")
          .out,
      Shell(kBinary + " apply -f denied.yaml -o patch 2>/dev/null").out);
}

TEST(Program, HelpHasExamples) {
  for (const std::vector<std::string>& command :
       std::vector<std::vector<std::string>>{{"apply"},
                                             {"explain"},
                                             {"test"},
                                             {"simulate"},
                                             {"config"},
                                             {"config", "validate"},
                                             {"config", "schema"},
                                             {"config", "defaults"},
                                             {"version"},
                                             {"completion"}}) {
    auto arguments = command;
    arguments.push_back("--help");
    const CliResult help = Cli(arguments);
    EXPECT_EQ(help.code, 0);
    EXPECT_THAT(help.out, HasSubstr("Example"));
    EXPECT_THAT(help.out, HasSubstr("mindgate " + command.front()));
  }
}

TEST(Program, MistakesInArgumentsNameTheNearestKnown) {
  const struct {
    std::vector<std::string> arguments;
    const char* want;
  } cases[] = {
      {{"aply"}, "error: unexpected argument \"aply\"\nhint: did you mean \"apply\"?\n"},
      {{"apply", "--strickt", "-f", "x"},
       "error: unknown flag \"--strickt\"\nhint: did you mean \"--strict\"?\n"},
      {{"config", "default"},
       "error: unexpected argument \"default\"\nhint: did you mean \"defaults\"?\n"},
      {{"apply", "-o", "yml"},
       "error: --output: \"yml\" is not known: write \"yaml\", \"json\", \"patch\", \"diff\" or "
       "\"table\"; did you mean \"yaml\"?\nhint: `mindgate apply --help` shows what can be "
       "written\n"},
      {{"apply", "--operation", "DELETE"},
       "error: --operation: \"DELETE\" is not known: write \"CREATE\" or \"UPDATE\"\nhint: "
       "`mindgate apply --help` shows what can be written\n"},
  };
  for (const auto& c : cases) {
    const CliResult result = Cli(c.arguments);
    EXPECT_EQ(result.code, 2);
    EXPECT_EQ(result.out, "");
    EXPECT_EQ(result.err, c.want);
  }
}

TEST(Config, DefaultsValidateAndSchema) {
  const Workspace workspace;
  const std::string defaults = Cli({"config", "defaults"}).out;
  auto config = schemas::LoadConfig(defaults, admission::KnownNames());
  ASSERT_TRUE(config);
  config->generation = schemas::Config().generation;
  EXPECT_EQ(*config, schemas::Config()) << "with the mutators and rules of this binary";
  EXPECT_EQ(Cli({"config", "validate", "-"}, defaults).out,
            "<stdin>: fine, generation " + schemas::HashText(defaults) + "\n");

  const auto schema = json::Json::parse(Cli({"config", "schema"}).out);
  EXPECT_TRUE(schemas::JsonSchema::Compile(schema));
  EXPECT_EQ(schema["properties"]["mutators"]["properties"].size(),
            admission::KnownNames().mutators.size());

  workspace.Write("mindgate.yaml", "gangRepair: maybe\nrules: {MG050: warn, MG05O: off}\n");
  const CliResult bad = Cli({"config", "validate", "mindgate.yaml"});
  EXPECT_EQ(bad.code, 2);
  EXPECT_EQ(bad.out, "");
  EXPECT_EQ(bad.err,
            "mindgate.yaml:1:13: \"maybe\" is not known here: must be \"on\" or \"off\"\n"
            "gangRepair: maybe\n            ^\n"
            "mindgate.yaml:2:29: unknown key \"MG05O\"\n"
            "rules: {MG050: warn, MG05O: off}\n                            ^\n"
            "hint: did you mean \"MG050\"?\n");
  EXPECT_EQ(Cli({"config", "validate", "gone.yaml"}).err,
            "error: gone.yaml: there is no such file\n");
}

TEST(Version, TextAndJson) {
  EXPECT_THAT(Cli({"version"}).out, ::testing::MatchesRegex("mindgate [0-9]+\\.[0-9]+\\.[0-9]+\n"));
  EXPECT_TRUE(json::Json::parse(Cli({"version", "-o", "json"}).out).contains("version"));
}

// Asks bash what it would offer after these words.
std::string Offered(const std::string& script, const std::string& words) {
  const Workspace workspace;
  workspace.Write("completion.bash", script);
  workspace.Write("file.yaml", "");
  const CliResult result = Shell("bash -c 'source ./completion.bash; COMP_WORDS=(" + words +
                                 "); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _mindgate; "
                                 "echo \"${COMPREPLY[*]}\"'");
  return result.out;
}

TEST(Completion, BashOffersCommandsFlagsAndValues) {
  const std::string script = Cli({"completion", "bash"}).out;
  EXPECT_EQ(Offered(script, "mindgate \"\""),
            "apply explain test simulate config webhook watch status release-gates certs doctor "
            "version completion\n");
  EXPECT_EQ(Offered(script, "mindgate co"), "config completion\n");
  EXPECT_EQ(Offered(script, "mindgate config \"\""), "validate schema defaults\n");
  EXPECT_EQ(Offered(script, "mindgate apply --na"), "--namespace --namespace-labels\n");
  EXPECT_EQ(Offered(script, "mindgate apply -f x --output \"\""), "yaml json patch diff table\n");
  EXPECT_EQ(Offered(script, "mindgate test -o j"), "junit\n");
  EXPECT_EQ(Offered(script, "mindgate apply -f fi"), "file.yaml\n");
  EXPECT_EQ(Offered(script, "mindgate completion \"\""), "bash zsh fish\n");
  EXPECT_THAT(Offered(script, "mindgate explain --mark"), "\n") << "hidden";
  EXPECT_THAT(script, HasSubstr("complete -o filenames -F _mindgate mindgate kubectl-mindgate\n"));
}

TEST(Completion, ZshRunsTheSameThroughBashcompinit) {
  const std::string zsh = Cli({"completion", "zsh"}).out;
  EXPECT_EQ(zsh,
            "#compdef mindgate kubectl-mindgate\nautoload -U +X bashcompinit && bashcompinit\n" +
                Cli({"completion", "bash"}).out);
}

TEST(Completion, FishKnowsEachCommand) {
  const std::string fish = Cli({"completion", "fish"}).out;
  EXPECT_THAT(fish, HasSubstr("complete -c mindgate -f -n '__fish_use_subcommand' -a apply -d '"));
  EXPECT_THAT(fish,
              HasSubstr("complete -c mindgate -f -n '__fish_seen_subcommand_from config; and not "
                        "__fish_seen_subcommand_from validate schema defaults' -a validate -d '"));
  EXPECT_THAT(fish, HasSubstr("complete -c kubectl-mindgate -n '__fish_seen_subcommand_from apply' "
                              "-l output -s o -x -a 'yaml json patch diff table' -d '"));
}

}  // namespace
}  // namespace mindgate::cli
