#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <stop_token>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "deploy/application.h"
#include "deploy/plan.h"
#include "kube/client.h"

// The objects that mindcluster-deploy's k8s-deploy-tool left of an application.
namespace mindgate::deploy {

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

}  // namespace mindgate::deploy
