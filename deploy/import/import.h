#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <stop_token>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "base/time.h"
#include "deploy/application.h"
#include "deploy/check.h"
#include "deploy/config.h"
#include "deploy/import/changes.h"
#include "deploy/plan.h"
#include "json/issues.h"
#include "kube/client.h"
#include "schemas/config.h"

namespace mindgate::deploy {

// The objects that mindcluster-deploy's k8s-deploy-tool left of an application.

struct FoundApplication {
  std::string app;
  std::string ns;
  Framework framework = Framework::kOme;  // kOme or kAibrix
  // The custom resource first, then the store and the Services, by their names. Each has its
  // apiVersion and kind.
  std::vector<json::Json> objects = {};
  // What was looked for and is not there: "Deployment chat-mf-store".
  std::vector<std::string> missing = {};

  const json::Json& root() const { return objects.front(); }
  const json::Json* Object(const std::string& title) const;  // "Service chat"; null: none
};

// Why there is nothing to import.
struct NotImported {
  enum class Why {
    kNotFound,     // there is no such application
    kNotPossible,  // there is one, but not of that tool, or several
    kUnreadable,   // a right is missing
    kUnreachable,  // the cluster does not answer
  };
  Why why;
  std::vector<Problem> reasons;  // at least one
};

// Asks a cluster: GET and LIST, nothing is written. `framework` chooses where an InferenceService
// and a StormService have the name of the application, empty: there must be one of them.
tl::expected<FoundApplication, NotImported> FindOnCluster(kube::Client& client,
                                                          const std::string& ns,
                                                          const std::string& app,
                                                          std::optional<Framework> framework,
                                                          const std::stop_token& stop);

// The same of objects that somebody wrote down, such as those of `kubectl get -o yaml`; others may
// be among them. Without `ns`, the application must be in one namespace only. Objects without a
// namespace are in `ns`, or in "default".
tl::expected<FoundApplication, NotImported> FindAmong(const std::vector<json::Json>& objects,
                                                      const std::string& ns, const std::string& app,
                                                      std::optional<Framework> framework);

// What deploying the file does to one object.
struct ObjectChange {
  enum class What {
    kNothing,
    kChanges,
    kCreates,
    kLeaves,  // it runs, and the file does not make it: mindgate neither changes nor deletes it
  };
  std::string title;  // "Service chat-router"
  What what = What::kNothing;
  std::vector<FieldChange> fields = {};  // of kChanges
};

struct Imported {
  std::string text;  // the configuration, in the format of its framework
  // It, read again. Nothing when no configuration says what runs; `faults` say why, with places in
  // `text`.
  std::optional<Configuration> configuration;
  json::Issues faults;
  size_t patches = 0;  // entries of `patches:`
  // In the order in which they are deployed, then those of which nothing is made.
  std::vector<ObjectChange> objects;
  // What rules deny of it, and what of the file is better written otherwise.
  json::Issues findings;
};

// Writes the configuration that makes of an application what runs: keys for what keys say, patches
// for the rest (import/read.h names what is left out on purpose). What deploying it changes is
// what Render and Check make of the written text, compared with what runs field by field. It does
// not depend on a cluster: runtimes and the labels of the namespace are not known to the rules.
Imported Import(const FoundApplication& found, const schemas::Config& config, Time now);

}  // namespace mindgate::deploy
