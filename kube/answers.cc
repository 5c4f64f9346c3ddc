#include "kube/answers.h"

#include <algorithm>

#include "base/text.h"
#include "json/scanner.h"

namespace mindgate::kube {
namespace {

using json::EndOfString;
using json::EndOfValue;
using json::IsAt;
using json::SkipSpace;

constexpr size_t kNone = std::string_view::npos;
// Stands for what comes where a comma should.
constexpr std::string_view kNoItem = "]";

}  // namespace

tl::expected<ListText, std::string> ListText::Of(std::string_view text) {
  const auto fail = [](const char* why) { return tl::unexpected(std::string(why)); };
  ListText list;
  std::string_view kind;
  std::string_view items;
  size_t at = SkipSpace(text, 0);
  if (!IsAt(text, at, '{')) return fail("it is not an object");
  at = SkipSpace(text, at + 1);
  for (bool more = !IsAt(text, at, '}'); more;) {
    const size_t end = IsAt(text, at, '"') ? EndOfString(text, at) : kNone;
    if (end == kNone) return fail("it is not JSON");
    const std::string_view key = text.substr(at + 1, end - at - 2);
    // Go writes names as they are; one that only a decoder can read may hide anything.
    if (key.find('\\') != kNone) return fail("a name is escaped");
    at = SkipSpace(text, end);
    if (!IsAt(text, at, ':')) return fail("it is not JSON");
    at = SkipSpace(text, at + 1);
    const size_t value_end = EndOfValue(text, at);
    if (value_end == kNone) return fail("it is not JSON");
    std::string_view* const part = key == "kind"       ? &kind
                                   : key == "metadata" ? &list.metadata_
                                   : key == "items"    ? &items
                                                       : nullptr;
    if (part != nullptr) {
      if (!part->empty()) return fail("a member is there twice");
      *part = text.substr(at, value_end - at);
    }
    at = SkipSpace(text, value_end);
    more = IsAt(text, at, ',');
    if (more) at = SkipSpace(text, at + 1);
  }
  if (!IsAt(text, at, '}') || SkipSpace(text, at + 1) != text.size()) {
    return fail("it is not JSON");
  }
  if (!kind.ends_with("List\"")) return fail("its kind is not that of a list");
  // Go writes null for no items; an answer without the member has none either.
  if (items.empty() || items == "null") return list;
  if (items.front() != '[' || items.back() != ']') return fail("its items are not a list");
  const bool none = SkipSpace(items, 1) == items.size() - 1;
  if (!none) list.rest_ = items.substr(1);
  return list;
}

std::optional<std::string_view> ListText::Next() {
  if (rest_.empty()) return std::nullopt;
  const size_t begin = SkipSpace(rest_, 0);
  const size_t end = EndOfValue(rest_, begin);
  if (end == kNone) {
    rest_ = {};
    return std::string_view();  // which no decoder takes
  }
  const std::string_view item = rest_.substr(begin, end - begin);
  const size_t after = SkipSpace(rest_, end);
  if (IsAt(rest_, after, ',')) {
    rest_ = rest_.substr(after + 1);
  } else {
    const bool last = after + 1 == rest_.size();
    rest_ = last ? std::string_view() : kNoItem;
  }
  return item;
}

namespace {

using json::Member;
using json::Value;

// Where a value stands: a key of an object, or an item of a list.
struct FieldPlace {
  const FieldPlace* above = nullptr;
  std::string_view key{};
  size_t index = 0;
  bool in_list = false;

  bool is_name() const {
    return key.ends_with("name") || key.ends_with("Name") || key == "apiVersion" || key == "kind" ||
           key == "namespace" || key == "uid";
  }
  // Of the object itself.
  bool is_document() const {
    return above != nullptr && above->above == nullptr && (key == "data" || key == "binaryData");
  }
  std::string Path() const {
    if (above == nullptr) return "";
    const std::string before = above->Path();
    if (in_list) return before + "[" + std::to_string(index) + "]";
    return before + (before.empty() ? "" : ".") +
           (IsName(key) ? std::string(key) : "a key of " + std::to_string(key.size()) + " bytes");
  }
};

bool HasControl(std::string_view text, bool lines) {
  while (!text.empty()) {
    const size_t length = std::max<size_t>(1, Utf8Length(text));
    const bool passes = lines && (text[0] == '\n' || text[0] == '\t' || text[0] == '\r');
    if (!passes && IsControl(text.substr(0, length))) return true;
    text.remove_prefix(length);
  }
  return false;
}

class Reader {
 public:
  Reader(json::Arena& arena, Understood& out) : arena_(arena), out_(out) {}

