#include "schemas/config_load.h"

#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "json/yaml.h"
#include "schemas/config_table.h"

namespace mindgate::schemas {
std::string HashText(std::string_view text) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  std::string digits(16, '0');
  for (size_t i = digits.size(); i-- > 0; hash >>= 4) digits[i] = "0123456789abcdef"[hash & 15];
  return digits;
}

tl::expected<Config, json::Issues> LoadConfig(std::string_view text, const KnownNames& known,
                                              json::Issues* warnings) {
  auto documents = json::DecodeYaml(text);
  if (!documents) return tl::unexpected(json::Issues(std::move(documents.error())));
  if (documents->size() > 1) {
    return tl::unexpected(json::Issues({{(*documents)[1].line, 1},
                                        "",
                                        "a configuration file holds only one document",
                                        "remove the line of three dashes, or this document"}));
  }
  Config config;
  if (!documents->empty()) {
    const json::YamlDocument& document = documents->front();
    Reading reading(document.value, document.positions);
    if (!ReadDocument(ConfigTable(known), document.value, reading, config)) {
      return tl::unexpected(reading.Faults());
    }
    if (warnings != nullptr) *warnings = reading.Warnings();
  }
  config.generation = HashText(text);
  return config;
}

}  // namespace mindgate::schemas
