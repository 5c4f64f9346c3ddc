#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace mindgate::json {

// A tree that is built or changed: configuration, output, what is sent to an API server. Objects
// keep their keys sorted. What is only read is a Value (value.h, which also has how both are read).
using Json = nlohmann::json;

enum class Type : uint8_t { kNull, kBool, kInt, kUnsigned, kDouble, kString, kList, kObject };

Type TypeOf(const Json& value);
// The member as it is written, null included; null pointer when there is none.
const Json* Lookup(const Json& value, std::string_view key);
// Nothing when the type is another one. A string view lives as long as its owner.
std::optional<std::string_view> TextOf(const Json& value);
std::optional<int64_t> IntOf(const Json& value);  // integers only: 1.0 and "1" give nothing
std::optional<bool> BoolOf(const Json& value);

// What a message calls the value's type: "string", "integer", "number", "boolean", "object",
// "list", "null".
std::string_view NameOf(Type type);

struct Member;
class Arena;

// One JSON value that never changes: what views, rules and mutators read. It is a view of 16 bytes
// into rows and texts that somebody else owns (a Document, a Decoder, an Arena), is copied freely
// and lives no longer than they do. Members of an object stand in one row in the order of their
// keys, so that whatever is derived from them does not depend on the order in which a user wrote
// them. Safe from many threads.
class Value {
 public:
  using Type = json::Type;

  constexpr Value() = default;
  static constexpr Value OfBool(bool value) {
    Value made(Type::kBool, 0);
    made.integer_ = value ? 1 : 0;
    return made;
  }
  static constexpr Value OfInt(int64_t value) {
    Value made(Type::kInt, 0);
    made.integer_ = value;
    return made;
  }
  // An integer that no int64 holds.
  static constexpr Value OfUnsigned(uint64_t value) {
    if (value <= INT64_MAX) return OfInt(static_cast<int64_t>(value));
    Value made(Type::kUnsigned, 0);
    made.integer_ = static_cast<int64_t>(value);
    return made;
  }
  static constexpr Value OfDouble(double value) {
    Value made(Type::kDouble, 0);
    made.number_ = value;
    return made;
  }
  // Texts and rows are borrowed; none has more than 2^32 - 1 parts.
  static constexpr Value OfText(std::string_view text) {
    Value made(Type::kString, text.size());
    made.text_ = text.data();
    return made;
  }
  static constexpr Value OfItems(std::span<const Value> items) {
    Value made(Type::kList, items.size());
    made.items_ = items.data();
    return made;
  }
  // `members` are in the order of their keys, and no key is there twice.
  static constexpr Value OfMembers(std::span<const Member> members);

  Type type() const { return type_; }
  bool is_null() const { return type_ == Type::kNull; }
  bool is_boolean() const { return type_ == Type::kBool; }
  bool is_string() const { return type_ == Type::kString; }
  bool is_object() const { return type_ == Type::kObject; }
  bool is_array() const { return type_ == Type::kList; }
  bool is_integer() const { return type_ == Type::kInt || type_ == Type::kUnsigned; }
  bool is_number() const { return is_integer() || type_ == Type::kDouble; }

  // What the type says; of any other type: false, 0, an empty text or row.
  bool boolean() const { return is_boolean() && integer_ != 0; }
  std::string_view text() const {
    return is_string() ? std::string_view(text_, size_) : std::string_view();
  }
  std::span<const Value> items() const {
    return is_array() ? std::span(items_, size_) : std::span<const Value>();
  }
  std::span<const Member> members() const;
  double number() const;  // of any kind of number
  uint64_t uint64() const { return is_integer() ? static_cast<uint64_t>(integer_) : 0; }
  std::optional<int64_t> int64() const {
    return type_ == Type::kInt ? std::optional(integer_) : std::nullopt;
  }

  size_t size() const { return is_array() || is_object() ? size_ : 0; }  // items or members
  bool empty() const { return size() == 0; }
  const Value* begin() const { return items().data(); }  // of a list
  const Value* end() const { return items().data() + items().size(); }
  const Value& operator[](size_t index) const { return items_[index]; }  // of a list, below size()

  // The member as it is written, null included; null pointer when there is none or this is not an
  // object. Costs log(size) comparisons.
  const Value* Lookup(std::string_view key) const;
  // The first member whose key is not less than `key`, up to the end of the row.
  std::span<const Member> MembersFrom(std::string_view key) const;

  // The same type and content. An integer equals a float of the same value, as in nlohmann::json.
  friend bool operator==(const Value& a, const Value& b);

