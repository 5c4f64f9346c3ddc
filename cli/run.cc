#include <CLI/CLI.hpp>
#include <algorithm>
#include <istream>
#include <iterator>
#include <ostream>
#include <string_view>

#include "base/result.h"
#include "base/version.h"
#include "cli/console/commands.h"
#include "cli/console/flags.h"
#include "cli/console/help.h"

namespace mindgate::cli {
namespace {

// kustomize and kpt run a function without arguments, in a container or not: what they support in
// config.kubernetes.io/function is an image or a path, and no arguments (kustomize:
// kyaml/fn/runtime/runtimeutil/functiontypes.go). An open pipe that stays silent is waited for:
// only a time limit could distinguish it from a container whose ResourceList is late.
bool IsRunAsFunction(const std::vector<std::string>& arguments, Streams& io) {
  return arguments.empty() && !io.in_is_terminal &&
         io.in.peek() != std::istream::traits_type::eof();
}

struct Command {
  std::string_view name;
  const char* group;
  void (*add)(CLI::App& parent, Streams& io, int& exit_code);
};

// In the order of help.
constexpr Command kCommands[] = {
    {"apply", "Manifests", AddApply},
    {"fix", "Manifests", AddFix},
    {"explain", "Manifests", AddExplain},
    {"test", "Manifests", AddTest},
    {"config", "Manifests", AddConfig},
    {"export", "Manifests", AddExport},
    {"kinds", "Manifests", AddKinds},
    {"audit", "Clusters", AddAudit},
    {"why", "Clusters", AddWhy},
    {"status", "Clusters", AddStatus},
    {"what-if", "Clusters", AddWhatIf},
    {"snapshot", "Clusters", AddSnapshot},
    {"doctor", "Clusters", AddDoctor},
    {"deploy", "Applications", AddDeploy},
    {"delete", "Applications", AddDelete},
    {"webhook", "Servers", AddWebhook},
    {"watch", "Servers", AddWatch},
    {"certs", "Servers", AddCerts},
    {"simulate", "Servers", AddSimulate},
    {"release-gates", "Without a watcher", AddReleaseGates},
    {"release-nodes", "Without a watcher", AddReleaseNodes},
    {"options", "Others", AddOptions},
    {"completion", "Others", AddCompletion},
    {"version", "Others", AddVersion},
    {"help", "Others", AddHelp},
};

// The one that is called: the flags of the others are thousands of allocations that no one sees.
// All of them for help and completion, and where the first word is not a command.
void AddCommands(CLI::App& app, const std::string& first, Streams& io, int& exit_code) {
  const auto* called = std::ranges::find(kCommands, first, &Command::name);
  const bool alone = called != std::end(kCommands) && called->add != AddHelp;
  for (const Command& command : kCommands) {
    if (alone && command.name != first) continue;
    command.add(app, io, exit_code);
    app.get_subcommand(std::string(command.name))->group(command.group);
  }
}

}  // namespace

std::string ProgramName(const std::string& called_as) {
  return called_as.substr(called_as.rfind('/') + 1).starts_with("kubectl-mindgate")
             ? "kubectl mindgate"
             : "mindgate";
}

int Run(const std::vector<std::string>& arguments, Streams& io, const std::string& program) {
  if (IsRunAsFunction(arguments, io)) return Run({"deploy", "--function"}, io, program);
  int exit_code = kExitDone;
  CLI::App app("Keeps Ascend NPU jobs schedulable, reschedulable and elastic on Kubernetes.",
               program);
  app.require_subcommand(0, 1);
  app.set_version_flag("--version", "mindgate " + Version(), "Print the version");
  const std::vector<std::string> words = WithoutOldFlags(arguments);
  AddCommands(app, words.empty() ? "" : words.front(), io, exit_code);
  app.footer("`" + program +
             " COMMAND --help` shows the flags and examples of a command.\n"
             "Without arguments, and where standard input is no terminal, it is a KRM function: it "
             "waits for a ResourceList\nthere, and prints this help when the input ends without "
             "one. `" +
             program + " </dev/null` or `" + program + " --help` do not wait.");
  if (!arguments.empty() && arguments.front() == kCompleteCommand) {
    return RunComplete(app, {arguments.begin() + 1, arguments.end()}, io);
  }
  try {
    // CLI11 takes them from the back.
    app.parse(std::vector<std::string>(words.rbegin(), words.rend()));
  } catch (const CLI::CallForHelp&) {
    io.out << HelpOf(Chosen(app));
    return kExitDone;
  } catch (const CLI::CallForVersion& version) {
    io.out << version.what() << "\n";
    return kExitDone;
  } catch (const CLI::ParseError& failure) {
    PrintError(io.err, Explain(app, failure, arguments));
    return kExitUnusable;
  }
  if (app.get_subcommands().empty()) {
    io.err << HelpOf(app);
    return kExitUnusable;
  }
  return exit_code;
}

}  // namespace mindgate::cli
