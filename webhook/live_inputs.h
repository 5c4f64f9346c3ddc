#pragma once

#include <memory>
#include <string>

#include "admission/config_reload.h"
#include "base/clock.h"
#include "base/directory_watch.h"
#include "base/log.h"
#include "base/reloader.h"
#include "base/snapshot.h"
#include "certs/reloader.h"
#include "certs/tls_material.h"
#include "schemas/config.h"

namespace mindgate::webhook {

// Where what a server reads comes from.
struct LiveFiles {
  std::string config_file;  // mindgate.yaml; empty: the defaults, which never change
  certs::TlsSources tls;
  // For a configuration with policies in ConfigMaps; null: it is refused. Must outlive the inputs.
  admission::PolicyConfigMaps* config_maps = nullptr;
};

// Configuration and certificates of a server, kept up to date with their files from a thread of its
// own. Each is reloaded independently: what is bad is logged and counted, and the last good one
// stays. A snapshot is null before its first good load, which may come later: a server that starts
// before its Secret is there becomes ready when it is.
//
// Safe from many threads.
class LiveInputs {
 public:
  // Loads once and then follows the files, and what `watch.others` reports; `watch.folders` is
  // filled in. `clock` and `logger` must
  // outlive it.
  LiveInputs(const LiveFiles& files, const Clock& clock, log::Logger& logger,
             DirectoryWatch::Options watch = {});
  ~LiveInputs();

  const Snapshot<schemas::Config>& config() const { return config_; }
  const Snapshot<certs::TlsMaterial>& tls() const { return tls_; }

  // Without a file the configuration counts as loaded once.
  ReloadStatus config_status() const;
  // Serving pair and client CA together: failures of both, the faults of both.
  ReloadStatus certificate_status() const;

  // Looks at all files now, as the thread does on its own.
  void Reload();

 private:
  Snapshot<schemas::Config> config_;
  Snapshot<certs::TlsMaterial> tls_;
  std::unique_ptr<admission::ConfigReloader> config_reloader_;  // null: there is no file
  certs::TlsReloader tls_reloader_;
  std::unique_ptr<DirectoryWatchThread> thread_;  // last: ends before what it reloads
};

}  // namespace mindgate::webhook
