// What shells offer after the words of a line.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <sstream>

#include "policies/engine.h"
#include "support/cli.h"
#include "support/golden.h"
#include "support/places.h"

namespace mindgate::cli {
namespace {

using ::mindgate::testing::Cli;
using ::mindgate::testing::CliResult;
using ::mindgate::testing::Shell;
using ::mindgate::testing::SourcePath;
using ::mindgate::testing::Workspace;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string kMindgate = ::mindgate::testing::Program();

// "apply explain :4": the words without their meanings, and the directive.
std::string Offered(std::vector<std::string> words) {
  words.insert(words.begin(), "__complete");
  std::istringstream lines(Cli(words).out);
  std::string all;
  for (std::string line; std::getline(lines, line);) {
    all += (all.empty() ? "" : " ") + line.substr(0, line.find('\t'));
  }
  return all;
}

TEST(Complete, CommandsFlagsValuesAndFiles) {
  const struct {
    std::vector<std::string> words;
    const char* want;
  } cases[] = {
      {{""},
       "apply fix explain test config export kinds audit why status what-if snapshot doctor deploy "
       "delete "
       "webhook "
       "watch certs simulate release-gates release-nodes options completion version help :4"},
      {{"co"}, "config completion :4"},
      {{"config", ""}, "validate schema defaults :4"},
      {{"config", "schema", ""}, "config suite scenario :4"},
      {{"certs", ""}, "create inspect rotate manage :4"},
      {{"certs", "rotate", "--output", ""}, "text json :4"},
      {{"config", "validate", ""}, ":0"},
      {{"help", ""},
       "apply fix explain test config export kinds audit why status what-if snapshot doctor deploy "
       "delete "
       "webhook "
       "watch certs simulate release-gates release-nodes options completion version help :4"},
      {{"help", "config", "v"}, "validate :4"},
      {{"apply", "--na"}, "--namespace --namespace-labels :4"},
      {{"apply", "-f", "x", "--output", ""},
       "yaml json name jsonpath= patch diff table sarif junit github gitlab html :4"},
      {{"apply", "--output=d"}, "--output=diff :4"},
      {{"apply", "-o", "ya"}, "yaml :4"},
      {{"apply", "-f", ""}, ":0"},
      {{"apply", "--filename=a"}, ":0"},
      {{"apply", "-k", ""}, ":16"},
      {{"apply", "-l", ""}, ":4"},
      {{"apply", ""}, ":4"},
      {{"apply", "--strict", ""}, ":4"},
      {{"test", "-o", "j"}, "junit :4"},
      {{"test", "a.yaml", ""}, ":0"},
      {{"simulate", ""}, ":4"},
      {{"completion", ""}, "bash zsh fish kubectl :4"},
      {{"completion", "bash", ""}, ":4"},
      {{"explain", "--mark"}, ":4"},
      {{"explain", "MG050"}, "MG050 :4"},
      {{"explain", "visible-d"}, "visible-devices :4"},
      {{"explain", "mutator/visible-d"}, "mutator/visible-devices :4"},
      {{"explain", "scheduler-n"}, "scheduler-not-volcano scheduler-name :4"},
      {{"explain", "MG050", "MG103"}, "MG103 :4"},
      {{"explain", "policy/"}, ":4"},
      {{"export", "vap", "--rule", "fault-scheduling-v"}, "fault-scheduling-value :4"},
      {{"audit", "rayc"}, ":4"},
      {{"audit", "lea"}, "leaderworkersets :4"},
      {{"audit", "pods", "replicas"}, "replicasets :4"},
      {{"nothing", ""},
       "apply fix explain test config export kinds audit why status what-if snapshot doctor deploy "
       "delete "
       "webhook "
       "watch certs simulate release-gates release-nodes options completion version help :4"},
      {{"export", "vap", "--rule", "MG05"},
       "MG050 MG051 MG052 MG053 MG054 MG055 MG056 MG057 MG058 MG059 :4"},
      {{"export", "vap", "--rule", "fault-sch"}, "fault-scheduling-value :4"},
      {{"export", "map", "--mutator", "fault"}, "fault-scheduling fault-retry-times :4"},
      {{"export", "map", "--api-version", ""}, "v1 v1beta1 v1alpha1 :4"},
  };
  for (const auto& c : cases) EXPECT_EQ(Offered(c.words), c.want) << c.words.back();
  EXPECT_THAT(Cli({"__complete", "explain", "MG050"}).out,
              ::testing::StartsWith("MG050\tfault-scheduling-value\n"));
}

// Policies and kinds of the site, from the files of the line.
TEST(Complete, WhatTheFilesOfTheLineHave) {
  const Workspace workspace;
  const auto policy = [](const std::string& name) {
    return "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicy\n"
           "metadata: {name: " +
           name +
           ", annotations: {mindgate.io/summary: Pods are small}}\nspec:\n"
           "  matchConstraints: {resourceRules: [{apiGroups: ['*'], apiVersions: ['*'], "
           "operations: [CREATE], resources: ['*']}]}\n"
           "  validations: [{expression: 'true'}]\n---\n"
           "apiVersion: admissionregistration.k8s.io/v1\n"
           "kind: ValidatingAdmissionPolicyBinding\nmetadata: {name: " +
           name + "}\nspec: {policyName: " + name + ", validationActions: [Deny]}\n";
  };
  workspace.Write("site/policies/small.yaml", policy("small"));
  workspace.Write("large.yaml", policy("large"));
  workspace.Write("site/mindgate.yaml", "policies: {files: [policies]}\nkinds: [{use: ray}]\n");
  workspace.Write("bad.yaml", "policies: {files: [none]}\nkinds: [{use: ray}]\n");
  const struct {
    std::vector<std::string> words;
    const char* want;
  } cases[] = {
      {{"explain", "--policies", "large.yaml", "policy/"}, "policy/large :4"},
      {{"explain", "--policies=large.yaml", "--config=site/mindgate.yaml", "policy/"},
       "policy/large policy/small :4"},
      {{"explain", "--config", "site/mindgate.yaml", "policy/s"}, "policy/small :4"},
      {{"explain", "--config", "bad.yaml", "policy/"}, ":4"},
      {{"explain", "--config", "bad.yaml", "MG050"}, "MG050 :4"},
      {{"audit", "--config", "site/mindgate.yaml", "rayc"}, "rayclusters :4"},
  };
  for (const auto& c : cases) EXPECT_EQ(Offered(c.words), c.want) << c.words.back();
  EXPECT_EQ(Cli({"__complete", "explain", "--policies", "large.yaml", "policy/"}).out,
            "policy/large\tPods are small\n:4\n");
}

// Names of the cluster come from kubectl, with the flags of the line.
TEST(Complete, ContextsAndNamespaces) {
  const Workspace workspace;
  workspace.Write("bin/kubectl", R"(#!/bin/sh
case "$*" in
  "config get-contexts -o name") echo prod; echo arn:aws:dev ;;
  "get namespaces -o name --request-timeout=2s") echo namespace/default; echo namespace/serving ;;
  "get namespaces -o name --request-timeout=2s --kubeconfig=k --context=dev") echo namespace/other ;;
  *) exit 1 ;;
