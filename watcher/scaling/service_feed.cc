#include "watcher/scaling/service_feed.h"

#include <thread>
#include <utility>

#include "base/thread.h"
#include "schemas/names.h"

namespace mindgate::watcher::scaling {
namespace {

using json::Value;

// "metadata.namespace!=kube-system,..."
std::string NotIn(const std::vector<std::string>& namespaces) {
  std::string selector;
  for (const std::string& ns : namespaces) {
    selector += (selector.empty() ? "" : ",") + ("metadata.namespace!=" + ns);
  }
  return selector;
}

}  // namespace

ServiceFeed::ServiceFeed(kube::Client& client, kube::Sleeper& sleeper, const Clock& clock,
                         Options options)
    : options_(std::move(options)),
      pods_(client, sleeper, clock, PodOptions()),
      rules_(client, sleeper, clock, RuleOptions()) {}

kube::Informer<PodPtr>::Options ServiceFeed::PodOptions() {
  kube::Informer<PodPtr>::Options pods;
  pods.selection = {.resource = kube::resources::kPods,
                    .ns = options_.ns,
                    .label_selector = kPodSelector,
                    .fields = PodFields()};
  pods.project = [](const Value& object) -> std::optional<PodPtr> {
    auto pod = PodOf(object);
    if (!pod) return std::nullopt;
    return std::make_shared<const PodState>(*std::move(pod));
  };
  pods.changed = [this](const std::string&, const PodPtr* before, const PodPtr* after) {
    Tell(index_.PodChanged(before == nullptr ? nullptr : *before,
                           after == nullptr ? nullptr : *after));
  };
  pods.failed = [this](const kube::Fault& fault, std::chrono::milliseconds pause) {
    if (options_.failed) options_.failed("pods", fault, pause);
  };
  pods.seed = options_.seed;
  return pods;
}

kube::Informer<RuleState>::Options ServiceFeed::RuleOptions() {
  kube::Informer<RuleState>::Options rules;
  rules.selection = {.resource = kube::resources::kConfigMaps,
                     .ns = options_.ns,
                     .field_selector = NotIn(options_.without_rules),
                     .fields = {{"data", std::string(schemas::kScalingRuleKey)}}};
  rules.project = [](const Value& object) -> std::optional<RuleState> {
    if (!schemas::ScalingRuleText(object)) return std::nullopt;
    return RuleOf(object);
  };
  rules.changed = [this](const std::string& key, const RuleState*, const RuleState* after) {
    const size_t slash = key.find('/');
    Tell(
        index_.RuleChanged(key.substr(0, slash), key.substr(slash + 1),
                           after == nullptr ? nullptr : std::make_shared<const RuleState>(*after)));
  };
  rules.failed = [this](const kube::Fault& fault, std::chrono::milliseconds pause) {
    if (options_.failed) options_.failed("scaling rules", fault, pause);
  };
  rules.seed = options_.seed + 1;
  return rules;
}

void ServiceFeed::Tell(const std::vector<ServiceKey>& concerned) const {
  if (!options_.changed) return;
  for (const ServiceKey& service : concerned) options_.changed(service);
}

void ServiceFeed::Run(const std::stop_token& stop) {
  const std::jthread pods = StartThread("scaling-pods", [&] { pods_.Run(stop); });
  const std::jthread rules = StartThread("scaling-rules", [&] { rules_.Run(stop); });
}

}  // namespace mindgate::watcher::scaling
