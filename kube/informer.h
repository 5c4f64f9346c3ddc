#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/snapshot.h"
#include "base/threads.h"
#include "kube/answers.h"
#include "kube/reflector.h"

namespace mindgate::kube {

// Text that the objects of one namespace may have in one informer; those beyond are left out. A pod
// of which all controllers read their members has some 600 bytes of it (names, owner, labels, times
// and conditions), with the longest names that Kubernetes allows up to 1,000: so 100,000 pods in
// one namespace fit, and one namespace cannot fill the memory of the watcher (256 MiB in the
// chart).
inline constexpr size_t kBytesOfNamespace = 100'000 * 1024;

// Keeps what a program wants to know of each object of a collection, as a `T` of its own, up to
// date. Readers take immutable snapshots from any thread and never wait for the API server.
template <typename T>
class Informer {
 public:
  struct Options {
    Selection selection;
    // What to keep of an object that holds only the selection's fields, and of those what is
    // understood (kube/answers.h); nothing: the object does not belong in the collection.
    std::function<std::optional<T>(const Value& object)> project;
    // What stands for an object of which only the metadata is known, because the rest is larger
    // than ClientOptions::object_bytes; nothing as in `project`. Null: the collection is not
    // current as long as there is such an object.
    std::function<std::optional<T>(const Value& metadata_only)> left_out{};
    // After each change, in the thread of Run; null: it did not exist before, or no longer exists.
    std::function<void(const std::string& key, const T* before, const T* after)> changed{};
    // Also called, with no pause, for the first object of a namespace with a text that is not
    // understood (kGarbage), and for the first that is beyond `namespace_bytes` (kTooLarge).
    std::function<void(const Fault& fault, std::chrono::milliseconds pause)> failed{};
    // current() has become true; in the thread of Run.
    std::function<void()> on_synced{};
    // What another informer knew before: the first list reports what has changed since, and takes
    // its place. Null: nothing.
    std::shared_ptr<const Collection<T>> known{};
    size_t namespace_bytes = kBytesOfNamespace;
    uint64_t seed = 1;
  };

  // The rest must outlive it.
  Informer(Client& client, Sleeper& sleeper, const Clock& clock, Options options)
      : objects_(options.known ? std::move(options.known)
                               : std::make_shared<const Collection<T>>()),
        options_(std::move(options)),
        reflector_(client, sleeper, clock, options_.selection, MakeHandler(), options_.seed) {}

  // Until `stop`, in the caller's thread.
  void Run(const std::stop_token& stop) { reflector_.Run(stop); }

  // Before the first list, Options::known.
  std::shared_ptr<const Collection<T>> objects() const { return objects_.Get(); }

  // Whether the first list has come, and every `changed` about it. What is there then may grow old
  // while the API server is away.
  bool synced() const {
    const MutexLock lock(mutex_);
    return synced_;
  }
  // Whether what is there is complete and, as far as one can know, new.
  bool current() const {
    return synced() && reflector_.following() && (options_.left_out || left_out_count_ == 0);
  }
  // Objects of which only the metadata is known, each reported to `failed`, and those beyond the
  // bytes of their namespace. Of the latter, which cost only their own namespace, the collection is
  // current all the same; they come in with their next change or the next list that finds room.
  size_t left_out() const { return left_out_count_ + beyond_count_; }
  bool WaitSynced(std::chrono::milliseconds timeout, const std::stop_token& stop = {}) const {
    MutexLock lock(mutex_);
    return synced_changed_.WaitFor(lock, stop, timeout,
                                   [this]() REQUIRES(mutex_) { return synced_; });
  }

  Reflector::Counts counts() const { return reflector_.counts(); }

 private:
  using Objects = Collection<T>;
  using EntryPtr = typename Objects::EntryPtr;

  static std::string KeyOf(const Value& object) {
    const Value* metadata = json::Find(object, "metadata");
    return Objects::KeyOf(json::FindString(metadata, "namespace").value_or(""),
                          json::FindString(metadata, "name").value_or(""));
  }

  Reflector::Handler MakeHandler() {
    return {.list_started =
                [this] {
                  listed_.clear();
                  listed_left_out_.clear();
                  listed_charges_ = {};
                },
            .listed = [this](const Value& object) { AddListed(object, options_.project); },
            .left_out =
                [this](const Value& metadata_only, const Fault& fault) {
                  if (options_.failed) options_.failed(fault, std::chrono::milliseconds(0));
                  const std::string key = KeyOf(metadata_only);
                  listed_left_out_.insert(key);
                  // Raised before the collection has the gap, and lowered after it has none.
                  if (listed_left_out_.size() > left_out_count_) ++left_out_count_;
                  if (options_.left_out) AddListed(metadata_only, options_.left_out);
                },
            .list_done = [this] { Replace(); },
            .follows = [this] { Notify(); },
            .happened =
                [this](const WatchEvent& event) {
                  const std::string key = KeyOf(event.object);
                  const auto* before = objects_.Get()->FindEntry(key);
                  if (before != nullptr) charges_.of[NamespaceOf(key)] -= before->bytes;
                  charges_.beyond.erase(key);
                  const bool deleted = event.type == WatchEvent::Type::kDeleted;
                  Change(key, deleted ? nullptr : Read(event.object, options_.project, charges_));
                  beyond_count_ = charges_.beyond.size();
                  if (left_out_.erase(key) == 0) return;
                  left_out_count_ = left_out_.size();
                  Notify();
                },
            .failed =
                [this](const Fault& fault, std::chrono::milliseconds pause) {
                  if (options_.failed) options_.failed(fault, pause);
                }};
  }

