#include "watcher/scaling/service_feed.h"

#include <utility>

#include "schemas/names.h"

namespace mindgate::watcher::scaling {
namespace {

using json::Value;

constexpr std::chrono::hours kLongList(1);

PodPtr PodPtrOf(std::optional<PodState> pod) {
  return pod ? std::make_shared<const PodState>(*std::move(pod)) : nullptr;
}

}  // namespace

ServiceFeed::ServiceFeed(kube::Client& client, kube::Sleeper& sleeper, const Clock& clock,
                         PodInformer& pods, Options options)
    : options_(std::move(options)), pods_(pods), rules_(client, sleeper, clock, RuleOptions()) {
  Subscribe();
}

void ServiceFeed::Subscribe() {
  PodInformer::Subscription<PodState> pods;
  pods.wanted = options_.wanted;
  pods.label_selector = kPodSelector;
  pods.fields = PodFields();
  pods.project = [](const Value& object) { return PodPtrOf(PodOf(object)); };
  pods.left_out = [](const Value& metadata_only) {
    auto pod = PodOf(metadata_only);
    if (pod) pod->unreadable = true;
    return PodPtrOf(std::move(pod));
  };
  pods.changed = [this](const PodPtr& before, const PodPtr& after) { PodChanged(before, after); };
  pods.became_current = options_.became_current;
  pods_.Subscribe<PodState>(std::move(pods));
}

RuleFeed::Options ServiceFeed::RuleOptions() {
  RuleFeed::Options rules;
  rules.ns = options_.ns;
  rules.without = options_.without_rules;
  rules.read = [this](const RuleName& rule, std::shared_ptr<const RuleState> state) {
    Tell(index_.RuleChanged(rule.ns, rule.name, std::move(state)));
  };
  rules.failed = options_.failed;
  rules.became_current = options_.became_current;
  rules.seed = options_.seed + 1;
  return rules;
}

// In the thread of the pods, one change at a time.
void ServiceFeed::PodChanged(const PodPtr& before, const PodPtr& after) {
  const std::vector<ServiceKey> concerned = index_.PodChanged(before, after);
  if (after != nullptr) rules_.Follow({after->service.ns, after->service.rule});
  if (before != nullptr && !index_.NamesRule(before->service.ns, before->service.rule)) {
    rules_.Forget({before->service.ns, before->service.rule});
    index_.RuleChanged(before->service.ns, before->service.rule, nullptr);
  }
  Tell(concerned);
}

void ServiceFeed::Tell(const std::vector<ServiceKey>& concerned) const {
  if (!options_.changed) return;
  for (const ServiceKey& service : concerned) options_.changed(service);
}

void ServiceFeed::Run(const std::stop_token& stop) {
  // The pods tell which rules to read.
  while (!pods_.WaitSynced(kLongList, stop)) {
    if (stop.stop_requested()) return;
  }
  rules_.Run(stop);
}

}  // namespace mindgate::watcher::scaling
