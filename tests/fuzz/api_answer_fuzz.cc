// Any bytes as the answer of an API server, to each call of the client: no crash, no call without
// an end, every fault with a message, and a watch is the same however it is cut. The first two
// bytes choose the status and the size of the pieces.
#include <algorithm>
#include <array>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "fuzz/require.h"
#include "json/decode.h"
#include "kube/client.h"
#include "kube/fake_transport.h"
#include "watcher/scaling/pod.h"

namespace {

using namespace mindgate;
using testing::Require;

constexpr std::array<int, 12> kStatuses = {200, 201, 204, 400, 401, 403,
                                           404, 409, 410, 422, 429, 500};

// Answers all calls alike; after some, no more comes.
class Answering final : public kube::Transport {
 public:
  Answering(int status, std::string_view body, size_t piece)
      : status_(status), body_(body), piece_(piece) {}

  kube::Answer<kube::HttpAnswer> Send(const kube::HttpCall& call, std::stop_token) override {
    if (++calls_ > 5) return kube::Failed(kube::Reason::kUnreachable, "it has gone");
    if (call.answer_bytes > 0 && body_.size() > call.answer_bytes) {
      return kube::Failed(kube::Reason::kTooLarge, "it is too large");
    }
    return kube::HttpAnswer{.status = status_, .body = body_};
  }
  kube::Answer<kube::HttpAnswer> Stream(const kube::HttpCall& call, const Consume& consume,
                                        std::stop_token stop) override {
    if (status_ != 200) return Send(call, std::move(stop));
    bool more = consume("");
    for (std::string_view rest = body_; more && !rest.empty();
         rest.remove_prefix(std::min(rest.size(), piece_))) {
      more = consume(rest.substr(0, piece_));
    }
    return kube::HttpAnswer{.status = 200};
  }

 private:
  const int status_;
  const std::string body_;
  const size_t piece_;
  int calls_ = 0;
};

struct Called {
  Answering transport;
  kube::testing::TimedPauser sleeper{[](std::chrono::milliseconds) {}};
  kube::Client client{
      transport, sleeper, {.retries = 2, .page_bytes = 4 * 1024, .object_bytes = 8 * 1024}};

  Called(int status, std::string_view body, size_t piece) : transport(status, body, piece) {}
};

template <typename T>
void Check(const kube::Answer<T>& answer) {
  Require(answer.has_value() || !answer.error().message.empty());
}

const json::Projection& Fields() {
  static const json::Projection fields(watcher::scaling::PodFields());
  return fields;
}

std::vector<std::string> Watched(int status, std::string_view body, size_t piece,
                                 const json::Projection* fields) {
  Called called(status, body, piece);
  std::vector<std::string> reported;
  const auto ended = called.client.Watch(
      kube::resources::kPods, "", {}, fields,
      [&reported](const kube::WatchEvent& event) {
        reported.push_back(std::to_string(static_cast<int>(event.type)) + json::Dump(event.object));
        (void)watcher::scaling::PodOf(event.object);
      },
      {});
  Check(ended);
  reported.push_back(ended ? "ended" : ended.error().message);
  return reported;
}

// What is read item by item is what the whole text holds.
void CheckItems(std::string_view body) {
  const auto page = Called(200, body, 1).client.List(kube::resources::kPods, "");
  const auto whole = json::Decode(body);
  if (!page || !whole) return;
  const json::Json* items = json::Find(*whole, "items");
  Require(json::Json(page->items) == (items == nullptr ? json::Json::array() : *items));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2) return 0;
  const int status = kStatuses.at(data[0] % kStatuses.size());
  const size_t piece = 1 + data[1];
  const std::string_view body(reinterpret_cast<const char*>(data) + 2, size - 2);
  const auto& pods = kube::resources::kPods;
  for (const json::Projection* fields :
       {static_cast<const json::Projection*>(nullptr), &Fields()}) {
    Require(Watched(status, body, piece, fields) == Watched(status, body, body.size() + 1, fields));
    Check(Called(status, body, piece).client.List(pods, "", {}, fields));
    size_t items = 0;
    Check(Called(status, body, piece)
              .client.ListAll(pods, "", {.limit = 2}, fields,
                              {.started = [&items] { items = 0; },
                               .item =
                                   [&items](const json::Value& pod) {
                                     (void)watcher::scaling::PodOf(pod);
                                     ++items;
                                   },
                               .left_out = [](const json::Value&, const kube::Fault&) {}}));
  }
  CheckItems(body);
  Check(Called(status, body, piece).client.Get(pods, "ns", "pod"));
  Check(Called(status, body, piece).client.MergePatch(pods, "ns", "pod", json::Json::object()));
  Check(Called(status, body, piece).client.Delete(pods, "ns", "pod"));
  Check(Called(status, body, piece).client.Evict("ns", "pod"));
  return 0;
}
