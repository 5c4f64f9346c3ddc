// YAML from any bytes. What is accepted must come back the same, in kind too, from our own YAML of
// it, and have a place for every value; what is refused must say where.
#include <cstdint>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "json/pointer.h"
#include "json/yaml.h"

namespace {

using namespace mindgate::json;

// Aborts, so that the fuzzer keeps the input.
void Require(bool holds) {
  if (!holds) std::abort();
}

// DecodeYaml bounds the depth.
void RequirePlaces(const Json& value, const std::string& pointer, const Positions& places) {
  Require(places.At(pointer).line > 0 && places.At(pointer).column > 0);
  if (value.is_object()) {
    for (const auto& [key, item] : value.items()) RequirePlaces(item, Child(pointer, key), places);
  } else if (value.is_array()) {
    for (size_t i = 0; i < value.size(); ++i) RequirePlaces(value[i], Child(pointer, i), places);
  }
}

}  // namespace

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
