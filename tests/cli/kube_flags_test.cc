#include "cli/kube_flags.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <CLI/CLI.hpp>

#include "support/environment.h"

namespace mindgate::cli {
namespace {

using ::mindgate::testing::ChangedEnvironment;
using ::mindgate::testing::Variables;
using ::testing::HasSubstr;

std::vector<std::string> Parsed(const std::string& arguments) {
  CLI::App app;
  kube::AccessFlags flags;
  AddKubeFlags(app, flags);
  app.parse(arguments);
  return {flags.kubeconfig, flags.context,           flags.cluster,
          flags.user,       flags.default_namespace, flags.server};
}

TEST(KubeFlags, AreThoseOfKubectl) {
  const std::vector<std::string> want = {"f", "x", "c", "u", "ns", "https://a"};
  EXPECT_EQ(Parsed("--kubeconfig f --context x --cluster c --user u --namespace ns "
                   "--server https://a"),
            want);
  EXPECT_EQ(Parsed("--kubeconfig=f --context=x --cluster=c --user=u -n ns -s https://a"), want);
  EXPECT_EQ(Parsed(""), std::vector<std::string>(6));
}

TEST(KubeFlags, EachHasAnEnvironmentVariable) {
  const ChangedEnvironment environment(Variables{{"MINDGATE_KUBECONFIG", "f"},
                                                 {"MINDGATE_CONTEXT", "x"},
                                                 {"MINDGATE_CLUSTER", "c"},
                                                 {"MINDGATE_USER", "u"},
                                                 {"MINDGATE_NAMESPACE", "ns"},
                                                 {"MINDGATE_SERVER", "https://a"},
                                                 {"KUBECONFIG", "a:b"}});
  EXPECT_EQ(Parsed(""), (std::vector<std::string>{"f", "x", "c", "u", "ns", "https://a"}));
  EXPECT_EQ(Parsed("-n mine")[4], "mine");

  CLI::App app;
  kube::AccessFlags flags;
  AddKubeFlags(app, flags);
  std::istringstream lines(app.help());
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("  -") && line.find("--help") == std::string::npos) {
      EXPECT_THAT(line, HasSubstr("(Env:MINDGATE_"));
    }
  }
}

TEST(KubeFlags, KubeconfigIsNotTakenForOneFile) {
  const ChangedEnvironment environment(
      Variables{{"KUBECONFIG", "a:b"}, {"MINDGATE_KUBECONFIG", std::nullopt}});
  EXPECT_EQ(Parsed("")[0], "");
}

}  // namespace
}  // namespace mindgate::cli
