#include "schemas/config.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>

#include "json/yaml.h"
#include "schemas/config_table.h"

namespace mindgate::schemas {
namespace {

constexpr std::array<std::pair<Mode, std::string_view>, 4> kModes = {{
    {Mode::kOff, "off"},
    {Mode::kAudit, "audit"},
    {Mode::kWarn, "warn"},
    {Mode::kEnforce, "enforce"},
}};

}  // namespace

std::string_view ModeName(Mode mode) { return kModes[static_cast<size_t>(mode)].second; }

Config::Config() {
  for (const FrameworkInfo& info : kFrameworks) {
    profiles[static_cast<size_t>(info.framework)] = {std::string(info.fault_scheduling),
                                                     std::string(info.pod_rescheduling),
                                                     std::string(info.fault_retry_times)};
  }
}

const NamespaceOverride* Config::OverrideFor(std::string_view ns) const {
  for (const NamespaceOverride& candidate : namespaces) {
    if (MatchesPattern(candidate.name, ns)) return &candidate;
  }
  return nullptr;
}

bool MatchesPattern(std::string_view pattern, std::string_view text) {
  if (pattern.ends_with('*')) return text.starts_with(pattern.substr(0, pattern.size() - 1));
  return pattern == text;
}

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
    ReadContext reading(document.value, document.positions);
    if (!ReadDocument(ConfigTable(known), document.value, reading, config)) {
      return tl::unexpected(reading.Faults());
    }
    if (warnings != nullptr) *warnings = reading.Warnings();
  }
  config.generation = HashText(text);
  return config;
}

namespace {

constexpr size_t kWidth = 100;

// Appends comment lines, broken at words.
void Comment(std::string_view text, size_t indent, std::string& out) {
  const std::string margin = std::string(indent, ' ') + "#";
  std::string line = margin;
  while (!text.empty()) {
    const size_t end = std::min(text.find(' '), text.size());
    if (line.size() + 1 + end > kWidth && line != margin) {
      out += line + "\n";
      line = margin;
    }
    line += " " + std::string(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  out += line + "\n";
}

// A scalar as one writes it by hand: on and off bare, other text quoted where it must be.
std::string Scalar(const OrderedJson& value) {
  if (!value.is_string()) return value.dump();
  const auto& text = value.get_ref<const std::string&>();
  const bool is_word =
      !text.empty() &&
      text.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") == std::string::npos;
  const bool bare = text == "on" || text == "off" ||
                    (is_word && json::ResolvePlainScalar(text) == json::Json(text));
  return bare ? text : value.dump();
}

// The default as one writes it. A text without one is empty, where it may be; other keys without
// one are left to a comment.
std::optional<std::string> DefaultOf(const OrderedJson& property) {
  if (const auto value = property.find("default"); value != property.end()) return Scalar(*value);
  if (property.value("type", OrderedJson()) != "string") return std::nullopt;
  const bool may_be_empty = !property.contains("minLength") && !property.contains("enum") &&
                            !property.contains("pattern");
  return may_be_empty ? std::optional<std::string>("\"\"") : std::nullopt;
}

// An example in flow style, which is JSON with bare words.
std::string Flow(const OrderedJson& value) {
  std::string out;
  if (value.is_object()) {
    for (const auto& [key, member] : value.items()) {
      out += (out.empty() ? "" : ", ") + key + ": " + Flow(member);
    }
    return "{" + out + "}";
  }
  if (value.is_array()) {
    for (const auto& item : value) out += (out.empty() ? "" : ", ") + Flow(item);
    return "[" + out + "]";
  }
  return Scalar(value);
}

void Example(const OrderedJson& example, std::string& out) {
  if (example.is_object()) {
    for (const auto& [key, value] : example.items()) {
      Comment("  " + key + ": " + Flow(value), 0, out);
    }
    return;
  }
  for (const auto& item : example) {
    std::string_view lead = "  - ";
    for (const auto& [key, value] : item.items()) {
      out += "#" + std::string(lead) + key + ": " + Flow(value) + "\n";
      lead = "    ";
    }
  }
}

void DescribeItems(const OrderedJson& schema, std::string& out) {
  const auto items = schema.find("items");
  if (items == schema.end()) return;
  for (const auto& [key, member] : (*items)["properties"].items()) {
    Comment("- " + key + ": " + member["description"].get<std::string>(), 0, out);
  }
}

}  // namespace

OrderedJson ConfigSchema(const KnownNames& known) {
  return DocumentSchema("mindgate.yaml",
                        "Configuration of mindgate. Every key is optional and has a default. "
                        "Unknown keys are errors.",
                        ConfigTable(known).Schema());
}

std::string DefaultConfigFile(const KnownNames& known) {
  const OrderedJson schema = ConfigSchema(known);
  std::string out;
  Comment(
      "mindgate.yaml: the defaults of every key. `mindgate config schema` prints its JSON Schema.",
      0, out);
  Comment(schema["description"].get<std::string>(), 0, out);
  for (const auto& [key, property] : schema["properties"].items()) {
    out += "\n";
    Comment(property["description"].get<std::string>(), 0, out);
    DescribeItems(property, out);
    if (const auto examples = property.find("examples"); examples != property.end()) {
      Comment("For example:", 0, out);
      Comment(key + ":", 0, out);
      Example(examples->front(), out);
    }
    if (const auto value = DefaultOf(property)) {
      out += key + ": " + *value + "\n";
      continue;
    }
    const auto members = property.find("properties");
    if (members == property.end()) {
      Comment(key + ":", 0, out);
      continue;
    }
    out += key + ":" + (members->empty() ? " {}" : "") + "\n";
    for (const auto& [name, member] : members->items()) {
      Comment(member["description"].get<std::string>(), 2, out);
      const auto inner_members = member.find("properties");
      if (const auto value = DefaultOf(member)) {
        out += "  " + name + ": " + *value + "\n";
      } else if (inner_members == member.end()) {
        Comment(name + ":", 2, out);
      } else {
        out += "  " + name + ":\n";
        for (const auto& [label, inner] : inner_members->items()) {
          const auto written = DefaultOf(inner);
          out += written ? "    " + label + ": " + *written + "\n" : "    # " + label + ":\n";
        }
      }
    }
  }
  return out;
}

}  // namespace mindgate::schemas
