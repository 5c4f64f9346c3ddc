// Whatever the bytes and however they are cut: no crash, bounded memory, and the same requests and
// refusal as in one piece. The first byte chooses the port and the size of the pieces.

#include <cstdint>
#include <cstdlib>
#include <vector>

#include "webhook/framing.h"

namespace {

using mindgate::webhook::Framer;
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

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 1) return 0;
  const Port port = (data[0] & 1) != 0 ? Port::kProbe : Port::kAdmission;
  const size_t piece = 1 + (data[0] >> 1) % 64;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  if (Run(port, bytes, bytes.size() + 1) != Run(port, bytes, piece)) std::abort();
  return 0;
}
