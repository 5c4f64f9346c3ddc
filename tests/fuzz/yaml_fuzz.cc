// YAML from any bytes. What is accepted must come back the same, in kind too, from our own YAML of
// it, and have a place for every value; what is refused must say where.
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "fuzz/require.h"
#include "json/yaml.h"

using namespace mindgate::json;
using mindgate::testing::Require;
using mindgate::testing::RequirePlaces;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const Limits limits{.bytes = 1 << 16, .depth = 32, .elements = 2000};
  const auto documents = DecodeYaml(text, limits);
  if (!documents) {
    Require(!documents.error().message.empty());
    Require(documents.error().at.line > 0 && documents.error().at.column > 0);
    (void)Render(documents.error(), "f", text);
    return 0;
  }
  for (const YamlDocument& document : *documents) {
    Require(document.line > 0);
    RequirePlaces(document.value, "", document.positions);
    const std::string yaml = EncodeYaml(document.value);
    const auto again = DecodeYaml(yaml);
    Require(again && again->size() == 1);
    Require(again->front().value == document.value);
    Require(again->front().value.dump() == document.value.dump());
  }
  return 0;
}
