#include "json/decode.h"

#include <simdjson.h>

#include <algorithm>
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

// The rows of a text of 64 KB, about.
constexpr size_t kFirstBlock = 128 * 1024;

// How many values the text may have at most: each begins it, or comes after one of these.
size_t MostValues(std::string_view text) {
  size_t count = 1;
  for (const char c : text) count += static_cast<size_t>((c == ',') | (c == '[') | (c == '{'));
  return count;
}

// Lays simdjson's document out in rows, up to the limits. Recursion is bounded by limits.depth.
class Layout {
 public:
  Layout(const Limits& limits, std::string_view left_out, Arena& arena)
      : limits_(limits), left_out_(left_out), arena_(arena) {}

  // False when a limit was passed or a key came twice; Scan then tells which and where. `kept`:
  // what of `from` is; null means all of it.
  bool Build(dom::element from, size_t depth, Value& out, const Projection::Node* kept) {
    if (kept != nullptr && kept->whole) kept = nullptr;
    if (++values_ > limits_.elements) return false;
    switch (from.type()) {
      case dom::element_type::STRING: {
        const std::string_view text = from.get_string().value_unsafe();
        text_bytes_ += text.size();
        out = Value::OfText(text);
        return true;
      }
      case dom::element_type::OBJECT:
        return depth < limits_.depth && Object(from.get_object().value_unsafe(), depth, out, kept);
      case dom::element_type::ARRAY:
        return depth < limits_.depth && List(from.get_array().value_unsafe(), depth, out, kept);
      case dom::element_type::INT64:
        out = Value::OfInt(from.get_int64().value_unsafe());
        return true;
      case dom::element_type::UINT64:
        out = Value::OfUnsigned(from.get_uint64().value_unsafe());
        return true;
      case dom::element_type::DOUBLE:
        out = Value::OfDouble(from.get_double().value_unsafe());
        return true;
      case dom::element_type::BOOL:
        out = Value::OfBool(from.get_bool().value_unsafe());
        return true;
      case dom::element_type::NULL_VALUE:
        out = Value();
        return true;
    }
    return false;
  }

  size_t text_bytes() const { return text_bytes_; }

 private:
  bool Object(dom::object from, size_t depth, Value& out, const Projection::Node* kept) {
    Member* const row = arena_.Row<Member>(from.size());
    size_t count = 0;
    for (const dom::key_value_pair member : from) {
      const Projection::Node* below = kept == nullptr ? nullptr : kept->Step(member.key);
      if (kept != nullptr && below == nullptr) continue;
      Member& slot = row[count++];
      slot = {member.key, Value()};
      text_bytes_ += member.key.size();
      if (!left_out_.empty() && member.key == left_out_) continue;
      if (!Build(member.value, depth + 1, slot.value, below)) return false;
    }
    out = Value::OfMembers({row, count});
    return SortMembers({row, count});
  }

  bool List(dom::array from, size_t depth, Value& out, const Projection::Node* kept) {
    Value* const row = arena_.Row<Value>(from.size());
    size_t count = 0;
    const Projection::Node* below = kept == nullptr ? nullptr : kept->Step("*");
    for (const dom::element item : from) {
      Value& slot = row[count++];
      slot = Value();
      if (kept != nullptr && below == nullptr) continue;
      if (!Build(item, depth + 1, slot, below)) return false;
    }
    out = Value::OfItems({row, count});
    return true;
  }

  const Limits& limits_;
  std::string_view left_out_;
  Arena& arena_;
  size_t values_ = 0;
  size_t text_bytes_ = 0;
};

}  // namespace

struct Decoder::Buffers {
  dom::parser parser;
  Arena arena{kFirstBlock};
  Value root;
  size_t text_bytes = 0;
};

Decoder::Decoder(const Limits& limits, std::string_view left_out)
    : limits_(limits), left_out_(left_out) {}
Decoder::~Decoder() = default;
Decoder::Decoder(Decoder&&) noexcept = default;
Decoder& Decoder::operator=(Decoder&&) noexcept = default;

void Decoder::Release() {
  if (buffers_ != nullptr && buffers_->parser.capacity() > kMaxKept) buffers_.reset();
}

size_t Decoder::held() const {
  return buffers_ == nullptr ? 0 : buffers_->arena.used() + buffers_->text_bytes;
}

tl::expected<const Value*, Issue> Decoder::Decode(std::string_view text) {
  return DecodeFrom(text, nullptr);
}

tl::expected<const Value*, Issue> Decoder::Decode(std::string_view text, const Projection& kept) {
  return DecodeFrom(text, &kept.root());
}

tl::expected<const Value*, Issue> Decoder::DecodeFrom(std::string_view text,
                                                      const Projection::Node* kept) {
  if (text.size() > limits_.bytes) {
    return tl::unexpected(Issue{{}, "", internal::TooLarge(limits_.bytes), "", true});
  }
  Limits limits = limits_;
  limits.elements = limits_.ElementsIn(text.size());
  // A value of a byte or two costs fifty while it is decoded, so a text of nothing else is refused
  // before.
  if (kept == nullptr && text.size() > limits.elements && MostValues(text) > limits.elements) {
    if (auto issue = internal::Scan(text, limits, nullptr))
      return tl::unexpected(*std::move(issue));
  }
  const std::string_view content = internal::WithoutByteOrderMark(text);
  Release();
  simdjson::error_code error = simdjson::SUCCESS;
  if (buffers_ == nullptr) {
    buffers_ = std::make_unique<Buffers>();
    // simdjson counts a scalar's surroundings as a level too; the exact limit is the layout's.
    error = buffers_->parser.allocate(content.size(), limits.depth + 2);
  }
  buffers_->arena.Clear();
  dom::element root;
  // An empty view may have no address at all.
  const char* const begin = content.empty() ? "" : content.data();
  if (!error) error = buffers_->parser.parse(begin, content.size()).get(root);
  Layout layout(limits, left_out_, buffers_->arena);
  if (!error && layout.Build(root, 0, buffers_->root, kept)) {
    buffers_->text_bytes = layout.text_bytes();
    return &buffers_->root;
  }
  buffers_->arena.Clear();
  buffers_->text_bytes = 0;
  if (auto issue = internal::Scan(text, limits, nullptr)) return tl::unexpected(*std::move(issue));
  const char* reason = error ? simdjson::error_message(error) : "the text was refused";
  return tl::unexpected(Issue{{}, "", reason, ""});
}

Document::Document(const Json& tree) : Document() { SetRoot(ValueOf(tree, arena())); }

Document Document::CopyOf(const Value& value) {
  Document copy;
  copy.SetRoot(json::CopyOf(value, copy.arena()));
  return copy;
}

tl::expected<Document, Issue> Document::Decode(std::string_view text, const Limits& limits) {
  auto decoder = std::make_unique<Decoder>(limits);
  const auto root = decoder->Decode(text);
  if (!root) return tl::unexpected(root.error());
  Document document;
  document.decoder_ = std::move(decoder);
  document.root_ = *root;
  return document;
}

tl::expected<Json, Issue> Decode(std::string_view text, const Limits& limits) {
  Decoder decoder(limits);
  const auto root = decoder.Decode(text);
  if (!root) return tl::unexpected(root.error());
  return TreeOf(**root);
}

}  // namespace mindgate::json
