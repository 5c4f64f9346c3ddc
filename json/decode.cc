#include "json/decode.h"

#include <simdjson.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "json/scanner.h"
#include "json/text_places.h"

namespace mindgate::json {
namespace {

namespace dom = simdjson::dom;

// Buffers for a text of this size, 13 bytes for each of its own, are kept; the few larger texts get
// their own.
constexpr size_t kMaxKept = 256 * 1024;

// Turns simdjson's document into a tree, up to the limits. Recursion is bounded by limits.depth.
class TreeBuilder {
 public:
  TreeBuilder(const Limits& limits, std::string_view left_out)
      : limits_(limits), left_out_(left_out) {}

  // False when a limit was passed or a key came twice; Scan then tells which and where. `kept`:
  // what of `from` is; null means all of it.
  bool Build(dom::element from, size_t depth, Json& out, const Projection::Node* kept) {
    if (kept != nullptr && kept->whole) kept = nullptr;
    if (++values_ > limits_.elements) return false;
    switch (from.type()) {
      case dom::element_type::STRING: {
        const std::string_view text = from.get_string().value_unsafe();
        out = std::string(text);
        return true;
      }
      case dom::element_type::OBJECT:
        return depth < limits_.depth && Object(from.get_object().value_unsafe(), depth, out, kept);
      case dom::element_type::ARRAY:
        return depth < limits_.depth && Array(from.get_array().value_unsafe(), depth, out, kept);
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
  bool Object(dom::object from, size_t depth, Json& out, const Projection::Node* kept) {
    out = Json::object();
    auto& members = *out.get_ptr<Json::object_t*>();
    for (const dom::key_value_pair member : from) {
      const Projection::Node* below = kept == nullptr ? nullptr : kept->Step(member.key);
      if (kept != nullptr && below == nullptr) continue;
      // Go writes maps in order of their keys, so the end is often the right place.
      const size_t before = members.size();
      const auto slot = members.emplace_hint(members.end(), member.key, nullptr);
      if (members.size() == before) return false;
      if (!left_out_.empty() && member.key == left_out_) continue;
      if (!Build(member.value, depth + 1, slot->second, below)) return false;
    }
    return true;
  }

  bool Array(dom::array from, size_t depth, Json& out, const Projection::Node* kept) {
    out = Json::array();
    auto& items = *out.get_ptr<Json::array_t*>();
    items.reserve(from.size());
    const Projection::Node* below = kept == nullptr ? nullptr : kept->Step("*");
    for (const dom::element item : from) {
      Json& place = items.emplace_back();
      if (kept != nullptr && below == nullptr) continue;
      if (!Build(item, depth + 1, place, below)) return false;
    }
    return true;
  }

  const Limits& limits_;
  std::string_view left_out_;
  size_t values_ = 0;
};

}  // namespace

struct Decoder::Buffers {
  dom::parser parser;
};

Decoder::Decoder(const Limits& limits, std::string_view left_out)
    : limits_(limits), left_out_(left_out) {}
Decoder::~Decoder() = default;
Decoder::Decoder(Decoder&&) noexcept = default;
Decoder& Decoder::operator=(Decoder&&) noexcept = default;

tl::expected<Json, Issue> Decoder::Decode(std::string_view text) {
  return DecodeFrom(text, nullptr);
}

tl::expected<Json, Issue> Decoder::Decode(std::string_view text, const Projection& kept) {
  return DecodeFrom(text, &kept.root());
}

tl::expected<Json, Issue> Decoder::DecodeFrom(std::string_view text, const Projection::Node* kept) {
  if (text.size() > limits_.bytes) {
    return tl::unexpected(Issue{{}, "", internal::TooLarge(limits_.bytes), ""});
  }
  const std::string_view content = internal::WithoutByteOrderMark(text);
  simdjson::error_code error = simdjson::SUCCESS;
  if (buffers_ == nullptr) {
    buffers_ = std::make_unique<Buffers>();
    // simdjson counts a scalar's surroundings as a level too; the exact limit is the builder's.
    error = buffers_->parser.allocate(content.size(), limits_.depth + 2);
  }
  dom::element root;
  if (!error) error = buffers_->parser.parse(content.data(), content.size()).get(root);
  Json value;
  const bool built = !error && TreeBuilder(limits_, left_out_).Build(root, 0, value, kept);
  if (buffers_->parser.capacity() > kMaxKept) buffers_.reset();
  if (built) return value;
  if (auto issue = internal::Scan(text, limits_, nullptr)) return tl::unexpected(*std::move(issue));
  const char* reason = error ? simdjson::error_message(error) : "the text was refused";
  return tl::unexpected(Issue{{}, "", reason, ""});
}

tl::expected<Json, Issue> Decode(std::string_view text, const Limits& limits) {
  return Decoder(limits).Decode(text);
}

}  // namespace mindgate::json
