#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "base/snapshot.h"
#include "kube/collection.h"
#include "kube/reflector.h"

namespace mindgate::kube {

// Keeps what a program wants to know of each object of a collection, as a `T` of its own, up to
// date. Readers take immutable snapshots from any thread and never wait for the API server.
template <typename T>
class Informer {
 public:
  struct Options {
    Selection selection;
    // What to keep of an object that holds only the selection's fields; nothing: the object does
    // not belong in the collection.
    std::function<std::optional<T>(const Value& object)> project;
    // What stands for an object of which only the metadata is known, because the rest is larger
    // than ClientOptions::object_bytes; nothing as in `project`. Null: the collection is not
    // current as long as there is such an object.
    std::function<std::optional<T>(const Value& metadata_only)> left_out{};
    // After each change, in the thread of Run; null: it did not exist before, or no longer exists.
    std::function<void(const std::string& key, const T* before, const T* after)> changed{};
    std::function<void(const Fault& fault, std::chrono::milliseconds pause)> failed{};
    // current() has become true; in the thread of Run.
    std::function<void()> became_current{};
    // What another informer knew before: the first list tells what has changed since. Null:
    // nothing.
    std::shared_ptr<const Collection<T>> known{};
    uint64_t seed = 1;
  };

  // The rest must outlive it.
  Informer(Client& client, Sleeper& sleeper, const Clock& clock, Options options)
      : options_(std::move(options)),
        objects_(options_.known ? options_.known : std::make_shared<const Collection<T>>()),
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
    return synced() && reflector_.following() && (options_.left_out || left_out() == 0);
  }
  // Objects of which only the metadata is known; each was told to `failed`.
  size_t left_out() const { return left_out_count_; }
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
                },
            .listed =
                [this](const Value& object) {
                  if (auto value = options_.project(object)) {
                    listed_.push_back(Entry(KeyOf(object), *std::move(value)));
                  }
                },
            .left_out =
                [this](const Value& metadata_only, const Fault& fault) {
                  if (options_.failed) options_.failed(fault, std::chrono::milliseconds(0));
                  const std::string key = KeyOf(metadata_only);
                  listed_left_out_.insert(key);
                  // Raised before the collection has the gap, and lowered after it has none.
                  if (listed_left_out_.size() > left_out_count_) ++left_out_count_;
                  if (!options_.left_out) return;
                  if (auto value = options_.left_out(metadata_only)) {
                    listed_.push_back(Entry(key, *std::move(value)));
                  }
                },
            .list_done = [this] { Replace(); },
            .follows = [this] { Tell(); },
            .happened =
                [this](const WatchEvent& event) {
                  auto value = event.type == WatchEvent::Type::kDeleted
                                   ? std::nullopt
                                   : options_.project(event.object);
                  const std::string key = KeyOf(event.object);
                  Change(key, value ? Entry(key, *std::move(value)) : nullptr);
                  if (left_out_.erase(key) == 0) return;
                  left_out_count_ = left_out_.size();
                  Tell();
                },
            .failed =
                [this](const Fault& fault, std::chrono::milliseconds pause) {
                  if (options_.failed) options_.failed(fault, pause);
                }};
  }

  void Tell() {
    if (options_.became_current && current()) options_.became_current();
  }

  static EntryPtr Entry(std::string key, T value) {
    return std::make_shared<const typename Objects::Entry>(std::move(key), std::move(value));
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
    // Not before all of it was told: who makes something of the changes is complete then, too.
    {
      const MutexLock lock(mutex_);
      synced_ = true;
    }
    synced_changed_.NotifyAll();
  }

  const Options options_;
  Snapshot<Objects> objects_;
  std::vector<EntryPtr> listed_;           // of the list that is under way
  std::set<std::string> listed_left_out_;  // likewise, by key
  std::set<std::string> left_out_;         // of the last list; in the thread of Run
  std::atomic<size_t> left_out_count_ = 0;
  mutable Mutex mutex_;
  mutable ConditionVariable synced_changed_;
  bool synced_ GUARDED_BY(mutex_) = false;
  Reflector reflector_;
};

}  // namespace mindgate::kube
