// Strict JSON from any bytes. What is accepted must be JSON to nlohmann too, come back the same
// from its own text, and have a place for every value; what is refused must say where.
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "fuzz/require.h"
#include "json/decode.h"

using namespace mindgate::json;
using mindgate::testing::Require;
using mindgate::testing::RequirePlaces;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const Limits limits{.bytes = 1 << 16, .depth = 32, .elements = 2000};
  const auto value = Decode(text, limits);
  if (!value) {
    Require(!value.error().message.empty());
    Require(value.error().at.line > 0 || size > limits.bytes);
    (void)Render(value.error(), "f", text);
    (void)PositionsOf(text);
    return 0;
  }
  Require(*value == Json::parse(text));
  const std::string printed = value->dump();
  const auto again = Decode(printed, {});
  Require(again && *again == *value && again->dump() == printed);
  RequirePlaces(*value, "", PositionsOf(text));
  return 0;
}