esac
)");
  std::filesystem::permissions("bin/kubectl", std::filesystem::perms::owner_all);
  const auto ask = [](const std::string& words) {
    return Shell("PATH=$PWD/bin:$PATH " + kMindgate + " __complete " + words).out;
  };
  EXPECT_EQ(ask("status --context ''"), "prod\narn:aws:dev\n:4\n");
  EXPECT_EQ(ask("status --context=p"), "--context=prod\n:4\n");
  EXPECT_EQ(ask("status -n ''"), "default\nserving\n:4\n");
  EXPECT_EQ(ask("apply -n s"), "serving\n:4\n");
  EXPECT_EQ(ask("status --kubeconfig k --context=dev -n ''"), "other\n:4\n");
  EXPECT_EQ(ask("status --context gone -n ''"), ":4\n") << "kubectl fails";
  EXPECT_EQ(Shell("PATH=/nowhere " + kMindgate + " __complete status -n ''").out, ":4\n");
}

// A folder with the program in bin/, a file and what `scripts/install` makes.
class InShells : public ::testing::Test {
 protected:
  InShells() {
    EXPECT_EQ(Shell(SourcePath("scripts/install") + " " + kMindgate + " $PWD/usr 2>&1").out, "");
    workspace_.Write("file.yaml", "");
    workspace_.Write("folder/x", "");
  }

  // What bash puts into COMPREPLY at the end of `line`.
  static std::string Bash(const std::string& line, const std::string& words) {
    return Shell(
               "PATH=$PWD/usr/bin:$PATH bash -c 'source "
               "usr/share/bash-completion/completions/mindgate; "
               "COMP_LINE=\"" +
               line + "\"; COMP_POINT=${#COMP_LINE}; COMP_WORDS=(" + words +
               "); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _mindgate; echo \"${COMPREPLY[*]}\"'")
        .out;
  }

  Workspace workspace_;
};

