#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

namespace mindgate::http {

inline constexpr std::string_view kJsonType = "application/json";
inline constexpr std::string_view kTextType = "text/plain; charset=utf-8";

// What a request is answered with. Views are of constants.
struct Response {
  int status = 200;
  std::string_view content_type = kJsonType;
  std::string body = {};
  std::string_view header = {};  // one more line of the head, without its end: "Retry-After: 1"
  bool close = false;            // the connection ends after it

  bool operator==(const Response&) const = default;
};

// For those who have only text to say.
Response PlainText(int status, std::string text);

// "Payload Too Large"; "Error" for a status that mindgate never sends.
std::string_view ReasonPhrase(int status);

// Appends the answer as it goes on the wire; there is no other place that writes one. `head_only`
// is for a HEAD: its answer says how long the body would be and leaves it out.
void AppendResponse(const Response& response, bool head_only, std::string& out);

// Why a request is turned away before a handler has seen it, or instead of its answer. Each has one
// exact answer, and one value of the `reason` label of a metric.
enum class Refusal {
  // What the framing finds in the bytes; the connection closes after the answer.
  kRequestLine,
  kVersion,
  kNotPost,
  kNotGet,
  kTargetTooLong,
  kLineEnding,
  kControlByte,
  kHeaderName,
  kFoldedHeader,
  kTooManyHeaders,
  kHeadTooLarge,
  kHost,
  kContentLength,
  kNoContentLength,
  kBodyTooLarge,
  kLengthAndCoding,
  kTransferEncoding,
  kContentEncoding,
  kContentType,
  kExpectation,
  kUnexpectedBody,
  // What the connection decides.
  kTimeout,
  kNoMemory,
  kTooLate,
  // What the router finds in a complete request, or meets while it is handled.
  kNotFound,
  kInternal,
};

inline constexpr size_t kRefusalCount = static_cast<size_t>(Refusal::kInternal) + 1;

struct RefusalInfo {
  int status;
  std::string_view name;    // metric label, snake_case
  std::string_view text;    // body of the answer, one line
  std::string_view header;  // one more header line without CR LF, or empty
};

const RefusalInfo& InfoOf(Refusal refusal);

// `detail`, if any, follows the text.
Response RefusalResponse(const RefusalInfo& info, std::string_view detail = {});
inline Response RefusalResponse(Refusal refusal, std::string_view detail = {}) {
  return RefusalResponse(InfoOf(refusal), detail);
}

// What a connection is doing.
enum class Phase { kHandshake, kIdle, kReading, kExecuting, kWriting, kLingering };
inline constexpr size_t kPhaseCount = 6;
inline constexpr std::array<std::string_view, kPhaseCount> kPhaseNames = {
    "handshake", "idle", "reading", "executing", "writing", "closing"};

// Why a connection ended without having been asked to.
enum class Drop {
  kHandshakeFailed,
  kHandshakeTimeout,
  kHandshakeCap,
  kIdleTimeout,
  kWriteTimeout,
  kEvicted,
  kOverCap,
  kNoDescriptor
};
inline constexpr size_t kDropCount = 8;
inline constexpr std::array<std::string_view, kDropCount> kDropNames = {
    "handshake_failed", "handshake_timeout", "handshake_cap", "idle_timeout",
    "write_timeout",    "evicted",           "over_cap",      "no_descriptor",
};

// Counts of one port's connection layer. Written by its threads, read by the metrics. Safe from
// many threads.
struct LayerStats {
  std::array<std::atomic<int64_t>, kPhaseCount> connections{};
  std::array<std::atomic<uint64_t>, kDropCount> drops{};
  std::array<std::atomic<uint64_t>, kRefusalCount> refusals{};
  std::atomic<uint64_t> accepted{0};

  int64_t In(Phase phase) const { return connections[static_cast<size_t>(phase)].load(); }
  uint64_t Count(Drop drop) const { return drops[static_cast<size_t>(drop)].load(); }
  uint64_t Count(Refusal refusal) const { return refusals[static_cast<size_t>(refusal)].load(); }
  void Add(Drop drop) { ++drops[static_cast<size_t>(drop)]; }
  void Add(Refusal refusal) { ++refusals[static_cast<size_t>(refusal)]; }
  int64_t Open() const {
    int64_t sum = 0;
    for (const auto& count : connections) sum += count.load();
    return sum;
  }
};

}  // namespace mindgate::http
