#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/time.h"
#include "cli/console/session.h"
#include "cli/console/terminal.h"
#include "kube/access.h"
#include "watcher/certificates/controller.h"

namespace CLI {
class App;
}

namespace mindgate::cli {

// A validity of more than a hundred years is a mistake.
inline constexpr int kMaxCertificateDays = 36500;

// The names of a serving certificate.
struct NameOptions {
  std::vector<std::string> dns_names = {};
  std::vector<std::string> ip_addresses = {};
  std::string service = {};  // "webhook.mindgate-system": all names of this Service
};

struct CertsCreateOptions {
  std::string folder;
  NameOptions names = {};
  int days = 365;
  int ca_days = 3650;
  bool force = false;
  std::string output = "text";  // or "json"
  Time now{};
};

struct CertsInspectOptions {
  std::string path;                     // a folder with tls.crt, a PEM file, or "-"
  std::string output = "text";          // or "json"
  std::vector<std::string> names = {};  // that the first certificate must cover
  int warn_days = 30;
  Time now{};
};

struct CertsRotateOptions {
  std::string folder;
  NameOptions names = {};  // none: keep those of the current certificate
  int days = 365;
  int ca_days = 3650;
  bool force = false;      // renew the serving certificate even if it is not due
  bool authority = false;  // replace the CA even if it is not due
  bool dry_run = false;
  std::string output = "text";  // or "json"
  Time now{};
};

struct CertsManageOptions {
  kube::AccessFlags cluster = {};
  watcher::CertificateManagerOptions manager = {};
  int days = 365;
  int ca_days = 3650;
  int publish_seconds = 3600;
  int overlap_seconds = 24 * 3600;
  bool once = false;
  LeadershipOptions leadership = {};
  std::string probe_listen = ":8080";
  LogOptions log = {};
};

// Creates a CA and a serving certificate in a folder that has none.
int RunCertsCreate(const CertsCreateOptions& options, Streams& io);

// Shows certificates and reports problems. Returns kExitDenied if there are any, or if a
// certificate expires within `warn_days`.
int RunCertsInspect(const CertsInspectOptions& options, Streams& io);

// Carries out the steps of certs/authority.h that are due in a folder.
int RunCertsRotate(const CertsRotateOptions& options, Streams& io);

// Shared with `watch`.
void AddManagerFlags(CLI::App& command, CertsManageOptions& options);
watcher::CertificateManagerOptions ManagerOptionsOf(const CertsManageOptions& options,
                                                    const std::string& ns);

// "a, b": the names of a certificate. They are untrusted, so control characters are escaped.
std::string PlainList(std::span<const std::string> names);

}  // namespace mindgate::cli
