#include "webhook/refusal.h"

#include <array>
#include <string>
#include <utility>

namespace mindgate::webhook {
namespace {

// In the order of the enumeration. A 503 carries an integer Retry-After, because the API server
// repeats a call only then (client-go: rest/with_retry.go). One second when work piles up, so that
// repeats do not add to the pile; none while draining, where the repeat lands on another replica.
constexpr std::array<RefusalInfo, kRefusalCount> kInfos = {{
    {400, "request_line", "malformed request line: want METHOD /path HTTP/1.1", ""},
    {505, "version", "only HTTP/1.1 is supported", ""},
    {405, "not_post", "method not allowed: send POST", "Allow: POST"},
    {405, "not_get", "method not allowed: send GET", "Allow: GET, HEAD"},
    {414, "target_too_long", "request target too long: at most 2048 bytes", ""},
    {400, "line_ending", "every line of the head must end in CR LF", ""},
    {400, "control_byte", "control byte in a header", ""},
    {400, "header_name", "malformed header: want a token followed at once by a colon", ""},
    {400, "folded_header", "a header must not continue on the next line", ""},
    {431, "too_many_headers", "too many headers: at most 100", ""},
    {431, "head_too_large", "request head too large: at most 16384 bytes", ""},
    {400, "host", "want exactly one Host header", ""},
    {400, "content_length", "want exactly one Content-Length, a decimal number", ""},
    {411, "no_content_length", "Content-Length is required", ""},
    {413, "body_too_large", "request body too large: at most 7340032 bytes", ""},
    {400, "length_and_coding", "Content-Length and Transfer-Encoding exclude each other", ""},
    {501, "transfer_encoding", "Transfer-Encoding is not supported: send Content-Length", ""},
    {415, "content_encoding", "Content-Encoding is not supported: send plain JSON",
     "Accept-Encoding: identity"},
    {415, "content_type", "Content-Type must be application/json, with charset utf-8 if any", ""},
    {417, "expectation", "the only expectation understood is 100-continue", ""},
    {400, "unexpected_body", "a request here must not have a body", ""},
    {408, "timeout", "the request did not arrive in time", ""},
    {503, "no_memory", "too many bytes in flight, try again", "Retry-After: 1"},
    {503, "queue_full", "too many reviews waiting, try again", "Retry-After: 1"},
    {503, "too_late", "the caller's timeout left no room for a decision, try again",
     "Retry-After: 1"},
    {503, "draining", "shutting down, try another replica", "Retry-After: 0"},
    {503, "not_ready", "no configuration or certificate loaded yet, try again", "Retry-After: 1"},
    {404, "not_found", "no such path", ""},
    {400, "empty_body", "empty body: want an AdmissionReview", ""},
    {400, "undecodable", "the body is not valid JSON", ""},
    {400, "not_admission_review",
     "want an AdmissionReview of admission.k8s.io/v1 or admission.k8s.io/v1beta1", ""},
    {400, "no_request", "the AdmissionReview has no request", ""},
    {400, "bad_request", "the request of the AdmissionReview is malformed", ""},
    {500, "internal", "internal error, see the log of mindgate", ""},
}};

}  // namespace

const RefusalInfo& InfoOf(Refusal refusal) { return kInfos[static_cast<size_t>(refusal)]; }

Response RefusalResponse(Refusal refusal, std::string_view detail) {
  const RefusalInfo& info = InfoOf(refusal);
  std::string text(info.text);
  if (!detail.empty()) {
    text += ": ";
    text += detail;
  }
  text += '\n';
  Response response = PlainText(info.status, std::move(text));
  response.header = info.header;
  return response;
}

}  // namespace mindgate::webhook
