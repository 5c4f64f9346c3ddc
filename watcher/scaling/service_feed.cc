#include "watcher/scaling/service_feed.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "base/text.h"
#include "base/threads.h"
#include "schemas/names.h"

namespace mindgate::watcher::scaling {
namespace {

using kube::Value;

// "metadata.namespace!=kube-system,..."
std::string NotIn(const std::vector<std::string>& namespaces) {
  std::string selector;
  for (const std::string& ns : namespaces) {
    selector += (selector.empty() ? "" : ",") + ("metadata.namespace!=" + ns);
  }
  return selector;
}

RuleName NameOf(const Value& object) {
  const Value* metadata = json::Find(object, "metadata");
  return {std::string(json::FindString(metadata, "namespace").value_or("")),
          std::string(json::FindString(metadata, "name").value_or(""))};
}

// From one read of a ConfigMap that is too large to be a rule to the next.
constexpr std::chrono::seconds kLargeRest(5);

RuleState TooLarge(const RuleName& rule) {
  return {std::nullopt, "ConfigMap " + Quote(rule.name) + " is too large to be read"};
}

}  // namespace

RuleFeed::RuleFeed(kube::Client& client, kube::Sleeper& sleeper, const Clock& clock,
                   Options options)
    : client_(client),
      clock_(clock),
      options_(std::move(options)),
      fields_(kube::WithIdentity({{"data", std::string(schemas::kScalingRuleKey)}})),
      queue_(clock),
      reflector_(client, sleeper, clock, SelectionOf(), MakeHandler(), options_.seed) {}

kube::Selection RuleFeed::SelectionOf() const {
  return {.resource = kube::resources::kConfigMaps,
          .ns = options_.ns,
          .field_selector = NotIn(options_.without),
          .metadata_only = true};
}

kube::Reflector::Handler RuleFeed::MakeHandler() {
  // A list says that anything may have changed, and not what a rule says now: those that are
  // followed are read, the rest is none of ours.
  return {.list_started = [] {},
          .listed = [](const Value&) {},
          .list_done = [this] { AllChanged(); },
          .follows =
              [this] {
                hears_ = true;
                if (options_.on_synced) options_.on_synced();
              },
          .happened = [this](const kube::WatchEvent& event) { Changed(NameOf(event.object)); },
          .failed =
              [this](const kube::Fault& fault, std::chrono::milliseconds pause) {
                hears_ = false;
                if (options_.failed) options_.failed(fault, pause);
              }};
}

void RuleFeed::Run(const std::stop_token& stop) {
  const std::jthread reader = StartThread("scaling-reads", [&] { ReadAll(stop); });
  reflector_.Run(stop);
}

bool RuleFeed::MayExist(const RuleName& rule) const {
  return !rule.name.empty() && (options_.ns.empty() || options_.ns == rule.ns) &&
         std::find(options_.without.begin(), options_.without.end(), rule.ns) ==
             options_.without.end();
}

void RuleFeed::Follow(const RuleName& rule) {
  const MutexLock lock(mutex_);
  const auto [at, fresh] = followed_.try_emplace(rule, Followed{.change = changes_ + 1});
  if (!fresh) return;
  ++changes_;
  if (!MayExist(rule)) {
    at->second.read = at->second.change;
    return;
  }
  at->second.backoff = kube::Backoff(options_.seed + changes_);
  ++never_read_;
  if (listed_) queue_.Add(rule);
}

void RuleFeed::Forget(const RuleName& rule) {
  const MutexLock lock(mutex_);
  const auto found = followed_.find(rule);
  if (found == followed_.end()) return;
  if (found->second.read == 0) --never_read_;
  followed_.erase(found);
  NoteIfSynced();
}

void RuleFeed::Changed(const RuleName& rule) {
  const MutexLock lock(mutex_);
  const auto found = followed_.find(rule);
  if (found == followed_.end() || !MayExist(rule)) return;
  found->second.change = ++changes_;
  queue_.AddAt(rule, std::max(clock_.Now(), found->second.not_before));
}

void RuleFeed::AllChanged() {
  const MutexLock lock(mutex_);
  hears_ = true;
  for (auto& [rule, followed] : followed_) {
    if (!MayExist(rule)) continue;
    followed.change = ++changes_;
    queue_.AddAt(rule, std::max(clock_.Now(), followed.not_before));
  }
  listed_ = true;
  NoteIfSynced();
}

void RuleFeed::ReadAll(const std::stop_token& stop) {
  while (const auto work = queue_.Take(stop)) {
    Read(work->key, stop);
    queue_.Done(work->key);
  }
}

void RuleFeed::Read(const RuleName& rule, const std::stop_token& stop) {
  uint64_t change = 0;
  {
    const MutexLock lock(mutex_);
    const auto found = followed_.find(rule);
    if (found == followed_.end()) return;
    change = found->second.change;
    if (found->second.read == change) return;
  }
  std::shared_ptr<const RuleState> state;
  bool is_large = false;
  const auto answer =
      client_.ListAll(kube::resources::kConfigMaps, rule.ns,
                      {.field_selector = "metadata.name=" + rule.name, .limit = 1}, &fields_,
                      {.started = [&] { state = nullptr; },
                       .item =
                           [&](const Value& object) {
                             const auto text = schemas::ScalingRuleText(object);
                             if (!text) return;
                             is_large = text->size() > schemas::kMaxScalingRule;
                             state = std::make_shared<const RuleState>(RuleOf(object));
                           },
                       .left_out =
                           [&](const Value&, const kube::Fault&) {
                             is_large = true;
                             state = std::make_shared<const RuleState>(TooLarge(rule));
                           }},
                      stop);
  if (!answer) return ReadAgain(rule, answer.error());
  const MutexLock lock(mutex_);
  const auto found = followed_.find(rule);
  if (found == followed_.end()) return;
  Followed& followed = found->second;
  if (followed.read == 0) --never_read_;
  followed.read = change;
  followed.backoff.Reset();
  followed.not_before = is_large ? clock_.Now() + kLargeRest : Clock::Instant();
  options_.read(rule, std::move(state));
  NoteIfSynced();
}

void RuleFeed::ReadAgain(const RuleName& rule, const kube::Fault& fault) {
  if (fault.reason == kube::Reason::kStopped) return;
  std::chrono::milliseconds pause{};
  {
    const MutexLock lock(mutex_);
    const auto found = followed_.find(rule);
    if (found == followed_.end()) return;
    pause = found->second.backoff.Next();
    queue_.AddAfter(rule, pause);
  }
  // While nothing can be heard either, one fault says it all.
  if (options_.failed && hears_) options_.failed(fault, pause);
}

void RuleFeed::NoteIfSynced() {
  if (synced_ || !listed_ || never_read_ > 0) return;
  synced_ = true;
  synced_changed_.NotifyAll();
}

bool RuleFeed::synced() const {
  const MutexLock lock(mutex_);
  return synced_;
}

bool RuleFeed::WaitSynced(std::chrono::milliseconds timeout, const std::stop_token& stop) const {
  MutexLock lock(mutex_);
  return synced_changed_.WaitFor(lock, stop, timeout,
                                 [this]() REQUIRES(mutex_) { return synced_; });
}

bool RuleFeed::IsKnown(const RuleName& rule) const {
  const MutexLock lock(mutex_);
  const auto found = followed_.find(rule);
  return found != followed_.end() && found->second.read == found->second.change;
}

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
  pods.enabled = options_.enabled;
  pods.label_selector = kPodSelector;
  pods.fields = PodFields();
  pods.project = [this](const Value& object) { return PodPtrOf(pod_reader_.Read(object)); };
  pods.oversized = [this](const Value& metadata_only) {
    auto pod = pod_reader_.Read(metadata_only);
    if (pod) pod->unreadable = true;
    return PodPtrOf(std::move(pod));
  };
  pods.changed = [this](const PodPtr& before, const PodPtr& after) { Changed(before, after); };
  pods.on_synced = options_.on_synced;
  pods_.Subscribe<PodState>(std::move(pods));
}

