#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/reloader.h"
#include "base/snapshot.h"
#include "certs/check.h"
#include "certs/tls_material.h"

namespace mindgate::certs {

// Where a server's certificates come from.
struct TlsSources {
  std::string folder;              // tls.crt, tls.key, ca.crt when there
  std::string client_ca_file;      // empty: clients are not verified
  std::vector<std::string> names;  // that the serving certificate must be for
};

// Keeps what handshakes read up to date with files. The serving pair and the client CA are checked
// and reloaded independently: a broken client CA does not hold back a renewed pair. Only what
// passed every check is loaded; otherwise the last good one stays. There is no material until both
// (or the one that is configured) were good once.
//
// Safe from many threads; connections are not touched.
class TlsReloader {
 public:
  // Told about each swap of `what` ("serving certificate", "client CA") and each new failure.
  using Report = std::function<void(const char* what, const ReloadStatus& status)>;

  // `clock` and `target` must outlive it.
  TlsReloader(TlsSources sources, const Clock& clock, Snapshot<TlsMaterial>& target,
              const Report& report = {});

  // Looks for what is new. Returns whether the snapshot holds new material.
  bool Reload();

  ReloadStatus serving_status() const { return serving_.status(); }
  ReloadStatus client_ca_status() const { return client_ca_.status(); }

  // What a DirectoryWatch should watch to call Reload.
  std::vector<std::string> FoldersToWatch() const;

 private:
  using Part = Reloader<ServingFiles, ServingFiles>;
  using ClientCaPart = Reloader<std::string, std::string>;

  const TlsSources sources_;
  Snapshot<TlsMaterial>& target_;
  Snapshot<ServingFiles> good_serving_;
  Snapshot<std::string> good_client_ca_;
  Part serving_;
  ClientCaPart client_ca_;
  Mutex mutex_;                            // of one Reload
  bool stale_ GUARDED_BY(mutex_) = false;  // something good has not reached the target yet
};

}  // namespace mindgate::certs
