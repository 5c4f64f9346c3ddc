#pragma once

#include <optional>

#include "cli/status/status.h"
#include "kube/client.h"

namespace mindgate::cli {

// Shows how the application that the one name of `options` means is; nothing when there is none.
// Returns kExitDone for a healthy application, else kExitDenied; kExitNotFound when it goes while
// it is watched. `pauses`: between two looks; null: real ones.
std::optional<int> RunAppStatus(const StatusOptions& options, Streams& io,
                                kube::Sleeper* pauses = nullptr);

}  // namespace mindgate::cli
