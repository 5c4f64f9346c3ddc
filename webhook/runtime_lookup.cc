#include "webhook/runtime_lookup.h"

#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <stop_token>
#include <thread>

#include "base/mutex.h"
#include "base/thread.h"

namespace mindgate::webhook {
namespace {

using json::Value;
using Runtimes = RuntimeFollower::Runtimes;

// One kind, at one moment.
struct Known {
  std::shared_ptr<const RuntimeFollower::State> state;
  bool current = false;
};

class KnownRuntimes final : public schemas::ObjectLookup {
 public:
  KnownRuntimes(Known namespaced, Known cluster_wide)
      : namespaced_(std::move(namespaced)), cluster_wide_(std::move(cluster_wide)) {}

  const Value* Find(std::string_view group, std::string_view kind, std::string_view ns,
                    std::string_view name) const override {
    const Known* known = Of(group, kind);
    if (known == nullptr) return nullptr;
    const auto* found = known->state->runtimes.Find(
        Runtimes::KeyOf(known == &namespaced_ ? ns : std::string_view(), name));
    return found == nullptr || *found == nullptr ? nullptr : &(*found)->root();
  }

  bool IsComplete(std::string_view group, std::string_view kind) const override {
    const Known* known = Of(group, kind);
    return known != nullptr && known->current && known->state->left_out == 0;
  }

  void ForEach(std::string_view group, std::string_view kind, std::string_view ns,
               const std::function<void(const Value&)>& visit) const override {
    const Known* known = Of(group, kind);
    if (known == nullptr) return;
    const std::string prefix = Runtimes::KeyOf(known == &namespaced_ ? ns : std::string_view(), "");
    std::map<std::string, const Value*> in_name_order;
    known->state->runtimes.ForEach(
        [&](const std::string& key, const RuntimeFollower::RuntimePtr& one) {
          if (one != nullptr && key.starts_with(prefix)) in_name_order[key] = &one->root();
        });
    for (const auto& [key, runtime] : in_name_order) visit(*runtime);
  }

 private:
  const Known* Of(std::string_view group, std::string_view kind) const {
    if (group != kube::resources::kServingRuntimes.group) return nullptr;
    if (kind == kube::resources::kServingRuntimes.kind) return &namespaced_;
    if (kind == kube::resources::kClusterServingRuntimes.kind) return &cluster_wide_;
    return nullptr;
  }

  const Known namespaced_;
  const Known cluster_wide_;
};

}  // namespace

class RuntimeLookup::Impl {
 public:
  Impl(kube::Client& client, kube::Sleeper& sleeper, const Clock& clock, log::Logger& logger,
       const RuntimeBounds& bounds)
      : logger_(logger),
        namespaced_(client, sleeper, clock, OptionsOf(kube::resources::kServingRuntimes, bounds)),
        cluster_wide_(client, sleeper, clock,
                      OptionsOf(kube::resources::kClusterServingRuntimes, bounds)) {
    namespaced_thread_ = StartThread("runtimes", [this] { namespaced_.Run(stop_.get_token()); });
    cluster_wide_thread_ =
        StartThread("cluster-runtimes", [this] { cluster_wide_.Run(stop_.get_token()); });
  }
  ~Impl() { stop_.request_stop(); }

  std::shared_ptr<const schemas::ObjectLookup> Get() const {
    return std::make_shared<const KnownRuntimes>(KnownOf(namespaced_), KnownOf(cluster_wide_));
  }

  std::string Status() const {
    return StatusOf(kube::resources::kServingRuntimes, namespaced_) + ", " +
           StatusOf(kube::resources::kClusterServingRuntimes, cluster_wide_);
  }

  size_t left_out() const {
    return namespaced_.state()->left_out + cluster_wide_.state()->left_out;
  }
  size_t bytes() const { return namespaced_.state()->bytes + cluster_wide_.state()->bytes; }

 private:
  static Known KnownOf(const RuntimeFollower& follower) {
    const bool current = follower.current();
    return {follower.state(), current};
  }

  std::string StatusOf(const kube::Resource& resource, const RuntimeFollower& follower) const {
    const auto state = follower.state();
    std::string text = std::to_string(state->runtimes.size()) + " " + resource.kind + "s (lists " +
                       std::to_string(follower.lists());
    if (state->left_out > 0) {
      text += "; " + std::to_string(state->left_out) + " too large or too many to be kept";
    }
    const MutexLock lock(mutex_);
    const auto fault = faults_.find(resource.kind);
    if (!follower.current() && fault != faults_.end()) text += "; " + fault->second;
    return text + ")";
  }

  RuntimeFollower::Options OptionsOf(const kube::Resource& resource, const RuntimeBounds& bounds) {
    RuntimeFollower::Options options;
    options.resource = resource;
    options.bounds = bounds;
    options.left_out = [this, &resource, bounds](const std::string& key) {
      logger_.Warning(
          "a runtime is too large or there are too many: decisions about services that name it do "
          "without it",
          {{"kind", resource.kind},
           {"name", key.substr(resource.namespaced ? 0 : 1)},
           {"max_bytes", static_cast<int64_t>(bounds.bytes_of_one)},
           {"max_bytes_of_namespace", static_cast<int64_t>(bounds.bytes_of_namespace)},
           {"max_bytes_of_all", static_cast<int64_t>(bounds.bytes_of_all)}});
    };
    options.failed = [this, &resource](const kube::Fault& fault, std::chrono::milliseconds pause) {
      OnFault(resource, fault, pause);
    };
    // Replicas of a webhook must not come back in step.
    options.seed = std::random_device()();
    return options;
  }

  void OnFault(const kube::Resource& resource, const kube::Fault& fault,
               std::chrono::milliseconds pause) {
    {
      const MutexLock lock(mutex_);
      std::string& last = faults_[resource.kind];
      if (last == fault.message) return;  // one line a fault, however long it lasts
      last = fault.message;
    }
    // Without OME there is no such resource, which is fine.
    const bool absent = fault.reason == kube::Reason::kNotFound;
    logger_.Log(absent ? log::Level::kInfo : log::Level::kWarning,
                absent ? "no such resource yet: runtimes are not looked up"
                       : "runtimes cannot be watched now: decisions use what is already known",
                {{"kind", resource.kind},
                 {"reason", kube::ReasonName(fault.reason)},
                 {"fault", fault.message},
                 {"retry_ms", static_cast<int64_t>(pause.count())}});
  }

  log::Logger& logger_;
  mutable Mutex mutex_;
  std::map<std::string, std::string> faults_ GUARDED_BY(mutex_);  // newest by kind
  std::stop_source stop_;
  RuntimeFollower namespaced_;
  RuntimeFollower cluster_wide_;
  std::jthread namespaced_thread_;  // last: they end before what they feed
  std::jthread cluster_wide_thread_;
};

RuntimeLookup::RuntimeLookup(kube::Client& client, kube::Sleeper& sleeper, const Clock& clock,
                             log::Logger& logger, const RuntimeBounds& bounds)
    : impl_(std::make_unique<Impl>(client, sleeper, clock, logger, bounds)) {}
RuntimeLookup::~RuntimeLookup() = default;

std::shared_ptr<const schemas::ObjectLookup> RuntimeLookup::Get() const { return impl_->Get(); }
std::string RuntimeLookup::Status() const { return impl_->Status(); }
size_t RuntimeLookup::left_out() const { return impl_->left_out(); }
size_t RuntimeLookup::bytes() const { return impl_->bytes(); }

}  // namespace mindgate::webhook
