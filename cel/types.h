#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "cel/value.h"
#include "json/arena.h"

namespace mindgate::cel {

// A type as it is known before evaluation: a name with the types that it is made of ("list" of
// "int"), or a variable that stands for a type. Of what is "dyn" nothing is known.
struct Type {
  std::string_view name;
  std::span<const Type* const> of;
  std::optional<uint32_t> variable;

  bool is(std::string_view other) const { return !variable && name == other; }
  bool is_dyn() const { return is("dyn"); }
};

inline constexpr Type kDyn{"dyn", {}, {}};
inline constexpr Type kBool{"bool", {}, {}};
inline constexpr Type kInt{"int", {}, {}};
inline constexpr Type kString{"string", {}, {}};
inline constexpr Type kNullType{"null_type", {}, {}};

// "list(int)", "map(string, dyn)", "timestamp".
std::string TextOf(const Type& type);

// The kind that values of the type have; nothing when that is not known.
std::optional<Kind> KindOf(const Type& type);
const Type& TypeOfScalar(Kind kind);

// The names of a signature's variables: single capital letters.
struct Letters {
  const Type* of[26] = {};
};

// Makes types in an arena. One thread at a time.
class Types {
 public:
  explicit Types(json::Arena& arena) : arena_(arena) {}

  const Type* Named(std::string_view name, std::initializer_list<const Type*> of = {});
  const Type* ListOf(const Type* item) { return Named("list", {item}); }
  const Type* MapOf(const Type* key, const Type* value) { return Named("map", {key, value}); }
  const Type* OptionalOf(const Type* value) { return Named("optional_type", {value}); }
  const Type* Variable(uint32_t number);
  const Type* With(const Type& type, std::span<const Type* const> of);

  // The type of a text as TextOf writes it. `next` numbers the variables of single capital letters;
  // without it they are not known. A null pointer when the text is not a type.
  const Type* Parse(std::string_view text, Letters* letters = nullptr, uint32_t* next = nullptr);

 private:
  const Type* ParseOne(std::string_view& rest, Letters* letters, uint32_t* next, int depth);

  json::Arena& arena_;
};

}  // namespace mindgate::cel
