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
                         PodInformer& pods, Options options)
    : options_(std::move(options)),
      sleeper_(sleeper),
      pods_(pods),
      rules_(client, sleeper, clock, RuleOptions()),
      pod_groups_(client, sleeper, clock, PodGroupOptions()) {
  Subscribe();
}

void ServiceFeed::Subscribe() {
  PodInformer::Subscription<PodState> pods;
  pods.wanted = options_.wanted;
  pods.label_selector = kPodSelector;
  pods.fields = PodFields();
  pods.project = [this](const Value& object) { return PodPtrOf(pod_reader_.Read(object)); };
  pods.left_out = [this](const Value& metadata_only) {
    auto pod = pod_reader_.Read(metadata_only);
    if (pod) pod->unreadable = true;
    return PodPtrOf(std::move(pod));
  };
  pods.changed = [this](const PodPtr& before, const PodPtr& after) { Changed(before, after); };
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

kube::Informer<PodGroupPtr>::Options ServiceFeed::PodGroupOptions() {
  kube::Informer<PodGroupPtr>::Options groups;
  groups.selection = {.resource = kube::resources::kPodGroups,
                      .ns = options_.ns,
                      .label_selector = kPodSelector,
                      .fields = PodGroupFields()};
  groups.project = [](const Value& object) -> std::optional<PodGroupPtr> {
    auto group = PodGroupOf(object);
    if (!group) return std::nullopt;
    return std::make_shared<const PodGroupState>(*std::move(group));
  };
  // Of what phase it is stands in what could not be read.
  groups.left_out = [](const Value&) { return std::optional<PodGroupPtr>(); };
  groups.changed = [this](const std::string&, const PodGroupPtr* before, const PodGroupPtr* after) {
    Changed<PodGroupState>(before == nullptr ? nullptr : *before,
                           after == nullptr ? nullptr : *after);
  };
  groups.failed = [this](const kube::Fault& fault, std::chrono::milliseconds pause) {
    if (!pod_groups_fail_.exchange(true) && options_.became_current) options_.became_current();
    const bool absent = fault.reason == kube::Reason::kNotFound;
    if (pod_groups_absent_.exchange(absent) && absent) return;
    if (options_.pod_groups_failed) options_.pod_groups_failed(fault, pause);
  };
  groups.became_current = [this] {
    pod_groups_fail_ = false;
    pod_groups_absent_ = false;
    if (options_.became_current) options_.became_current();
  };
  groups.seed = options_.seed + 2;
  return groups;
}

// In the thread of the pods or of the PodGroups, one change at a time in each.
template <typename T>
void ServiceFeed::Changed(const std::shared_ptr<const T>& before,
                          const std::shared_ptr<const T>& after) {
  std::vector<ServiceKey> concerned;
  {
    const MutexLock lock(changes_);
    concerned = index_.Changed(before, after);
    FollowRulesOf(before == nullptr ? nullptr : &ServiceKeyOf(*before),
                  after == nullptr ? nullptr : &ServiceKeyOf(*after));
  }
  Tell(concerned);
}

void ServiceFeed::FollowRulesOf(const ServiceKey* before, const ServiceKey* after) {
  if (after != nullptr) rules_.Follow({after->ns, after->rule});
  if (before != nullptr && !index_.NamesRule(before->ns, before->rule)) {
    rules_.Forget({before->ns, before->rule});
    index_.RuleChanged(before->ns, before->rule, nullptr);
  }
}

void ServiceFeed::Tell(const std::vector<ServiceKey>& concerned) const {
  if (!options_.changed) return;
  for (const ServiceKey& service : concerned) options_.changed(service);
}

void ServiceFeed::FollowPodGroups(const std::stop_token& stop) {
  // What is off needs no permissions.
  while (!options_.wants_pod_groups()) {
    if (!sleeper_.Sleep(std::chrono::seconds(1), stop)) return;
  }
  pod_groups_.Run(stop);
}

void ServiceFeed::Run(const std::stop_token& stop) {
  const std::jthread pod_groups = StartThread("scaling-groups", [&] { FollowPodGroups(stop); });
  // The pods tell which rules to read.
  while (!pods_.WaitSynced(kLongList, stop)) {
    if (stop.stop_requested()) return;
  }
  rules_.Run(stop);
}

}  // namespace mindgate::watcher::scaling
