#pragma once

#include <string_view>

#include "http/response.h"

namespace mindgate::http {

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

}  // namespace mindgate::http
