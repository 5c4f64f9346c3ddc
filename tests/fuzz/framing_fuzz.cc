// Whatever the bytes and however they are cut: no crash, bounded memory, and the same requests and
// refusal as in one piece. What comes through is fit for the HTTP layer: it answers each with one
// whole answer, and its handler gets the body as it was sent. The first byte chooses the port and
// the size of the pieces.

#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "base/text.h"
#include "webhook/framing.h"
#include "webhook/http_layer.h"

namespace {

using mindgate::webhook::Framer;
using mindgate::webhook::HttpLayer;
using mindgate::webhook::HttpRequest;
using mindgate::webhook::HttpResponse;
using mindgate::webhook::Port;
using mindgate::webhook::Refusal;
using mindgate::webhook::Request;

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

void Serve(const Request& request) {
  static std::string got;
  static const HttpLayer* const layer = [] {
    auto* http = new HttpLayer([](std::string_view) { std::abort(); }, [] {});
    const auto handler = [](const HttpRequest& seen) {
      got = seen.body;
      return HttpResponse{.body = "answer"};
    };
    for (const char* path : {"/mutate", "/validate"}) http->Post(path, handler);
    for (const char* path : {"/livez", "/readyz"}) http->Get(path, handler);
    return http;
  }();
  got = "not called";
  const auto answer = layer->Serve(request, request.close);
  Check(answer.close == request.close);
  const std::string_view bytes = answer.bytes;
  const bool found = bytes.starts_with("HTTP/1.1 200 OK\r\n");
  Check(found || bytes.starts_with("HTTP/1.1 404 Not Found\r\n"));
  const size_t end = bytes.find("\r\n\r\n");
  Check(end != std::string_view::npos);
  const std::string_view body = bytes.substr(end + 4);
  const bool head = request.head.starts_with("HEAD ");
  Check(body == (head ? "" : found ? "answer" : "no such path\n"));
  Check(!found || got == request.body);
  // No header but ours, whatever was sent.
  for (const std::string_view line : mindgate::Split(bytes.substr(0, end), '\n')) {
    Check(line.starts_with("HTTP/1.1 ") || line.starts_with("Content-Length: ") ||
          line.starts_with("Content-Type: ") || line == "Connection: close\r" ||
          line == "Connection: close" || (head && line.starts_with("Accept-Ranges: bytes")));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 1) return 0;
  const Port port = (data[0] & 1) != 0 ? Port::kProbe : Port::kAdmission;
  const size_t piece = 1 + (data[0] >> 1) % 64;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const Outcome whole = Run(port, bytes, bytes.size() + 1);
  Check(whole == Run(port, bytes, piece));
  for (const Request& request : whole.requests) Serve(request);
  return 0;
}
