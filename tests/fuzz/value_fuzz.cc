// Any bytes as a value and as nlohmann's own tree of them: both refuse, or both hold the same
// values, and every look-up gives the same answer, whether the key is there or not.
#include <cstdint>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "fuzz/require.h"
#include "json/decode.h"

using namespace mindgate::json;
using mindgate::testing::Require;

namespace {

// Keys that came twice are refused by us alone.
bool HasRepeatedKeys(std::string_view text) {
  bool repeated = false;
  std::vector<std::set<std::string>> open;
  const auto look = [&](int, Json::parse_event_t event, Json& parsed) {
    if (event == Json::parse_event_t::object_start) open.emplace_back();
    if (event == Json::parse_event_t::object_end) open.pop_back();
    if (event == Json::parse_event_t::key) {
      repeated = repeated || !open.back().insert(parsed.get<std::string>()).second;
    }
    return true;
  };
  (void)Json::parse(text, look, /*allow_exceptions=*/false);
  return repeated;
}

void Same(const Value& value, const Json& tree) {
  Require(value.is_object() == tree.is_object() && value.is_array() == tree.is_array());
  if (tree.is_object()) {
    Require(value.size() == tree.size());
    auto member = value.members().begin();
    for (const auto& [key, below] : tree.items()) {
      Require(member->key == key && value.Lookup(key) == &member->value);
      Require((Find(value, key) == nullptr) == below.is_null());
      Require((value.Lookup(key + "x") == nullptr) == !tree.contains(key + "x"));
      Require(value.MembersFrom(key).data() == &*member);
      Same(member->value, below);
      ++member;
    }
  } else if (tree.is_array()) {
    Require(value.size() == tree.size());
    for (size_t i = 0; i < tree.size(); ++i) Same(value[i], tree[i]);
  } else {
    Require(TreeOf(value) == tree && TreeOf(value).type_name() == std::string(tree.type_name()));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  static Decoder decoder({.bytes = 1 << 16, .depth = 64, .elements = 4000});
  const auto value = decoder.Decode(text);
  if (!value) {
    // Beyond a limit, or what nlohmann alone takes: to it a NUL is the end.
    const std::string& why = value.error().message;
    const bool limit = why.find("more than") != std::string::npos;
    Require(limit || text.find('\0') != text.npos || !Json::accept(text) || HasRepeatedKeys(text) ||
            why.find("range") != std::string::npos || why.find("64 bits") != std::string::npos);
    return 0;
  }
  const Json tree = Json::parse(text);
  Same(**value, tree);
  Require(Document(tree).root() == **value && Document::CopyOf(**value).root() == **value);
  Require(Dump(**value) == tree.dump());
  return 0;
}
