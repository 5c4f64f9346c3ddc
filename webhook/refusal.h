#pragma once

#include <string_view>

#include "webhook/response.h"

namespace mindgate::webhook {

// Why a request is turned away before, or instead of, an admission decision. Each has one exact
// answer, and one value of the `reason` label of mindgate_webhook_rejects_total.
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
  // What the connection layer and the work queue decide.
  kTimeout,
  kNoMemory,
  kQueueFull,
  kTooLate,
  kDraining,
  kNotReady,
  // What the routes and the AdmissionReview codec find in a complete request.
  kNotFound,
  kEmptyBody,
  kUndecodable,
  kNotAdmissionReview,
  kNoRequest,
  kBadRequest,
  kInternal,
};

inline constexpr size_t kRefusalCount = static_cast<size_t>(Refusal::kInternal) + 1;

struct RefusalInfo {
  int status;
  std::string_view name;    // metric label, snake_case
  std::string_view text;    // body of the answer, one line; the API server shows it to the user
  std::string_view header;  // one more header line without CR LF, or empty
};

const RefusalInfo& InfoOf(Refusal refusal);

// `detail`, if any, follows the text.
Response RefusalResponse(Refusal refusal, std::string_view detail = {});

}  // namespace mindgate::webhook
