#pragma once

#include <string>

#include "base/file_descriptor.h"
#include "base/log.h"

// Shared by commands that run until SIGTERM or SIGINT.
namespace mindgate::cli {

struct LogOptions {
  std::string format = "json";  // or "text"
  std::string level = "info";   // or "debug", "warning", "error"
};

log::Format FormatOf(const LogOptions& options);
log::Level LevelOf(const LogOptions& options);

// Blocks SIGTERM and SIGINT in this thread and those it starts; call it before starting others.
// Each read of the returned descriptor yields one signal. Ignores SIGPIPE: a peer that closed its
// connection is a write error.
FileDescriptor CatchStopSignals();

// Waits for a signal. False on error.
bool AwaitStopSignal(int signals);

}  // namespace mindgate::cli
