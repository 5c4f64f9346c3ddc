#include "webhook/runtime_lookup.h"

#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <random>
#include <stop_token>
#include <thread>

#include "base/thread.h"
#include "json/decode.h"
#include "kube/informer.h"

namespace mindgate::webhook {
namespace {

using json::Document;
using json::Value;
using Runtimes = kube::Collection<Document>;

// One kind, at one moment.
struct Known {
  std::shared_ptr<const Runtimes> runtimes;
  bool complete = false;
};

class KnownRuntimes final : public schemas::ObjectLookup {
 public:
  KnownRuntimes(Known namespaced, Known cluster_wide)
      : namespaced_(std::move(namespaced)), cluster_wide_(std::move(cluster_wide)) {}

  const Value* Find(std::string_view group, std::string_view kind, std::string_view ns,
                    std::string_view name) const override {
    const Known* known = Of(group, kind);
    if (known == nullptr) return nullptr;
    const Document* found = known->runtimes->Find(
        Runtimes::KeyOf(known == &namespaced_ ? ns : std::string_view(), name));
    return found == nullptr ? nullptr : &found->root();
  }

  bool IsComplete(std::string_view group, std::string_view kind) const override {
    const Known* known = Of(group, kind);
    return known != nullptr && known->complete;
  }

  void ForEach(std::string_view group, std::string_view kind, std::string_view ns,
               const std::function<void(const Value&)>& visit) const override {
    const Known* known = Of(group, kind);
    if (known == nullptr) return;
    const std::string prefix = Runtimes::KeyOf(known == &namespaced_ ? ns : std::string_view(), "");
    std::map<std::string, const Value*> in_name_order;
    known->runtimes->ForEach([&](const std::string& key, const Document& runtime) {
      if (key.starts_with(prefix)) in_name_order[key] = &runtime.root();
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
  Impl(kube::Client& client, kube::Sleeper& sleeper, const Clock& clock, log::Logger& logger)
      : logger_(logger),
        namespaced_(client, sleeper, clock, OptionsOf(kube::resources::kServingRuntimes)),
        cluster_wide_(client, sleeper, clock, OptionsOf(kube::resources::kClusterServingRuntimes)) {
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

 private:
  using Follower = kube::Informer<Document>;

  static Known KnownOf(const Follower& follower) {
    // Asked first: a list that comes in between only adds.
    const bool complete = follower.current();
    return {follower.objects(), complete};
  }

  std::string StatusOf(const kube::Resource& resource, const Follower& follower) const {
    std::string text = std::to_string(follower.objects()->size()) + " " + resource.kind +
                       "s (lists " + std::to_string(follower.counts().lists);
    const std::lock_guard lock(mutex_);
    const auto fault = faults_.find(resource.kind);
    if (!follower.current() && fault != faults_.end()) text += "; " + fault->second;
    return text + ")";
  }

  Follower::Options OptionsOf(const kube::Resource& resource) {
    Follower::Options options;
    options.selection.resource = resource;
    // What views read of a runtime; a few KB each, and there are tens of them.
    options.selection.fields = {{"metadata", "labels"}, {"metadata", "annotations"}, {"spec"}};
    options.selection.page_size = 0;
    options.project = [&resource](const Value& object) {
      json::Json runtime = json::TreeOf(object);
      runtime["apiVersion"] = resource.api_version();
      runtime["kind"] = resource.kind;
      return std::optional(Document(runtime));
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
      const std::lock_guard lock(mutex_);
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
  mutable std::mutex mutex_;
  std::map<std::string, std::string> faults_;  // newest by kind, guarded by mutex_
  std::stop_source stop_;
  Follower namespaced_;
  Follower cluster_wide_;
  std::jthread namespaced_thread_;  // last: they end before what they feed
  std::jthread cluster_wide_thread_;
};

RuntimeLookup::RuntimeLookup(kube::Client& client, kube::Sleeper& sleeper, const Clock& clock,
                             log::Logger& logger)
    : impl_(std::make_unique<Impl>(client, sleeper, clock, logger)) {}
RuntimeLookup::~RuntimeLookup() = default;

std::shared_ptr<const schemas::ObjectLookup> RuntimeLookup::Get() const { return impl_->Get(); }
std::string RuntimeLookup::Status() const { return impl_->Status(); }

}  // namespace mindgate::webhook
