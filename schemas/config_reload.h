#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/clock.h"
#include "base/reloader.h"
#include "base/snapshot.h"
#include "schemas/config.h"
#include "schemas/config_schema.h"

namespace mindgate::schemas {

using ConfigReloader = Reloader<Config, std::string>;

// Told once about each file that is loaded although it should be written differently: each place
// as `mindgate config validate` prints it.
using ConfigWarnings = std::function<void(const std::string&)>;

// Keeps a snapshot of mindgate.yaml up to date. A file with faults is refused whole; the error
// shows each with its line, as `mindgate config validate` prints them. A DirectoryWatch on the
// folder of `path` should call Reload. `known`, `clock` and `target` must outlive it.
std::unique_ptr<ConfigReloader> MakeConfigReloader(const std::string& path, const KnownNames& known,
                                                   const Clock& clock, Snapshot<Config>& target,
                                                   ConfigReloader::Report report = {},
                                                   ConfigWarnings warnings = {});

}  // namespace mindgate::schemas
