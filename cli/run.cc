#include <CLI/CLI.hpp>
#include <algorithm>
#include <ostream>

#include "base/text.h"
#include "cli/commands.h"
#include "cli/evaluate.h"

namespace mindgate::cli {
namespace {

// The subcommand that was chosen, however deep.
const CLI::App& Chosen(const CLI::App& app) {
  const auto commands = app.get_subcommands();
  return commands.empty() ? app : Chosen(*commands.front());
}

// "mindgate config validate".
std::string FullName(const CLI::App& app) {
  return app.get_parent() == nullptr ? app.get_name()
                                     : FullName(*app.get_parent()) + " " + app.get_name();
}

// What may stand where `app` met an argument it does not know.
std::vector<std::string> KnownWords(const CLI::App& app, bool flags) {
  std::vector<std::string> words;
  if (flags) {
    for (const CLI::Option* option : app.get_options()) {
      for (const std::string& name : option->get_lnames()) words.push_back("--" + name);
    }
    return words;
  }
  for (const CLI::App* command :
       app.get_subcommands([](const CLI::App* sub) { return !sub->get_group().empty(); })) {
    words.push_back(command->get_name());
  }
  return words;
}

int Refuse(const CLI::App& app, const CLI::ParseError& failure, Streams& io) {
  const CLI::App& chosen = Chosen(app);
  const auto extra = chosen.remaining();
  std::string what = failure.what();
  std::string hint;
  if (!extra.empty()) {
    const bool flag = extra.front().starts_with('-');
    const std::string word = extra.front().substr(0, extra.front().find('='));
    what = std::string(flag ? "unknown flag " : "unexpected argument ") + Quote(word);
    const std::vector<std::string> known = KnownWords(chosen, flag);
    const std::vector<std::string_view> names(known.begin(), known.end());
    if (const auto near = NearestOf(word, names)) hint = "did you mean " + Quote(*near) + "?";
  }
  if (hint.empty()) hint = "`" + FullName(chosen) + " --help` shows what can be written";
  PrintError(io.err, what, hint);
  return kExitUnusable;
}

}  // namespace

int Run(const std::vector<std::string>& arguments, Streams& io) {
  int exit_code = kExitDone;
  CLI::App app("Keeps Ascend NPU jobs schedulable, reschedulable and elastic on Kubernetes.",
               "mindgate");
  app.require_subcommand(0, 1);
  AddApply(app, io, exit_code);
  AddExplain(app, io, exit_code);
  AddTest(app, io, exit_code);
  AddSimulate(app, io, exit_code);
  AddConfig(app, io, exit_code);
  AddWebhook(app, io, exit_code);
  AddWatch(app, io, exit_code);
  AddStatus(app, io, exit_code);
  AddReleaseGates(app, io, exit_code);
  AddCerts(app, io, exit_code);
  AddDoctor(app, io, exit_code);
  AddVersion(app, io, exit_code);
  AddCompletion(app, io, exit_code);
  app.footer("`mindgate COMMAND --help` shows the flags of a command, with examples.");
  try {
    // CLI11 takes them from the back.
    app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
  } catch (const CLI::CallForHelp&) {
    io.out << Chosen(app).help();
    return kExitDone;
  } catch (const CLI::ParseError& failure) {
    return Refuse(app, failure, io);
  }
  if (app.get_subcommands().empty()) {
    io.err << app.help();
    return kExitUnusable;
  }
  return exit_code;
}

}  // namespace mindgate::cli
