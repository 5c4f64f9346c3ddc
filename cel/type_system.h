#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cel/ast.h"
#include "cel/context.h"
#include "cel/value.h"
#include "json/arena.h"
#include "json/issues.h"

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

// A signature as types. Its variables are new ones.
struct Signature {
  bool is_member = false;
  bool is_generic = false;  // it has variables
  size_t size = 0;          // with the receiver
  std::array<const Type*, kMostArguments> arguments{};
  const Type* result = nullptr;
};

// How many arguments a signature has, with the receiver, and whether it has one; cheap.
struct Shape {
  bool is_member = false;
  size_t size = 0;
};
Shape ShapeOf(std::string_view signature);

// Nothing when the text is not a signature.
std::optional<Signature> ParseSignature(std::string_view text, Types& types, uint32_t& next);

// "string.contains(string)", "int + int": how a call of the overload is written.
std::string UsageOf(const Overload& overload);
// The sign of an operator's function: "+" of "_+_"; of another function its name.
std::string_view SignOf(std::string_view function);
// A call with arguments of these types: "contains(int, string)", "int + string".
std::string CallOf(std::string_view function, bool is_member, std::span<const std::string> types);

// What the variables of types stand for, as far as an expression says so.
class Unifier {
 public:
  explicit Unifier(Types& types) : types_(types) {}

  const Type* NewVariable() { return types_.Variable(next_++); }
  uint32_t& next() { return next_; }  // the number of the next variable

  // Whether a value of type `from` may stand where `to` is wanted. Variables learn from it.
  bool Assignable(const Type* to, const Type* from);
  // The type that both have; dyn when there is none.
  const Type* Join(const Type* a, const Type* b);

  // The type itself, if it is a variable what that stands for.
  const Type* Resolve(const Type* type) const;
  // The same for all that it is made of. What no variable stands for is dyn.
  const Type* Apply(const Type* type);

  // What was learned since a mark is forgotten.
  size_t Mark() const { return trail_.size(); }
  void Undo(size_t mark);

 private:
  const Type* BoundTo(uint32_t variable) const {
    return variable < bound_.size() ? bound_[variable] : nullptr;
  }
  void Bind(uint32_t variable, const Type* type);
  bool AssignVariable(uint32_t variable, const Type* other, bool variable_is_to);
  bool Contains(const Type* type, uint32_t variable) const;
  // Whether all that is known of `a` holds for `b`.
  bool IsLessSpecific(const Type* a, const Type* b) const;

  Types& types_;
  uint32_t next_ = 0;
  std::vector<const Type*> bound_;
  std::vector<std::pair<uint32_t, const Type*>> trail_;  // what each bound one was before
};

struct Checked {
  const Type* type = nullptr;  // of the whole; null when there are issues
  size_t locals = 0;           // variables that macros declare, at most so many at a time
};

// Finds what every name of a tree refers to, and what each call may mean, and says so in the tree.
// Reports all that is not declared and every call that no function takes. Literal patterns are
// compiled into `patterns`.
Checked Check(Node& root, std::string_view text, const Environment& environment, json::Arena& arena,
              Patterns& patterns, json::Issues& issues);

}  // namespace mindgate::cel
