#pragma once

#include <memory>
#include <string>

#include "base/clock.h"
#include "base/reloader.h"
#include "base/snapshot.h"
#include "schemas/config.h"

namespace mindgate::webhook {

using ConfigReloader = Reloader<schemas::Config, std::string>;

// Keeps a snapshot of mindgate.yaml up to date. A file with faults is refused whole; the error
// shows each with its line, as `mindgate config validate` prints them. A DirectoryWatch on the
// folder of `path` should call Reload. `clock` and `target` must outlive it.
std::unique_ptr<ConfigReloader> MakeConfigReloader(const std::string& path, const Clock& clock,
                                                   Snapshot<schemas::Config>& target,
                                                   ConfigReloader::Report report = {});

}  // namespace mindgate::webhook
