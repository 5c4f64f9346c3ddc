#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "cli/certs/certs.h"
#include "cli/console/output.h"
#include "cli/console/session.h"
#include "cli/console/terminal.h"
#include "doctor/doctor.h"
#include "doctor/installation.h"
#include "kube/access.h"

namespace CLI {
class App;
}

namespace mindgate::cli {

// The files of `webhook --dev`: a private temporary folder with a CA (ca.crt), a serving
// certificate and key for localhost, and a sample AdmissionReview (review.json). Removed on
// destruction.
class DevFolder {
 public:
  static Result<DevFolder> Make(Time now);
  ~DevFolder();
  DevFolder(DevFolder&& other) noexcept;
  DevFolder& operator=(DevFolder&& other) noexcept;

  const std::string& path() const { return path_; }

  // Removes the folder, for a process that exits without running destructors.
  void Remove() const;

  // Prints how to send a review, and the clientConfig for an API server on this machine.
  void Explain(uint16_t port, uint16_t probe_port, Streams& io) const;

 private:
  DevFolder(std::string path, std::string authority);

  std::string path_;
  std::string authority_;  // PEM
};

struct WebhookOptions {
  std::string listen = ":9443";
  std::string probe_listen = ":8080";
  std::string cert_dir;                   // tls.crt and tls.key; empty only with `dev`
  std::vector<std::string> server_names;  // that the serving certificate must cover
  std::string client_ca;                  // empty: client certificates are not verified
  bool client_optional = false;           // a client may connect without a certificate
  std::vector<std::string> client_names;  // empty: any that the client CA signed
  std::string config_file;                // empty: the defaults
  bool lookup_runtimes = false;           // watch the runtimes of this cluster
  bool lookup_namespaces = false;         // watch the labels of its namespaces
  kube::AccessFlags cluster;
  LogOptions log;
  uint32_t io_threads = 2;
  uint32_t work_threads = 0;  // 0: one per core, 2 to 4
  uint32_t max_connections = 2048;
  uint32_t queue = 256;
  uint32_t drain_delay_seconds = 5;
  uint32_t drain_seconds = 25;
  // Loopback only, with a generated certificate; prints example commands to `io.out`.
  bool dev = false;
};

// Serves admission reviews until SIGTERM or SIGINT, then drains; a second signal exits immediately.
// Blocks these signals in the calling thread and its children, so call it before starting other
// threads. Returns kExitDone after a complete drain, kExitDenied if connections were left,
// kExitUnusable if it cannot start.
int RunWebhook(const WebhookOptions& options, Streams& io);

struct WatchOptions {
  kube::AccessFlags cluster = {};
  std::string config_file;
  std::string watched_namespace;  // empty: all
  // Namespaces of MindCluster's own ConfigMaps, which change every few seconds and are not rules.
  std::vector<std::string> without_rules = {"kube-system", "mindx-dl"};
  bool dry_run = false;  // of rescheduling
  bool manage_certs = false;
  bool fail_closed = false;
  CertsManageOptions certs = {};  // with `manage_certs`; the webhooks with `fail_closed`, too
  LeadershipOptions leadership = {};
  std::string probe_listen = ":8080";
  LogOptions log = {};
};

// Runs the watcher until SIGTERM or SIGINT. Returns kExitUnusable if it cannot start.
int RunWatch(const WatchOptions& options, Streams& io);

struct DoctorOptions {
  kube::AccessFlags cluster;
  std::string selector = {};  // for webhook configurations; empty: those of mindgate
  // Empty: found with the selector.
  std::string ns = {};
  std::string name = {};
  std::string lease = {};
  std::string probe_namespace = doctor::Options().probe_namespace;
  OutputFormat output = "text";
  ColorMode color = ColorMode::kAuto;
};

// Checks an installation and prints each problem with a fix. Returns kExitDone if there is none
// (warnings do not count), kExitDenied if there is one, kExitUnusable if the cluster cannot be
// reached or has several installations and none was selected.
int RunDoctor(const DoctorOptions& options, Streams& io);

}  // namespace mindgate::cli