RuleFeed::Options ServiceFeed::RuleOptions() {
  RuleFeed::Options rules;
  rules.ns = options_.ns;
  rules.without = options_.without_rules;
  rules.read = [this](const RuleName& rule, std::shared_ptr<const RuleState> state) {
    Notify(index_.RuleChanged(rule.ns, rule.name, std::move(state)));
  };
  rules.failed = options_.failed;
  rules.on_synced = options_.on_synced;
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
    if (!pod_groups_fail_.exchange(true) && options_.on_synced) options_.on_synced();
    const bool absent = fault.reason == kube::Reason::kNotFound;
    if (pod_groups_absent_.exchange(absent) && absent) return;
    if (options_.pod_groups_failed) options_.pod_groups_failed(fault, pause);
  };
  groups.on_synced = [this] {
    pod_groups_fail_ = false;
    pod_groups_absent_ = false;
    if (options_.on_synced) options_.on_synced();
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
  Notify(concerned);
}

void ServiceFeed::FollowRulesOf(const ServiceKey* before, const ServiceKey* after) {
  if (after != nullptr) rules_.Follow({after->ns, after->rule});
  if (before != nullptr && !index_.NamesRule(before->ns, before->rule)) {
    rules_.Forget({before->ns, before->rule});
    index_.RuleChanged(before->ns, before->rule, nullptr);
  }
}

void ServiceFeed::Notify(const std::vector<ServiceKey>& concerned) const {
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
  // The pods name which rules to read.
  while (!pods_.WaitSynced(kLongList, stop)) {
    if (stop.stop_requested()) return;
  }
  rules_.Run(stop);
}

}  // namespace mindgate::watcher::scaling
