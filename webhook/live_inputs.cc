#include "webhook/live_inputs.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <stop_token>
#include <thread>
#include <utility>

#include "admission/config_files.h"
#include "base/files.h"
#include "base/threads.h"

namespace mindgate::webhook {
namespace {

using json::Member;
using json::Value;
using Path = json::Projection::Path;

// Beside its values: the object itself, its entry and its key.
constexpr size_t kOverhead = 512;

// What json::CopyOf takes from an arena, alignment included. A decoder bounds the depth.
size_t CopiedBytes(const Value& value) {
  size_t bytes = value.text().size();
  if (!value.items().empty()) bytes += alignof(Value) + value.items().size_bytes();
  for (const Value& item : value.items()) bytes += CopiedBytes(item);
  if (!value.members().empty()) bytes += alignof(Member) + value.members().size_bytes();
  for (const Member& member : value.members()) {
    bytes += member.key.size() + CopiedBytes(member.value);
  }
  return bytes;
}

std::string_view TextAt(const Value& object, std::string_view key) {
  return json::AsString(json::FindPath(object, {"metadata", key})).value_or("");
}

std::string KeyOf(const Value& object) {
  return RuntimeFollower::Runtimes::KeyOf(TextAt(object, "namespace"), TextAt(object, "name"));
}

std::string_view NamespaceOf(std::string_view key) { return key.substr(0, key.find('/')); }

// Of a pod spec, which stands inline in a component, its leader and its worker.
void AddPodSpec(const Path& above, std::vector<Path>& fields) {
  const auto add = [&fields](Path path, std::initializer_list<const char*> below) {
    path.insert(path.end(), below.begin(), below.end());
    fields.push_back(std::move(path));
  };
  for (const char* key : {"schedulerName", "restartPolicy", "nodeSelector", "deploymentStrategy"}) {
    add(above, {key});
  }
  Path runner = above;
  runner.emplace_back("runner");
  std::vector<Path> containers = {std::move(runner)};
  for (const char* list : {"containers", "initContainers"}) {
    Path container = above;
    container.insert(container.end(), {list, "*"});
    containers.push_back(std::move(container));
  }
  for (const Path& container : containers) {
    add(container, {"name"});
    for (const char* key : {"name", "value", "valueFrom"}) add(container, {"env", "*", key});
    add(container, {"resources"});
  }
}

}  // namespace

std::vector<Path> Runtime::Fields() {
  std::vector<Path> fields = {
      {"metadata", "labels"}, {"spec", "nodeSelector"}, {"spec", "acceleratorRequirements"}};
  for (const char* component : {"engineConfig", "decoderConfig", "routerConfig"}) {
    for (const char* key : {"labels", "annotations", "minReplicas"}) {
      fields.push_back({"spec", component, key});
    }
    AddPodSpec({"spec", component}, fields);
    AddPodSpec({"spec", component, "leader"}, fields);
    AddPodSpec({"spec", component, "worker"}, fields);
    fields.push_back({"spec", component, "worker", "size"});
  }
  return fields;
}

size_t Runtime::BytesOf(const Value& object) { return kOverhead + CopiedBytes(object); }

Runtime::Runtime(const Value& object, size_t bytes, const kube::Resource& resource)
    : bytes_(bytes), version_(TextAt(object, "resourceVersion")), arena_(bytes) {
  // An item of a list need not say what it is.
  const std::string api_version = resource.api_version();
  Member* const row = arena_.Row<Member>(4);
  size_t count = 0;
  row[count++] = {"apiVersion", Value::OfText(arena_.Text(api_version))};
  row[count++] = {"kind", Value::OfText(arena_.Text(resource.kind))};
  for (const std::string_view key : {"metadata", "spec"}) {
    const Value* member = json::Find(object, key);
    if (member != nullptr) row[count++] = {key, json::CopyOf(*member, arena_)};
  }
  root_ = Value::OfMembers({row, count});
}

RuntimeFollower::RuntimeFollower(kube::Client& client, kube::Sleeper& sleeper, const Clock& clock,
                                 Options options)
    : options_(std::move(options)),
      state_(std::make_shared<const State>()),
      reflector_(client, sleeper, clock,
                 {.resource = options_.resource, .fields = Runtime::Fields()}, MakeHandler(),
                 options_.seed) {}

kube::Reflector::Handler RuntimeFollower::MakeHandler() {
  return {.list_started =
              [this] {
                listed_runtimes_.clear();
                listed_room_ = {};
              },
          .listed = [this](const Value& object) { Listed(object, true); },
          .left_out = [this](const Value& object, const kube::Fault&) { Listed(object, false); },
          .list_done = [this] { ListDone(); },
          .happened = [this](const kube::WatchEvent& event) { Happened(event); },
          .failed =
              [this](const kube::Fault& fault, std::chrono::milliseconds pause) {
                if (options_.failed) options_.failed(fault, pause);
              },
          .wants_list = [this] { return room_.crowded; }};
}

RuntimeFollower::RuntimePtr RuntimeFollower::Keep(const std::string& key, const Value& object,
                                                  Room& room) const {
  const RuntimeBounds& bounds = options_.bounds;
  const size_t bytes = Runtime::BytesOf(object);
  const std::string_view ns = NamespaceOf(key);
  const auto found = room.bytes_of_namespace.find(ns);
  const size_t of_namespace = found == room.bytes_of_namespace.end() ? 0 : found->second;
  const bool too_large = bytes > bounds.bytes_of_one;
  if (too_large || room.bytes + bytes > bounds.bytes_of_all ||
      (!ns.empty() && of_namespace + bytes > bounds.bytes_of_namespace)) {
    room.crowded = room.crowded || !too_large;
    LeaveOut(key, room);
    return nullptr;
  }
  room.bytes += bytes;
  room.bytes_of_namespace[std::string(ns)] += bytes;
  // Most objects of a new list are those of the one before.
  const auto state = state_.Get();
  const RuntimePtr* const before = state->runtimes.Find(key);
  if (before != nullptr && *before != nullptr &&
      (*before)->version() == TextAt(object, "resourceVersion")) {
    return *before;
  }
  return std::make_shared<const Runtime>(object, bytes, options_.resource);
}

void RuntimeFollower::LeaveOut(const std::string& key, Room& room) {
  if (++room.left_out == 1) room.first_left_out = key;
}

void RuntimeFollower::Free(const std::string& key, const RuntimePtr& runtime, Room& room) {
  if (runtime == nullptr) {
    --room.left_out;
    return;
  }
  room.bytes -= runtime->bytes();
  const auto of = room.bytes_of_namespace.find(NamespaceOf(key));
  of->second -= runtime->bytes();
  if (of->second == 0) room.bytes_of_namespace.erase(of);
}

void RuntimeFollower::Listed(const Value& object, bool whole) {
  const std::string key = KeyOf(object);
  RuntimePtr runtime;
  if (whole) {
    runtime = Keep(key, object, listed_room_);
  } else {
    LeaveOut(key, listed_room_);
  }
  listed_runtimes_.push_back(
      std::make_shared<const Runtimes::Entry>(Runtimes::Entry{key, std::move(runtime)}));
}

void RuntimeFollower::ListDone() {
  room_ = std::exchange(listed_room_, {});
  const auto runtimes = std::exchange(listed_runtimes_, {});
  Publish(Runtimes::Of(runtimes));
  listed_ = true;
}

void RuntimeFollower::Happened(const kube::WatchEvent& event) {
  const std::string key = KeyOf(event.object);
  const auto state = state_.Get();
  const RuntimePtr* const before = state->runtimes.Find(key);
  if (before != nullptr) Free(key, *before, room_);
  if (event.type == kube::WatchEvent::Type::kDeleted) return Publish(state->runtimes.Without(key));
  Publish(state->runtimes.With(std::make_shared<const Runtimes::Entry>(
      Runtimes::Entry{key, Keep(key, event.object, room_)})));
}

void RuntimeFollower::Publish(Runtimes runtimes) {
  const bool news = state_.Get()->left_out == 0 && room_.left_out > 0;
  state_.Set(
      std::make_shared<const State>(State{std::move(runtimes), room_.bytes, room_.left_out}));
  if (news && options_.left_out) options_.left_out(room_.first_left_out);
}

namespace {

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

namespace {

// One line for each swap and each new failure. `detail` says which one was loaded.
void Log(log::Logger& logger, std::string_view what, const ReloadStatus& status,
         log::Field detail) {
  if (status.error.empty()) {
    logger.Info(status.swaps > 1 ? "reloaded" : "loaded", {{"what", what}, detail});
  } else if (status.swaps == 0) {
    logger.Error("none was loaded yet; not ready, and reviews are refused until one is",
                 {{"what", what}, {"error", status.error}});
  } else {
    logger.Error("refused; the last good one stays in use",
                 {{"what", what}, {"error", status.error}});
  }
}

std::unique_ptr<admission::ConfigReloader> ReloaderOf(const LiveFiles& files, const Clock& clock,
                                                      Snapshot<schemas::Config>& target,
                                                      log::Logger& logger) {
  if (files.config_file.empty()) return nullptr;
  return admission::MakeConfigReloader(
      files.config_file, admission::KnownNames(), clock, target,
      [&target, &logger](const ReloadStatus& status) {
        const auto config = target.Get();
        Log(logger, "configuration", status,
            {"generation", config == nullptr ? std::string_view() : config->generation});
      },
      [&logger](const std::string& warnings) {
        logger.Warning("configuration uses old spellings", {{"warnings", warnings}});
      },
      files.config_maps);
}

}  // namespace

LiveInputs::LiveInputs(const LiveFiles& files, const Clock& clock, log::Logger& logger,
                       DirectoryWatch::Options watch)
    : config_reloader_(ReloaderOf(files, clock, config_, logger)),
      tls_reloader_(files.tls, clock, tls_,
                    [&logger](const char* what, const ReloadStatus& status) {
                      Log(logger, what, status, {"swaps", static_cast<int64_t>(status.swaps)});
                    }) {
  if (config_reloader_ == nullptr) config_.Set(std::make_shared<const schemas::Config>());
  watch.folders = tls_reloader_.FoldersToWatch();
  if (config_reloader_ != nullptr) watch.folders.push_back(FolderOf(files.config_file));
  // Before the first load: what changes after it is seen.
  thread_ = std::make_unique<DirectoryWatchThread>(std::move(watch), clock, [this] { Reload(); });
  Reload();
}

LiveInputs::~LiveInputs() = default;

ReloadStatus LiveInputs::config_status() const {
  if (config_reloader_ != nullptr) return config_reloader_->status();
  ReloadStatus status;
  status.swaps = 1;
  return status;
}

ReloadStatus LiveInputs::certificate_status() const {
  ReloadStatus both = tls_reloader_.serving_status();
  const ReloadStatus clients = tls_reloader_.client_ca_status();
  both.swaps += clients.swaps;
  both.failures += clients.failures;
  if (!both.error.empty() && !clients.error.empty()) both.error += "; ";
  both.error += clients.error;
  both.swapped = std::max(both.swapped, clients.swapped);
  return both;
}

void LiveInputs::Reload() {
  if (config_reloader_ != nullptr) config_reloader_->Reload();
  tls_reloader_.Reload();
}

}  // namespace mindgate::webhook