  enum class Outcome { kSame, kChanged, kRefused };

  Outcome Read(Value& value, const FieldPlace& at) {
    switch (value.type()) {
      case Value::Type::kString:
        return ReadText(value.text(), at);
      case Value::Type::kList:
        return ReadList(value, at);
      case Value::Type::kObject:
        return at.is_document() ? Outcome::kSame : ReadObject(value, at);
      default:
        return Outcome::kSame;
    }
  }

 private:
  Outcome Refuse(const FieldPlace& at, size_t bytes, size_t most) {
    if (out_.problem.empty()) {
      out_.problem = at.Path() + (bytes > most ? " has " + std::to_string(bytes) +
                                                     " bytes, more than " + std::to_string(most)
                                               : " has control characters");
    }
    return Outcome::kRefused;
  }

  Outcome ReadText(std::string_view text, const FieldPlace& at) {
    const bool name = at.is_name();
    if (!(name ? IsName(text) : IsValue(text))) {
      return Refuse(at, text.size(), name ? kMaxName : kMaxValue);
    }
    out_.bytes += text.size();
    return Outcome::kSame;
  }

  Outcome ReadList(Value& list, const FieldPlace& at) {
    Value* row = nullptr;
    for (size_t i = 0; i < list.size(); ++i) {
      Value item = list[i];
      const Outcome outcome =
          Read(item, {.above = &at, .key = at.key, .index = i, .in_list = true});
      if (outcome == Outcome::kSame) continue;
      if (row == nullptr) {
        row = arena_.Row<Value>(list.size());
        std::copy(list.begin(), list.end(), row);
      }
      row[i] = outcome == Outcome::kRefused ? Value() : item;
    }
    if (row == nullptr) return Outcome::kSame;
    list = Value::OfItems({row, list.size()});
    return Outcome::kChanged;
  }

  Outcome ReadObject(Value& object, const FieldPlace& at) {
    const auto members = object.members();
    Member* row = nullptr;
    bool nameless = false;
    for (size_t i = 0; i < members.size(); ++i) {
      Value value = members[i].value;
      const FieldPlace below{.above = &at, .key = members[i].key};
      const Outcome outcome =
          IsValue(below.key) ? Read(value, below) : Refuse(below, below.key.size(), kMaxValue);
      if (outcome == Outcome::kSame) continue;
      nameless = nameless || (outcome == Outcome::kRefused && below.is_name());
      if (row == nullptr) {
        row = arena_.Row<Member>(members.size());
        std::copy(members.begin(), members.end(), row);
      }
      row[i].value = outcome == Outcome::kRefused ? Value() : value;
    }
    if (nameless && (at.in_list || at.key == "metadata")) return Outcome::kRefused;
    if (row == nullptr) return Outcome::kSame;
    object = Value::OfMembers({row, members.size()});
    return Outcome::kChanged;
  }

  json::Arena& arena_;
  Understood& out_;
};

}  // namespace

bool IsName(std::string_view text) { return text.size() <= kMaxName && !HasControl(text, false); }

bool IsValue(std::string_view text) { return text.size() <= kMaxValue && !HasControl(text, true); }

Understood Understand(const json::Value& object, json::Arena& arena) {
  Understood understood;
  Value value = object;
  Reader(arena, understood).Read(value, {});
  const bool has_metadata = json::Find(object, "metadata") != nullptr;
  if (!has_metadata || json::Find(value, "metadata") != nullptr) understood.object = value;
  return understood;
}

}  // namespace mindgate::kube
