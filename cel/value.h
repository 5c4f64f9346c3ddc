#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "json/value.h"

namespace mindgate::cel {

// Values of Kubernetes' own libraries, and what an error is. They stand in an arena and own
// nothing.

// In billionths: Kubernetes keeps no smaller part, and nothing above 2^63 - 1 units when it reads.
struct Quantity {
  __int128 nanos = 0;
  bool is_int = false;  // what isInteger answers: see ParseQuantity
  bool operator==(const Quantity& other) const { return nanos == other.nanos; }
};

struct Semver {
  uint64_t major = 0;
  uint64_t minor = 0;
  uint64_t patch = 0;
  std::string_view pre_release;
};

struct Ip {
  std::array<uint8_t, 16> bytes{};  // of IPv4 as ::ffff:a.b.c.d
  bool is_four = false;
};

struct Cidr {
  Ip ip;
  int prefix = 0;
};

struct Url {
  std::string_view text;
  std::string_view scheme;
  std::string_view host;  // with brackets and port
  std::string_view path;
  std::string_view query;
};

// One of the named formats; `name` is one of library/formats.cc.
struct Format {
  std::string_view name;
};

// Why there is no value. `at` is the offset in the expression of what failed.
struct Fault {
  std::string_view message;
  std::string_view hint;
  uint32_t at = kNowhere;
  bool beyond_limit = false;  // ends the evaluation, whatever || and && would make of it

  static constexpr uint32_t kNowhere = UINT32_MAX;
};

struct Cidr;
struct Entry;
struct Fault;
struct Format;
struct Ip;
struct Quantity;
struct Semver;
struct Url;

// What a value is when it is evaluated. Everything from kQuantity on is of Kubernetes' libraries;
// kError is what has no value, and never stands in a list or a map.
enum class Kind : uint8_t {
  kNull,
  kBool,
  kInt,
  kUint,
  kDouble,
  kString,
  kBytes,
  kList,
  kMap,
  kTimestamp,
  kDuration,
  kType,
  kOptional,
  kQuantity,
  kSemver,
  kUrl,
  kIp,
  kCidr,
  kFormat,
  kError,
};

// The name of the kind as `type(x)` gives it: "int", "google.protobuf.Timestamp".
std::string_view NameOf(Kind kind);

// One value of CEL that never changes: a view of 16 bytes into texts and rows that an arena, a
// program or a JSON document owns. Lists and maps of a JSON document are read where they stand.
// Safe from many threads.
class Value {
 public:
  constexpr Value() = default;  // null
  static constexpr Value OfBool(bool value) { return Whole(Kind::kBool, value ? 1 : 0); }
  static constexpr Value OfInt(int64_t value) { return Whole(Kind::kInt, value); }
  static constexpr Value OfUint(uint64_t value) {
    return Whole(Kind::kUint, static_cast<int64_t>(value));
  }
  static constexpr Value OfDouble(double value) {
    Value made(Kind::kDouble);
    made.number_ = value;
    return made;
  }
  static constexpr Value OfString(std::string_view text) { return Text(Kind::kString, text); }
  static constexpr Value OfBytes(std::string_view bytes) { return Text(Kind::kBytes, bytes); }
  // The type of that name.
  static constexpr Value OfType(std::string_view name) { return Text(Kind::kType, name); }
  static constexpr Value OfItems(std::span<const Value> items) {
    Value made(Kind::kList, items.size());
    made.items_ = items.data();
    return made;
  }
  // In the order of SortEntries, and no key is there twice.
  static constexpr Value OfEntries(std::span<const Entry> entries) {
    Value made(Kind::kMap, entries.size());
    made.entries_ = entries.data();
    return made;
  }
  // A JSON value, as Kubernetes reads it: an integer that no int64 holds is a double.
  static Value Of(const json::Value& value);
  // Seconds since 1970 and 0 to 999,999,999 nanoseconds after them.
  static constexpr Value OfTimestamp(int64_t seconds, uint32_t nanoseconds) {
    Value made = Whole(Kind::kTimestamp, seconds);
    made.size_ = nanoseconds;
    return made;
  }
  static constexpr Value OfDuration(int64_t nanoseconds) {
    return Whole(Kind::kDuration, nanoseconds);
  }
  // A null pointer is optional.none().
  static constexpr Value OfOptional(const Value* value) {
    Value made(Kind::kOptional);
    made.items_ = value;
    return made;
  }
  static Value Of(const Quantity* value) { return Opaque(Kind::kQuantity, value); }
  static Value Of(const Semver* value) { return Opaque(Kind::kSemver, value); }
  static Value Of(const Url* value) { return Opaque(Kind::kUrl, value); }
  static Value Of(const Ip* value) { return Opaque(Kind::kIp, value); }
  static Value Of(const Cidr* value) { return Opaque(Kind::kCidr, value); }
  static Value Of(const Format* value) { return Opaque(Kind::kFormat, value); }
  static Value Of(Fault* fault) { return Opaque(Kind::kError, fault); }

