// Whatever the bytes and however they are cut: no crash, bounded memory, and the same requests and
// refusal as in one piece. Each request that comes through is routed and gets one whole answer,
// with no header but ours. The first byte chooses the port and the size of the pieces.

#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "base/text.h"
#include "http/request.h"
#include "http/response.h"

namespace {

using mindgate::http::Framer;
using mindgate::http::Method;
using mindgate::http::Port;
using mindgate::http::Refusal;
using mindgate::http::Request;
using mindgate::http::Response;
using mindgate::http::Router;

struct Outcome {
  std::vector<Request> requests;
  bool refused = false;
  Refusal refusal{};
  bool operator==(const Outcome&) const = default;
};

Outcome Run(Port port, std::string_view bytes, size_t piece) {
  Outcome outcome;
  Framer framer(port);
  while (!bytes.empty()) {
    std::string_view rest = bytes.substr(0, piece);
    bytes.remove_prefix(rest.size());
    while (!rest.empty()) {
      rest.remove_prefix(framer.Consume(rest));
      if (framer.held() > 17 * 1024 + 7 * 1024 * 1024) std::abort();
      if (framer.state() == Framer::State::kRefused) {
        outcome.refused = true;
        outcome.refusal = framer.refusal();
        return outcome;
      }
      if (framer.state() == Framer::State::kComplete) outcome.requests.push_back(framer.Take());
    }
  }
  return outcome;
}

void Check(bool holds) {
  if (!holds) std::abort();
}

Response Answer(const Request&) { return Response{.body = "answer"}; }

void Serve(const Request& request) {
  static const Router* const router = new Router(
      {{"/mutate", Answer}, {"/validate", Answer}, {"/livez", Answer}, {"/readyz", Answer}},
      [](std::string_view) { std::abort(); }, [] {});
  Response response = router->Serve(request);
  response.close = request.close;
  const bool head_only = request.method == Method::kHead;
  std::string bytes;
  AppendResponse(response, head_only, bytes);
  const bool found = bytes.starts_with("HTTP/1.1 200 OK\r\n");
  Check(found || bytes.starts_with("HTTP/1.1 404 Not Found\r\n"));
  const size_t end = bytes.find("\r\n\r\n");
  Check(end != std::string::npos);
  Check(bytes.substr(end + 4) == (head_only ? "" : found ? "answer" : "no such path\n"));
  for (const std::string_view line :
       mindgate::Split(std::string_view(bytes).substr(0, end), '\n')) {
    Check(line.starts_with("HTTP/1.1 ") || line.starts_with("Content-Length: ") ||
          line.starts_with("Content-Type: ") || line == "Connection: close");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 1) return 0;
  const Port port = (data[0] & 1) != 0 ? Port::kGets : Port::kPosts;
  const size_t piece = 1 + (data[0] >> 1) % 64;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const Outcome whole = Run(port, bytes, bytes.size() + 1);
  Check(whole == Run(port, bytes, piece));
  for (const Request& request : whole.requests) Serve(request);
  return 0;
}
