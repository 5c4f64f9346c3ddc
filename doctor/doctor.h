#pragma once

#include <functional>
#include <memory>
#include <stop_token>
#include <string>

#include "base/time.h"
#include "doctor/report.h"
#include "json/json.h"
#include "kube/client.h"
#include "schemas/config.h"
#include "schemas/config_load.h"

namespace mindgate::doctor {

struct Options {
  std::string ns = "mindgate-system";  // where mindgate is installed
  std::string name = "mindgate";       // of its webhook configurations
  std::string lease = "mindgate-watcher";
  // Where objects are created, as a dry run, to see whether they reach the webhook.
  std::string probe_namespace = "default";
  // What mindgate.yaml may name.
  schemas::KnownNames known{};
  // What is wrong with the policies of a configuration that reads ConfigMaps
  // (`policies.configMaps`) and stands in `stored`, a line first; empty: nothing. Empty function:
  // that is not checked.
  std::function<kube::Answer<std::string>(kube::Client& client, const schemas::Config& config,
                                          const json::Json& stored)>
      policy_faults{};
  // Calls as another user, to try what that one may; null pointer when there is no way. Empty: what
  // the watcher may beyond its needs is not tried.
  std::function<std::shared_ptr<kube::Client>(const std::string& user)> impersonate{};
};

// Looks at an installation from outside, as a user of the API server, and names what is wrong: from
// the API server over registrations, Service, endpoints, Pods, certificates and their CA,
// selectors, permissions and their bounds to a dry run through all of it. Writes nothing. What it
// may not read is reported as skipped; it stops if the API server cannot be reached.
Report Diagnose(kube::Client& client, const Options& options, Time now, std::stop_token stop = {});

}  // namespace mindgate::doctor
