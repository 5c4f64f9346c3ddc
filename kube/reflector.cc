#include "kube/reflector.h"

#include <nlohmann/json.hpp>
#include <utility>

namespace mindgate::kube {
namespace {

// client-go asks for 5 to 10 minutes (tools/cache/reflector.go, minWatchTimeout).
constexpr int64_t kShortestWatch = 300;
constexpr int64_t kMaxWatch = 600;
// After a fault. The server sends a bookmark two seconds before a watch ends (k8s.io/apiserver
// pkg/storage/cacher/cache_watcher.go, nextBookmarkTime), else about once a minute.
constexpr std::chrono::seconds kWatchAfterFault(5);
// A watch that held so long was a good one: the next failure is a new story.
constexpr std::chrono::seconds kGoodWatch(30);

std::string VersionOf(const Value& object) {
  return std::string(
      json::AsString(json::FindPath(object, {"metadata", "resourceVersion"})).value_or(""));
}

}  // namespace

json::Projection WithIdentity(std::vector<json::Projection::Path> fields) {
  for (const char* name : {"namespace", "name", "uid", "resourceVersion"}) {
    fields.push_back({"metadata", name});
  }
  return json::Projection(fields);
}

Reflector::Reflector(Client& client, Sleeper& sleeper, const Clock& clock, Selection selection,
                     Handler handler, uint64_t seed)
    : client_(client),
      clock_(clock),
      sleeper_(sleeper),
      selection_(std::move(selection)),
      handler_(std::move(handler)),
      fields_(WithIdentity(selection_.fields)),
      backoff_(seed),
      random_(seed + 1) {}

void Reflector::Run(const std::stop_token& stop) {
  Follow(stop);
  must_list_ = true;
  SetFollowing(false);
}

void Reflector::Follow(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    const Clock::Instant started = clock_.Now();
    const bool lists = must_list_;
    const auto answer = lists ? List(stop) : Watch(stop);
    if (stop.stop_requested()) return;
    const bool held = !lists && clock_.Now() - started >= kGoodWatch;
    if (held) {
      backoff_.Reset();
      expired_before_ = false;
    }
    SetFollowing(answer.has_value());
    if (!lists && handler_.wants_list && handler_.wants_list()) must_list_ = true;
    if (answer) {
      // An orderly end at once, again and again, would be a busy loop too.
      if (!lists && !held && !sleeper_.Sleep(backoff_.Next(), stop)) return;
      continue;
    }
    const Fault& fault = answer.error();
    ++faults_;
    // To a list, an object that is too large is one object.
    if (fault.reason == Reason::kTooLarge) must_list_ = true;
    if (fault.reason == Reason::kExpired) {
      must_list_ = true;
      // The server is well and has only forgotten: what was paused for before it was is over.
      if (!expired_before_) backoff_.Reset();
      expired_before_ = true;
    }
    auto pause = backoff_.Next();
    if (fault.retry_after && pause < *fault.retry_after) pause = *fault.retry_after;
    handler_.failed(fault, pause);
    if (!sleeper_.Sleep(pause, stop)) return;
  }
}

void Reflector::SetFollowing(bool following) {
  if (following_.exchange(following) == following) return;
  if (following && handler_.follows) handler_.follows();
}

Answer<void> Reflector::List(const std::stop_token& stop) {
  // The newest state: pages of another one the server does not make.
  const ListOptions options{.label_selector = selection_.label_selector,
                            .field_selector = selection_.field_selector,
                            .limit = selection_.first_page,
                            .continue_token = {},
                            .resource_version = {},
                            .metadata_only = selection_.metadata_only};
  ++lists_;
  auto version = client_.ListAll(
      selection_.resource, selection_.ns, options, &fields_,
      {.started = handler_.list_started, .item = handler_.listed, .left_out = handler_.left_out},
      stop);
  if (!version) return tl::unexpected(version.error());
  seen_ = *std::move(version);
  must_list_ = false;
  handler_.list_done();
  return {};
}

Answer<void> Reflector::Watch(const std::stop_token& stop) {
  std::uniform_int_distribution<int64_t> length(kShortestWatch, kMaxWatch);
  const WatchOptions options{
      .label_selector = selection_.label_selector,
      .field_selector = selection_.field_selector,
      .resource_version = seen_,
      .timeout = following_ ? std::chrono::seconds(length(random_)) : kWatchAfterFault,
      .metadata_only = selection_.metadata_only};
  ++watches_;
  return client_.Watch(
      selection_.resource, selection_.ns, options, &fields_,
      [this](const WatchEvent& event) {
        std::string version = VersionOf(event.object);
        if (event.type != WatchEvent::Type::kBookmark) handler_.happened(event);
        if (!version.empty()) seen_ = std::move(version);
        SetFollowing(true);
      },
      stop);
}

}  // namespace mindgate::kube
