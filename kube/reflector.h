#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time.h"
#include "json/decode.h"
#include "kube/client.h"

namespace mindgate::kube {

// Objects by "namespace/name" (cluster-scoped ones by "/name"), immutable: a change makes a new
// collection that shares all but one of 256 parts with the old one, so that 100,000 objects can
// change one at a time while readers keep what they have. Safe from many threads.
template <typename T>
class Collection {
 public:
  struct Entry {
    std::string key;
    T value;
    size_t bytes = 0;  // of the texts that it was made of
  };
  using EntryPtr = std::shared_ptr<const Entry>;

  static std::string KeyOf(std::string_view ns, std::string_view name) {
    return std::string(ns) + "/" + std::string(name);
  }

  // Null when there is none; lives as long as this collection.
  const T* Find(std::string_view key) const {
    const Entry* entry = FindEntry(key);
    return entry == nullptr ? nullptr : &entry->value;
  }
  const Entry* FindEntry(std::string_view key) const {
    const auto& part = parts_[PartOf(key)];
    if (part == nullptr) return nullptr;
    const auto at = Place(*part, key);
    return at != part->end() && (*at)->key == key ? at->get() : nullptr;
  }

  size_t size() const { return size_; }

  // In no particular order, but the same one for the same keys.
  template <typename Visit>
  void ForEach(const Visit& visit) const {
    for (const auto& part : parts_) {
      if (part == nullptr) continue;
      for (const EntryPtr& entry : *part) visit(entry->key, entry->value);
    }
  }

  Collection With(EntryPtr entry) const {
    Collection changed = *this;
    Part part = changed.CopyOf(entry->key);
    const auto at = Place(part, entry->key);
    if (at != part.end() && (*at)->key == entry->key) {
      *at = std::move(entry);
    } else {
      ++changed.size_;
      part.insert(at, std::move(entry));
    }
    changed.Put(std::move(part));
    return changed;
  }

  Collection Without(std::string_view key) const {
    Collection changed = *this;
    Part part = changed.CopyOf(key);
    const auto at = Place(part, key);
    if (at == part.end() || (*at)->key != key) return changed;
    part.erase(at);
    --changed.size_;
    if (part.empty()) {
      changed.parts_[PartOf(key)] = nullptr;
    } else {
      changed.Put(std::move(part));
    }
    return changed;
  }

  // Of entries in any order; the last of one key counts.
  static Collection Of(const std::vector<EntryPtr>& entries) {
    std::array<Part, kParts> parts;
    for (const EntryPtr& entry : entries) parts[PartOf(entry->key)].push_back(entry);
    Collection made;
    for (Part& part : parts) {
      if (part.empty()) continue;
      std::stable_sort(part.begin(), part.end(),
                       [](const EntryPtr& a, const EntryPtr& b) { return a->key < b->key; });
      Part once;
      for (EntryPtr& entry : part) {
        if (!once.empty() && once.back()->key == entry->key) once.pop_back();
        once.push_back(std::move(entry));
      }
      once.shrink_to_fit();
      made.size_ += once.size();
      made.Put(std::move(once));
    }
    return made;
  }

 private:
  static constexpr size_t kParts = 256;
  using Part = std::vector<EntryPtr>;  // by key

  static size_t PartOf(std::string_view key) { return std::hash<std::string_view>()(key) % kParts; }

  template <typename SomePart>
  static auto Place(SomePart& part, std::string_view key) {
    return std::lower_bound(
        part.begin(), part.end(), key,
        [](const EntryPtr& entry, std::string_view wanted) { return entry->key < wanted; });
  }

  Part CopyOf(std::string_view key) const {
    const auto& part = parts_[PartOf(key)];
    return part == nullptr ? Part() : *part;
  }

  // Not empty.
  void Put(Part part) {
    const size_t at = PartOf(part.front()->key);
    parts_[at] = std::make_shared<const Part>(std::move(part));
  }

  std::array<std::shared_ptr<const Part>, kParts> parts_;
  size_t size_ = 0;
};

// Which objects, and what of them.
struct Selection {
  Resource resource;
  std::string ns{};  // empty: all namespaces
  std::string label_selector{};
  std::string field_selector{};
  std::vector<json::Projection::Path>
      fields{};                // what is kept of each object, as WithIdentity does
  bool metadata_only = false;  // `fields` are of the metadata: the server sends nothing else
  int64_t first_page = 0;      // objects; 0: PageSize::kFirst
};

// These members of an object, and metadata.namespace, name, uid and resourceVersion.
json::Projection WithIdentity(std::vector<json::Projection::Path> fields);

// Follows a collection: lists it, then watches from there, over broken connections, server
// restarts and expired versions, without end. Only a 410 makes it list again, and an event that is
// larger than an object may be; whatever fails is tried again after a pause that doubles up to half
// a minute and is spread, so that neither an API server that comes back nor one that is down meets
// a storm.
class Reflector {
 public:
  struct Handler {
    std::function<void()> list_started;               // the whole collection follows again
    std::function<void(const Value& object)> listed;  // one object of it
    // One that is larger than ClientOptions::object_bytes: no more than its metadata is known.
    // Null: lists fail while there is such an object.
    std::function<void(const Value& metadata_only, const Fault& fault)> left_out{};
    std::function<void()> list_done;                  // that was all
    std::function<void()> follows{};                  // following() has become true
    std::function<void(const WatchEvent&)> happened;  // a change; no bookmarks
    // Something failed; it goes on after `pause`.
    std::function<void(const Fault& fault, std::chrono::milliseconds pause)> failed;
    // Asked when a watch has ended: whether to list again instead of going on. Null: no.
    std::function<bool()> wants_list{};
  };

  // `client`, `sleeper` and `clock` must outlive it. `seed` spreads pauses and watch times.
  Reflector(Client& client, Sleeper& sleeper, const Clock& clock, Selection selection,
            Handler handler, uint64_t seed);

  // Until `stop`; in the caller's thread, where the handler is called too. Run again it lists
  // again: what happened meanwhile is not known.
  void Run(const std::stop_token& stop);

  // Whether what was reported is new, as far as one can know: since the newest fault there was a
  // list, a bookmark, an event or a watch that ended in good order. That a watch was opened again
  // says nothing: what happened meanwhile is still to come. False while nobody runs it. From any
  // thread.
  bool following() const { return following_; }

  // How often so far; from any thread.
  struct Counts {
    uint64_t lists = 0;
    uint64_t watches = 0;
    uint64_t faults = 0;
  };
  Counts counts() const { return {lists_, watches_, faults_}; }

 private:
  void Follow(const std::stop_token& stop);
  void SetFollowing(bool following);
  Answer<void> List(const std::stop_token& stop);
  Answer<void> Watch(const std::stop_token& stop);

  Client& client_;
  const Clock& clock_;
  Sleeper& sleeper_;
  const Selection selection_;
  const Handler handler_;
  const json::Projection fields_;
  Backoff backoff_;
  std::minstd_rand random_;
  std::string seen_;  // the newest resourceVersion; empty before the first list
  bool must_list_ = true;
  bool expired_before_ = false;  // a 410 since the last watch that held
  std::atomic<bool> following_ = false;
  std::atomic<uint64_t> lists_ = 0;
  std::atomic<uint64_t> watches_ = 0;
  std::atomic<uint64_t> faults_ = 0;
};

}  // namespace mindgate::kube
