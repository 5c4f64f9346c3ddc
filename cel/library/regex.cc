#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "cel/function.h"
#include "cel/library/characters.h"
#include "cel/library/libraries.h"
#include "cel/value.h"

namespace mindgate::cel {
namespace {

using Args = std::span<const Value>;

constexpr int64_t kMostMemory = int64_t{1} << 20;  // of one compiled pattern
constexpr size_t kLongestPattern = 4096;
constexpr size_t kMostPatterns = 100;  // of one program
// What it costs to compile a pattern while an expression is evaluated, for each of its bytes.
constexpr uint64_t kCostOfByte = 20;

std::unique_ptr<re2::RE2> Compiled(std::string_view pattern) {
  re2::RE2::Options options(re2::RE2::Quiet);
  options.set_max_mem(kMostMemory);
  return std::make_unique<re2::RE2>(re2::StringPiece(pattern.data(), pattern.size()), options);
}

// A pattern of the program, or one that is compiled for this call.
class Pattern {
 public:
  Pattern(Context& context, std::string_view pattern) {
    const auto known = context.patterns().find(pattern);
    if (known != context.patterns().end()) {
      pattern_ = known->second.get();
      return;
    }
    if (pattern.size() > kLongestPattern) {
      fault_ = context.Fail("the pattern of a regular expression is too long");
      return;
    }
    if (!context.Charge(kCostOfByte * (pattern.size() + 1))) {
      fault_ = context.Stopped();
      return;
    }
    made_ = Compiled(pattern);
    pattern_ = made_.get();
    if (!made_->ok()) {
      fault_ = context.Fail({"this is not a regular expression of RE2: ", made_->error()});
    }
  }

  const std::optional<Value>& fault() const { return fault_; }
  const re2::RE2& operator*() const { return *pattern_; }

 private:
  std::unique_ptr<re2::RE2> made_;
  const re2::RE2* pattern_ = nullptr;
  std::optional<Value> fault_;
};

re2::StringPiece PieceOf(std::string_view text) { return {text.data(), text.size()}; }

// RE2 may take all of the compiled pattern for each byte.
bool ChargeMatch(Context& context, const re2::RE2& pattern, size_t bytes) {
  constexpr size_t kPartsOfAStep = 64;
  const auto parts = static_cast<size_t>(std::max(pattern.ProgramSize(), 0));
  return context.Charge(1 + bytes / 16 * (1 + parts / kPartsOfAStep));
}

// The first match from an offset on, as a part of the text.
std::optional<std::string_view> MatchIn(const re2::RE2& pattern, std::string_view text,
                                        size_t from) {
  re2::StringPiece match;
  if (!pattern.Match(PieceOf(text), from, text.size(), re2::RE2::UNANCHORED, &match, 1)) {
    return std::nullopt;
  }
  return std::string_view(match.data(), match.size());
}

Value Matches(Context& context, Args args) {
  const Pattern pattern(context, args[1].text());
  if (pattern.fault()) return *pattern.fault();
  if (!ChargeMatch(context, *pattern, args[0].text().size())) return context.Stopped();
  return Value::OfBool(MatchIn(*pattern, args[0].text(), 0).has_value());
}

Value Find(Context& context, Args args) {
  const Pattern pattern(context, args[1].text());
  if (pattern.fault()) return *pattern.fault();
  if (!ChargeMatch(context, *pattern, args[0].text().size())) return context.Stopped();
  return Value::OfString(MatchIn(*pattern, args[0].text(), 0).value_or(""));
}

Value FindUpTo(Context& context, Args args, int64_t most) {
  const Pattern pattern(context, args[1].text());
  if (pattern.fault()) return *pattern.fault();
  const std::string_view text = args[0].text();
  ItemBuilder items(context);
  std::optional<size_t> last_end;
  for (size_t at = 0; at <= text.size() && static_cast<int64_t>(items.size()) != most;) {
    // A match may need all of the rest.
    if (!ChargeMatch(context, *pattern, text.size() - at)) return context.Stopped();
    const auto match = MatchIn(*pattern, text, at);
    if (!match) break;
    const auto begin = static_cast<size_t>(match->data() - text.data());
    const size_t end = begin + match->size();
    // An empty match right behind another one is none, as in Go.
    if (!match->empty() || begin != last_end) items.Add(Value::OfString(*match));
    last_end = end;
    at = end;
    if (match->empty()) at += end < text.size() ? LengthOfCharacter(text.substr(end)) : 1;
  }
  return items.Finish();
}

Value FindAll(Context& context, Args args) { return FindUpTo(context, args, -1); }
Value FindSome(Context& context, Args args) { return FindUpTo(context, args, args[2].integer()); }

constexpr std::array kRegexes{
    Overload{"matches", "string.(string): bool", Matches},
    Overload{"matches", "(string, string): bool", Matches},
    Overload{"find", "string.(string): string", Find},
    Overload{"findAll", "string.(string): list(string)", FindAll},
    Overload{"findAll", "string.(string, int): list(string)", FindSome},
};

}  // namespace

std::string AddPattern(std::string_view pattern, Patterns& patterns) {
  if (pattern.size() > kLongestPattern) return "it has more than 4096 bytes";
  if (patterns.contains(pattern)) return "";
  if (patterns.size() == kMostPatterns) return "it is one more than 100 in this expression";
  auto compiled = Compiled(pattern);
  if (!compiled->ok()) return compiled->error();
  patterns.insert_or_assign(std::string(pattern), std::move(compiled));
  return "";
}

std::span<const Overload> Regexes() { return kRegexes; }

}  // namespace mindgate::cel
