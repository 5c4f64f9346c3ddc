#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/service.h"
#include "cli/streams.h"
#include "kube/access.h"

namespace mindgate::cli {

struct WebhookOptions {
  std::string listen = ":9443";
  std::string probe_listen = ":8080";
  std::string cert_dir;                   // tls.crt and tls.key; empty only with `dev`
  std::vector<std::string> server_names;  // that the serving certificate must be for
  std::string client_ca;                  // empty: callers are not asked for a certificate
  bool client_optional = false;           // a caller may come without one
  std::vector<std::string> client_names;  // empty: any that the client CA signed
  std::string config_file;                // empty: the defaults
  bool lookup_runtimes = false;           // follow the runtimes of the cluster that is meant by:
  kube::AccessFlags cluster;
  LogOptions log;
  uint32_t io_threads = 2;
  uint32_t work_threads = 0;  // 0: one for each core, 2 to 4
  uint32_t max_connections = 2048;
  uint32_t queue = 256;
  uint32_t drain_delay_seconds = 5;
  uint32_t drain_seconds = 25;
  // On this machine alone, with a certificate made for this run; what to type goes to `io.out`.
  bool dev = false;
};

// Serves admission reviews until SIGTERM or SIGINT, then drains; a second signal ends the process
// at once. Takes over these signals of the calling thread and of all that it starts, so it must be
// called before there are others. Returns kExitDone after a complete drain, kExitDenied with
// connections left, kExitUnusable when it cannot begin.
int RunWebhook(const WebhookOptions& options, Streams& io);

}  // namespace mindgate::cli
