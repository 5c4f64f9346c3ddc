#include <gtest/gtest.h>

#include "cli/console/flags.h"
#include "support/cli.h"
#include "support/environment.h"

namespace mindgate::cli {
namespace {

using ::mindgate::testing::Cli;

using Words = std::vector<std::string>;

TEST(Hints, NameWhatToWriteInstead) {
  struct Case {
    Words words;
    std::string want;
  };
  const std::vector<Case> cases = {
      {{"apply", "chat.yaml"},
       "error: unexpected argument \"chat.yaml\"\nhint: write -f chat.yaml\n"},
      {{"simulate", "examples/scenarios"},
       "error: unexpected argument \"examples/scenarios\"\nhint: write -f examples/scenarios\n"},
      {{"deploy", "chat.yaml"},
       "error: unexpected argument \"chat.yaml\"\nhint: write -f chat.yaml\n"},
      {{"explain", "chat.yaml"},
       "error: unknown rule, mutator or key \"chat.yaml\"\nhint: to explain the objects of a file, "
       "write -f chat.yaml\n"},
      {{"apply", "--file", "chat.yaml"},
       "error: unknown flag \"--file\"\nhint: write --filename\n"},
      {{"apply", "--ns=default"}, "error: unknown flag \"--ns\"\nhint: write --namespace\n"},
      {{"apply", "--cluster"}, "error: unknown flag \"--cluster\"\nhint: write `mindgate audit`\n"},
      {{"--cluster"}, "error: unknown flag \"--cluster\"\nhint: write `mindgate audit`\n"},
      {{"--context", "prod", "status", "-A"},
       "error: flags stand before the command: --context prod\nhint: write `mindgate status "
       "--context prod`\n"},
      {{"apply", "-f", "-", "--strict=maybe"},
       "error: --strict: \"maybe\" cannot be used\nhint: write --strict or --strict=false\n"},
      {{"aply"}, "error: unknown command \"aply\"\nhint: did you mean \"apply\"?\n"},
      {{"lint"},
       "error: unknown command \"lint\"\nhint: write `mindgate apply -f PATH -o table`\n"},
      {{"validate"},
       "error: unknown command \"validate\"\nhint: write `mindgate apply -f PATH -o table`\n"},
      {{"diff"}, "error: unknown command \"diff\"\nhint: write `mindgate apply -f PATH -o diff`\n"},
      {{"get", "pods"}, "error: unknown command \"get\"\nhint: write `mindgate status`\n"},
      {{"frobnicate"},
       "error: unknown command \"frobnicate\"\nhint: `mindgate --help` lists the flags and "
       "arguments\n"},
      {{"version", "--file"},
       "error: unknown flag \"--file\"\nhint: `mindgate version --help` lists the flags and "
       "arguments\n"},
  };
  for (const Case& c : cases) {
    const auto answer = Cli(c.words);
    EXPECT_EQ(answer.code, 2) << c.want;
    EXPECT_EQ(answer.err, c.want);
  }
}

// Nobody typed --output.
TEST(Hints, NameTheVariableThatIsWrong) {
  const ::mindgate::testing::ChangedEnvironment environment(
      ::mindgate::testing::Variables{{"MINDGATE_OUTPUT", "bad"}});
  EXPECT_TRUE(Cli({"apply", "-f", "-"})
                  .err.starts_with("error: variable MINDGATE_OUTPUT: \"bad\" is not supported"));
  EXPECT_TRUE(Cli({"apply", "-f", "-", "-oworse"})
                  .err.starts_with("error: --output: \"worse\" is not supported"));
}

TEST(Hints, ProposeCommandsThatExist) {
  for (const char* word : {"check", "diff", "get", "init", "inject", "lint", "render", "run",
                           "server", "template", "validate"}) {
    const std::string hint = Cli({word}).err;
    const size_t at = hint.find("write `mindgate ");
    ASSERT_NE(at, std::string::npos) << hint;
    const std::string command = hint.substr(at + 16, hint.find_first_of(" `", at + 16) - at - 16);
    EXPECT_EQ(Cli({command, "--help"}).code, 0) << hint;
  }
}

TEST(Hints, KnowAFile) {
  for (const char* file : {"chat.yaml", "a/b.yml", "x.json"}) EXPECT_TRUE(IsFile(file)) << file;
  for (const char* word : {"MG050", "huawei.com/AscendReal", "yaml", ""}) {
    EXPECT_FALSE(IsFile(word)) << word;
  }
}

}  // namespace
}  // namespace mindgate::cli
