#pragma once

#include <string>

#include "base/file_descriptor.h"
#include "base/log.h"

// What commands share that run until they are told to stop.
namespace mindgate::cli {

struct LogOptions {
  std::string format = "json";  // or "text"
  std::string level = "info";   // or "debug", "warning", "error"
};

log::Format FormatOf(const LogOptions& options);
log::Level LevelOf(const LogOptions& options);

// Blocks SIGTERM and SIGINT in this thread and those it starts, so before there are others; one
// read of what is returned is one of them. SIGPIPE is ignored: a peer that went away is an error of
// write, not our end.
FileDescriptor CatchStopSignals();

// Waits for one of them. False when it cannot.
bool AwaitStopSignal(int signals);

}  // namespace mindgate::cli
