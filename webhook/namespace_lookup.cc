#include "webhook/namespace_lookup.h"

#include <algorithm>
#include <chrono>
#include <random>
#include <stop_token>
#include <thread>
#include <utility>

#include "base/threads.h"
#include "json/value.h"
#include "kube/informer.h"

namespace mindgate::webhook {
namespace {

// Labels as one text, "key\0value\0": a map takes ten times as much.
std::string Pack(const json::Value* labels) {
  std::string packed;
  if (!json::IsObject(labels)) return packed;
  for (const json::Member& member : labels->members()) {
    const auto value = json::AsString(&member.value);
    if (!value) continue;
    packed += member.key;
    packed += '\0';
    packed += *value;
    packed += '\0';
  }
  return packed;
}

schemas::NamespaceLabels Unpack(std::string_view packed) {
  schemas::NamespaceLabels labels;
  const auto take = [&packed] {
    const size_t end = std::min(packed.find('\0'), packed.size());
    std::string text(packed.substr(0, end));
    packed.remove_prefix(std::min(end + 1, packed.size()));
    return text;
  };
  while (!packed.empty()) {
    std::string key = take();
    labels.insert_or_assign(std::move(key), take());
  }
  return labels;
}

}  // namespace

class NamespaceLookup::Impl {
 public:
  Impl(kube::Client& client, kube::Sleeper& sleeper, const Clock& clock, log::Logger& logger,
       const Bounds& bounds)
      : logger_(logger),
        informer_(client, sleeper, clock, OptionsWith(bounds)),
        thread_(StartThread("namespaces", [this] { informer_.Run(stop_.get_token()); })) {}
  ~Impl() { stop_.request_stop(); }

  std::optional<schemas::NamespaceLabels> LabelsOf(std::string_view ns) const {
    const auto known = informer_.objects();
    const std::string* const packed = known->Find(Known::KeyOf("", ns));
    return packed == nullptr ? std::nullopt : std::optional(Unpack(*packed));
  }

  std::string Status() const {
    std::string text = std::to_string(informer_.objects()->size()) + " Namespaces (lists " +
                       std::to_string(informer_.counts().lists);
    if (const size_t left_out = informer_.left_out(); left_out > 0) {
      text += "; " + std::to_string(left_out) + " too large or too many to be kept";
    }
    const MutexLock lock(mutex_);
    if (!informer_.current() && !fault_.empty()) text += "; " + fault_;
    return text + ")";
  }

 private:
  using Known = kube::Collection<std::string>;

  kube::Informer<std::string>::Options OptionsWith(const Bounds& bounds) {
    kube::Informer<std::string>::Options options;
    options.selection.resource = kube::resources::kNamespaces;
    options.selection.fields = {{"metadata", "labels"}};
    options.selection.metadata_only = true;
    options.project = [this, bounds](const json::Value& object) -> std::optional<std::string> {
      std::string packed = Pack(json::FindPath(object, {"metadata", "labels"}));
      if (packed.size() <= bounds.bytes_of_one) return packed;
      logger_.Warning(
          "the labels of a namespace are too large: policies that ask for them skip it",
          {{"namespace", json::AsString(json::FindPath(object, {"metadata", "name"})).value_or("")},
           {"max_bytes", static_cast<int64_t>(bounds.bytes_of_one)}});
      return std::nullopt;
    };
    options.left_out = [](const json::Value&) { return std::optional<std::string>(); };
    options.failed = [this](const kube::Fault& fault, std::chrono::milliseconds pause) {
      Failed(fault, pause);
    };
    // They have no namespace: all of them count for one.
    options.namespace_bytes = bounds.bytes_of_all;
    // Replicas of a webhook must not come back in step.
    options.seed = std::random_device()();
    return options;
  }

  void Failed(const kube::Fault& fault, std::chrono::milliseconds pause) {
    {
      const MutexLock lock(mutex_);
      if (fault_ == fault.message) return;  // one line a fault, however long it lasts
      fault_ = fault.message;
    }
    logger_.Warning("namespaces cannot be watched now: decisions use what is already known",
                    {{"reason", kube::ReasonName(fault.reason)},
                     {"fault", fault.message},
                     {"retry_ms", static_cast<int64_t>(pause.count())}});
  }

  log::Logger& logger_;
  mutable Mutex mutex_;
  std::string fault_ GUARDED_BY(mutex_);  // the newest
  std::stop_source stop_;
  kube::Informer<std::string> informer_;
  std::jthread thread_;  // last: it ends before what it feeds
};

NamespaceLookup::NamespaceLookup(kube::Client& client, kube::Sleeper& sleeper, const Clock& clock,
                                 log::Logger& logger, const Bounds& bounds)
    : impl_(std::make_unique<Impl>(client, sleeper, clock, logger, bounds)) {}
NamespaceLookup::~NamespaceLookup() = default;

std::optional<schemas::NamespaceLabels> NamespaceLookup::LabelsOf(std::string_view ns) const {
  return impl_->LabelsOf(ns);
}

std::string NamespaceLookup::Status() const { return impl_->Status(); }

}  // namespace mindgate::webhook
