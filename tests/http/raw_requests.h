#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "http/request.h"

namespace mindgate::http::testing {

// One raw request and what becomes of it. `want` is "METHOD target|body" for each request that
// comes through, then "!name" of the refusal that ends it, or "..." when more bytes are awaited:
// "POST /mutate|{}, !line_ending".
struct RawRequest {
  std::string name;
  std::string bytes;
  std::string want;
  Port port = Port::kPosts;
};

// "POST /mutate" with a body and the headers that kube-apiserver sends; `extra` are more header
// lines with their ends.
inline std::string Post(std::string_view body, std::string_view extra = "",
                        std::string_view target = "/mutate?timeout=5s") {
  return "POST " + std::string(target) +
         " HTTP/1.1\r\nHost: mindgate.mindgate-system.svc:443\r\n"
         "User-Agent: kube-apiserver-admission\r\nAccept: application/json, */*\r\n"
         "Content-Type: application/json\r\nAccept-Encoding: gzip\r\nContent-Length: " +
         std::to_string(body.size()) + "\r\n" + std::string(extra) + "\r\n" + std::string(body);
}

// A head from lines, the ends and the empty line added; then `body`.
inline std::string Head(const std::vector<std::string>& lines, std::string_view body = "") {
  std::string head;
  for (const std::string& line : lines) head += line + "\r\n";
  return head + "\r\n" + std::string(body);
}

// Every way to frame a request right and wrong that has a name: smuggling, limits, encodings,
// methods.
const std::vector<RawRequest>& RawRequests();

}  // namespace mindgate::http::testing
