#pragma once

#include <string>
#include <string_view>

#include "http/request.h"
#include "http/response.h"

namespace mindgate::http::testing {

// As it goes on the wire.
inline std::string Formatted(const Response& response, bool head_only = false) {
  std::string bytes;
  AppendResponse(response, head_only, bytes);
  return bytes;
}

// What a text of that status looks like on the wire, spelled apart from what the server does.
// `header` is one more line.
inline std::string TextAnswer(std::string_view status, std::string_view body,
                              std::string_view header = "", bool close = false) {
  return "HTTP/1.1 " + std::string(status) +
         "\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: " +
         std::to_string(body.size()) + "\r\n" +
         (header.empty() ? "" : std::string(header) + "\r\n") +
         (close ? "Connection: close\r\n" : "") + "\r\n" + std::string(body);
}

inline std::string Answer(Response response, bool close) {
  response.close = close;
  return Formatted(response);
}

inline std::string RefusalAnswer(Refusal refusal, bool close) {
  return Answer(RefusalResponse(refusal), close);
}

inline std::string_view NameOf(Method method) {
  return method == Method::kPost ? "POST" : method == Method::kHead ? "HEAD" : "GET";
}

// "METHOD target|body", as in RawRequest::want.
inline std::string Described(const Request& request) {
  return std::string(NameOf(request.method)) + " " + request.target + "|" + request.body;
}

}  // namespace mindgate::http::testing
