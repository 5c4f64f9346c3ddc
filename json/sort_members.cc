#include <algorithm>
#include <array>
#include <cstring>
#include <utility>
#include <vector>

#include "json/value.h"

namespace mindgate::json {
namespace {

// A row of fewer members is in the caches with its keys.
constexpr size_t kMinWide = 512;

// Keys can be chosen so that each round only shortens them: the rest is then compared.
constexpr int kMaxRounds = 3;

bool KeyLess(const Member& a, const Member& b) { return a.key < b.key; }
bool KeyNotLess(const Member& a, const Member& b) { return a.key >= b.key; }

// How many bytes all keys begin with.
size_t SharedBytes(std::span<const Member> members) {
  const std::string_view first = members.front().key;
  size_t shared = first.size();
  for (const Member& member : members) {
    const size_t most = std::min(shared, member.key.size());
    if (std::memcmp(first.data(), member.key.data(), most) == 0) {
      shared = most;
    } else {
      shared = static_cast<size_t>(
          std::mismatch(first.begin(), first.end(), member.key.begin()).first - first.begin());
    }
  }
  return shared;
}

// The four bytes of the key at `begin`, as a number in the order of keys.
uint64_t FourBytes(std::string_view key, size_t begin) {
  uint64_t bytes = 0;
  for (size_t i = begin; i < begin + 4; ++i) {
    bytes = bytes << 8 | (i < key.size() ? static_cast<unsigned char>(key[i]) : 0);
  }
  return bytes;
}

uint64_t BytesOf(uint64_t entry) { return entry >> 32; }
size_t PlaceOf(uint64_t entry) { return static_cast<uint32_t>(entry); }

// Moves each member where its entry stands. Afterwards the places are those of the new order.
void Rearrange(std::span<Member> members, std::span<uint64_t> order) {
  for (size_t begin = 0; begin < order.size(); ++begin) {
    if (PlaceOf(order[begin]) == begin) continue;
    const Member first = members[begin];
    for (size_t at = begin;;) {
      const size_t from = PlaceOf(order[at]);
      order[at] = BytesOf(order[at]) << 32 | at;
      if (from == begin) {
        members[at] = first;
        break;
      }
      members[at] = members[from];
      at = from;
    }
  }
}

// Orders entries by their bytes, from the one at `shift` on: each pass distributes them over 256
// parts in place.
void SortByBytes(std::span<uint64_t> order, int shift) {
  constexpr size_t kMinParts = 64;
  constexpr int kLastByte = 32;
  if (order.size() < kMinParts || shift < kLastByte) {
    std::sort(order.begin(), order.end());
    return;
  }
  const auto part_of = [shift](uint64_t entry) { return (entry >> shift) & 0xFF; };
  std::array<size_t, 256> ends{};
  for (const uint64_t entry : order) ++ends[part_of(entry)];
  std::array<size_t, 256> next{};  // place in each part that may hold another part's entry
  size_t end = 0;
  for (size_t part = 0; part < ends.size(); ++part) {
    next[part] = end;
    end += ends[part];
    ends[part] = end;
  }
  for (size_t part = 0; part < ends.size(); ++part) {
    while (next[part] < ends[part]) {
      uint64_t& entry = order[next[part]];
      const size_t home = part_of(entry);
      if (home != part) std::swap(entry, order[next[home]]);
      ++next[home];
    }
  }
  size_t begin = 0;
  for (const size_t part_end : ends) {
    const size_t count = part_end - begin;
    if (count > 1) SortByBytes(order.subspan(begin, count), shift - 8);
    begin = part_end;
  }
}

bool SortNarrow(std::span<Member> members) {
  std::sort(members.begin(), members.end(), KeyLess);
  return std::adjacent_find(members.begin(), members.end(), KeyNotLess) == members.end();
}

// Comparing the keys of a wide row waits for memory again and again, as they stand all over the
// text. So four bytes of each, behind those that all of them share, are read once and sorted in
// their place. Only keys that agree in these are compared. `order` has an entry for each member.
// False when a key is there twice.
bool SortWide(std::span<Member> members, std::span<uint64_t> order, int rounds) {
  if (members.size() < kMinWide || rounds == 0) return SortNarrow(members);
  const size_t shared = SharedBytes(members);
  for (size_t i = 0; i < members.size(); ++i) {
    order[i] = FourBytes(members[i].key, shared) << 32 | i;
  }
  SortByBytes(order, 56);
  Rearrange(members, order);
  for (size_t begin = 0, end = 0; begin < order.size(); begin = end) {
    const uint64_t bytes = BytesOf(order[begin]);
    while (end < order.size() && BytesOf(order[end]) == bytes) ++end;
    const size_t count = end - begin;
    if (count == 1) continue;
    if (!SortWide(members.subspan(begin, count), order.subspan(begin, count), rounds - 1)) {
      return false;
    }
  }
  return true;
}

}  // namespace

bool SortMembers(std::span<Member> members) {
  // Go writes maps in the order of their keys, so there is often nothing to do.
  if (std::adjacent_find(members.begin(), members.end(), KeyNotLess) == members.end()) return true;
  std::vector<uint64_t> order(members.size() < kMinWide ? 0 : members.size());
  return SortWide(members, order, kMaxRounds);
}

}  // namespace mindgate::json
