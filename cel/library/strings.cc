#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "cel/context.h"
#include "cel/lexer.h"
#include "cel/library/libraries.h"
#include "cel/value.h"

namespace mindgate::cel {

size_t LengthOfCharacter(std::string_view text) {
  if (static_cast<signed char>(text[0]) >= 0) return 1;
  return std::max<size_t>(1, Utf8Length(text));
}

size_t CountCharacters(std::string_view text) {
  size_t count = 0;
  for (size_t at = 0; at < text.size(); at += LengthOfCharacter(text.substr(at))) ++count;
  return count;
}

std::optional<size_t> OffsetOf(std::string_view text, size_t character) {
  size_t at = 0;
  for (size_t count = 0; count < character; ++count) {
    if (at >= text.size()) return std::nullopt;
    at += LengthOfCharacter(text.substr(at));
  }
  return at;
}

bool IsUtf8(std::string_view text) {
  while (!text.empty()) {
    const size_t length = Utf8Length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

namespace {

using Args = std::span<const Value>;

Value IndexOutOfRange(Context& context, int64_t index) {
  return context.Fail({"index out of range: ", NumberText(index)});
}

// The offset of a character of the text whose number a value is.
std::optional<size_t> OffsetAt(Context& context, std::string_view text, const Value& index) {
  if (index.integer() < 0 || !context.ChargeText(text.size())) return std::nullopt;
  return OffsetOf(text, static_cast<size_t>(index.integer()));
}

// For a search: std::string_view::find may compare both texts at each place.
bool ChargeSearch(Context& context, std::string_view text, std::string_view wanted) {
  return context.Charge(1 + text.size() / 16 * (1 + wanted.size() / 16));
}

Value Contains(Context& context, Args args) {
  if (!ChargeSearch(context, args[0].text(), args[1].text())) return context.Stopped();
  return Value::OfBool(args[0].text().find(args[1].text()) != std::string_view::npos);
}

Value StartsWith(Context& context, Args args) {
  context.ChargeText(args[1].text().size());
  return Value::OfBool(args[0].text().starts_with(args[1].text()));
}

Value EndsWith(Context& context, Args args) {
  context.ChargeText(args[1].text().size());
  return Value::OfBool(args[0].text().ends_with(args[1].text()));
}

Value CharAt(Context& context, Args args) {
  const std::string_view text = args[0].text();
  const auto at = OffsetAt(context, text, args[1]);
  if (!at) return IndexOutOfRange(context, args[1].integer());
  if (*at == text.size()) return Value::OfString("");
  return Value::OfString(text.substr(*at, LengthOfCharacter(text.substr(*at))));
}

// The number of the character at an offset that a search found, or -1.
Value CharacterAtOffset(std::string_view text, size_t found) {
  if (found == std::string_view::npos) return Value::OfInt(-1);
  return Value::OfInt(static_cast<int64_t>(CountCharacters(text.substr(0, found))));
}

Value IndexFrom(Context& context, std::string_view text, std::string_view wanted, size_t from) {
  if (!ChargeSearch(context, text, wanted)) return context.Stopped();
  return CharacterAtOffset(text, text.find(wanted, from));
}

Value IndexOfText(Context& context, Args args) {
  return IndexFrom(context, args[0].text(), args[1].text(), 0);
}

// What a search finds that begins at an index outside of the text.
Value FoundOutside(Context& context, Args args) {
  const int64_t index = args[2].integer();
  if (index < 0 || !context.follows_kubernetes()) return IndexOutOfRange(context, index);
  return Value::OfInt(args[1].text().empty() ? index : -1);
}

Value IndexOfTextFrom(Context& context, Args args) {
  const auto from = OffsetAt(context, args[0].text(), args[2]);
  if (!from) return FoundOutside(context, args);
  return IndexFrom(context, args[0].text(), args[1].text(), *from);
}

Value LastIndexUpTo(Context& context, std::string_view text, std::string_view wanted, size_t from) {
  if (!ChargeSearch(context, text, wanted)) return context.Stopped();
  return CharacterAtOffset(text, text.rfind(wanted, from));
}

Value LastIndexOfText(Context& context, Args args) {
  return LastIndexUpTo(context, args[0].text(), args[1].text(), std::string_view::npos);
}

Value LastIndexOfTextFrom(Context& context, Args args) {
  const std::string_view text = args[0].text();
  const auto from = OffsetAt(context, text, args[2]);
  const bool at_end = from == text.size() && !args[1].text().empty();
  if (!from || (at_end && context.follows_kubernetes())) {
    return FoundOutside(context, args);
  }
  return LastIndexUpTo(context, text, args[1].text(), *from);
}

template <char kFirst, char kLast, int kShift>
Value ShiftLetters(Context& context, Args args) {
  const std::string_view text = args[0].text();
  if (!context.ChargeText(text.size())) return context.Stopped();
  char* row = context.Row<char>(text.size());
  if (context.stopped()) return context.Stopped();
  for (size_t i = 0; i < text.size(); ++i) {
    const bool letter = text[i] >= kFirst && text[i] <= kLast;
    row[i] = letter ? static_cast<char>(text[i] + kShift) : text[i];
  }
  return Value::OfString({row, text.size()});
}

Value ReplaceUpTo(Context& context, Args args, int64_t most) {
  const std::string_view text = args[0].text();
  const std::string_view from = args[1].text();
  const std::string_view to = args[2].text();
  if (!ChargeSearch(context, text, from)) return context.Stopped();
  TextBuilder out(context);
  size_t at = 0;
  for (int64_t count = 0; count != most && context.Charge(1); ++count) {
    size_t found = from.empty() ? at : text.find(from, at);
    // Nothing stands before and after each character.
    if (from.empty() && count > 0) {
      found = at < text.size() ? at + LengthOfCharacter(text.substr(at)) : std::string_view::npos;
    }
    if (found == std::string_view::npos) break;
    out.Add(text.substr(at, found - at));
    out.Add(to);
    at = found + from.size();
  }
  out.Add(text.substr(at));
  return out.Finish();
}

Value Replace(Context& context, Args args) { return ReplaceUpTo(context, args, -1); }
Value ReplaceSome(Context& context, Args args) {
  return ReplaceUpTo(context, args, std::max<int64_t>(args[3].integer(), -1));
}

Value SplitUpTo(Context& context, Args args, int64_t most) {
  std::string_view text = args[0].text();
  const std::string_view separator = args[1].text();
  if (!ChargeSearch(context, text, separator)) return context.Stopped();
  ItemBuilder items(context);
  if (most == 0) return items.Finish();
  while (most < 0 || static_cast<int64_t>(items.size()) + 1 < most) {
    size_t found = text.find(separator);
    if (separator.empty()) {
      if (text.empty()) return items.Finish();
      found = LengthOfCharacter(text);
      if (found == text.size()) break;
    }
    if (found == std::string_view::npos) break;
    if (!context.Charge(1) || !items.Add(Value::OfString(text.substr(0, found)))) break;
    text.remove_prefix(found + separator.size());
  }
  items.Add(Value::OfString(text));
  return items.Finish();
}

Value SplitAll(Context& context, Args args) { return SplitUpTo(context, args, -1); }
Value SplitSome(Context& context, Args args) { return SplitUpTo(context, args, args[2].integer()); }

Value SubstringFrom(Context& context, Args args) {
  const auto begin = OffsetAt(context, args[0].text(), args[1]);
  if (!begin) return IndexOutOfRange(context, args[1].integer());
  return Value::OfString(args[0].text().substr(*begin));
}

Value SubstringBetween(Context& context, Args args) {
  if (args[1].integer() > args[2].integer()) {
    return context.Fail({"invalid substring range. start: ", NumberText(args[1].integer()),
                         ", end: ", NumberText(args[2].integer())});
  }
  const auto begin = OffsetAt(context, args[0].text(), args[1]);
  if (!begin) return IndexOutOfRange(context, args[1].integer());
  const auto end = OffsetAt(context, args[0].text(), args[2]);
  if (!end) return IndexOutOfRange(context, args[2].integer());
  return Value::OfString(args[0].text().substr(*begin, *end - *begin));
}

// White space of Unicode.
bool IsSpace(char32_t character) {
  return (character >= 9 && character <= 13) || character == ' ' || character == 0x85 ||
         character == 0xA0 || character == 0x1680 || (character >= 0x2000 && character <= 0x200A) ||
         character == 0x2028 || character == 0x2029 || character == 0x202F || character == 0x205F ||
         character == 0x3000;
}

Value TrimText(Context& context, Args args) {
  std::string_view text = args[0].text();
  if (!context.ChargeText(text.size())) return context.Stopped();
  while (!text.empty() && IsSpace(CharacterAt(text))) text.remove_prefix(LengthOfCharacter(text));
  while (!text.empty()) {
    size_t last = text.size() - 1;
    while (last > 0 && (text[last] & 0xC0) == 0x80) --last;
    if (!IsSpace(CharacterAt(text.substr(last)))) break;
    text.remove_suffix(text.size() - last);
  }
  return Value::OfString(text);
}

Value JoinWith(Context& context, const Value& list, std::string_view separator) {
  TextBuilder out(context);
  for (size_t i = 0; i < list.size() && context.Charge(1); ++i) {
    const Value item = list.At(i);
    if (!item.is_string()) {
      return context.Fail(
          {"no such overload: join() takes a list of strings, and this one has an item of type ",
           NameOf(item.kind())});
    }
    if (i > 0) out.Add(separator);
    out.Add(item.text());
  }
  return out.Finish();
}

Value JoinAll(Context& context, Args args) { return JoinWith(context, args[0], ""); }
Value JoinBy(Context& context, Args args) { return JoinWith(context, args[0], args[1].text()); }

Value ReverseText(Context& context, Args args) {
  const std::string_view text = args[0].text();
  if (!context.ChargeText(text.size())) return context.Stopped();
  char* row = context.Row<char>(text.size());
  if (context.stopped()) return context.Stopped();
  for (size_t at = 0; at < text.size();) {
    const size_t length = LengthOfCharacter(text.substr(at));
    std::copy_n(text.data() + at, length, row + text.size() - at - length);
    at += length;
  }
  return Value::OfString({row, text.size()});
}

Value QuoteText(Context& context, Args args) {
  constexpr std::string_view kPlain = "\a\b\f\n\r\t\v\\\"";
  constexpr std::string_view kLetters = "abfnrtv\\\"";
  TextBuilder out(context);
  out.Add("\"");
  for (const char c : args[0].text()) {
    if (!context.Charge(1)) break;
    if (const size_t at = kPlain.find(c); at != std::string_view::npos) {
      out.Add('\\');
      out.Add(kLetters[at]);
    } else {
      out.Add(c);
    }
  }
  out.Add("\"");
  return out.Finish();
}

// RFC 6901: a part of a JSON pointer.
Value EscapeKey(Context& context, Args args) {
  TextBuilder out(context);
  for (const char c : args[0].text()) {
    if (!context.Charge(1)) break;
    if (c == '~') {
      out.Add("~0");
    } else if (c == '/') {
      out.Add("~1");
    } else {
      out.Add(c);
    }
  }
  return out.Finish();
}

constexpr std::array kStrings{
    Overload{"contains", "string.(string): bool", Contains},
    Overload{"startsWith", "string.(string): bool", StartsWith},
    Overload{"endsWith", "string.(string): bool", EndsWith},
    Overload{"charAt", "string.(int): string", CharAt},
    Overload{"indexOf", "string.(string): int", IndexOfText},
    Overload{"indexOf", "string.(string, int): int", IndexOfTextFrom},
    Overload{"lastIndexOf", "string.(string): int", LastIndexOfText},
    Overload{"lastIndexOf", "string.(string, int): int", LastIndexOfTextFrom},
    Overload{"lowerAscii", "string.(): string", ShiftLetters<'A', 'Z', 'a' - 'A'>},
    Overload{"upperAscii", "string.(): string", ShiftLetters<'a', 'z', 'A' - 'a'>},
    Overload{"replace", "string.(string, string): string", Replace},
    Overload{"replace", "string.(string, string, int): string", ReplaceSome},
    Overload{"split", "string.(string): list(string)", SplitAll},
    Overload{"split", "string.(string, int): list(string)", SplitSome},
    Overload{"substring", "string.(int): string", SubstringFrom},
    Overload{"substring", "string.(int, int): string", SubstringBetween},
    Overload{"trim", "string.(): string", TrimText},
    Overload{"join", "list(string).(): string", JoinAll},
    Overload{"join", "list(string).(string): string", JoinBy},
    Overload{"reverse", "string.(): string", ReverseText},
    Overload{"strings.quote", "(string): string", QuoteText},
    Overload{"jsonpatch.escapeKey", "(string): string", EscapeKey},
};

}  // namespace

std::span<const Overload> Strings() { return kStrings; }

namespace {

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
