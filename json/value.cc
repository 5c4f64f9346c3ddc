#include "json/value.h"

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>

#include "json/arena.h"

namespace mindgate::json {
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

}  // namespace mindgate::json
