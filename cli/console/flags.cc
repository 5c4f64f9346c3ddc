#include "cli/console/flags.h"

#include "base/text.h"

namespace mindgate::cli {

std::string_view DryRunName(DryRun dry_run) {
  return dry_run == DryRun::kClient ? "client" : dry_run == DryRun::kServer ? "server" : "none";
}

CLI::Option* AddDryRun(CLI::App& command, DryRun& value, const std::string& description,
                       const std::string& variable, bool server) {
  const auto read = [&value, server](const CLI::results_t& words) {
    const std::string& word = words.front();
    if (word == "client" || word == "true") {
      value = DryRun::kClient;
    } else if (word == "none" || word == "false") {
      value = DryRun::kNone;
    } else if (word == "server" && server) {
      value = DryRun::kServer;
    } else if (word == "server") {
      throw CLI::ValidationError(
          "--dry-run",
          "this command does not contact a server: write --dry-run or --dry-run=client");
    } else {
      throw CLI::ValidationError("--dry-run", Quote(word) +
                                                  " is not supported: write --dry-run=none, " +
                                                  (server ? "client or server" : "or client") +
                                                  "; --dry-run alone means client");
    }
    return true;
  };
  CLI::Option* option = command.add_option("--dry-run", read, description);
  // The value must follow "=": the next argument may be a name.
  option->type_size(0)->expected(0);
  return option->envname("MINDGATE_" + variable);
}

}  // namespace mindgate::cli
