#include <algorithm>
#include <array>
#include <span>
#include <string_view>

#include "base/text.h"
#include "base/time.h"
#include "cel/context.h"
#include "cel/function.h"
#include "cel/library/libraries.h"
#include "cel/opaque.h"
#include "cel/value.h"

namespace mindgate::cel {
namespace {

using Args = std::span<const Value>;

constexpr size_t kLongestLabel = 63;
constexpr size_t kLongestSubdomain = 253;

bool IsLower(char c) { return c >= 'a' && c <= 'z'; }
bool IsAlphanumeric(char c) { return IsDigit(c) || IsLower(c) || (c >= 'A' && c <= 'Z'); }
bool IsLowerOrDigit(char c) { return IsLower(c) || IsDigit(c); }

// Letters, digits and dashes between two letters or digits.
bool IsDnsName(std::string_view text, bool letter_first) {
  if (text.empty() || !IsLowerOrDigit(text.front()) || !IsLowerOrDigit(text.back())) return false;
  if (letter_first && !IsLower(text.front())) return false;
  return std::ranges::all_of(text, [](char c) { return IsLowerOrDigit(c) || c == '-'; });
}

// A name that others are made of: a dash at its end stands for what is added.
std::string_view WithoutDash(std::string_view text) {
  if (text.size() > 1 && text.ends_with('-')) text.remove_suffix(1);
  return text;
}

bool IsSubdomain(std::string_view text) {
  while (true) {
    const size_t dot = text.find('.');
    if (!IsDnsName(text.substr(0, dot), false)) return false;
    if (dot == std::string_view::npos) return true;
    text.remove_prefix(dot + 1);
  }
}

bool IsNameOfLabel(std::string_view text) {
  if (text.empty() || !IsAlphanumeric(text.front()) || !IsAlphanumeric(text.back())) return false;
  return std::ranges::all_of(
      text, [](char c) { return IsAlphanumeric(c) || c == '-' || c == '_' || c == '.'; });
}

constexpr std::string_view kMustBeLabel =
    "a label of RFC 1123 has lower-case letters, digits and '-', with a letter or digit at both "
    "ends";
constexpr std::string_view kMustBe1035 =
    "a label of RFC 1035 has lower-case letters, digits and '-', begins with a letter and ends "
    "with "
    "a letter or digit";
constexpr std::string_view kMustBeSubdomain =
    "a subdomain of RFC 1123 is labels with a '.' between them, each of lower-case letters, digits "
    "and '-', with a letter or digit at both ends";
constexpr std::string_view kMustBeName =
    "the name has letters, digits, '-', '_' and '.', with a letter or digit at both ends";
constexpr std::string_view kMustBeValue =
    "the value of a label is empty, or has letters, digits, '-', '_' and '.', with a letter or "
    "digit at both ends";
constexpr std::string_view kLabelTooLong = "it is longer than 63 characters";
constexpr std::string_view kSubdomainTooLong = "it is longer than 253 characters";

// What is wrong with a text; at most a few sentences.
struct Findings {
  std::array<std::string_view, 4> row{};
  size_t size = 0;
  void Add(std::string_view finding) {
    if (size < row.size()) row[size++] = finding;
  }
};

void CheckLabel(std::string_view text, Findings& out) {
  if (!IsDnsName(text, false)) out.Add(kMustBeLabel);
  if (text.size() > kLongestLabel) out.Add(kLabelTooLong);
}
void Check1035(std::string_view text, Findings& out) {
  if (!IsDnsName(text, true)) out.Add(kMustBe1035);
  if (text.size() > kLongestLabel) out.Add(kLabelTooLong);
}
void CheckSubdomain(std::string_view text, Findings& out) {
  if (!IsSubdomain(text)) out.Add(kMustBeSubdomain);
  if (text.size() > kLongestSubdomain) out.Add(kSubdomainTooLong);
}
void CheckLabelPrefix(std::string_view text, Findings& out) { CheckLabel(WithoutDash(text), out); }
void Check1035Prefix(std::string_view text, Findings& out) { Check1035(WithoutDash(text), out); }
void CheckSubdomainPrefix(std::string_view text, Findings& out) {
  CheckSubdomain(WithoutDash(text), out);
}

void CheckQualifiedName(std::string_view text, Findings& out) {
  std::string_view name = text;
  if (const size_t slash = text.find('/'); slash != std::string_view::npos) {
    name = text.substr(slash + 1);
    if (slash == 0) {
      out.Add("there is no prefix before the '/'");
    } else {
      CheckSubdomain(text.substr(0, slash), out);
    }
    if (name.find('/') != std::string_view::npos) {
      out.Add("a qualified name has one slash at most");
      return;
    }
  }
  if (name.empty()) out.Add("there is no name");
  if (name.size() > kLongestLabel) out.Add("the name is longer than 63 characters");
  if (!IsNameOfLabel(name)) out.Add(kMustBeName);
}

void CheckLabelValue(std::string_view text, Findings& out) {
  if (text.size() > kLongestLabel) out.Add(kLabelTooLong);
  if (!text.empty() && !IsNameOfLabel(text)) out.Add(kMustBeValue);
}

void CheckUri(std::string_view text, Findings& out) {
  if (!ParseUrl(text)) out.Add("it is neither an absolute URI nor an absolute path");
}

// Dashes may be left out, as Kubernetes' OpenAPI has it.
void CheckUuid(std::string_view text, Findings& out) {
  constexpr std::array<size_t, 5> kGroups{8, 4, 4, 4, 12};
  bool good = true;
  for (size_t i = 0; i < kGroups.size() && good; ++i) {
    if (i > 0 && text.starts_with('-')) text.remove_prefix(1);
    const std::string_view group = text.substr(0, kGroups[i]);
    good = group.size() == kGroups[i] && std::ranges::all_of(group, [](char c) {
             return IsDigit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
           });
    text.remove_prefix(group.size());
  }
  if (!good || !text.empty()) out.Add("it is not a UUID");
}

void CheckByte(std::string_view text, Findings& out) {
  if (!IsBase64(text)) out.Add("it is not base64");
}

void CheckDate(std::string_view text, Findings& out) {
  if (text.size() != 10 || !ParseTime(text)) out.Add("it is not a date, such as 2026-01-02");
}

void CheckDatetime(std::string_view text, Findings& out) {
  if (!ParseTimestamp(text)) out.Add("it is not a time, such as 2026-01-02T03:04:05Z");
}

struct NamedFormat {
  Format format;
  void (*check)(std::string_view text, Findings& out);
};
constexpr std::array kNamedFormats{
    NamedFormat{{"dns1123Label"}, CheckLabel},
    NamedFormat{{"dns1123Subdomain"}, CheckSubdomain},
    NamedFormat{{"dns1035Label"}, Check1035},
    NamedFormat{{"qualifiedName"}, CheckQualifiedName},
    NamedFormat{{"dns1123LabelPrefix"}, CheckLabelPrefix},
    NamedFormat{{"dns1123SubdomainPrefix"}, CheckSubdomainPrefix},
    NamedFormat{{"dns1035LabelPrefix"}, Check1035Prefix},
    NamedFormat{{"labelValue"}, CheckLabelValue},
    NamedFormat{{"uri"}, CheckUri},
    NamedFormat{{"uuid"}, CheckUuid},
    NamedFormat{{"byte"}, CheckByte},
    NamedFormat{{"date"}, CheckDate},
    NamedFormat{{"datetime"}, CheckDatetime},
};

template <size_t kIndex>
Value FormatAt(Context&, Args) {
  return Value::Of(&kNamedFormats[kIndex].format);
}

Value FormatNamed(Context& context, Args args) {
  for (const NamedFormat& known : kNamedFormats) {
    if (known.format.name == args[0].text()) return context.Some(Value::Of(&known.format));
  }
  return Context::None();
}

Value Validate(Context& context, Args args) {
  if (!context.ChargeText(args[1].text().size())) return context.Stopped();
  Findings findings;
  for (const NamedFormat& known : kNamedFormats) {
    if (known.format.name == args[0].format().name) known.check(args[1].text(), findings);
  }
  if (findings.size == 0) return Context::None();
  ItemBuilder items(context);
  for (size_t i = 0; i < findings.size; ++i) items.Add(Value::OfString(findings.row[i]));
  const Value list = items.Finish();
  return list.is_error() ? list : context.Some(list);
}

constexpr std::string_view kNoArguments = "(): kubernetes.NamedFormat";
constexpr std::array kFormats{
    Overload{"format.named", "(string): optional_type(kubernetes.NamedFormat)", FormatNamed},
    Overload{"validate", "kubernetes.NamedFormat.(string): optional_type(list(string))", Validate},
    Overload{"format.dns1123Label", kNoArguments, FormatAt<0>},
    Overload{"format.dns1123Subdomain", kNoArguments, FormatAt<1>},
    Overload{"format.dns1035Label", kNoArguments, FormatAt<2>},
    Overload{"format.qualifiedName", kNoArguments, FormatAt<3>},
    Overload{"format.dns1123LabelPrefix", kNoArguments, FormatAt<4>},
    Overload{"format.dns1123SubdomainPrefix", kNoArguments, FormatAt<5>},
    Overload{"format.dns1035LabelPrefix", kNoArguments, FormatAt<6>},
    Overload{"format.labelValue", kNoArguments, FormatAt<7>},
    Overload{"format.uri", kNoArguments, FormatAt<8>},
    Overload{"format.uuid", kNoArguments, FormatAt<9>},
    Overload{"format.byte", kNoArguments, FormatAt<10>},
    Overload{"format.date", kNoArguments, FormatAt<11>},
    Overload{"format.datetime", kNoArguments, FormatAt<12>},
};

}  // namespace

std::span<const Overload> Formats() { return kFormats; }

}  // namespace mindgate::cel
