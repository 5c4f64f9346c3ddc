#include <algorithm>
#include <array>
#include <span>
#include <string_view>

#include "base/text.h"
#include "base/time.h"
#include "cel/context.h"
#include "cel/library/libraries.h"
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

namespace {

bool IsAlphabetic(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

int HexDigit(char c) {
  if (IsDigit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

// The byte of an escape "%2F" at the beginning, or -1.
int EscapedByte(std::string_view text) {
  if (text.size() < 3 || text[0] != '%') return -1;
  const int high = HexDigit(text[1]);
  const int low = HexDigit(text[2]);
  return high < 0 || low < 0 ? -1 : high * 16 + low;
}

bool HasGoodEscapes(std::string_view text) {
  for (size_t at = text.find('%'); at != std::string_view::npos; at = text.find('%', at + 1)) {
    if (EscapedByte(text.substr(at)) < 0) return false;
  }
  return true;
}

std::string_view TakeScheme(std::string_view& rest) {
  for (size_t i = 0; i < rest.size(); ++i) {
    const char c = rest[i];
    if (c == ':' && i > 0) {
      const std::string_view scheme = rest.substr(0, i);
      rest.remove_prefix(i + 1);
      return scheme;
    }
    const bool later = IsDigit(c) || c == '+' || c == '-' || c == '.';
    if (!IsAlphabetic(c) && (i == 0 || !later)) break;
  }
  return {};
}

// The offset of the colon before a port, or the end.
size_t PortAt(std::string_view host) {
  const size_t bracket = host.rfind(']');
  const size_t colon = host.rfind(':');
  if (colon == std::string_view::npos) return host.size();
  return bracket != std::string_view::npos && colon < bracket ? host.size() : colon;
}

bool IsHost(std::string_view host) {
  const size_t port = PortAt(host);
  if (port < host.size() && !std::ranges::all_of(host.substr(port + 1), IsDigit)) return false;
  const std::string_view name = host.substr(0, port);
  if (name.starts_with('[')) return name.ends_with(']') && name.size() > 2;
  // A second colon belongs into brackets.
  constexpr std::string_view kNever = " \"<>[]{}|\\^`:";
  return name.find_first_of(kNever) == std::string_view::npos && HasGoodEscapes(name);
}

Value UrlOf(Context& context, Args args) {
  const auto url = ParseUrl(args[0].text());
  if (!url) {
    return context.Fail(
        {"'", args[0].text().substr(0, 80), "' is neither an absolute URI nor an absolute path"});
  }
  return Value::Of(context.Keep(*url));
}
Value IsUrl(Context&, Args args) { return Value::OfBool(ParseUrl(args[0].text()).has_value()); }

Value UrlScheme(Context& context, Args args) {
  char* row = context.Row<char>(args[0].url().scheme.size());
  if (context.stopped()) return context.Stopped();
  const std::string_view scheme = args[0].url().scheme;
  std::ranges::transform(scheme, row, [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return Value::OfString({row, scheme.size()});
}

Value UrlHost(Context&, Args args) { return Value::OfString(args[0].url().host); }

Value UrlHostname(Context&, Args args) {
  std::string_view host = args[0].url().host.substr(0, PortAt(args[0].url().host));
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  return Value::OfString(host);
}

Value UrlPort(Context&, Args args) {
  const std::string_view host = args[0].url().host;
  const size_t port = PortAt(host);
  return Value::OfString(port < host.size() ? host.substr(port + 1) : std::string_view());
}

Value UrlEscapedPath(Context& context, Args args) {
  constexpr std::string_view kAsIs = "-_.~$&+,/:;=@!'()*%";
  constexpr std::string_view kHex = "0123456789ABCDEF";
  TextBuilder out(context);
  for (const char c : args[0].url().path) {
    if (!context.Charge(1)) break;
    if (IsAlphabetic(c) || IsDigit(c) || kAsIs.find(c) != std::string_view::npos) {
      out.Add(c);
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    out.Add('%');
    out.Add(kHex[byte >> 4]);
    out.Add(kHex[byte & 15]);
  }
  return out.Finish();
}

Value QueryText(Context& context, std::string_view text) {
  TextBuilder out(context);
  for (size_t at = 0; at < text.size() && context.Charge(1);) {
    const int byte = EscapedByte(text.substr(at));
    out.Add(byte >= 0 ? static_cast<char>(byte) : (text[at] == '+' ? ' ' : text[at]));
    at += byte >= 0 ? 3 : 1;
  }
  return out.Finish();
}

// Keys with the lists of their values, in the order of the text.
Value UrlQuery(Context& context, Args args) {
  std::string_view rest = args[0].url().query;
  const auto most = static_cast<size_t>(std::ranges::count(rest, '&')) + 1;
  auto* pairs = context.Row<Entry>(most);
  auto* entries = context.Row<Entry>(most);
  auto* values = context.Row<Value>(most);
  if (context.stopped()) return context.Stopped();
  size_t size = 0;
  while (!rest.empty()) {
    const std::string_view pair = rest.substr(0, rest.find('&'));
    rest.remove_prefix(std::min(pair.size() + 1, rest.size()));
    if (pair.empty() || !HasGoodEscapes(pair) || pair.find(';') != std::string_view::npos) continue;
    const size_t equals = std::min(pair.find('='), pair.size());
    const std::string_view value = pair.substr(std::min(equals + 1, pair.size()));
    pairs[size++] = {QueryText(context, pair.substr(0, equals)), QueryText(context, value)};
    if (context.stopped()) return context.Stopped();
  }
  std::stable_sort(pairs, pairs + size,
                   [](const Entry& a, const Entry& b) { return KeyLess(a.key, b.key); });
  size_t keys = 0;
  for (size_t i = 0; i < size; ++i) values[i] = pairs[i].value;
  for (size_t i = 0; i < size;) {
    size_t end = i + 1;
    while (end < size && !KeyLess(pairs[i].key, pairs[end].key)) ++end;
    entries[keys++] = {pairs[i].key, Value::OfItems({values + i, end - i})};
    i = end;
  }
  return Value::OfEntries({entries, keys});
}

constexpr std::array kUrls{
    Overload{"url", "(string): kubernetes.URL", UrlOf},
    Overload{"isURL", "(string): bool", IsUrl},
    Overload{"getScheme", "kubernetes.URL.(): string", UrlScheme},
    Overload{"getHost", "kubernetes.URL.(): string", UrlHost},
    Overload{"getHostname", "kubernetes.URL.(): string", UrlHostname},
    Overload{"getPort", "kubernetes.URL.(): string", UrlPort},
    Overload{"getEscapedPath", "kubernetes.URL.(): string", UrlEscapedPath},
    Overload{"getQuery", "kubernetes.URL.(): map(string, list(string))", UrlQuery},
};

}  // namespace

std::optional<Url> ParseUrl(std::string_view text) {
  const bool control = std::ranges::any_of(
      text, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; });
  if (text.empty() || control) return std::nullopt;
  Url url;
  url.text = text;
  std::string_view rest = text.substr(0, text.find('#'));
  url.scheme = TakeScheme(rest);
  if (const size_t question = rest.find('?'); question != std::string_view::npos) {
    url.query = rest.substr(question + 1);
    rest = rest.substr(0, question);
  }
  if (url.scheme.empty() && !rest.starts_with('/')) return std::nullopt;
  // "mailto:someone" has neither a host nor a path.
  if (!rest.starts_with('/')) return rest.empty() ? std::nullopt : std::optional(url);
  if (rest.starts_with("//") && (!url.scheme.empty() || !rest.starts_with("///"))) {
    rest.remove_prefix(2);
    std::string_view authority = rest.substr(0, rest.find('/'));
    rest.remove_prefix(authority.size());
    if (const size_t at = authority.rfind('@'); at != std::string_view::npos) {
      if (!HasGoodEscapes(authority.substr(0, at))) return std::nullopt;
      authority.remove_prefix(at + 1);
    }
    if (!IsHost(authority)) return std::nullopt;
    url.host = authority;
  }
  if (!HasGoodEscapes(rest)) return std::nullopt;
  url.path = rest;
  return url;
}

std::span<const Overload> Urls() { return kUrls; }

}  // namespace mindgate::cel
