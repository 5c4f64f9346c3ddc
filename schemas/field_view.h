#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "json/value.h"

// A field of an object: its pointer and its value.
namespace mindgate::schemas {

// An RFC 6901 pointer in two parts: the places of one template share its text, and the whole is
// spelled out only for those who ask. Views of texts that live as long as the view of the object.
struct Pointer {
  std::string_view above;
  std::string_view below = {};

  constexpr Pointer() = default;
  constexpr Pointer(std::string_view text, std::string_view rest = {})  // NOLINT: a text is one
      : above(text), below(rest) {}
  constexpr Pointer(const char* text) : above(text) {}  // NOLINT: a text is one

  size_t size() const { return above.size() + below.size(); }
  std::string Text() const;
  operator std::string() const { return Text(); }  // NOLINT: spelled out
  // One unescaped token further.
  std::string Child(std::string_view key) const;
  std::string Child(size_t index) const;

  friend bool operator==(const Pointer& a, const Pointer& b) { return a.Text() == b.Text(); }
};

// Appends '/' and the token, escaped.
void AppendToken(std::string_view key, std::string& pointer);

// Keys of a map in 64 bits. Says of most keys that the map lacks them, without a look at the map.
class KeyFilter {
 public:
  constexpr KeyFilter() = default;
  static constexpr KeyFilter OfAll() {
    KeyFilter all;
    all.bits_ = ~uint64_t{0};
    return all;
  }

  // Once it may have every key, there is no need to look at more of them.
  constexpr void Add(std::string_view key) {
    if (~bits_ != 0) bits_ |= Bit(key);
  }
  constexpr void Add(KeyFilter other) { bits_ |= other.bits_; }
  constexpr bool MayHave(std::string_view key) const { return (bits_ & Bit(key)) != 0; }

 private:
  // Keys of one domain begin alike, and many have one length: their ends and middles differ.
  static constexpr uint64_t Bit(std::string_view key) {
    if (key.empty()) return 1;
    const auto at = [key](size_t i) { return static_cast<unsigned char>(key[i]); };
    const size_t size = key.size();
    return uint64_t{1} << ((size * 7 + at(size - 1) * 5 + at(size / 2) * 3 + at(0)) % 64);
  }

  uint64_t bits_ = 0;
};

// A field of the object and its value (null pointer: absent or null).
struct FieldView {
  Pointer path;
  const json::Value* value = nullptr;
  // The value is not the wanted map or list: never write below it.
  bool wrong_type = false;
  KeyFilter keys = KeyFilter::OfAll();  // of the map

  // Member `key` of the map; null pointer when it is absent or null.
  const json::Value* Find(std::string_view key) const {
    return keys.MayHave(key) ? json::Find(value, key) : nullptr;
  }
  std::optional<std::string_view> Text(std::string_view key) const {
    return json::AsString(Find(key));
  }
};

}  // namespace mindgate::schemas
