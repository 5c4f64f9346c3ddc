#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "base/text.h"
#include "cel/context.h"
#include "cel/library/libraries.h"
#include "cel/value.h"

namespace mindgate::cel {
namespace {

using Args = std::span<const Value>;

constexpr int kMostDigits = 50;
constexpr int kDefaultDigits = 6;
constexpr size_t kDeepestFormatted = 400;  // deeper than json::Limits and kMostDeep together

// One clause of a format: "%.3f".
struct Clause {
  char letter = 0;
  int digits = kDefaultDigits;
};

// Writes the values of one format.
class Formatter {
 public:
  Formatter(Context& context, TextBuilder& out) : context_(context), out_(out) {}

  // Nothing when it went well, else the fault.
  std::optional<Value> Write(const Clause& clause, const Value& value);

 private:
  std::optional<Value> Fail(std::string_view can, const Value& value) {
    return context_.Fail({can, ", and this value is of type ", NameOf(value.kind())});
  }
  std::optional<Value> WriteText(const Value& value, size_t depth);
  std::optional<Value> WriteString(const Value& value, size_t depth);
  void WriteDouble(double number, size_t depth);
  void WriteTime(std::string_view function, std::string_view text, size_t depth);
  std::optional<Value> WriteMap(const Value& value, size_t depth);
  bool IsLiteral(size_t depth) const;
  std::optional<Value> WriteWhole(const Value& value);
  std::optional<Value> WriteRounded(const Clause& clause, const Value& value);
  void WriteEnglish(const Clause& clause, double number);
  std::optional<Value> WriteHex(const Value& value, bool upper);
  std::optional<Value> WriteBase(const Value& value, int base);

