#pragma once

#include <string>
#include <vector>

#include "cli/certs/certs.h"
#include "cli/console/leadership.h"
#include "cli/console/service.h"
#include "cli/console/streams.h"
#include "kube/access.h"

namespace CLI {
class App;
}

namespace mindgate::cli {

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

}  // namespace mindgate::cli
