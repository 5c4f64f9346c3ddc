#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/time.h"
#include "cli/leadership.h"
#include "cli/service.h"
#include "cli/streams.h"
#include "kube/access.h"
#include "watcher/certificate_manager.h"

namespace CLI {
class App;
}

namespace mindgate::cli {

// Certificates beyond a hundred years are mistakes.
inline constexpr int kMaxCertificateDays = 36500;

// The names a serving certificate is for.
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
  std::vector<std::string> names = {};  // that the first certificate must be for
  int warn_days = 30;
  Time now{};
};

struct CertsRotateOptions {
  std::string folder;
  NameOptions names = {};  // none: those of the certificate that is there
  int days = 365;
  int ca_days = 3650;
  bool force = false;      // a new serving certificate, due or not
  bool authority = false;  // a new CA, due or not
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

// Makes a CA and a serving certificate in a folder that holds none.
int RunCertsCreate(const CertsCreateOptions& options, Streams& io);

// Tells what certificates say and what is wrong with them. kExitDenied when something is, or ends
// within `warn_days`.
int RunCertsInspect(const CertsInspectOptions& options, Streams& io);

// Does the step of certs/rotate.h that is due in a folder.
int RunCertsRotate(const CertsRotateOptions& options, Streams& io);

// Keeps the Secret and the caBundle fields of a cluster until SIGTERM or SIGINT; with `once`, does
// what is due now. kExitUnusable when it cannot begin, kExitDenied when `once` failed.
int RunCertsManage(const CertsManageOptions& options, Streams& io);
void AddCertsManage(CLI::App& parent, Streams& io, int& exit_code);

// What `watch` has in common with it.
void AddManagerFlags(CLI::App& command, CertsManageOptions& options);
watcher::CertificateManagerOptions ManagerOptionsOf(const CertsManageOptions& options,
                                                    const std::string& ns);

// "a, b": names of a certificate, which come from whoever made it; nothing in them may act on a
// terminal.
std::string PlainList(std::span<const std::string> names);

}  // namespace mindgate::cli
