#pragma once

#include <string>
#include <vector>

#include "kube/resource.h"
#include "watcher/frame/leader_client.h"

namespace mindgate::watcher {

struct WebhookConfiguration {
  const kube::Resource& resource;
  std::string name;

  // As it is now; null if it does not exist.
  kube::Answer<kube::Json> Read(LeaderClient& client) const;
};

// The webhook configurations of mindgate.
struct WebhookConfigurations {
  std::vector<std::string> mutating;    // names of MutatingWebhookConfigurations
  std::vector<std::string> validating;  // names of ValidatingWebhookConfigurations

  std::vector<WebhookConfiguration> All() const;
};

}  // namespace mindgate::watcher