  Kind kind() const { return kind_; }
  bool is_error() const { return kind_ == Kind::kError; }
  bool is_string() const { return kind_ == Kind::kString; }
  bool is_list() const { return kind_ == Kind::kList; }
  bool is_map() const { return kind_ == Kind::kMap; }
  bool is_true() const { return kind_ == Kind::kBool && integer_ != 0; }
  bool is_false() const { return kind_ == Kind::kBool && integer_ == 0; }
  bool is_number() const {
    return kind_ == Kind::kInt || kind_ == Kind::kUint || kind_ == Kind::kDouble;
  }

  // What the kind says: call only the one of the kind.
  int64_t integer() const { return integer_; }  // int, duration; seconds of a timestamp
  uint64_t unsigned_integer() const { return static_cast<uint64_t>(integer_); }
  uint32_t nanoseconds() const { return size_; }            // of a timestamp
  double number() const { return number_; }                 // double
  std::string_view text() const { return {text_, size_}; }  // string, bytes, type
  const Value* optional() const { return items_; }
  const Quantity& quantity() const { return *static_cast<const Quantity*>(opaque_); }
  const Semver& semver() const { return *static_cast<const Semver*>(opaque_); }
  const Url& url() const { return *static_cast<const Url*>(opaque_); }
  const Ip& ip() const { return *static_cast<const Ip*>(opaque_); }
  const Cidr& cidr() const { return *static_cast<const Cidr*>(opaque_); }
  const Format& format() const { return *static_cast<const Format*>(opaque_); }
  Fault& fault() const { return *static_cast<Fault*>(const_cast<void*>(opaque_)); }
  // Any number as a double.
  double as_double() const;

  size_t size() const { return size_; }  // of a list or a map
  Value At(size_t index) const;          // an item of a list, below size()
  Value KeyAt(size_t index) const;       // of a map
  Value ValueAt(size_t index) const;
  // The value of a key in a map; numbers of other kinds match if they are equal. Costs log(size).
  std::optional<Value> Lookup(const Value& key) const;
  std::optional<Value> Lookup(std::string_view key) const;

 private:
  constexpr explicit Value(Kind kind, size_t size = 0)
      : size_(static_cast<uint32_t>(size)), kind_(kind) {}
  static constexpr Value Whole(Kind kind, int64_t value) {
    Value made(kind);
    made.integer_ = value;
    return made;
  }
  static constexpr Value Text(Kind kind, std::string_view text) {
    Value made(kind, text.size());
    made.text_ = text.data();
    return made;
  }
  static constexpr Value Opaque(Kind kind, const void* value) {
    Value made(kind);
    made.opaque_ = value;
    return made;
  }

  union {
    int64_t integer_ = 0;
    double number_;
    const char* text_;
    const Value* items_;
    const Entry* entries_;
    const json::Value* json_items_;
    const json::Member* members_;
    const void* opaque_;
  };
  uint32_t size_ = 0;
  Kind kind_ = Kind::kNull;
  bool is_json_ = false;
};
static_assert(sizeof(Value) == 16);

struct Entry {
  Value key;
  Value value;
};

// The order in which the keys of a map stand: false, true, numbers by value, strings by bytes.
// Keys are bool, int, uint and string.
bool KeyLess(const Value& a, const Value& b);
// Orders the entries of a map. The first key that is there twice, if any.
std::optional<Value> SortEntries(std::span<Entry> entries);
// The first key that is there twice, of entries in that order.
std::optional<Value> RepeatedKey(std::span<const Entry> entries);
// Orders the entries. Of those whose keys are of one kind and equal, the last one takes the place
// of the others. How many there are then.
size_t KeepLast(std::span<Entry> entries);

// -1, 0 or 1; nothing when one of them is not a number, or not comparable (NaN).
std::optional<int> CompareNumbers(const Value& a, const Value& b);
// The same for all that CEL orders: numbers, strings, bytes, bools, timestamps, durations.
std::optional<int> Compare(const Value& a, const Value& b);

// Whether two values that hold no others are equal: all but lists, maps and optionals.
bool EqualScalars(const Value& a, const Value& b);

}  // namespace mindgate::cel
