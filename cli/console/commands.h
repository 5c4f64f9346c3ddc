#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/console/terminal.h"
#include "offline/evaluate.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace mindgate::cli {

// The whole program: parses arguments (without argv[0]), runs one command and returns its exit
// code. `program` is the name shown in help; nothing else depends on it.
int Run(const std::vector<std::string>& arguments, Streams& io,
        const std::string& program = "mindgate");

// "kubectl mindgate" if called as a kubectl plugin, else "mindgate".
std::string ProgramName(const std::string& called_as);

// Each adds one subcommand. If it is chosen, parsing runs it and sets `exit_code`.
void AddApply(CLI::App& parent, Streams& io, int& exit_code);
void AddFix(CLI::App& parent, Streams& io, int& exit_code);
void AddExplain(CLI::App& parent, Streams& io, int& exit_code);
void AddTest(CLI::App& parent, Streams& io, int& exit_code);
void AddSimulate(CLI::App& parent, Streams& io, int& exit_code);
void AddConfig(CLI::App& parent, Streams& io, int& exit_code);
void AddExport(CLI::App& parent, Streams& io, int& exit_code);
void AddKinds(CLI::App& parent, Streams& io, int& exit_code);
void AddWebhook(CLI::App& parent, Streams& io, int& exit_code);
void AddDeploy(CLI::App& parent, Streams& io, int& exit_code);
void AddDelete(CLI::App& parent, Streams& io, int& exit_code);
void AddSnapshot(CLI::App& parent, Streams& io, int& exit_code);
void AddAudit(CLI::App& parent, Streams& io, int& exit_code);
void AddWhatIf(CLI::App& parent, Streams& io, int& exit_code);
void AddStatus(CLI::App& parent, Streams& io, int& exit_code);
void AddWhy(CLI::App& parent, Streams& io, int& exit_code);
void AddReleaseGates(CLI::App& parent, Streams& io, int& exit_code);
void AddReleaseNodes(CLI::App& parent, Streams& io, int& exit_code);
void AddWatch(CLI::App& parent, Streams& io, int& exit_code);
void AddCerts(CLI::App& parent, Streams& io, int& exit_code);
void AddDoctor(CLI::App& parent, Streams& io, int& exit_code);
void AddVersion(CLI::App& parent, Streams& io, int& exit_code);
void AddCompletion(CLI::App& parent, Streams& io, int& exit_code);
void AddHelp(CLI::App& parent, Streams& io, int& exit_code);  // for `parent` and all its commands

void AddOptions(CLI::App& parent, Streams& io, int& exit_code);  // `mindgate options`

// Restricts an option to these values; help and completion list them.
void SetChoices(CLI::Option& option, std::vector<std::string> words);

// Options that several commands share.
void AddInputOptions(CLI::App& command, offline::InputOptions& options);
// The same of a command that writes to its inputs: without what is built, downloaded, or was there
// before an update.
void AddWritableInputOptions(CLI::App& command, offline::InputOptions& options);
// --policies, repeatable.
void AddPoliciesOption(CLI::App& command, std::vector<std::string>& policies);

void AddColorOption(CLI::App& command, ColorMode& color);

}  // namespace mindgate::cli
