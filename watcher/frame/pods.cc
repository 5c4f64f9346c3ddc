#include "watcher/frame/pods.h"

#include <algorithm>

namespace mindgate::watcher {
namespace {

constexpr const char* kNotSucceeded = "status.phase!=Succeeded";
constexpr const char* kNotEnded = "status.phase!=Succeeded,status.phase!=Failed";

bool HasFailed(const json::Value& pod) {
  return json::FindString(json::Find(pod, "status"), "phase") == "Failed";
}

}  // namespace

PodInformer::PodInformer(kube::Client& client, kube::Sleeper& sleeper, const Clock& clock,
                         Options options)
    : client_(client), sleeper_(sleeper), clock_(clock), options_(std::move(options)) {}

std::optional<PodInformer::Selectors> PodInformer::Wanted() const {
  std::optional<Selectors> wanted;
  for (size_t i = 0; i < subscribers_.size(); ++i) {
    const Subscriber& subscriber = subscribers_[i];
    if (!subscriber.wanted()) continue;
    if (!wanted) {
      wanted = {subscriber.label_selector, false, std::vector<bool>(subscribers_.size())};
    }
    wanted->subscribers[i] = true;
    if (wanted->label != subscriber.label_selector) wanted->label.clear();
    wanted->failed = wanted->failed || subscriber.failed;
  }
  return wanted;
}

std::optional<PodInformer::Kept> PodInformer::Project(const json::Value& pod, bool metadata_only,
                                                      const std::vector<bool>& wanted) const {
  Kept kept(subscribers_.size());
  bool any = false;
  const bool failed = HasFailed(pod);
  for (size_t i = 0; i < subscribers_.size(); ++i) {
    if (!wanted[i] || (failed && !subscribers_[i].failed)) continue;
    const auto& project = metadata_only ? subscribers_[i].left_out : subscribers_[i].project;
    if (project) kept[i] = project(pod);
    any = any || kept[i] != nullptr;
  }
  return any ? std::optional(std::move(kept)) : std::nullopt;
}

void PodInformer::Changed(const Kept* before, const Kept* after) const {
  for (size_t i = 0; i < subscribers_.size(); ++i) {
    const ErasedPtr old = before == nullptr ? nullptr : (*before)[i];
    const ErasedPtr now = after == nullptr ? nullptr : (*after)[i];
    if (old != nullptr || now != nullptr) subscribers_[i].changed(old, now);
  }
}

std::shared_ptr<PodInformer::Informer> PodInformer::MakeInformer(const Selectors& selectors) {
  Informer::Options options;
  options.selection.resource = kube::resources::kPods;
  options.selection.ns = options_.ns;
  options.selection.label_selector = selectors.label;
  options.selection.field_selector = selectors.failed ? kNotSucceeded : kNotEnded;
  if (selectors.failed) options.selection.fields = {{"status", "phase"}};
  for (const Subscriber& subscriber : subscribers_) {
    for (const auto& field : subscriber.fields) {
      auto& fields = options.selection.fields;
      if (std::find(fields.begin(), fields.end(), field) == fields.end()) fields.push_back(field);
    }
  }
  options.project = [this, wanted = selectors.subscribers](const json::Value& pod) {
    return Project(pod, false, wanted);
  };
  if (std::all_of(subscribers_.begin(), subscribers_.end(),
                  [](const Subscriber& one) { return one.left_out != nullptr; })) {
    options.left_out = [this, wanted = selectors.subscribers](const json::Value& pod) {
      return Project(pod, true, wanted);
    };
  }
  options.changed = [this](const std::string&, const Kept* before, const Kept* after) {
    Changed(before, after);
  };
  options.failed = options_.failed;
  options.became_current = [this] {
    for (const Subscriber& subscriber : subscribers_) {
      if (subscriber.became_current) subscriber.became_current();
    }
  };
  options.seed = options_.seed;
  // What the informer before it knew: its list says what has gone.
  if (const auto before = informer()) options.known = before->objects();
  return std::make_shared<Informer>(client_, sleeper_, clock_, std::move(options));
}

void PodInformer::Run(const std::stop_token& stop) {
  const std::stop_callback forward(stop, [this] { Reselect(); });
  while (!stop.stop_requested()) {
    const auto wanted = Wanted();
    const auto next = wanted ? MakeInformer(*wanted) : nullptr;
    std::stop_token end;
    {
      const MutexLock lock(mutex_);
      reselect_ = {};
      end = reselect_.get_token();
      selector_ = wanted;
      informer_ = next;
    }
    changed_.NotifyAll();
    if (stop.stop_requested() || Wanted() != wanted) continue;  // before `reselect_` was there
    if (next != nullptr) {
      next->Run(end);
      continue;
    }
    MutexLock lock(mutex_);
    changed_.Wait(lock, end, [] { return false; });
  }
}

void PodInformer::Refresh() {
  const auto wanted = Wanted();
  {
    const MutexLock lock(mutex_);
    if (wanted == selector_) return;
  }
  Reselect();
}

void PodInformer::Reselect() {
  std::stop_source end;
  {
    const MutexLock lock(mutex_);
    end = reselect_;
  }
  end.request_stop();
}

std::shared_ptr<const PodInformer::Informer> PodInformer::informer() const {
  const MutexLock lock(mutex_);
  return informer_;
}

bool PodInformer::synced() const {
  const auto pods = informer();
  return pods != nullptr && pods->synced();
}

bool PodInformer::current() const {
  const auto pods = informer();
  return pods != nullptr && pods->current();
}

size_t PodInformer::left_out() const {
  const auto pods = informer();
  return pods == nullptr ? 0 : pods->left_out();
}

bool PodInformer::WaitSynced(std::chrono::milliseconds longest, const std::stop_token& stop) const {
  const auto pods = informer();
  if (pods != nullptr) return pods->WaitSynced(longest, stop);
  MutexLock lock(mutex_);
  changed_.WaitFor(lock, stop, longest, [this]() REQUIRES(mutex_) { return informer_ != nullptr; });
  return false;
}

}  // namespace mindgate::watcher
