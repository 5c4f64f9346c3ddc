#pragma once

#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

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

}  // namespace mindgate::kube
