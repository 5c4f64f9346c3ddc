#include "http/response.h"

#include <array>
#include <charconv>
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

}  // namespace mindgate::http
