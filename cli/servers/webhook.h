#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/console/service.h"
#include "cli/console/streams.h"
#include "kube/access.h"

namespace mindgate::cli {

struct WebhookOptions {
  std::string listen = ":9443";
  std::string probe_listen = ":8080";
  std::string cert_dir;                   // tls.crt and tls.key; empty only with `dev`
  std::vector<std::string> server_names;  // that the serving certificate must cover
  std::string client_ca;                  // empty: client certificates are not verified
  bool client_optional = false;           // a client may connect without a certificate
  std::vector<std::string> client_names;  // empty: any that the client CA signed
  std::string config_file;                // empty: the defaults
  bool lookup_runtimes = false;           // watch the runtimes of this cluster:
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

}  // namespace mindgate::cli
