#include "json/value.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "json/arena.h"

namespace mindgate::json {

Type TypeOf(const Json& value) {
  switch (value.type()) {
    case Json::value_t::boolean:
      return Type::kBool;
    case Json::value_t::number_integer:
      return Type::kInt;
    case Json::value_t::number_unsigned:
      return Type::kUnsigned;
    case Json::value_t::number_float:
      return Type::kDouble;
    case Json::value_t::string:
      return Type::kString;
    case Json::value_t::array:
      return Type::kList;
    case Json::value_t::object:
      return Type::kObject;
    default:
      return Type::kNull;
  }
}

const Json* Lookup(const Json& value, std::string_view key) {
  const auto* object = value.get_ptr<const Json::object_t*>();
  if (object == nullptr) return nullptr;
  const auto found = object->find(key);
  return found == object->end() ? nullptr : &found->second;
}

std::optional<std::string_view> TextOf(const Json& value) {
  const auto* text = value.get_ptr<const Json::string_t*>();
  if (text == nullptr) return std::nullopt;
  return std::string_view(*text);
}

std::optional<int64_t> IntOf(const Json& value) {
  if (!value.is_number_integer()) return std::nullopt;
  if (value.is_number_unsigned() && value.get<uint64_t>() > static_cast<uint64_t>(INT64_MAX)) {
    return std::nullopt;
  }
  return value.get<int64_t>();
}

std::optional<bool> BoolOf(const Json& value) {
  if (!value.is_boolean()) return std::nullopt;
  return value.get<bool>();
}

std::string_view NameOf(Type type) {
  switch (type) {
    case Type::kNull:
      return "null";
    case Type::kBool:
      return "boolean";
    case Type::kInt:
    case Type::kUnsigned:
      return "integer";
    case Type::kDouble:
      return "number";
    case Type::kString:
      return "string";
    case Type::kList:
      return "list";
    case Type::kObject:
      return "object";
  }
  return "null";
}

namespace {

// Up to here a row is looked through: most keys differ in length, and a comparison of lengths is
// cheaper than the branches of a search that nobody can predict.
constexpr size_t kMaxScanned = 16;

bool Before(const Member& member, std::string_view key) { return member.key < key; }

// Most keys differ in length, and most of one length in their last character.
bool Same(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  if (a.empty()) return true;
  return a.back() == b.back() && std::memcmp(a.data(), b.data(), a.size()) == 0;
}

// Kubernetes' names and labels need no escape, so this is one copy for nearly all of them.
void AppendQuoted(std::string_view text, std::string& out) {
  const bool plain = std::all_of(text.begin(), text.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte >= 0x20 && byte < 0x80 && c != '"' && c != '\\';
  });
  if (!plain) {
    out += Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
    return;
  }
  out += '"';
  out += text;
  out += '"';
}

}  // namespace

const Value* Value::Lookup(std::string_view key) const {
  if (!is_object()) return nullptr;
  const Member* const end = members_ + size_;
  if (size_ <= kMaxScanned) {
    for (const Member* member = members_; member != end; ++member) {
      if (Same(member->key, key)) return &member->value;
    }
    return nullptr;
  }
  const Member* const found = std::lower_bound(members_, end, key, Before);
  return found != end && Same(found->key, key) ? &found->value : nullptr;
}

std::span<const Member> Value::MembersFrom(std::string_view key) const {
  const auto row = members();
  return row.subspan(
      static_cast<size_t>(std::lower_bound(row.begin(), row.end(), key, Before) - row.begin()));
}

double Value::number() const {
  switch (type_) {
    case Type::kInt:
      return static_cast<double>(integer_);
    case Type::kUnsigned:
      return static_cast<double>(static_cast<uint64_t>(integer_));
    case Type::kDouble:
      return number_;
    default:
      return 0;
  }
}

bool operator==(const Value& a, const Value& b) {
  if (a.type_ != b.type_) {
    const bool floating = a.type_ == Type::kDouble || b.type_ == Type::kDouble;
    return floating && a.is_number() && b.is_number() && a.number() == b.number();
  }
  switch (a.type_) {
    case Type::kNull:
      return true;
    case Type::kBool:
    case Type::kInt:
    case Type::kUnsigned:
      return a.integer_ == b.integer_;
    case Type::kDouble:
      return a.number_ == b.number_;
    case Type::kString:
      return a.text() == b.text();
    case Type::kList:
      return a.size_ == b.size_ &&
             (a.items_ == b.items_ || std::equal(a.begin(), a.end(), b.begin()));
    case Type::kObject: {
      const auto same = [](const Member& one, const Member& other) {
        return one.key == other.key && one.value == other.value;
      };
      return a.size_ == b.size_ && (a.members_ == b.members_ ||
                                    std::equal(a.members_, a.members_ + a.size_, b.members_, same));
    }
  }
  return false;
}