  Context& context_;
  TextBuilder& out_;
};

std::optional<Value> Formatter::WriteText(const Value& value, size_t depth) {
  if (!context_.Charge(1)) return context_.Stopped();
  switch (value.kind()) {
    case Kind::kNull:
      out_.Add("null");
      return std::nullopt;
    case Kind::kBool:
      out_.Add(value.is_true() ? "true" : "false");
      return std::nullopt;
    case Kind::kInt:
      out_.Add(NumberText(value.integer()));
      return std::nullopt;
    case Kind::kUint:
      out_.Add(NumberText(value.unsigned_integer()));
      return std::nullopt;
    case Kind::kDouble:
      WriteDouble(value.number(), depth);
      return std::nullopt;
    case Kind::kString:
    case Kind::kBytes:
      return WriteString(value, depth);
    case Kind::kType:
      out_.Add(value.text());
      return std::nullopt;
    case Kind::kTimestamp:
      WriteTime("timestamp", TimeText(value), depth);
      return std::nullopt;
    case Kind::kDuration:
      WriteTime("duration", DurationText(value.integer()), depth);
      return std::nullopt;
    case Kind::kList:
      out_.Add("[");
      for (size_t i = 0; i < value.size(); ++i) {
        if (i > 0) out_.Add(", ");
        if (depth == kDeepestFormatted) return context_.Fail("the value is nested too deep");
        if (auto fault = WriteText(value.At(i), depth + 1)) return fault;
      }
      out_.Add("]");
      return std::nullopt;
    case Kind::kMap:
      return WriteMap(value, depth);
    default:
      return Fail(
          "%s writes strings, numbers, bools, bytes, lists, maps, types, durations and timestamps",
          value);
  }
}

// Inside of lists and maps, the API server writes values as an expression has them.
bool Formatter::IsLiteral(size_t depth) const { return depth > 0 && context_.follows_kubernetes(); }

std::optional<Value> Formatter::WriteString(const Value& value, size_t depth) {
  const std::string_view text = value.text();
  const bool bytes = value.kind() == Kind::kBytes;
  if (bytes && context_.follows_kubernetes() && !IsUtf8(text)) {
    return context_.Fail("invalid UTF-8: the bytes are not a text");
  }
  if (!IsLiteral(depth)) {
    out_.Add(text);
    return std::nullopt;
  }
  out_.Add(bytes ? "b\"" : "\"");
  for (const char c : text) {
    const std::string_view escaped = c == '"'    ? "\\\""
                                     : c == '\\' ? "\\\\"
                                     : c == '\n' ? "\\n"
                                     : c == '\t' ? "\\t"
                                                 : "";
    if (escaped.empty()) out_.Add(c);
    out_.Add(escaped);
  }
  out_.Add("\"");
  return std::nullopt;
}

void Formatter::WriteDouble(double number, size_t depth) {
  if (!context_.follows_kubernetes()) {
    out_.Add(NumberText::Plain(number));
  } else if (depth == 0) {
    out_.Add(NumberText::OfDouble(number));
  } else if (std::isfinite(number)) {
    out_.Add(NumberText::Rounded(number, kDefaultDigits, false));
  } else {
    out_.Add("\"");
    out_.Add(NumberText::OfDouble(number));
    out_.Add("\"");
  }
}

void Formatter::WriteTime(std::string_view function, std::string_view text, size_t depth) {
  if (!IsLiteral(depth)) return out_.Add(text);
  for (const std::string_view part :
       {function, std::string_view("(\""), text, std::string_view("\")")}) {
    out_.Add(part);
  }
}

// In the order of the keys as texts.
std::optional<Value> Formatter::WriteMap(const Value& value, size_t depth) {
  struct Written {
    std::string_view key;
    size_t index;
  };
  if (depth == kDeepestFormatted) return context_.Fail("the value is nested too deep");
  auto* row = context_.Row<Written>(value.size());
  if (context_.stopped() || !context_.Charge(value.size())) return context_.Stopped();
  for (size_t i = 0; i < value.size(); ++i) {
    TextBuilder key(context_);
    Formatter writer(context_, key);
    if (auto fault = writer.WriteText(value.KeyAt(i), depth + 1)) return fault;
    row[i] = {key.text(), i};
  }
  const std::span written(row, value.size());
  std::ranges::sort(written, {}, &Written::key);
  out_.Add("{");
  for (size_t i = 0; i < written.size(); ++i) {
    if (i > 0) out_.Add(", ");
    out_.Add(written[i].key);
    out_.Add(context_.follows_kubernetes() ? ":" : ": ");
    if (auto fault = WriteText(value.ValueAt(written[i].index), depth + 1)) return fault;
  }
  out_.Add("}");
  return std::nullopt;
}

std::optional<Value> Formatter::WriteWhole(const Value& value) {
  const bool special = value.kind() == Kind::kDouble && !std::isfinite(value.number()) &&
                       !context_.follows_kubernetes();
  if (value.kind() != Kind::kInt && value.kind() != Kind::kUint && !special) {
    return Fail("%d writes integers", value);
  }
  return WriteText(value, 0);
}

std::optional<Value> Formatter::WriteRounded(const Clause& clause, const Value& value) {
  const bool exponent = clause.letter == 'e';
  if (context_.follows_kubernetes() ? value.kind() != Kind::kDouble : !value.is_number()) {
    return Fail(exponent ? "%e writes numbers" : "%f writes numbers", value);
  }
  if (context_.follows_kubernetes()) {
    WriteEnglish(clause, value.number());
    return std::nullopt;
  }
  out_.Add(NumberText::Rounded(value.as_double(), clause.digits, exponent));
  return std::nullopt;
}

// The API server writes these two for people who read English: 1,234.50 and 1.50×10³
// (cel-go: ext/formatting.go, by golang.org/x/text/message).
void Formatter::WriteEnglish(const Clause& clause, double number) {
  const bool exponent = clause.letter == 'e';
  if (!std::isfinite(number)) {
    const std::string_view name = std::isnan(number) ? "NaN" : number > 0 ? "∞" : "-∞";
    const int characters = std::isnan(number) ? 3 : number > 0 ? 1 : 2;
    for (int i = characters; exponent && i < clause.digits; ++i) out_.Add(' ');
    return out_.Add(name);
  }
  const int digits = exponent ? kDefaultDigits : clause.digits;
  const NumberText rounded = NumberText::Rounded(number == 0 ? 0 : number, digits, exponent);
  const std::string_view text = rounded.text();
  const size_t end = std::min(text.find_first_of(".e"), text.size());
  const size_t begin = text.starts_with('-') ? 1 : 0;
  for (size_t i = 0; i < end; ++i) {
    if (i > begin && (end - i) % 3 == 0) out_.Add(',');
    out_.Add(text[i]);
  }
  const size_t power = std::min(text.find('e'), text.size());
  out_.Add(text.substr(end, power - end));
  if (power == text.size()) return;
  out_.Add("×10");
  constexpr std::string_view kRaised[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
  for (const char c : text.substr(power + 1)) {
    if (c == '-') out_.Add("⁻");
    if (IsDigit(c)) out_.Add(kRaised[c - '0']);
  }
}

std::optional<Value> Formatter::WriteHex(const Value& value, bool upper) {
  const std::string_view digits = upper ? "0123456789ABCDEF" : "0123456789abcdef";
  if (value.kind() == Kind::kString || value.kind() == Kind::kBytes) {
    for (const char c : value.text()) {
      if (!context_.Charge(1)) break;
      const auto byte = static_cast<unsigned char>(c);
      out_.Add(digits[byte >> 4]);
      out_.Add(digits[byte & 15]);
    }
    return std::nullopt;
  }
  if (value.kind() != Kind::kInt && value.kind() != Kind::kUint) {
    return Fail("%x writes integers, bytes and strings", value);
  }
  const bool negative = value.kind() == Kind::kInt && value.integer() < 0;
  if (negative) out_.Add("-");
  const NumberText number(negative ? 0 - value.unsigned_integer() : value.unsigned_integer(), 16);
  for (const char c : number.text()) {
    out_.Add(c >= 'a' && upper ? static_cast<char>(c - 'a' + 'A') : c);
  }
  return std::nullopt;
}

std::optional<Value> Formatter::WriteBase(const Value& value, int base) {
  if (base == 2 && value.kind() == Kind::kBool) {
    out_.Add(value.is_true() ? "1" : "0");
    return std::nullopt;
  }
  if (value.kind() != Kind::kInt && value.kind() != Kind::kUint) {
    return Fail(base == 2 ? "%b writes integers and bools" : "%o writes integers", value);
  }
  const bool negative = value.kind() == Kind::kInt && value.integer() < 0;
  if (negative) out_.Add("-");
  out_.Add(NumberText(negative ? 0 - value.unsigned_integer() : value.unsigned_integer(), base));
  return std::nullopt;
}

std::optional<Value> Formatter::Write(const Clause& clause, const Value& value) {
  switch (clause.letter) {
    case 's':
      return WriteText(value, 0);
    case 'd':
      return WriteWhole(value);
    case 'f':
    case 'e':
      return WriteRounded(clause, value);
    case 'x':
    case 'X':
      return WriteHex(value, clause.letter == 'X');
    case 'b':
      return WriteBase(value, 2);
    case 'o':
      return WriteBase(value, 8);
    default:
      return context_.Fail(
          {"the format has an unknown clause: %", std::string_view(&clause.letter, 1)});
  }
}

// Takes the clause behind a percent sign; nothing when the format ends in it.
std::optional<Clause> TakeClause(std::string_view& rest) {
  Clause clause;
  if (rest.starts_with('.')) {
    rest.remove_prefix(1);
    clause.digits = 0;
    while (!rest.empty() && IsDigit(rest[0])) {
      clause.digits = std::min(clause.digits * 10 + (rest[0] - '0'), kMostDigits);
      rest.remove_prefix(1);
    }
  }
  if (rest.empty()) return std::nullopt;
  clause.letter = rest[0];
  rest.remove_prefix(1);
  return clause;
}

Value FormatText(Context& context, Args args) {
  std::string_view rest = args[0].text();
  TextBuilder out(context);
  Formatter formatter(context, out);
  size_t next = 0;
  while (!rest.empty() && !context.stopped()) {
    const size_t percent = rest.find('%');
    out.Add(rest.substr(0, percent));
    if (percent == std::string_view::npos) break;
    rest.remove_prefix(percent + 1);
    if (rest.starts_with('%')) {
      out.Add("%");
      rest.remove_prefix(1);
      continue;
    }
    const auto clause = TakeClause(rest);
    if (!clause) return context.Fail("the format ends in %");
    if (next >= args[1].size()) {
      return context.Fail({"the format has more clauses than the ",
                           NumberText(static_cast<int64_t>(next)), " values that it is given"});
    }
    if (const auto fault = formatter.Write(*clause, args[1].At(next++))) return *fault;
  }
  return out.Finish();
}

constexpr std::array kStringFormats{
    Overload{"format", "string.(list(dyn)): string", FormatText},
};

}  // namespace

std::span<const Overload> StringFormats() { return kStringFormats; }

}  // namespace mindgate::cel
