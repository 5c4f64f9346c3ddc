#include "cli/console/version.h"

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <ostream>

#include "base/version.h"
#include "cli/console/commands.h"
#include "offline/results_json.h"

namespace mindgate::cli {

int RunVersion(const std::string& output, Streams& io) {
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

void AddVersion(CLI::App& parent, Streams& io, int& exit_code) {
  auto output = std::make_shared<std::string>("text");
  CLI::App* command = parent.add_subcommand("version", "Print the version");
  SetChoices(*command->add_option("-o,--output", *output, "Output format")
                  ->capture_default_str()
                  ->envname("MINDGATE_VERSION_OUTPUT"),
             {"text", "json"});
  command->footer("Example:\n  mindgate version -o json");
  command->callback([output, &io, &exit_code] { exit_code = RunVersion(*output, io); });
}

}  // namespace mindgate::cli
