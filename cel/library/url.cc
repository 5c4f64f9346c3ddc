#include <algorithm>
#include <array>
#include <span>

#include "base/text.h"
#include "cel/context.h"
#include "cel/function.h"
#include "cel/library/libraries.h"
#include "cel/value.h"

namespace mindgate::cel {
namespace {

using Args = std::span<const Value>;

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