  void Notify() {
    if (options_.on_synced && current()) options_.on_synced();
  }

  // What the objects of each namespace take, and those for which there was no room.
  struct Charges {
    std::map<std::string, size_t, std::less<>> of;
    std::set<std::string> beyond;  // by key
  };
  using Project = std::function<std::optional<T>(const Value& object)>;

  static std::string NamespaceOf(const std::string& key) { return key.substr(0, key.find('/')); }

  void AddListed(const Value& object, const Project& project) {
    if (EntryPtr entry = Read(object, project, listed_charges_)) {
      listed_.push_back(std::move(entry));
    }
  }

  // Null where the object does not belong in the collection, has no name, or finds no room.
  EntryPtr Read(const Value& object, const Project& project, Charges& charges) {
    json::Arena rows(kFirstRows);
    const Understood understood = Understand(object, rows);
    std::string key = KeyOf(object);
    if (!understood.problem.empty()) {
      Complain(not_understood_, key, Reason::kGarbage,
               "cannot be read whole: " + understood.problem);
    }
    if (!understood.object) return nullptr;
    auto value = project(*understood.object);
    if (!value) return nullptr;
    size_t& charged = charges.of[NamespaceOf(key)];
    if (charged + understood.bytes > options_.namespace_bytes) {
      Complain(complained_beyond_, key, Reason::kTooLarge,
               "and what comes after it is left out: the texts of its namespace have more than " +
                   std::to_string(options_.namespace_bytes) + " bytes");
      charges.beyond.insert(std::move(key));
      return nullptr;
    }
    charged += understood.bytes;
    return std::make_shared<const typename Objects::Entry>(std::move(key), *std::move(value),
                                                           understood.bytes);
  }

  // Once for each namespace.
  void Complain(std::set<std::string>& complained, const std::string& key, Reason reason,
                const std::string& what) {
    if (complained.size() >= kMostReported || !complained.insert(NamespaceOf(key)).second) return;
    if (!options_.failed) return;
    const std::string object = key.substr(0, kMaxName) + (key.size() > kMaxName ? "..." : "");
    options_.failed(
        {.reason = reason, .message = options_.selection.resource.kind + " " + object + " " + what},
        std::chrono::milliseconds(0));
  }

  void Change(const std::string& key, const EntryPtr& entry) {
    const auto before = objects_.Get();
    const T* const old = before->Find(key);
    if (old == nullptr && entry == nullptr) return;
    const T* const now = entry == nullptr ? nullptr : &entry->value;
    objects_.Set(std::make_shared<const Objects>(entry == nullptr ? before->Without(key)
                                                                  : before->With(entry)));
    if (options_.changed) options_.changed(key, old, now);
  }

  void Replace() {
    const auto before = objects_.Get();
    const auto after = std::make_shared<const Objects>(Objects::Of(listed_));
    listed_ = {};
    left_out_ = std::move(listed_left_out_);
    listed_left_out_ = {};
    charges_ = std::move(listed_charges_);
    listed_charges_ = {};
    beyond_count_ = charges_.beyond.size();
    objects_.Set(after);
    if (options_.changed) {
      before->ForEach([&](const std::string& key, const T& old) {
        if (after->Find(key) == nullptr) options_.changed(key, &old, nullptr);
      });
      after->ForEach([&](const std::string& key, const T& now) {
        options_.changed(key, before->Find(key), &now);
      });
    }
    left_out_count_ = left_out_.size();
    // Set after all callbacks ran, so derived state is complete, too.
    {
      const MutexLock lock(mutex_);
      synced_ = true;
    }
    synced_changed_.NotifyAll();
  }

  static constexpr size_t kFirstRows = 1024;
  static constexpr size_t kMostReported = 1000;  // namespaces

  Snapshot<Objects> objects_;  // before the options, which keep none of Options::known
  const Options options_;
  std::vector<EntryPtr> listed_;           // of the list that is under way
  std::set<std::string> listed_left_out_;  // likewise, by key
  std::set<std::string> left_out_;         // of the last list; in the thread of Run
  std::atomic<size_t> left_out_count_ = 0;
  Charges charges_;         // in the thread of Run
  Charges listed_charges_;  // likewise, of the list that is under way
  std::atomic<size_t> beyond_count_ = 0;
  std::set<std::string> not_understood_;  // namespaces that were complained of
  std::set<std::string> complained_beyond_;
  mutable Mutex mutex_;
  mutable ConditionVariable synced_changed_;
  bool synced_ GUARDED_BY(mutex_) = false;
  Reflector reflector_;
};

}  // namespace mindgate::kube
