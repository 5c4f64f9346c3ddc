#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "base/log.h"
#include "base/snapshot.h"
#include "base/time.h"
#include "base/version.h"
#include "http/request.h"
#include "kube/client.h"
#include "schemas/config.h"
#include "watcher/certificates/controller.h"
#include "watcher/frame/controller.h"
#include "watcher/frame/decision_log.h"
#include "watcher/frame/informers.h"
#include "watcher/frame/leadership.h"

namespace mindgate::watcher {

// What a replica's probe port reports about it. Null is what this replica does not have. Everything
// in it outlives the routes.
struct ProbeSources {
  std::function<bool()> leading;
  std::vector<const Controller*> controllers{};
  const Snapshot<schemas::Config>* config = nullptr;
  // What is wrong with the newest configuration; empty: nothing, or it is not known.
  std::function<std::string()> config_fault{};
  const DecisionLog* decisions = nullptr;
  std::function<std::string()> metrics{};  // in Prometheus' text format
};

// `/livez` and `/readyz`, which shows a fault of the configuration with `?verbose` also where an
// older one is in use; `/decisions` and `/metrics` where there are any. A standby replica is
// ready: it can take over.
std::vector<http::Router::Route> ProbeRoutes(const ProbeSources& sources);

// The watcher: its controllers, and what they share.
class Watcher {
 public:
  struct Options {
    std::string ns{};  // empty: all namespaces
    // ConfigMaps of these are not scaling rules and change all the time.
    std::vector<std::string> without_rules{};
    // Where rescheduling keeps what its next leader must know; empty: nowhere.
    std::string own_namespace{};
    std::string lease{};   // an annotation of it pauses rescheduling
    bool dry_run = false;  // rescheduling only says what it would do
    bool manage_certs = false;
    bool fail_closed = false;           // registers the webhooks of `certs` with Fail
    CertificateManagerOptions certs{};  // with `manage_certs`; its webhooks with `fail_closed`, too
    Build build{};                      // that runs
    uint64_t seed = 1;                  // another one for each replica
    // Why no configuration is loaded, or the newest was refused; empty: neither.
    std::function<std::string()> config_fault{};
  };

  // `client` reads and watches; `writer` has LeaderClient::kOptions. `config` is null until a
  // configuration is loaded, and nothing is done before. All must outlive it.
  Watcher(kube::Client& client, kube::Client& writer, kube::Sleeper& sleeper, const Clock& clock,
          log::Logger& logger, const Leadership& leadership,
          const Snapshot<schemas::Config>& config, Options options);
  ~Watcher();

  // Before Run: one more controller, which `make` makes with what all of them share. For those of
  // rooms above this one.
  void Add(const std::function<std::unique_ptr<Controller>(PodInformer& pods)>& make);
  // Until `stop`, in the caller's thread and many of its own, which end before it returns.
  void Run(const std::stop_token& stop);
  // The replica has begun or ceased to lead, or the configuration is another one. From any thread.
  void Refresh();
  // Of the probe port; they read this object.
  std::vector<http::Router::Route> Routes() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace mindgate::watcher
