#include <CLI/CLI.hpp>
#include <istream>
#include <ostream>
#include <utility>

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

using AddCommand = void (*)(CLI::App& parent, Streams& io, int& exit_code);

// In the order of help.
constexpr std::pair<const char*, AddCommand> kCommands[] = {
    {"Manifests", AddApply},
    {"Manifests", AddFix},
    {"Manifests", AddExplain},
    {"Manifests", AddTest},
    {"Manifests", AddConfig},
    {"Manifests", AddExport},
    {"Manifests", AddKinds},
    {"Clusters", AddAudit},
    {"Clusters", AddWhy},
    {"Clusters", AddStatus},
    {"Clusters", AddWhatIf},
    {"Clusters", AddSnapshot},
    {"Clusters", AddDoctor},
    {"Applications", AddDeploy},
    {"Applications", AddDelete},
    {"Servers", AddWebhook},
    {"Servers", AddWatch},
    {"Servers", AddCerts},
    {"Servers", AddSimulate},
    {"Without a watcher", AddReleaseGates},
    {"Without a watcher", AddReleaseNodes},
    {"Others", AddOptions},
    {"Others", AddCompletion},
    {"Others", AddVersion},
    {"Others", AddHelp},
};

void AddCommands(CLI::App& app, Streams& io, int& exit_code) {
  for (const auto& [group, add] : kCommands) {
    const size_t before = CommandsOf(app).size();
    add(app, io, exit_code);
    const auto commands = app.get_subcommands([](const CLI::App*) { return true; });
    for (size_t i = before; i < commands.size(); ++i) commands[i]->group(group);
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
  AddCommands(app, io, exit_code);
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
    const std::vector<std::string> words = WithoutOldFlags(arguments);
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
