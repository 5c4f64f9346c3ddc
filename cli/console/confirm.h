#pragma once

#include <string>
#include <vector>

#include "cli/console/streams.h"

namespace mindgate::cli {

// Shows what it is about, a line each ("pod/a in namespace b"), and asks on `io.err`; true after y
// or yes on `io.in`, in any case.
bool IsConfirmed(const std::vector<std::string>& objects, const std::string& question, Streams& io);

}  // namespace mindgate::cli
