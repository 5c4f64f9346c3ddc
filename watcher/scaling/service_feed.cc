#include "watcher/scaling/service_feed.h"

#include <thread>
#include <utility>

#include "base/thread.h"
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
  const auto if_any = [](PodPtr pod) { return pod == nullptr ? std::nullopt : std::optional(pod); };
  pods.project = [if_any](const Value& object) { return if_any(PodPtrOf(PodOf(object))); };
  pods.left_out = [if_any](const Value& metadata_only) {
    auto pod = PodOf(metadata_only);
    if (pod) pod->unreadable = true;
    return if_any(PodPtrOf(std::move(pod)));
  };
  pods.changed = [this](const std::string&, const PodPtr* before, const PodPtr* after) {
    PodChanged(before == nullptr ? nullptr : *before, after == nullptr ? nullptr : *after);
  };
  pods.failed = [this](const kube::Fault& fault, std::chrono::milliseconds pause) {
    if (options_.failed) options_.failed("pods", fault, pause);
  };
  pods.seed = options_.seed;
  return pods;
}

RuleFeed::Options ServiceFeed::RuleOptions() {
  RuleFeed::Options rules;
  rules.ns = options_.ns;
  rules.without = options_.without_rules;
  rules.read = [this](const RuleName& rule, std::shared_ptr<const RuleState> state) {
    Tell(index_.RuleChanged(rule.first, rule.second, std::move(state)));
  };
  rules.failed = [this](const kube::Fault& fault, std::chrono::milliseconds pause) {
    if (options_.failed) options_.failed("scaling rules", fault, pause);
  };
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
  const std::jthread pods = StartThread("scaling-pods", [&] { pods_.Run(stop); });
  const std::jthread rules = StartThread("scaling-rules", [&] {
    // The pods tell which rules to read.
    while (!pods_.WaitSynced(kLongList, stop)) {
      if (stop.stop_requested()) return;
    }
    rules_.Run(stop);
  });
}

}  // namespace mindgate::watcher::scaling