TEST_F(InShells, Bash) {
  EXPECT_EQ(Bash("mindgate co", "mindgate co"), "config completion\n");
  EXPECT_EQ(Bash("mindgate config ", "mindgate config \"\""), "validate schema defaults\n");
  EXPECT_EQ(Bash("mindgate apply -f fi", "mindgate apply -f fi"), "file.yaml\n");
  EXPECT_EQ(Bash("mindgate apply -k fo", "mindgate apply -k fo"), "folder\n");
  EXPECT_EQ(Bash("mindgate apply fi", "mindgate apply fi"), "\n") << "no file belongs there";
  EXPECT_EQ(Bash("mindgate apply --output=d", "mindgate apply --output = d"), "diff\n");
  EXPECT_EQ(Bash("mindgate apply --output=", "mindgate apply --output ="),
            "yaml json name jsonpath= patch diff table sarif junit github gitlab html\n");
  EXPECT_EQ(Bash("mindgate apply --filename=fi", "mindgate apply --filename = fi"), "file.yaml\n");
  // Names of a hostile kubeconfig: what comes onto the line does nothing.
  workspace_.Write("usr/bin/kubectl",
                   "#!/bin/sh\necho '$(touch owned)'; echo 'a b;c'; printf 'e\\033[2K\\n'\n");
  std::filesystem::permissions("usr/bin/kubectl", std::filesystem::perms::owner_all);
  EXPECT_EQ(Bash("mindgate status --context ", "mindgate status --context \"\""),
            "\\$\\(touch\\ owned\\) a\\ b\\;c\n");
  EXPECT_FALSE(std::filesystem::exists("owned"));
  EXPECT_EQ(Bash("kubectl-mindgate explain MG10", "kubectl-mindgate explain MG10").substr(0, 12),
            "MG100 MG101 ");
}

// The first TAB of a new shell: zsh loads the file then.
TEST_F(InShells, ZshCompletesAtTheFirstTab) {
  if (Shell("command -v zsh").code != 0) GTEST_SKIP() << "there is no zsh: apt-get install zsh";
  workspace_.Write("tab.zsh", R"(
zmodload zsh/zpty
zpty shell zsh -f -i
wait_for() {
  local text out=
  for (( i = 0; i < 400; i++ )); do
    if zpty -r -t shell text; then out+=$text; else zselect -t 5; fi
    [[ $out == *"$1"* ]] && return 0
  done
  print -r -- "never saw $1 in: $out"
  exit 1
}
zmodload zsh/zselect
zpty -w shell "PS1='ready> '; fpath=($PWD/usr/share/zsh/site-functions \$fpath); path=($PWD/usr/bin \$path); cd $PWD"
zpty -w shell "autoload -U compinit && compinit -u -d $PWD/dump; print loa''ded"
wait_for loaded
zpty -w -n shell $'mindgate config val\t'
wait_for 'config validate'
zpty -w -n shell $'\C-u'"mindgate apply --filename=fi"$'\t'
wait_for 'file.yaml'
zpty -w -n shell $'\C-u'"mindgate apply -o ya"$'\t'
wait_for 'yaml'
zpty -w -n shell $'\C-u'"mindgate config "$'\t'
wait_for 'Print the JSON Schema'
print all well
)");
  const CliResult result = Shell("TERM=xterm zsh -f tab.zsh 2>&1");
  EXPECT_EQ(result.out, "all well\n");
}

TEST_F(InShells, Fish) {
  if (Shell("command -v fish").code != 0) GTEST_SKIP() << "there is no fish: apt-get install fish";
  const auto ask = [](const std::string& line) {
    return Shell(
               "HOME=$PWD PATH=$PWD/usr/bin:$PATH fish --no-config -c 'source "
               "usr/share/fish/vendor_completions.d/mindgate.fish; complete -C \"" +
               line + "\"' 2>&1")
        .out;
  };
  EXPECT_EQ(ask("mindgate config v"), "validate\tReport every error in a configuration file\n");
  EXPECT_EQ(ask("mindgate apply -o ya"), "yaml\n");
  EXPECT_EQ(ask("mindgate apply -f fi"), "file.yaml\n");
  EXPECT_EQ(ask("mindgate apply fi"), "");
  EXPECT_THAT(ask("kubectl-mindgate "), HasSubstr("apply\t"));
}

// kubectl runs kubectl_complete-PLUGIN with the words after the plugin's name.
TEST_F(InShells, KubectlCompletesThePlugin) {
  EXPECT_EQ(Shell("PATH=$PWD/usr/bin:$PATH kubectl_complete-mindgate config v").out,
            "validate\tReport every error in a configuration file\n:4\n");
}

TEST_F(InShells, EverythingIsInstalled) {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator("usr")) {
    if (!entry.is_directory()) files.push_back(entry.path().string());
  }
  std::sort(files.begin(), files.end());
  EXPECT_THAT(
      files, ::testing::ElementsAre("usr/bin/kubectl-mindgate", "usr/bin/kubectl_complete-mindgate",
                                    "usr/bin/mindgate",
                                    "usr/share/bash-completion/completions/kubectl-mindgate",
                                    "usr/share/bash-completion/completions/mindgate",
                                    "usr/share/fish/vendor_completions.d/mindgate.fish",
                                    "usr/share/zsh/site-functions/_mindgate"));
}

}  // namespace
}  // namespace mindgate::cli
