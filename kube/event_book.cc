#include "kube/event_book.h"

#include <algorithm>

#include "kube/understood.h"

namespace mindgate::kube {

namespace {

bool IsUnderstood(const ObjectReference& object) {
  return IsName(object.api_version) && IsName(object.kind) && IsName(object.ns) &&
         IsName(object.name) && IsName(object.uid);
}

}  // namespace

EventBook::Entry* EventBook::Add(const EventRecord& record, Clock::Instant now, Time wall) {
  if (!IsUnderstood(record.regarding)) {
    ++limited_;
    return nullptr;
  }
  const auto found = entries_.find(record);
  if (found != entries_.end() && now - found->second.last < kSeriesEnd) {
    Entry& entry = found->second;
    ++entry.count;
    entry.last = now;
    entry.last_wall = wall;
    return nullptr;
  }
  if (!TakeToken(record.regarding, now)) {
    ++limited_;
    return nullptr;
  }
  if (found != entries_.end()) entries_.erase(found);
  MakeRoom(now);
  Entry& entry = entries_[record];
  entry.record = record;
  entry.last = now;
  entry.last_wall = wall;
  return &entry;
}

void EventBook::Written(Entry& entry, Clock::Instant now) {
  entry.written = entry.count;
  entry.written_at = now;
}

void EventBook::Forget(const Entry& entry) { entries_.erase(EventRecord(entry.record)); }

std::vector<EventBook::Entry*> EventBook::Due(Clock::Instant now, bool even_early) {
  std::vector<Entry*> due;
  for (auto& [key, entry] : entries_) {
    if (entry.count == entry.written) continue;
    if (even_early || now - entry.written_at >= kBetweenWrites) due.push_back(&entry);
  }
  return due;
}

std::optional<Clock::Instant> EventBook::NextDue() const {
  std::optional<Clock::Instant> next;
  for (const auto& [key, entry] : entries_) {
    if (entry.count == entry.written) continue;
    const auto due = entry.written_at + kBetweenWrites;
    next = next ? std::min(*next, due) : due;
  }
  return next;
}

int64_t EventBook::Bucket::TokensAt(Clock::Instant now) const {
  return std::min<int64_t>(kBurst, tokens + (now - filled) / kRefill);
}

bool EventBook::TakeToken(const ObjectReference& object, Clock::Instant now) {
  if (buckets_.size() >= kMax && !buckets_.contains(object)) {
    // A bucket that is full again says no more than none does.
    std::erase_if(buckets_,
                  [now](const auto& pair) { return pair.second.TokensAt(now) == kBurst; });
    if (buckets_.size() >= kMax) return false;
  }
  Bucket& bucket = buckets_.try_emplace(object, Bucket{kBurst, now}).first->second;
  bucket.tokens = bucket.TokensAt(now);
  bucket.filled += (now - bucket.filled) / kRefill * kRefill;
  if (bucket.tokens == 0) return false;
  --bucket.tokens;
  return true;
}

// Singles and series that have ended go first, then what has not happened for the longest time.
void EventBook::MakeRoom(Clock::Instant now) {
  if (entries_.size() < kMax) return;
  std::erase_if(entries_, [now](const auto& pair) {
    return pair.second.count == pair.second.written && now - pair.second.last >= kSeriesEnd;
  });
  if (entries_.size() < kMax) return;
  entries_.erase(
      std::min_element(entries_.begin(), entries_.end(),
                       [](const auto& a, const auto& b) { return a.second.last < b.second.last; }));
}

}  // namespace mindgate::kube