nlohmann::json TreeOf(const Value& value) {
  switch (value.type()) {
    case Value::Type::kNull:
      return nullptr;
    case Value::Type::kBool:
      return value.boolean();
    case Value::Type::kInt:
      return *value.int64();
    case Value::Type::kUnsigned:
      return value.uint64();
    case Value::Type::kDouble:
      return value.number();
    case Value::Type::kString:
      return std::string(value.text());
    case Value::Type::kList: {
      nlohmann::json list = nlohmann::json::array();
      list.get_ref<nlohmann::json::array_t&>().reserve(value.size());
      for (const Value& item : value) list.push_back(TreeOf(item));
      return list;
    }
    case Value::Type::kObject: {
      nlohmann::json object = nlohmann::json::object();
      auto& members = object.get_ref<nlohmann::json::object_t&>();
      for (const Member& member : value.members()) {
        members.emplace_hint(members.end(), member.key, TreeOf(member.value));
      }
      return object;
    }
  }
  return nullptr;
}

Value ValueOf(const nlohmann::json& tree, Arena& arena) {
  using Tree = nlohmann::json::value_t;
  switch (tree.type()) {
    case Tree::boolean:
      return Value::OfBool(tree.get<bool>());
    case Tree::number_integer:
      return Value::OfInt(tree.get<int64_t>());
    case Tree::number_unsigned:
      return Value::OfUnsigned(tree.get<uint64_t>());
    case Tree::number_float:
      return Value::OfDouble(tree.get<double>());
    case Tree::string:
      return Value::OfText(arena.Text(tree.get_ref<const std::string&>()));
    case Tree::array: {
      Value* const items = arena.Row<Value>(tree.size());
      size_t count = 0;
      for (const auto& item : tree) items[count++] = ValueOf(item, arena);
      return Value::OfItems({items, count});
    }
    case Tree::object: {
      Member* const members = arena.Row<Member>(tree.size());
      size_t count = 0;
      for (const auto& [key, value] : tree.get_ref<const nlohmann::json::object_t&>()) {
        members[count++] = {arena.Text(key), ValueOf(value, arena)};
      }
      return Value::OfMembers({members, count});
    }
    case Tree::null:
    case Tree::binary:
    case Tree::discarded:
      break;
  }
  return {};
}

Value CopyOf(const Value& value, Arena& arena) {
  switch (value.type()) {
    case Value::Type::kString:
      return Value::OfText(arena.Text(value.text()));
    case Value::Type::kList: {
      Value* const items = arena.Row<Value>(value.size());
      for (size_t i = 0; i < value.size(); ++i) items[i] = CopyOf(value[i], arena);
      return Value::OfItems({items, value.size()});
    }
    case Value::Type::kObject: {
      Member* const members = arena.Row<Member>(value.size());
      size_t count = 0;
      for (const Member& member : value.members()) {
        members[count++] = {arena.Text(member.key), CopyOf(member.value, arena)};
      }
      return Value::OfMembers({members, count});
    }
    default:
      return value;
  }
}

std::string Dump(const Value& value) {
  std::string text;
  AppendDump(value, text);
  return text;
}

void AppendDump(const Value& value, std::string& out) {
  switch (value.type()) {
    case Value::Type::kString:
      return AppendQuoted(value.text(), out);
    case Value::Type::kObject:
      out += '{';
      for (const Member& member : value.members()) {
        if (out.back() != '{') out += ',';
        AppendQuoted(member.key, out);
        out += ':';
        AppendDump(member.value, out);
      }
      out += '}';
      return;
    case Value::Type::kList:
      out += '[';
      for (const Value& item : value) {
        if (out.back() != '[') out += ',';
        AppendDump(item, out);
      }
      out += ']';
      return;
    default:
      out += TreeOf(value).dump();
  }
}

