#include "kube/events.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "base/threads.h"
#include "json/value.h"
#include "kube/answers.h"

namespace mindgate::kube {
namespace {

// A parent and a member, or a member alone; the first that is there counts.
struct TimeField {
  std::string_view parent;
  std::string_view member;
};
constexpr std::array<TimeField, 4> kTimeFields = {{{"series", "lastObservedTime"},
                                                   {"", "deprecatedLastTimestamp"},
                                                   {"", "eventTime"},
                                                   {"metadata", "creationTimestamp"}}};

template <typename Tree>
std::string FirstTimeOf(const Tree& event) {
  for (const TimeField& place : kTimeFields) {
    std::string time = place.parent.empty() ? json::TextAt(event, {place.member})
                                            : json::TextAt(event, {place.parent, place.member});
    if (!time.empty()) return time;
  }
  return "";
}

}  // namespace

std::string LastTimeOf(const json::Value& event) { return FirstTimeOf(event); }
std::string LastTimeOf(const json::Json& event) { return FirstTimeOf(event); }

std::vector<json::Projection::Path> LastTimeFields() {
  std::vector<json::Projection::Path> fields;
  for (const TimeField& place : kTimeFields) {
    json::Projection::Path path;
    if (!place.parent.empty()) path.emplace_back(place.parent);
    path.emplace_back(place.member);
    fields.push_back(std::move(path));
  }
  return fields;
}

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

namespace {

// What an API server takes (k8s.io/kubernetes pkg/apis/core/validation/events.go).
constexpr size_t kMaxNote = 1024;
constexpr size_t kMaxWord = 128;    // a reason or an action
constexpr size_t kMaxName = 253;    // of an object
constexpr size_t kSuffix = 1 + 16;  // "." and 64 bits in hex

bool IsSubdomain(std::string_view name) {
  return std::ranges::all_of(Split(name, '.'), IsDns1123Label);
}

// "web-0.17c4a0b2e8d93f51". Names of some kinds, such as roles, are not valid names of Events.
std::string NameFor(const ObjectReference& object, uint64_t number) {
  std::string name = IsSubdomain(object.name) ? object.name : ToLower(object.kind);
  name.resize(std::min(name.size(), kMaxName - kSuffix));
  while (name.ends_with('-') || name.ends_with('.')) name.pop_back();
  std::array<char, kSuffix + 1> suffix;
  std::snprintf(suffix.data(), suffix.size(), ".%016llx", static_cast<unsigned long long>(number));
  return name + suffix.data();
}

// An Event is in the namespace of its object; "default" is for objects that have none.
const std::string& NamespaceOf(const EventRecord& record) {
  static const std::string kDefault = "default";
  return record.regarding.ns.empty() ? kDefault : record.regarding.ns;
}

Json SeriesOf(const EventBook::Entry& entry) {
  return {{"count", entry.count}, {"lastObservedTime", FormatMicroTime(entry.last_wall)}};
}

Json Reference(const ObjectReference& object) {
  Json reference = {
      {"apiVersion", object.api_version}, {"kind", object.kind}, {"name", object.name}};
  if (!object.ns.empty()) reference["namespace"] = object.ns;
  if (!object.uid.empty()) reference["uid"] = object.uid;
  return reference;
}

Answer<void> Nothing(const Answer<Json>& answer) {
  if (answer) return {};
  return tl::unexpected(answer.error());
}

}  // namespace

Recorder::Recorder(Client& client, Sleeper& sleeper, const Clock& clock, Options options,
                   uint64_t seed)
    : client_(client),
      sleeper_(sleeper),
      clock_(clock),
      options_(std::move(options)),
      random_(seed),
      backoff_(seed),
      thread_(StartThread("events", [this] { Work(); })) {}

Recorder::~Recorder() {
  stop_.request_stop();
  {
    MutexLock lock(mutex_);
    changed_.WaitFor(lock, options_.drain, [this]() REQUIRES(mutex_) { return ended_; });
  }
  cut_.request_stop();
  thread_.join();
}

void Recorder::Record(EventRecord record) {
  record.reason = Cut(std::move(record.reason), kMaxWord);
  record.action = Cut(std::move(record.action), kMaxWord);
  record.note = Cut(std::move(record.note), kMaxNote);
  Occurrence occurrence{std::move(record), clock_.Now(), clock_.WallNow()};
  const MutexLock lock(mutex_);
  if (queue_.size() >= options_.queue) {
    ++counts_.dropped;
    return;
  }
  queue_.push_back(std::move(occurrence));
  changed_.NotifyAll();
}

bool Recorder::Flush(std::chrono::milliseconds timeout) {
  MutexLock lock(mutex_);
  const uint64_t ticket = ++flush_asked_;
  changed_.NotifyAll();
  return changed_.WaitFor(lock, timeout, [&]() REQUIRES(mutex_) { return flush_done_ >= ticket; });
}

Recorder::Counts Recorder::counts() const {
  const MutexLock lock(mutex_);
  return counts_;
}

void Recorder::Work() {
  MutexLock lock(mutex_);
  while (!ended_) {
    Wait(lock);
    const bool last = stop_.stop_requested();
    if (cut_.stop_requested()) {
      counts_.failed += queue_.size();
      queue_.clear();
    }
    if (queue_.empty()) {
      const uint64_t ticket = flush_asked_;
      const bool flush = ticket != flush_done_;
      lock.Unlock();
      WriteDue(last || flush);
      lock.Lock();
      flush_done_ = ticket;
      ended_ = last && queue_.empty();
      changed_.NotifyAll();
      continue;
    }
    const Occurrence occurrence = std::move(queue_.front());
    queue_.pop_front();
    lock.Unlock();
    EventBook::Entry* entry = book_.Add(occurrence.record, occurrence.now, occurrence.wall);
    if (entry != nullptr) WriteWithRetries(*entry);
    WriteDue(false);
    lock.Lock();
    counts_.limited = book_.limited();
  }
}

// Until there is something to do.
void Recorder::Wait(MutexLock& lock) {
  const auto ready = [this]() REQUIRES(mutex_) {
    return !queue_.empty() || flush_asked_ != flush_done_;
  };
  const auto due = book_.NextDue();
  if (due) {
    changed_.WaitFor(lock, stop_.get_token(), *due - clock_.Now(), ready);
  } else {
    changed_.Wait(lock, stop_.get_token(), ready);
  }
}

void Recorder::WriteDue(bool even_early) {
  for (EventBook::Entry* entry : book_.Due(clock_.Now(), even_early)) WriteWithRetries(*entry);
}

// Writes it, or gives it up.
void Recorder::WriteWithRetries(EventBook::Entry& entry) {
  for (int tries = 1;; ++tries) {
    const auto written = Write(entry);
    if (written) {
      backoff_.Reset();
      book_.Written(entry, clock_.Now());
      Count(&Counts::written);
      return;
    }
    const Fault& fault = written.error();
    if (options_.failed && fault.reason != Reason::kStopped) options_.failed(fault);
    const auto pause = std::max<std::chrono::milliseconds>(
        backoff_.Next(), fault.retry_after.value_or(std::chrono::seconds(0)));
    if (fault.transient() && tries < options_.tries && sleeper_.Sleep(pause, stop_.get_token())) {
      continue;
    }
    book_.Forget(entry);
    Count(&Counts::failed);
    return;
  }
}

Answer<void> Recorder::Write(EventBook::Entry& entry) {
  if (entry.written == 0) return Create(entry);
  auto written =
      Nothing(client_.MergePatch(resources::kEvents, NamespaceOf(entry.record), entry.name,
                                 {{"series", SeriesOf(entry)}}, {}, {}, cut_.get_token()));
  if (written || written.error().reason != Reason::kNotFound) return written;
  // Events live for an hour (kube-apiserver --event-ttl).
  entry.name.clear();
  entry.written = 0;
  return Create(entry);
}

Answer<void> Recorder::Create(EventBook::Entry& entry) {
  if (entry.name.empty()) entry.name = NameFor(entry.record.regarding, random_());
  auto created = Nothing(client_.Create(resources::kEvents, NamespaceOf(entry.record),
                                        EventOf(entry), {}, cut_.get_token()));
  // By ourselves, in a try whose answer was lost.
  if (!created && created.error().reason == Reason::kAlreadyExists) return {};
  return created;
}

Json Recorder::EventOf(const EventBook::Entry& entry) const {
  const EventRecord& record = entry.record;
  Json event = {
      {"apiVersion", resources::kEvents.api_version()},
      {"kind", resources::kEvents.kind},
      {"metadata", {{"name", entry.name}, {"namespace", NamespaceOf(record)}}},
      {"eventTime", FormatMicroTime(entry.last_wall)},
      {"reportingController", options_.controller},
      {"reportingInstance", options_.instance},
      {"regarding", Reference(record.regarding)},
      {"type", record.type == EventRecord::Type::kWarning ? "Warning" : "Normal"},
      {"reason", record.reason},
      {"action", record.action},
      {"note", record.note},
  };
  if (entry.count > 1) event["series"] = SeriesOf(entry);
  return event;
}

void Recorder::Count(uint64_t Counts::* counter) {
  const MutexLock lock(mutex_);
  ++(counts_.*counter);
}

}  // namespace mindgate::kube
