#include "json/decode.h"

#include <simdjson.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "json/scanner.h"
#include "json/text_places.h"

namespace mindgate::json {
namespace {

namespace dom = simdjson::dom;

// Turns simdjson's document into a tree, up to the limits. Recursion is bounded by limits.depth.
class TreeBuilder {
 public:
  explicit TreeBuilder(const Limits& limits) : limits_(limits) {}

  // False when a limit was passed or a key came twice; Scan then tells which and where.
  bool Build(dom::element from, size_t depth, Json& out) {
    if (++values_ > limits_.elements) return false;
    switch (from.type()) {
      case dom::element_type::STRING: {
        const std::string_view text = from.get_string().value_unsafe();
        out = std::string(text);
        return true;
      }
      case dom::element_type::OBJECT:
        return depth < limits_.depth && Object(from.get_object().value_unsafe(), depth, out);
      case dom::element_type::ARRAY:
        return depth < limits_.depth && Array(from.get_array().value_unsafe(), depth, out);
      case dom::element_type::INT64:
        out = from.get_int64().value_unsafe();
        return true;
      case dom::element_type::UINT64:
        out = from.get_uint64().value_unsafe();
        return true;
      case dom::element_type::DOUBLE:
        out = from.get_double().value_unsafe();
        return true;
      case dom::element_type::BOOL:
        out = from.get_bool().value_unsafe();
        return true;
      case dom::element_type::NULL_VALUE:
        return true;
    }
    return false;
  }

 private:
  bool Object(dom::object from, size_t depth, Json& out) {
    out = Json::object();
    auto& members = *out.get_ptr<Json::object_t*>();
    for (const dom::key_value_pair member : from) {
      // Go writes maps in order of their keys, so the end is often the right place.
      const size_t before = members.size();
      const auto slot = members.emplace_hint(members.end(), member.key, nullptr);
      if (members.size() == before) return false;
      if (!Build(member.value, depth + 1, slot->second)) return false;
    }
    return true;
  }

  bool Array(dom::array from, size_t depth, Json& out) {
    out = Json::array();
    auto& items = *out.get_ptr<Json::array_t*>();
    items.reserve(from.size());
    for (const dom::element item : from) {
      if (!Build(item, depth + 1, items.emplace_back())) return false;
    }
    return true;
  }

  const Limits& limits_;
  size_t values_ = 0;
};

}  // namespace

tl::expected<Json, Issue> Decode(std::string_view text, const Limits& limits) {
  if (text.size() > limits.bytes) {
    return tl::unexpected(Issue{{}, "", internal::TooLarge(limits.bytes), ""});
  }
  const std::string_view content = internal::WithoutByteOrderMark(text);
  dom::parser parser;
  // simdjson counts a scalar's surroundings as a level too; the exact limit is the builder's.
  simdjson::error_code error = parser.allocate(content.size(), limits.depth + 2);
  dom::element root;
  if (!error) error = parser.parse(content.data(), content.size()).get(root);
  Json value;
  if (!error && TreeBuilder(limits).Build(root, 0, value)) return value;
  if (auto issue = internal::Scan(text, limits, nullptr)) return tl::unexpected(*std::move(issue));
  const char* reason = error ? simdjson::error_message(error) : "the text was refused";
  return tl::unexpected(Issue{{}, "", reason, ""});
}

}  // namespace mindgate::json
