#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cli/console/output.h"
#include "cli/console/paint.h"
#include "cli/console/streams.h"
#include "kube/access.h"

namespace CLI {
class App;
}

namespace mindgate::cli {

struct DeployHistoryOptions {
  kube::AccessFlags cluster = {};
  std::string name = {};
  int64_t revision = 0;  // 0: all of them
  OutputFormat output = "table";
  ColorMode color = ColorMode::kAuto;
};

// Lists the revisions of an application, or prints the file of one.
int RunDeployHistory(const DeployHistoryOptions& options, Streams& io);

// `history` below `deploy`.
void AddDeployHistory(CLI::App& parent, Streams& io, int& exit_code);

}  // namespace mindgate::cli
