#pragma once

#include <optional>

#include "cli/status.h"

namespace mindgate::cli {

// Shows how the application that the one name of `options` means is; nothing when there is none.
// Returns kExitDone for a healthy application, else kExitDenied.
std::optional<int> RunAppStatus(const StatusOptions& options, Streams& io);

}  // namespace mindgate::cli
