#include "watcher/frame/webhook_configurations.h"

#include <nlohmann/json.hpp>

namespace mindgate::watcher {

kube::Answer<kube::Json> WebhookConfiguration::Read(LeaderClient& client) const {
  auto found = client.Get(resource, {}, name);
  if (!found && found.error().reason == kube::Reason::kNotFound) return kube::Json();
  return found;
}

std::vector<WebhookConfiguration> WebhookConfigurations::All() const {
  std::vector<WebhookConfiguration> all;
  for (const std::string& name : mutating)
    all.push_back({kube::resources::kMutatingWebhooks, name});
  for (const std::string& name : validating) {
    all.push_back({kube::resources::kValidatingWebhooks, name});
  }
  return all;
}

}  // namespace mindgate::watcher
