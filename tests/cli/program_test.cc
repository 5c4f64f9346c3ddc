// The program as a process: exit codes, standard streams, help, environment, completion.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cli/console/terminal.h"
#include "cli/manifests/manifests.h"
#include "schemas/config.h"
#include "support/cli.h"
#include "support/environment.h"
#include "support/golden.h"
#include "support/places.h"

namespace mindgate::cli {
namespace {

using ::mindgate::testing::ChangedEnvironment;
using ::mindgate::testing::Cli;
using ::mindgate::testing::CliResult;
using ::mindgate::testing::ReadSource;
using ::mindgate::testing::Shell;
using ::mindgate::testing::Workspace;
using ::testing::HasSubstr;

const std::string kBinary = ::mindgate::testing::Program();

constexpr const char* kBadPod =
    "apiVersion: v1\nkind: Pod\nmetadata: {name: p, labels: {fault-scheduling: Force}}\n"
    "spec: {containers: [{name: c, resources: {limits: {huawei.com/npu: 1}}}]}\n";

TEST(Program, ExitCodesAndStreams) {
  const Workspace workspace;
  workspace.Write("good.yaml", "apiVersion: v1\nkind: Service\nmetadata: {name: s}\n");
  workspace.Write("denied.yaml", kBadPod);
  workspace.Write("bad.yaml", "kind: [\n");
  const struct {
    const char* arguments;
    int code;
  } cases[] = {
      {"apply -f good.yaml", 0},
      {"apply -f denied.yaml", 1},
      {"apply -f bad.yaml", 2},
      {"apply -f denied.yaml -f bad.yaml", 2},
      {"apply -f good.yaml,denied.yaml", 1},
      {"apply -f good.yaml denied.yaml", 2},
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
      {"--version", 0},
      {"help", 0},
      {"help config validate", 0},
      {"help config validat", 2},
      {"--help", 0},
      {"apply --help", 0},
      {"< /dev/null", 2},
      {"bogus", 2},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(Shell(kBinary + " " + c.arguments + " 2>&1").code, c.code) << c.arguments;
  }
  EXPECT_EQ(Shell(kBinary + " apply -f bad.yaml 2>/dev/null").out, "");
  EXPECT_EQ(Shell("cat good.yaml | " + kBinary + " apply -f -").out,
            "apiVersion: v1\nkind: Service\nmetadata:\n  name: s\n");
}

// What is piped on from a denied object: nothing.
TEST(Program, ADeniedObjectReachesNoPipe) {
  const Workspace workspace;
  workspace.Write("denied.yaml", kBadPod);
  EXPECT_EQ(Shell(kBinary + " apply -f denied.yaml 2>/dev/null").out, "");
  EXPECT_EQ(Shell(kBinary + " apply -f denied.yaml 2>/dev/null").code, 1);
  EXPECT_EQ(Shell(kBinary + " apply -f denied.yaml -o patch 2>/dev/null").out, "");
}

TEST(Program, AFullDiskIsAnErrorThatIsReported) {
  const Workspace workspace;
  for (const char* arguments : {"version", "explain", "config defaults"}) {
    const CliResult result = Shell("{ " + kBinary + " " + arguments + " >/dev/full; } 2>&1");
    EXPECT_EQ(result.code, 2) << arguments;
    EXPECT_THAT(result.out, ::testing::StartsWith("error: cannot write to standard output"));
    EXPECT_THAT(
        result.out,
        HasSubstr("\nhint: the output is incomplete; free disk space, or write to another file\n"));
  }
  EXPECT_THAT(Shell("{ " + kBinary + " version >/dev/full; } 2>&1").out,
              HasSubstr("cannot write to standard output: No space left on device\n"));
}

TEST(Program, TheNameItIsCalledByShowsInHelpOnly) {
  const Workspace workspace;
  std::filesystem::create_symlink(kBinary, "kubectl-mindgate");
  EXPECT_EQ(Shell("./kubectl-mindgate version").out, Shell(kBinary + " version").out);
  EXPECT_THAT(Shell(kBinary + " apply --help").out, HasSubstr("\nUsage: mindgate apply [flags]\n"));
  EXPECT_THAT(Shell("./kubectl-mindgate apply --help").out,
              HasSubstr("\nUsage: kubectl mindgate apply [flags]\n"));
  EXPECT_THAT(Shell("./kubectl-mindgate config --help").out,
              HasSubstr("\nUsage: kubectl mindgate config COMMAND [flags]\n"));
  EXPECT_EQ(Shell("./kubectl-mindgate aply 2>&1").out,
            "error: unknown command \"aply\"\nhint: did you mean \"apply\"?\n");
  EXPECT_EQ(Shell("./kubectl-mindgate test --bogus 2>&1").out,
            "error: unknown flag \"--bogus\"\nhint: `kubectl mindgate test --help` lists the flags "
            "and arguments\n");
}

TEST(Program, VersionAndHelpAsOtherProgramsHaveThem) {
  EXPECT_THAT(Cli({"version"}).out, ::testing::StartsWith(Cli({"--version"}).out));
  EXPECT_EQ(Cli({"help"}).out, Cli({"--help"}).out);
  EXPECT_EQ(Cli({"help", "apply"}).out, Cli({"apply", "--help"}).out);
  EXPECT_EQ(Cli({"help", "config", "validate"}).out, Cli({"config", "validate", "--help"}).out);
  EXPECT_EQ(Cli({"help", "config", "validat"}).err,
            "error: unknown command \"mindgate config validat\"\n"
            "hint: did you mean \"validate\"?\n");
  EXPECT_EQ(Cli({"help", "nothing"}).err,
            "error: unknown command \"mindgate nothing\"\n"
            "hint: `mindgate --help` lists all commands\n");
}

TEST(Program, DumbTerminalsAndNoColorAreNotPainted) {
  const struct {
    const char* terminal;
    const char* no_color;
    ColorMode mode;
    bool painted;
  } cases[] = {
      {"xterm", "", ColorMode::kAuto, true},   {"dumb", "", ColorMode::kAuto, false},
      {"xterm", "1", ColorMode::kAuto, false}, {"dumb", "", ColorMode::kAlways, true},
      {"xterm", "", ColorMode::kNever, false},
  };
  for (const auto& c : cases) {
    const ChangedEnvironment changed(
        mindgate::testing::Variables{{"TERM", c.terminal}, {"NO_COLOR", c.no_color}});
    EXPECT_EQ(Paint(c.mode, true)(Color::kRed, "x") != "x", c.painted)
        << c.terminal << " " << c.no_color;
    EXPECT_EQ(Paint(c.mode, false)(Color::kRed, "x") != "x",
              c.painted && c.mode == ColorMode::kAlways);
  }
}

TEST(Program, TheWidthIsThatOfTheTerminal) {
  const struct {
    const char* columns;
    bool terminal;
    size_t width;
  } cases[] = {
      {"72", true, 72},    {"72", false, 100}, {"10", true, 40},
      {"wide", true, 100}, {"", true, 100},    {"", false, 100},
  };
  for (const auto& c : cases) {
    const ChangedEnvironment changed(mindgate::testing::Variables{{"COLUMNS", c.columns}});
    // A descriptor that is not a terminal has no size.
    EXPECT_EQ(TerminalWidth(c.terminal, -1), c.width) << c.columns;
  }
  EXPECT_EQ(Wrapped("a bb ccc dddd", 8, "  "), "  a bb\n  ccc\n  dddd\n");
  EXPECT_EQ(Wrapped("averylongword b", 5), "averylongword\nb\n");
  EXPECT_EQ(WrappedCell("aaaa bbbb " + std::string(36, 'c'), 50, 10),
            "aaaa bbbb\n          " + std::string(36, 'c'));
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

TEST(Program, MistakesInArgumentsNameTheNearestKnown) {
  const struct {
    std::vector<std::string> arguments;
    const char* want;
  } cases[] = {
      {{"aply"}, "error: unknown command \"aply\"\nhint: did you mean \"apply\"?\n"},
      {{"apply", "--strickt", "-f", "x"},
       "error: unknown flag \"--strickt\"\nhint: did you mean \"--strict\"?\n"},
      {{"config", "default"},
       "error: unknown command \"default\"\nhint: did you mean \"defaults\"?\n"},
      {{"apply", "-o", "yml"},
       "error: --output: \"yml\" is not supported: write \"yaml\", \"json\", \"name\", "
       "\"jsonpath=TEMPLATE\", \"patch\", \"diff\", \"table\", \"sarif\", \"junit\", \"github\", "
       "\"gitlab\" or \"html\"; did you mean \"yaml\"?\nhint: "
       "`mindgate apply --help` lists the flags and arguments\n"},
      {{"apply", "--operation", "DELETE"},
       "error: --operation: \"DELETE\" is not supported: write \"CREATE\" or \"UPDATE\"\nhint: "
       "`mindgate apply --help` lists the flags and arguments\n"},
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
            "<stdin>: valid, generation " + schemas::HashText(defaults) + "\n");

  const auto schema = json::Json::parse(Cli({"config", "schema"}).out);
  EXPECT_EQ(schema["properties"]["mutators"]["properties"].size(),
            admission::KnownNames().mutators.size());

  workspace.Write("mindgate.yaml", "gangRepair: maybe\nrules: {MG050: warn, MG05O: off}\n");
  const CliResult bad = Cli({"config", "validate", "mindgate.yaml"});
  EXPECT_EQ(bad.code, 2);
  EXPECT_EQ(bad.out, "");
  EXPECT_EQ(bad.err,
            "mindgate.yaml:1:13: \"maybe\" is not allowed here: must be true or false\n"
            "gangRepair: maybe\n            ^\n"
            "mindgate.yaml:2:29: unknown key \"MG05O\"\n"
            "rules: {MG050: warn, MG05O: off}\n                            ^\n"
            "hint: did you mean \"MG050\"?\n");
  EXPECT_EQ(Cli({"config", "validate", "gone.yaml"}).err, "error: gone.yaml: no such file\n");
}

TEST(Config, OldSpellingsAreWarnings) {
  const CliResult result = Cli({"config", "validate", "-"}, "graceOverTime: 900\n");
  EXPECT_EQ(result.code, 0);
  EXPECT_THAT(result.out, ::testing::StartsWith("<stdin>: valid, generation "));
  EXPECT_EQ(result.err,
            "<stdin>:1:16: warning: 900 has no unit and is read as seconds\n"
            "graceOverTime: 900\n"
            "               ^\n"
            "hint: write 15m\n");
}

TEST(Config, SchemaOfEachFormat) {
  for (const auto& [format, title] :
       {std::pair("config", "mindgate.yaml"), std::pair("suite", "mindgate test suite"),
        std::pair("scenario", "mindgate scenario")}) {
    const auto schema = json::Json::parse(Cli({"config", "schema", format}).out);
    EXPECT_EQ(schema["title"], title);
    std::vector<const json::Json*> left = {&schema};
    while (!left.empty()) {
      const json::Json& each = *left.back();
      left.pop_back();
      if (const json::Json* items = json::Find(each, "items")) left.push_back(items);
      const json::Json* properties = json::Find(each, "properties");
      if (properties == nullptr) continue;
      for (const auto& [name, member] : properties->items()) {
        EXPECT_TRUE(json::FindString(member, "description").value_or("").ends_with('.')) << name;
        left.push_back(&member);
      }
    }
  }
}

// YAML 1.1 reads on as true: the message says what was read, and what to write.
TEST(Config, OnIsNotAModeOfARule) {
  EXPECT_EQ(Cli({"config", "validate", "-"}, "rules: {MG050: on}\n").err,
            "<stdin>:1:16: true is not allowed here (YAML reads on, yes and true as true): must be "
            "\"enforce\", \"warn\", \"audit\" or \"off\"\n"
            "rules: {MG050: on}\n               ^\n"
            "hint: write \"enforce\", \"warn\" or \"audit\" to switch it on\n");
  EXPECT_EQ(Cli({"config", "validate", "-"}, "rules: {MG050: off}\n").code, 0);
}

TEST(Config, PoliciesAreValidatedAndThoseThatAreMissingWarnedOf) {
  const Workspace workspace;
  workspace.Write("mindgate.yaml",
                  "policies: {files: [whole.yaml]}\n"
                  "rules: {policy/whole-machines: warn, policy/none: off}\n");
  workspace.Write("whole.yaml", ReadSource("examples/policies/whole-machines.yaml"));
  const auto sound = Cli({"config", "validate", "mindgate.yaml"});
  EXPECT_EQ(sound.code, 0);
  EXPECT_EQ(sound.err,
            "mindgate.yaml:2:51: warning: no policy \"none\" is bound here, so this has no effect\n"
            "rules: {policy/whole-machines: warn, policy/none: off}\n" +
                std::string(50, ' ') +
                "^\nhint: name its file under policies.files, or give --policies\n");
  workspace.Write("mindgate.yaml", "policies: {configMaps: true}\nrules: {policy/none: off}\n");
  const auto elsewhere = Cli({"config", "validate", "mindgate.yaml"});
  EXPECT_EQ(elsewhere.code, 0);
  EXPECT_EQ(
      elsewhere.err,
      "warning: policies.configMaps is true, and ConfigMaps are not read without a cluster: "
      "their policies are left out\n"
      "hint: name their texts under policies.files, too, or evaluate a cluster with `mindgate "
      "audit`\n");
  workspace.Write("mindgate.yaml", "policies: {files: [whole.yaml]}\n");
  workspace.Write("whole.yaml", "kind: ValidatingAdmissionPolicy\n");
  const auto faulty = Cli({"config", "validate", "mindgate.yaml"});
  EXPECT_EQ(faulty.code, 2);
  EXPECT_THAT(faulty.err,
              ::testing::StartsWith("whole.yaml:1:1: there is no ValidatingAdmissionPolicy without "
                                    "apiVersion: the object has no effect"));
}

TEST(Config, ExceptionsThatHaveEndedOrEndSoonAreWarnedOf) {
  const std::string config = R"(exceptions:
- {rules: [MG050], owner: serving, reason: old, expires: 2020-12-31}
- {rules: [MG050, MG053], owner: training, reason: soon, expires: 2026-02-10}
- {rules: [MG051], owner: training, reason: later, expires: 2026-02-11}
)";
  const Workspace workspace;
  workspace.Write("mindgate.yaml", config);
  const auto validate = [](const char* now) {
    std::istringstream in;
    std::ostringstream out;
    std::ostringstream err;
    Streams io{in, out, err};
    EXPECT_EQ(RunConfigValidate("mindgate.yaml", {}, *ParseTime(now), io), 0);
    EXPECT_THAT(out.str(), ::testing::StartsWith("mindgate.yaml: valid, generation "));
    return err.str();
  };
  EXPECT_EQ(
      validate("2026-01-12T00:00:00Z"),
      "mindgate.yaml:2:58: warning: the exception of serving for MG050 expired on "
      "2020-12-31T23:59:59Z and has no effect: the objects it covered are checked again\n"
      "- {rules: [MG050], owner: serving, reason: old, expires: 2020-12-31}\n" +
          std::string(57, ' ') +
          "^\nhint: remove it, or set a later date\n"
          "mindgate.yaml:3:67: warning: the exception of training for MG050, MG053 expires on "
          "2026-02-10T23:59:59Z: the objects it covers are checked again from then on\n"
          "- {rules: [MG050, MG053], owner: training, reason: soon, expires: 2026-02-10}\n" +
          std::string(66, ' ') + "^\nhint: fix the objects by then, or set a later date\n");
  EXPECT_EQ(validate("2020-11-01T00:00:00Z"), "");
}

TEST(Version, TextAndJson) {
  EXPECT_THAT(Cli({"version"}).out,
              ::testing::MatchesRegex(
                  "mindgate [0-9]+\\.[0-9]+\\.[0-9]+\ncommit [^ ]+, [a-z0-9_]+, compiler .+\n"));
  const auto build = json::Json::parse(Cli({"version", "-o", "json"}).out);
  std::vector<std::string> keys;
  for (const auto& [key, value] : build.items()) keys.push_back(key);
  EXPECT_EQ(keys, (std::vector<std::string>{"architecture", "commit", "compiler", "version"}));
  EXPECT_EQ(build["commit"], "unknown") << "only the release preset stamps it";
}

}  // namespace
}  // namespace mindgate::cli
