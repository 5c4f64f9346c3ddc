#pragma once

#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "json/value.h"
#include "kube/client.h"
#include "schemas/config.h"

namespace mindgate::doctor {

enum class Status {
  kOk,
  kWarning,  // it works, but not as it should
  kFailed,   // it does not
  kSkipped,  // could not be checked; the message says why
};

std::string_view StatusName(Status status);  // "ok", ...

struct Finding {
  std::string check;  // "ca-bundle"
  Status status = Status::kOk;
  std::string message;  // what is, and what comes of it
  std::string fix{};    // what to do about it; empty where nothing is
};

// What a diagnosis found, in the order of the checks.
class Report {
 public:
  void Ok(std::string_view check, std::string message) {
    Add(check, Status::kOk, std::move(message), "");
  }
  void Warn(std::string_view check, std::string message, std::string fix) {
    Add(check, Status::kWarning, std::move(message), std::move(fix));
  }
  void Fail(std::string_view check, std::string message, std::string fix) {
    Add(check, Status::kFailed, std::move(message), std::move(fix));
  }
  void Skip(std::string_view check, std::string message, std::string fix = "") {
    Add(check, Status::kSkipped, std::move(message), std::move(fix));
  }

  const std::vector<Finding>& findings() const& { return findings_; }
  // Of a temporary, they outlive it: a loop may run over them.
  std::vector<Finding> findings() && { return std::move(findings_); }
  bool Has(Status status) const;

 private:
  void Add(std::string_view check, Status status, std::string message, std::string fix) {
    findings_.push_back({std::string(check), status, std::move(message), std::move(fix)});
  }

  std::vector<Finding> findings_;
};

struct Options {
  std::string ns = "mindgate-system";  // where mindgate is installed
  std::string name = "mindgate";       // of its webhook configurations
  std::string lease = "mindgate-watcher";
  // Where objects are created, as a dry run, to see whether they reach the webhook.
  std::string probe_namespace = "default";
  // What mindgate.yaml may name.
  schemas::KnownNames known{};
  // What is wrong with the policies of a configuration that stands in `stored`, of the files beside
  // it and of ConfigMaps (`policies`), a line first; empty: nothing. Empty function: that is not
  // checked.
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