 private:
  constexpr Value(Type type, size_t size) : size_(static_cast<uint32_t>(size)), type_(type) {}

  union {
    int64_t integer_ = 0;
    double number_;
    const char* text_;
    const Value* items_;
    const Member* members_;
  };
  uint32_t size_ = 0;
  Type type_ = Type::kNull;
};
static_assert(sizeof(Value) == 16);

struct Member {
  std::string_view key;
  Value value;
};

constexpr Value Value::OfMembers(std::span<const Member> members) {
  Value made(Type::kObject, members.size());
  made.members_ = members.data();
  return made;
}

inline std::span<const Member> Value::members() const {
  return is_object() ? std::span(members_, size_) : std::span<const Member>();
}

inline Type TypeOf(const Value& value) { return value.type(); }
inline const Value* Lookup(const Value& value, std::string_view key) { return value.Lookup(key); }
inline std::optional<std::string_view> TextOf(const Value& value) {
  return value.is_string() ? std::optional(value.text()) : std::nullopt;
}
inline std::optional<int64_t> IntOf(const Value& value) { return value.int64(); }
inline std::optional<bool> BoolOf(const Value& value) {
  return value.is_boolean() ? std::optional(value.boolean()) : std::nullopt;
}

// --- how values and trees are read ---

template <typename T>
concept Tree = std::same_as<T, Value> || std::same_as<T, Json>;

// Member `key` of an object; null pointer when `value` is not an object, lacks the key, or holds
// null there: to Kubernetes an explicit null is an absent member.
template <Tree T>
const T* Find(const T& value, std::string_view key) {
  const T* found = Lookup(value, key);
  return found == nullptr || TypeOf(*found) == Type::kNull ? nullptr : found;
}
template <Tree T>
const T* Find(const T* value, std::string_view key) {
  return value == nullptr ? nullptr : Find(*value, key);
}

// Same along a chain of members: Find(object, {"spec", "template", "spec"}).
template <Tree T>
const T* FindPath(const T* value, std::initializer_list<std::string_view> keys) {
  for (const std::string_view key : keys) value = Find(value, key);
  return value;
}
template <Tree T>
const T* FindPath(const T& value, std::initializer_list<std::string_view> keys) {
  return FindPath(&value, keys);
}

// The same of what Find gave, which may be a null pointer.
template <Tree T>
std::optional<std::string_view> AsString(const T* value) {
  return value == nullptr ? std::nullopt : TextOf(*value);
}
template <Tree T>
std::optional<int64_t> AsInt(const T* value) {
  return value == nullptr ? std::nullopt : IntOf(*value);
}
template <Tree T>
std::optional<bool> AsBool(const T* value) {
  return value == nullptr ? std::nullopt : BoolOf(*value);
}
template <Tree T>
bool IsObject(const T* value) {
  return value != nullptr && TypeOf(*value) == Type::kObject;
}
template <Tree T>
bool IsArray(const T* value) {
  return value != nullptr && TypeOf(*value) == Type::kList;
}

// Shorthand for AsString(Find(value, key)).
template <Tree T>
std::optional<std::string_view> FindString(const T* value, std::string_view key) {
  return AsString(Find(value, key));
}
template <Tree T>
std::optional<std::string_view> FindString(const T& value, std::string_view key) {
  return AsString(Find(value, key));
}

template <Tree T>
std::string_view TypeName(const T& value) {
  return NameOf(TypeOf(value));
}

// --- between values and trees that are built or changed ---

Json TreeOf(const Value& value);
// Rows and texts are copied into `arena`.
Value ValueOf(const Json& tree, Arena& arena);
Value CopyOf(const Value& value, Arena& arena);

// Compact JSON, as nlohmann::json prints it; what is not UTF-8 is replaced.
std::string Dump(const Value& value);
void AppendDump(const Value& value, std::string& out);

// Orders a row by key. False when a key is there twice.
bool SortMembers(std::span<Member> members);

// A copy of the text at the end of a chain of members: TextAt(pod, {"metadata", "name"}). Empty
// when there is none, or it is not a string. `value` may be a null pointer.
template <Tree T>
std::string TextAt(const T* value, std::initializer_list<std::string_view> keys) {
  return std::string(AsString(FindPath(value, keys)).value_or(""));
}
template <Tree T>
std::string TextAt(const T& value, std::initializer_list<std::string_view> keys) {
  return TextAt(&value, keys);
}

}  // namespace mindgate::json
