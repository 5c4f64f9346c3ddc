#include "base/version.h"

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <ostream>

#include "cli/console/commands.h"
#include "cli/console/streams.h"
#include "offline/results_json.h"

namespace mindgate::cli {
namespace {

// "mindgate 0.2.0" and, in a second line, the commit, the architecture and the compiler; or all of
// it as a JSON object.
int PrintVersion(const std::string& output, Streams& io) {
  const Build build = ThisBuild();
  if (output == "json") {
    io.out << offline::Dump({{"version", build.version},
                             {"commit", build.commit},
                             {"architecture", build.architecture},
                             {"compiler", __VERSION__}})
           << "\n";
  } else {
    io.out << "mindgate " << build.version << "\ncommit " << build.commit << ", "
           << build.architecture << ", compiler " << __VERSION__ << "\n";
  }
  return kExitDone;
}

}  // namespace

void AddVersion(CLI::App& parent, Streams& io, int& exit_code) {
  auto output = std::make_shared<std::string>("text");
  CLI::App* command = parent.add_subcommand("version", "Print the version");
  SetChoices(*command->add_option("-o,--output", *output, "Output format")
                  ->capture_default_str()
                  ->envname("MINDGATE_VERSION_OUTPUT"),
             {"text", "json"});
  command->footer("Example:\n  mindgate version -o json");
  command->callback([output, &io, &exit_code] { exit_code = PrintVersion(*output, io); });
}

}  // namespace mindgate::cli
