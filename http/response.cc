#include "http/response.h"

#include <array>
#include <charconv>
#include <string>
#include <utility>

namespace mindgate::http {
namespace {

// Of a head without its one more header, about: "HTTP/1.1 431 Request Header Fields Too Large",
// Content-Type, Content-Length, Connection.
constexpr size_t kHeadBytes = 192;

void AppendNumber(size_t number, std::string& out) {
  std::array<char, 20> digits;  // of 2^64
  const auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(), number);
  out.append(digits.data(), end);
}

}  // namespace

Response PlainText(int status, std::string text) {
  return {.status = status, .content_type = kTextType, .body = std::move(text)};
}

std::string_view ReasonPhrase(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 400:
      return "Bad Request";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 408:
      return "Request Timeout";
    case 411:
      return "Length Required";
    case 413:
      return "Payload Too Large";
    case 414:
      return "URI Too Long";
    case 415:
      return "Unsupported Media Type";
    case 417:
      return "Expectation Failed";
    case 431:
      return "Request Header Fields Too Large";
    case 500:
      return "Internal Server Error";
    case 501:
      return "Not Implemented";
    case 503:
      return "Service Unavailable";
    case 505:
      return "HTTP Version Not Supported";
    default:
      return "Error";
  }
}

void AppendResponse(const Response& response, bool head_only, std::string& out) {
  const std::string_view body = head_only ? std::string_view() : response.body;
  out.reserve(out.size() + kHeadBytes + response.header.size() + body.size());
  out += "HTTP/1.1 ";
  AppendNumber(static_cast<size_t>(response.status), out);
  out += ' ';
  out += ReasonPhrase(response.status);
  out += "\r\nContent-Type: ";
  out += response.content_type;
  out += "\r\nContent-Length: ";
  AppendNumber(response.body.size(), out);
  out += "\r\n";
  if (!response.header.empty()) {
    out += response.header;
    out += "\r\n";
  }
  if (response.close) out += "Connection: close\r\n";
  out += "\r\n";
  out += body;
}

namespace {

// In the order of the enumeration. A 503 carries an integer Retry-After, because the API server
// repeats a call only then (client-go: rest/with_retry.go): one second, so that repeats do not add
// to what piles up.
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
    {503, "too_late", "the caller's timeout left no room for a decision, try again",
     "Retry-After: 1"},
    {404, "not_found", "no such path", ""},
    {500, "internal", "internal error, see the log of mindgate", ""},
}};

}  // namespace

const RefusalInfo& InfoOf(Refusal refusal) { return kInfos[static_cast<size_t>(refusal)]; }

Response RefusalResponse(const RefusalInfo& info, std::string_view detail) {
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

}  // namespace mindgate::http
