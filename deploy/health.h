#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "deploy/cluster.h"
#include "json/value.h"
#include "kube/client.h"

namespace mindgate::deploy {

enum class Verdict {
  kHealthy,      // every pod that is wanted is ready
  kProgressing,  // on the way there
  kDegraded,     // some instances serve, and something is wrong with others
  kFailed,       // a component has no ready pod, and something is wrong
  kDeleting,     // somebody deletes what stands for the application; nothing makes it healthy
};
std::string_view VerdictName(Verdict verdict);  // "Healthy"

struct PodState {
  std::string name;
  std::string component;
  std::string state;      // "Running", "Terminating", "Waiting: ImagePullBackOff"
  std::string reason;     // what is wrong, in the words of Kubernetes; empty: nothing
  bool ready = false;     // and of the present configuration
  bool outdated = false;  // made of one before
  bool ended = false;     // Failed or Succeeded: Kubernetes starts it no more
  int64_t restarts = 0;
  int64_t npus = 0;  // requested
  std::string node;  // empty: not placed
  std::string ip;
  std::string created;
};

struct ComponentState {
  std::string name;  // "engine", "prefill", "mf-store"
  int64_t wanted = 0;
  int64_t ready = 0;
  std::vector<PodState> pods;
};

struct ServiceState {
  std::string name;
  std::string address;  // "10.0.0.1:8080", "*:31020"
  bool is_entry = false;
};

struct EventState {
  std::string time;
  std::string type;  // "Warning"
  std::string reason;
  std::string about;  // "Pod chat-engine-0"
  std::string message;
  std::string reporter = {};  // "mindgate.io/watcher"
};

struct Health {
  std::string app;
  std::string ns;
  Framework framework = Framework::kOme;
  Verdict verdict = Verdict::kProgressing;
  std::string why;  // the verdict in words
  std::vector<ComponentState> components;
  std::vector<ServiceState> services;
  std::vector<EventState> events;    // the newest, oldest first (EventsOf)
  std::vector<std::string> objects;  // "Deployment chat-mf-store"
  std::string url;                   // of the entry; empty: none known
};

// Whether every pod that the Deployment wants is available and of its present template.
bool IsAvailable(const Json& deployment);

// How an application is, by its objects and pods; nothing when it has no objects. Reads only.
kube::Answer<std::optional<Health>> LookAtHealth(kube::Client& client, const std::string& ns,
                                                 const std::string& app,
                                                 const std::stop_token& stop);

// The same without Services and Events, of objects that are known already: for those who wait.
kube::Answer<Health> LookAtPods(kube::Client& client, const std::string& ns, const std::string& app,
                                const AppObjects& objects, const std::stop_token& stop);

// Whether a pod of a component was made of an earlier state of the application's objects. Pods of
// before stay ready while a rollout begins, and show nothing of what was deployed. What frameworks
// and other webhooks add to a pod does not count; what they leave out says nothing.
bool IsOutdated(const json::Json& pod, const std::string& component,
                const std::vector<json::Json>& objects);

}  // namespace mindgate::deploy
