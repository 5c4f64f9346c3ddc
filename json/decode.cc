#include "json/decode.h"

#include <simdjson.h>

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>
#include <utility>

#include "json/row_stack.h"
#include "json/scanner.h"
#include "json/text_places.h"

namespace mindgate::json {
namespace {

namespace ondemand = simdjson::ondemand;

static_assert(Text::kPadding >= simdjson::SIMDJSON_PADDING);

// Buffers for a text of this size are kept; the few larger texts get their own.
constexpr size_t kMaxKept = 256 * 1024;

// Rows of larger texts get their memory at once, as much as they can take: growing would need half
// as much again. No more than a text of 7 MiB may have; pages are taken as they are used.
constexpr size_t kMaxGrown = 64 * 1024;
constexpr size_t kMaxReserved = 512 * 1024;

// The rows of a text of 16 KB, about. Grows with the texts that come.
constexpr size_t kFirstBlock = 32 * 1024;

// How much a text may hold at most.
struct Bounds {
  size_t values = 1;   // each begins the text, or comes after ',', '[' or '{'
  size_t members = 0;  // each has a ':'
};

Bounds BoundsOf(std::string_view text) {
  constexpr uint64_t kOnes = 0x0101010101010101;
  constexpr uint64_t kLow = kOnes * 0x7F;
  // How many bytes are 0: each gives a one, and the product has their sum in its highest byte.
  const auto zeros = [](uint64_t bytes) {
    return static_cast<size_t>(((~(((bytes & kLow) + kLow) | bytes | kLow) >> 7) * kOnes) >> 56);
  };
  Bounds most;
  while (text.size() >= sizeof(uint64_t)) {
    uint64_t bytes = 0;
    std::memcpy(&bytes, text.data(), sizeof bytes);
    static_assert(('[' | 0x20) == '{');
    most.values += zeros(bytes ^ (kOnes * ',')) + zeros((bytes | (kOnes * 0x20)) ^ (kOnes * '{'));
    most.members += zeros(bytes ^ (kOnes * ':'));
    text.remove_prefix(sizeof bytes);
  }
  most.values += text.size();
  most.members += text.size();
  return most;
}

// Where a text has escapes. Asked from its begin to its end, it looks at every byte once.
class Escapes {
 public:
  explicit Escapes(std::string_view text)
      : end_(text.data() + text.size()), next_(From(text.data())) {}

  bool Within(std::string_view part) {
    if (next_ < part.data()) next_ = From(part.data());
    return next_ < part.data() + part.size();
  }

 private:
  const char* From(const char* begin) const {
    const void* found = std::memchr(begin, '\\', static_cast<size_t>(end_ - begin));
    return found == nullptr ? end_ : static_cast<const char*>(found);
  }

  const char* const end_;
  const char* next_;
};

// Lays a text out in rows while simdjson walks through it, up to the limits. Recursion is bounded
// by limits.depth.
class Layout {
 public:
  Layout(std::string_view text, const Limits& limits, std::string_view left_out, Arena& arena,
         RowStack<Member>& members, RowStack<Value>& items)
      : limits_(limits),
        left_out_(left_out),
        escapes_(text),
        arena_(arena),
        members_(members),
        items_(items) {}

  // False when the text has a fault, a limit was passed or a key came twice; Scan then tells which
  // and where.
  bool Root(ondemand::document& from, Value& out, const Projection::Node* kept) {
    ondemand::value root;
    if (from.get_value().get(root)) return false;
    out = Build(root, 0, kept);
    return !failed_ && AtEnd(from);
  }

  // The only item of a list.
  bool Item(ondemand::document& from, Value& out) {
    ondemand::array list;
    if (from.get_array().get(list)) return false;
    size_t count = 0;
    for (auto next : list) {
      if (++count > 1 || next.error()) return false;
      out = Build(next.value_unsafe(), 0, nullptr);
    }
    return !failed_ && count == 1 && AtEnd(from);
  }

 private:
  static bool AtEnd(ondemand::document& from) {
    return from.current_location().error() == simdjson::OUT_OF_BOUNDS;
  }

  Value Fail() {
    failed_ = true;
    return {};
  }

