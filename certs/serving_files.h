#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/snapshot.h"
#include "base/threads.h"
#include "base/time.h"
#include "certs/certificate.h"

namespace mindgate::certs {

// What is wrong with a certificate, a key, or how they fit together.
struct Problem {
  std::string file;     // "tls.crt"
  std::string message;  // a sentence whose subject is the file or a named certificate in it
  std::string hint;     // what to do
  bool operator==(const Problem&) const = default;
};

using Problems = std::vector<Problem>;

// "tls.key: message (hint); tls.crt: ...", for a log line.
std::string Render(const Problems& problems);

// The texts of a serving pair, as the keys of a Secret of type kubernetes.io/tls name them.
struct ServingFiles {
  std::string chain;      // tls.crt: the leaf, then the certificate that signed it, and so on
  std::string key;        // tls.key
  std::string authority;  // ca.crt; may be empty
  bool operator==(const ServingFiles&) const = default;
};

inline constexpr const char* kChainFile = "tls.crt";
inline constexpr const char* kKeyFile = "tls.key";
inline constexpr const char* kAuthorityFile = "ca.crt";

struct Requirements {
  Time now{};
  std::vector<std::string> names;  // DNS names or IP addresses that the leaf must be for
};

// All that would make clients refuse the pair, or OpenSSL refuse to serve it. Empty: it is good.
Problems CheckServing(const ServingFiles& files, const Requirements& requirements);

// The same for the authorities that sign client certificates.
Problems CheckClientAuthority(std::string_view text, const std::string& file, Time now);

// What can be said about certificates by themselves: keys, signatures and dates of each.
Problems CheckCertificates(const std::vector<CertificatePtr>& certificates, const std::string& file,
                           Time now);

// Whether the leaf is for each of the names; common names do not count.
Problems CheckNames(X509* leaf, const std::string& file, const std::vector<std::string>& names);

// A Secret holds at most 1 MiB in all.
inline constexpr size_t kLargestFile = 1024 * 1024;

// tls.crt, tls.key and, when there, ca.crt of a folder. Of a mounted Secret all come from the one
// folder that ..data pointed to, and so from one version of it.
Result<ServingFiles> ReadServingFiles(const std::string& folder);

Result<std::string> ReadClientAuthority(const std::string& path);

// The values of the gauges that say when certificates end; empty: there are none.
struct Expiry {
  std::optional<Time> serving;    // the first of the chain to end
  std::optional<Time> client_ca;  // the last: until then some client can be verified
};

Expiry ExpiryOf(const TlsMaterial& material);

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
  // Called at each swap of `what` ("serving certificate", "client CA") and at each new failure.
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
