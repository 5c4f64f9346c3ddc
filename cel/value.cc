#include "cel/value.h"

#include <algorithm>
#include <cmath>

#include "cel/library/libraries.h"

namespace mindgate::cel {
namespace {

int OrderOf(bool less, bool greater) { return less ? -1 : (greater ? 1 : 0); }

template <typename T>
int Ordered(const T& a, const T& b) {
  return OrderOf(a < b, b < a);
}

// Of an int or a uint.
bool IsNegative(const Value& value) { return value.kind() == Kind::kInt && value.integer() < 0; }

int CompareIntegers(const Value& a, const Value& b) {
  if (IsNegative(a) != IsNegative(b)) return IsNegative(a) ? -1 : 1;
  if (IsNegative(a)) return Ordered(a.integer(), b.integer());
  return Ordered(a.unsigned_integer(), b.unsigned_integer());
}

bool IsInteger(const Value& value) {
  return value.kind() == Kind::kInt || value.kind() == Kind::kUint;
}

// The key that a double stands for: the int or uint of the same value.
std::optional<Value> IntegerOf(double number) {
  if (std::trunc(number) != number) return std::nullopt;
  if (number >= -0x1p63 && number < 0x1p63) return Value::OfInt(static_cast<int64_t>(number));
  if (number >= 0 && number < 0x1p64) return Value::OfUint(static_cast<uint64_t>(number));
  return std::nullopt;
}

int RankOfKey(const Value& key) {
  if (key.kind() == Kind::kBool) return 0;
  return IsInteger(key) ? 1 : 2;
}

}  // namespace

std::string_view NameOf(Kind kind) {
  switch (kind) {
    case Kind::kNull:
      return "null_type";
    case Kind::kBool:
      return "bool";
    case Kind::kInt:
      return "int";
    case Kind::kUint:
      return "uint";
    case Kind::kDouble:
      return "double";
    case Kind::kString:
      return "string";
    case Kind::kBytes:
      return "bytes";
    case Kind::kList:
      return "list";
    case Kind::kMap:
      return "map";
    case Kind::kTimestamp:
      return "google.protobuf.Timestamp";
    case Kind::kDuration:
      return "google.protobuf.Duration";
    case Kind::kType:
      return "type";
    case Kind::kOptional:
      return "optional_type";
    case Kind::kQuantity:
      return "kubernetes.Quantity";
    case Kind::kSemver:
      return "kubernetes.Semver";
    case Kind::kUrl:
      return "kubernetes.URL";
    case Kind::kIp:
      return "net.IP";
    case Kind::kCidr:
      return "net.CIDR";
    case Kind::kFormat:
      return "kubernetes.NamedFormat";
    case Kind::kError:
      return "error";
  }
  return "";
}

Value Value::Of(const json::Value& value) {
  switch (value.type()) {
    case json::Type::kBool:
      return OfBool(value.boolean());
    case json::Type::kInt:
      return OfInt(*value.int64());
    case json::Type::kUnsigned:
    case json::Type::kDouble:
      return OfDouble(value.number());
    case json::Type::kString:
      return OfString(value.text());
    case json::Type::kList: {
      Value made(Kind::kList, value.size());
      made.json_items_ = value.items().data();
      made.is_json_ = true;
      return made;
    }
    case json::Type::kObject: {
      Value made(Kind::kMap, value.size());
      made.members_ = value.members().data();
      made.is_json_ = true;
      return made;
    }
    default:
      return {};
  }
}

double Value::as_double() const {
  if (kind_ == Kind::kDouble) return number_;
  return kind_ == Kind::kInt ? static_cast<double>(integer_)
                             : static_cast<double>(unsigned_integer());
}

Value Value::At(size_t index) const { return is_json_ ? Of(json_items_[index]) : items_[index]; }

Value Value::KeyAt(size_t index) const {
  return is_json_ ? OfString(members_[index].key) : entries_[index].key;
}

Value Value::ValueAt(size_t index) const {
  return is_json_ ? Of(members_[index].value) : entries_[index].value;
}

std::optional<Value> Value::Lookup(std::string_view key) const {
  if (!is_json_) return Lookup(OfString(key));
  const std::span row(members_, size_);
  const auto found = std::lower_bound(
      row.begin(), row.end(), key,
      [](const json::Member& member, std::string_view wanted) { return member.key < wanted; });
  if (found == row.end() || found->key != key) return std::nullopt;
  return Of(found->value);
}

std::optional<Value> Value::Lookup(const Value& key) const {
  if (is_json_) return key.is_string() ? Lookup(key.text()) : std::nullopt;
  Value wanted = key;
  if (key.kind() == Kind::kDouble) {
    const auto integer = IntegerOf(key.number());
    if (!integer) return std::nullopt;
    wanted = *integer;
  }
  if (wanted.kind() != Kind::kBool && !IsInteger(wanted) && !wanted.is_string()) {
    return std::nullopt;
  }
  const std::span row(entries_, size_);
  const auto found = std::lower_bound(
      row.begin(), row.end(), wanted,
      [](const Entry& entry, const Value& other) { return KeyLess(entry.key, other); });
  if (found == row.end() || KeyLess(wanted, found->key)) return std::nullopt;
  return found->value;
}

bool KeyLess(const Value& a, const Value& b) {
  const int rank = RankOfKey(a);
  if (rank != RankOfKey(b)) return rank < RankOfKey(b);
  if (rank == 0) return a.integer() < b.integer();
  return rank == 1 ? CompareIntegers(a, b) < 0 : a.text() < b.text();
}

std::optional<Value> SortEntries(std::span<Entry> entries) {
  std::ranges::sort(entries, KeyLess, &Entry::key);
  return RepeatedKey(entries);
}

std::optional<Value> RepeatedKey(std::span<const Entry> entries) {
  for (size_t i = 1; i < entries.size(); ++i) {
    if (!KeyLess(entries[i - 1].key, entries[i].key)) return entries[i].key;
  }
  return std::nullopt;
}

size_t KeepLast(std::span<Entry> entries) {
  const auto same = [](const Entry& a, const Entry& b) {
    return a.key.kind() == b.key.kind() && !KeyLess(a.key, b.key) && !KeyLess(b.key, a.key);
  };
  size_t kept = 0;
  std::ranges::stable_sort(entries, KeyLess, &Entry::key);
  for (const Entry& entry : entries) {
    if (kept > 0 && same(entries[kept - 1], entry)) --kept;
    entries[kept++] = entry;
  }
  return kept;
}

std::optional<int> CompareNumbers(const Value& a, const Value& b) {
  if (!a.is_number() || !b.is_number()) return std::nullopt;
  if (IsInteger(a) && IsInteger(b)) return CompareIntegers(a, b);
  const double left = a.as_double();
  const double right = b.as_double();
  if (std::isnan(left) || std::isnan(right)) return std::nullopt;
  return Ordered(left, right);
}

std::optional<int> Compare(const Value& a, const Value& b) {
  if (a.is_number()) return CompareNumbers(a, b);
  if (a.kind() != b.kind()) return std::nullopt;
  switch (a.kind()) {
    case Kind::kBool:
    case Kind::kDuration:
      return Ordered(a.integer(), b.integer());
    case Kind::kString:
    case Kind::kBytes:
      return Ordered(a.text(), b.text());
    case Kind::kTimestamp:
      if (a.integer() != b.integer()) return Ordered(a.integer(), b.integer());
      return Ordered(a.nanoseconds(), b.nanoseconds());
    default:
      return std::nullopt;
  }
}

bool EqualScalars(const Value& a, const Value& b) {
  if (a.is_number() && b.is_number()) return CompareNumbers(a, b) == 0;
  if (a.kind() != b.kind()) return false;
  switch (a.kind()) {
    case Kind::kNull:
      return true;
    case Kind::kType:
      return a.text() == b.text();
    case Kind::kQuantity:
      return a.quantity() == b.quantity();
    case Kind::kSemver:
      return CompareSemvers(a.semver(), b.semver()) == 0;
    case Kind::kUrl:
      return a.url().text == b.url().text;
    case Kind::kIp:
      return a.ip().bytes == b.ip().bytes;
    case Kind::kCidr:
      return a.cidr().ip.bytes == b.cidr().ip.bytes && a.cidr().ip.is_four == b.cidr().ip.is_four &&
             a.cidr().prefix == b.cidr().prefix;
    case Kind::kFormat:
      return a.format().name == b.format().name;
    default:
      return Compare(a, b) == 0;
  }
}

}  // namespace mindgate::cel