  // Values are returned and simdjson's used where they are: copies through memory of what was just
  // written in parts took half of the time. `kept`: what of `from` is; null means all of it. What
  // is not is read all the same, so that no fault passes, but takes no row.
  Value Build(ondemand::value& from, size_t depth, const Projection::Node* kept) {
    if (kept != nullptr && kept->whole) kept = nullptr;
    if (kept != &nothing_ && ++values_ > limits_.elements) return Fail();
    ondemand::json_type type;
    if (from.type().get(type)) return Fail();
    switch (type) {
      case ondemand::json_type::string:
        return String(from);
      case ondemand::json_type::object:
        return Object(from, depth, kept);
      case ondemand::json_type::array:
        return List(from, depth, kept);
      case ondemand::json_type::number:
        return Number(from);
      case ondemand::json_type::boolean: {
        bool boolean = false;
        return from.get_bool().get(boolean) ? Fail() : Value::OfBool(boolean);
      }
      case ondemand::json_type::null: {
        bool null = false;
        return from.is_null().get(null) || !null ? Fail() : Value();
      }
    }
    return Fail();
  }

  // A view of the text itself, unless there is an escape in it.
  Value String(ondemand::value& from) {
    std::string_view text = from.raw_json_token();  // and blanks
    text.remove_suffix(text.size() - 1 - text.find_last_of('"'));
    if (text.size() < 2) return Fail();
    text = text.substr(1, text.size() - 2);
    if (escapes_.Within(text)) {
      if (from.get_string().get(text)) return Fail();
    } else {
      ondemand::raw_json_string passed;
      if (from.get_raw_json_string().get(passed)) return Fail();
    }
    return Value::OfText(text);
  }

  // simdjson 3.0.1 gives wrong values for floats of 20 digits and more, so nlohmann reads them all:
  // floats are rare.
  Value Number(ondemand::value& from) {
    ondemand::number_type type;
    if (from.get_number_type().get(type)) return Fail();
    if (type == ondemand::number_type::floating_point_number) {
      const Json number = Json::parse(from.raw_json_token(), nullptr, /*allow_exceptions=*/false);
      return number.is_number_float() ? Value::OfDouble(number.get<double>()) : Fail();
    }
    if (type == ondemand::number_type::signed_integer) {
      int64_t number = 0;
      return from.get_int64().get(number) ? Fail() : Value::OfInt(number);
    }
    uint64_t number = 0;
    return from.get_uint64().get(number) ? Fail() : Value::OfUnsigned(number);
  }

  Value Object(ondemand::value& from, size_t depth, const Projection::Node* kept) {
    ondemand::object object;
    if (depth >= limits_.depth || from.get_object().get(object)) return Fail();
    const size_t begin = members_.size();
    for (auto next : object) {
      if (next.error()) return Fail();
      ondemand::field& field = next.value_unsafe();
      const std::string_view key = Key(field);
      const Projection::Node* below = Step(kept, key);
      const bool emptied = !left_out_.empty() && key == left_out_;
      const Value value = Build(field.value(), depth + 1, emptied ? &nothing_ : below);
      if (failed_) return {};
      if (below != &nothing_) members_.Push(key, emptied ? Value() : value);
    }
    if (!SortMembers(members_.From(begin))) return Fail();
    return Value::OfMembers(members_.End(begin, arena_));
  }

  // It ends before the colon that comes before the value.
  std::string_view Key(ondemand::field& field) {
    const char* const begin = field.key().raw();
    const char* end = field.value().raw_json_token().data();
    for (const char wanted : {':', '"'}) {
      do --end;
      while (end > begin && *end != wanted);
    }
    std::string_view key(begin, static_cast<size_t>(end - begin));
    if (escapes_.Within(key) && field.unescaped_key().get(key)) Fail();
    return key;
  }

  const Projection::Node* Step(const Projection::Node* kept, std::string_view key) const {
    if (kept == nullptr) return nullptr;
    const Projection::Node* below = kept->Step(key);
    return below == nullptr ? &nothing_ : below;
  }

  Value List(ondemand::value& from, size_t depth, const Projection::Node* kept) {
    ondemand::array list;
    if (depth >= limits_.depth || from.get_array().get(list)) return Fail();
    const size_t begin = items_.size();
    const Projection::Node* below = Step(kept, "*");
    for (auto next : list) {
      if (next.error()) return Fail();
      const Value item = Build(next.value_unsafe(), depth + 1, below);
      if (failed_) return {};
      if (kept != &nothing_) items_.Push(below == &nothing_ ? Value() : item);
    }
    return Value::OfItems(items_.End(begin, arena_));
  }

