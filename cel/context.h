#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cel/value.h"
#include "json/arena.h"

namespace re2 {
class RE2;
}

namespace mindgate::cel {

// Where the API server answers otherwise than the specification of the language (docs/cel.md lists
// it): which of them is followed. tests/oracle/cel has the answers of both.
enum class Dialect : uint8_t { kKubernetes, kSpecification };

// A variable that expressions may name. A name with dots ("variables.replicas") is one variable.
struct Variable {
  std::string name;
  // "dyn", "int", "string", "list(string)", "map(string, dyn)", "timestamp" ... Values are not
  // checked against it: they must be of that type.
  std::string type = "dyn";
};

// A function that the caller declares, so that an expression is checked. Nothing evaluates it.
struct Declaration {
  std::string name;
  std::string signature;  // as Overload has it: "(string, int): bool"
};

// What an expression may name beside the functions that all have.
struct Environment {
  std::vector<Variable> variables;
  std::vector<Declaration> functions{};
  std::string container{};  // names are looked for in this namespace and those around it first
  bool check_types = true;  // false: faults of types and names come when it is evaluated
  Dialect dialect = Dialect::kKubernetes;
  bool blocks = false;  // cel.block and what belongs to it
};

// What one evaluation may cost.
struct Limits {
  // Steps: one for each part of the expression that is evaluated, one for each value that is
  // compared, one for every 16 bytes of text that are read or written. The API server stops one
  // expression at as many of its own, which are of the same size.
  uint64_t cost = 1'000'000;
  // Bytes of the arena, beyond those that it held before.
  size_t memory = size_t{16} * 1024 * 1024;
};

// The patterns of a program that were known when it was compiled.
using Patterns = std::map<std::string, std::shared_ptr<const re2::RE2>, std::less<>>;

// One evaluation: its arena, what it may still cost, and how functions fail. One thread at a time.
class Context {
 public:
  Context(json::Arena& arena, const Limits& limits, const Patterns& patterns,
          Dialect dialect = Dialect::kKubernetes)
      : arena_(arena),
        limits_(limits),
        memory_before_(arena.used()),
        patterns_(patterns),
        dialect_(dialect) {}

  // Takes so many steps. False when there are no more: every evaluation then ends with the fault
  // of the limit.
  bool Charge(uint64_t steps) {
    if (stopped_ || steps > limits_.cost - spent_) return Stop();
    spent_ += steps;
    return true;
  }
  // The same for so many bytes of text.
  bool ChargeText(size_t bytes) { return Charge(bytes / 16); }
  uint64_t spent() const { return spent_; }
  bool stopped() const { return stopped_; }
  // The fault of the limit that was passed.
  Value Stopped();

  // A row of `count` objects; a null pointer when that is beyond the limit, and then stopped().
  template <typename T>
  T* Row(size_t count) {
    if (count > limits_.memory / sizeof(T) ||
        arena_.used() - memory_before_ + count * sizeof(T) > limits_.memory) {
      Stop(Reason::kMemory);
      return nullptr;
    }
    return arena_.Row<T>(count);
  }
  template <typename T>
  const T* Keep(const T& object) {
    T* row = Row<T>(1);
    if (row != nullptr) new (row) T(object);
    return row;
  }

  // The texts one after the other; a fault when that is beyond a limit.
  Value Join(std::initializer_list<std::string_view> texts);
  // Why there is no value. The message is one sentence without a full stop.
  Value Fail(std::initializer_list<std::string_view> message);
  Value Fail(std::string_view message) { return Fail({message}); }
  Value Some(const Value& value);  // optional.of
  static Value None() { return Value::OfOptional(nullptr); }

  // Whether two values are equal, as == has it. What is compared costs steps; false when stopped.
  bool Equal(const Value& a, const Value& b) { return EqualAt(a, b, 0); }
  // -1, 0 or 1, as Compare has it, for what it costs.
  std::optional<int> Order(const Value& a, const Value& b);
  // The value of a key in a map, for what it costs.
  std::optional<Value> Lookup(const Value& map, const Value& key);

  const Patterns& patterns() const { return patterns_; }
  bool follows_kubernetes() const { return dialect_ == Dialect::kKubernetes; }

 private:
  enum class Reason { kSteps, kMemory, kDepth };

  bool Stop(Reason reason = Reason::kSteps) {
    if (!stopped_) reason_ = reason;
    stopped_ = true;
    return false;
  }
  bool EqualAt(const Value& a, const Value& b, size_t depth);
  bool EqualRows(const Value& a, const Value& b, size_t depth);

  json::Arena& arena_;
  const Limits limits_;
  const size_t memory_before_;
  const Patterns& patterns_;
  const Dialect dialect_;
  uint64_t spent_ = 0;
  Fault limit_;
  bool stopped_ = false;
  Reason reason_ = Reason::kSteps;
};

// A text that grows in the arena of an evaluation.
class TextBuilder {
 public:
  explicit TextBuilder(Context& context) : context_(context) {}

  void Add(std::string_view text);
  void Add(char c) { Add(std::string_view(&c, 1)); }
  std::string_view text() const { return {data_, size_}; }
  // The text as a string, or the fault of a limit.
  Value Finish() const;

 private:
  Context& context_;
  char* data_ = nullptr;
  size_t size_ = 0;
  size_t capacity_ = 0;
};

// A row of values that grows in the arena of an evaluation.
class ItemBuilder {
 public:
  explicit ItemBuilder(Context& context) : context_(context) {}

  bool Add(const Value& value);  // false when a limit was passed
  size_t size() const { return size_; }
  Value* data() { return data_; }
  Value Finish() const;  // as a list, or the fault of a limit

 private:
  Context& context_;
  Value* data_ = nullptr;
  size_t size_ = 0;
  size_t capacity_ = 0;
};

// What a function does. None of the arguments is an error, and each has the kind that the
// signature says; the receiver of a member function comes first.
using Function = Value (*)(Context& context, std::span<const Value> args);

// One way to call a function. A library is a table of them.
struct Overload {
  std::string_view name;       // "contains", "math.abs", "_+_"
  std::string_view signature;  // "string.(string): bool", "(int): int", "list(T).(T): int"
  Function function = nullptr;
};

inline constexpr size_t kMostArguments = 4;

// An overload that a call may mean; kError stands for any kind.
struct Candidate {
  Function function = nullptr;
  std::array<Kind, kMostArguments> kinds{};

  bool Takes(std::span<const Value> args) const {
    for (size_t i = 0; i < args.size(); ++i) {
      if (kinds[i] != Kind::kError && kinds[i] != args[i].kind()) return false;
    }
    return true;
  }
};

}  // namespace mindgate::cel