namespace {

// A row of fewer members is in the caches with its keys.
constexpr size_t kMinWide = 512;

// Keys can be chosen so that each round only shortens them: the rest is then compared.
constexpr int kMaxRounds = 3;

bool KeyLess(const Member& a, const Member& b) { return a.key < b.key; }
bool KeyNotLess(const Member& a, const Member& b) { return a.key >= b.key; }

// How many bytes all keys begin with.
size_t SharedBytes(std::span<const Member> members) {
  const std::string_view first = members.front().key;
  size_t shared = first.size();
  for (const Member& member : members) {
    const size_t most = std::min(shared, member.key.size());
    if (std::memcmp(first.data(), member.key.data(), most) == 0) {
      shared = most;
    } else {
      shared = static_cast<size_t>(
          std::mismatch(first.begin(), first.end(), member.key.begin()).first - first.begin());
    }
  }
  return shared;
}

// The four bytes of the key at `begin`, as a number in the order of keys.
uint64_t FourBytes(std::string_view key, size_t begin) {
  uint64_t bytes = 0;
  for (size_t i = begin; i < begin + 4; ++i) {
    bytes = bytes << 8 | (i < key.size() ? static_cast<unsigned char>(key[i]) : 0);
  }
  return bytes;
}

uint64_t BytesOf(uint64_t entry) { return entry >> 32; }
size_t IndexOf(uint64_t entry) { return static_cast<uint32_t>(entry); }

// Moves each member where its entry stands. Afterwards the places are those of the new order.
void Rearrange(std::span<Member> members, std::span<uint64_t> order) {
  for (size_t begin = 0; begin < order.size(); ++begin) {
    if (IndexOf(order[begin]) == begin) continue;
    const Member first = members[begin];
    for (size_t at = begin;;) {
      const size_t from = IndexOf(order[at]);
      order[at] = BytesOf(order[at]) << 32 | at;
      if (from == begin) {
        members[at] = first;
        break;
      }
      members[at] = members[from];
      at = from;
    }
  }
}

// Orders entries by their bytes, from the one at `shift` on: each pass distributes them over 256
// parts in place.
void SortByBytes(std::span<uint64_t> order, int shift) {
  constexpr size_t kMinParts = 64;
  constexpr int kLastByte = 32;
  if (order.size() < kMinParts || shift < kLastByte) {
    std::sort(order.begin(), order.end());
    return;
  }
  const auto part_of = [shift](uint64_t entry) { return (entry >> shift) & 0xFF; };
  std::array<size_t, 256> ends{};
  for (const uint64_t entry : order) ++ends[part_of(entry)];
  std::array<size_t, 256> next{};  // place in each part that may hold another part's entry
  size_t end = 0;
  for (size_t part = 0; part < ends.size(); ++part) {
    next[part] = end;
    end += ends[part];
    ends[part] = end;
  }
  for (size_t part = 0; part < ends.size(); ++part) {
    while (next[part] < ends[part]) {
      uint64_t& entry = order[next[part]];
      const size_t home = part_of(entry);
      if (home != part) std::swap(entry, order[next[home]]);
      ++next[home];
    }
  }
  size_t begin = 0;
  for (const size_t part_end : ends) {
    const size_t count = part_end - begin;
    if (count > 1) SortByBytes(order.subspan(begin, count), shift - 8);
    begin = part_end;
  }
}

bool SortNarrow(std::span<Member> members) {
  std::sort(members.begin(), members.end(), KeyLess);
  return std::adjacent_find(members.begin(), members.end(), KeyNotLess) == members.end();
}

// Comparing the keys of a wide row waits for memory again and again, as they stand all over the
// text. So four bytes of each, behind those that all of them share, are read once and sorted in
// their place. Only keys that agree in these are compared. `order` has an entry for each member.
// False when a key is there twice.
bool SortWide(std::span<Member> members, std::span<uint64_t> order, int rounds) {
  if (members.size() < kMinWide || rounds == 0) return SortNarrow(members);
  const size_t shared = SharedBytes(members);
  for (size_t i = 0; i < members.size(); ++i) {
    order[i] = FourBytes(members[i].key, shared) << 32 | i;
  }
  SortByBytes(order, 56);
  Rearrange(members, order);
  for (size_t begin = 0, end = 0; begin < order.size(); begin = end) {
    const uint64_t bytes = BytesOf(order[begin]);
    while (end < order.size() && BytesOf(order[end]) == bytes) ++end;
    const size_t count = end - begin;
    if (count == 1) continue;
    if (!SortWide(members.subspan(begin, count), order.subspan(begin, count), rounds - 1)) {
      return false;
    }
  }
  return true;
}

}  // namespace

bool SortMembers(std::span<Member> members) {
  // Go writes maps in the order of their keys, so there is often nothing to do.
  if (std::adjacent_find(members.begin(), members.end(), KeyNotLess) == members.end()) return true;
  std::vector<uint64_t> order(members.size() < kMinWide ? 0 : members.size());
  return SortWide(members, order, kMaxRounds);
}

}  // namespace mindgate::json