  const Projection::Node nothing_;
  const Limits& limits_;
  std::string_view left_out_;
  Escapes escapes_;
  Arena& arena_;
  RowStack<Member>& members_;
  RowStack<Value>& items_;
  size_t values_ = 0;
  bool failed_ = false;
};

}  // namespace

struct Decoder::Buffers {
  ondemand::parser parser;
  std::string copy;  // of the text, with room after it
  Arena arena{kFirstBlock};
  RowStack<Member> members;
  RowStack<Value> items;
  Value root;

  void Clear() {
    arena.Clear();
    members.Clear();
    items.Clear();
  }
};

Decoder::Decoder(const Limits& limits, std::string_view left_out)
    : limits_(limits), left_out_(left_out) {}
Decoder::~Decoder() = default;
Decoder::Decoder(Decoder&&) noexcept = default;
Decoder& Decoder::operator=(Decoder&&) noexcept = default;

void Decoder::Release() {
  if (buffers_ != nullptr && buffers_->parser.capacity() > kMaxKept) buffers_.reset();
}

tl::expected<const Value*, Issue> Decoder::Decode(Text text) { return DecodeFrom(text, nullptr); }

tl::expected<const Value*, Issue> Decoder::Decode(Text text, const Projection& kept) {
  return DecodeFrom(text, &kept.root());
}

tl::expected<const Value*, Issue> Decoder::DecodeFrom(Text from, const Projection::Node* kept) {
  const std::string_view text = from.text();
  if (text.size() > limits_.bytes) {
    return tl::unexpected(Issue{{}, "", internal::TooLarge(limits_.bytes), "", true});
  }
  Limits limits = limits_;
  limits.elements = limits_.ElementsIn(text.size());
  // A value of a byte or two costs fifty while it is decoded, so a text of nothing else is refused
  // before.
  Limits all = limits;
  if (kept != nullptr) all.elements = limits_.ValuesIn(text.size());
  if (text.size() / 2 > all.elements && BoundsOf(text).values > all.elements) {
    if (auto issue = internal::CountValues(text, all)) return tl::unexpected(*std::move(issue));
  }
  if (LayOut(from, limits, kept)) return &buffers_->root;
  buffers_->Clear();
  if (auto issue = internal::Scan(text, limits, nullptr)) return tl::unexpected(*std::move(issue));
  return tl::unexpected(Issue{{}, "", "the text was refused", ""});
}

bool Decoder::LayOut(Text from, const Limits& limits, const Projection::Node* kept) {
  Release();
  if (buffers_ == nullptr) buffers_ = std::make_unique<Buffers>();
  buffers_->Clear();
  std::string_view content = internal::WithoutByteOrderMark(from.text());
  // simdjson is lenient about a scalar that stands alone, so it gets a list of it.
  const size_t begin = content.find_first_not_of(" \t\r\n");
  const bool scalar = begin == content.npos || (content[begin] != '{' && content[begin] != '[');
  if (scalar || !from.in_place()) {
    std::string& copy = buffers_->copy;
    copy.reserve(content.size() + 2 + Text::kPadding);
    copy.assign(scalar ? "[" : "").append(content).append(scalar ? "]" : "");
    content = copy;
  }
  // simdjson 3.0.1 takes a NUL after a number for the end of the text.
  if (content.find('\0') != content.npos) return false;
  if (kept == nullptr && content.size() > kMaxGrown) {
    const Bounds most = BoundsOf(content);
    buffers_->members.Reserve(std::min(most.members, kMaxReserved));
    buffers_->items.Reserve(std::min(most.values, kMaxReserved));
  }
  ondemand::document document;
  if (buffers_->parser.iterate(content, content.size() + Text::kPadding).get(document)) {
    return false;
  }
  Layout layout(content, limits, left_out_, buffers_->arena, buffers_->members, buffers_->items);
  return scalar ? layout.Item(document, buffers_->root)
                : layout.Root(document, buffers_->root, kept);
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
