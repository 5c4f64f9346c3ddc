#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <span>

#include "base/text.h"
#include "cel/context.h"
#include "cel/library/libraries.h"
#include "cel/value.h"

namespace mindgate::cel {
namespace {

using Args = std::span<const Value>;

constexpr size_t kFourAt = 12;  // of an IPv4 address in 16 bytes

std::optional<Ip> ParseFour(std::string_view text) {
  Ip ip;
  ip.is_four = true;
  ip.bytes[10] = ip.bytes[11] = 0xFF;
  for (size_t i = 0; i < 4; ++i) {
    size_t digits = 0;
    int number = 0;
    while (digits < text.size() && digits < 4 && IsDigit(text[digits])) {
      number = number * 10 + (text[digits++] - '0');
    }
    if (digits == 0 || digits > 3 || number > 255 || (digits > 1 && text[0] == '0')) {
      return std::nullopt;
    }
    ip.bytes[kFourAt + i] = static_cast<uint8_t>(number);
    text.remove_prefix(digits);
    if (i == 3) break;
    if (!text.starts_with('.')) return std::nullopt;
    text.remove_prefix(1);
  }
  return text.empty() ? std::optional(ip) : std::nullopt;
}

// Groups of 16 bits; an IPv4 address at the end is not read, since it is mapped or deprecated.
std::optional<Ip> ParseSix(std::string_view text) {
  std::array<uint16_t, 8> groups{};
  size_t size = 0;
  std::optional<size_t> gap;
  if (text.starts_with("::")) {
    gap = 0;
    text.remove_prefix(2);
  }
  while (!text.empty()) {
    if (size == groups.size()) return std::nullopt;
    const size_t length = std::min(text.find(':'), text.size());
    if (length == 0 || length > 4) return std::nullopt;
    const auto [end, error] =
        std::from_chars(text.data(), text.data() + length, groups[size++], 16);
    if (error != std::errc() || end != text.data() + length) return std::nullopt;
    text.remove_prefix(length);
    if (text.empty()) break;
    text.remove_prefix(1);
    if (text.starts_with(':')) {
      if (gap) return std::nullopt;
      gap = size;
      text.remove_prefix(1);
    } else if (text.empty()) {
      return std::nullopt;
    }
  }
  if (gap ? size >= groups.size() : size != groups.size()) return std::nullopt;
  if (gap) {
    const auto first = groups.begin() + static_cast<ptrdiff_t>(*gap);
    std::rotate(first, groups.begin() + static_cast<ptrdiff_t>(size), groups.end());
  }
  Ip ip;
  for (size_t i = 0; i < groups.size(); ++i) {
    ip.bytes[2 * i] = static_cast<uint8_t>(groups[i] >> 8);
    ip.bytes[2 * i + 1] = static_cast<uint8_t>(groups[i] & 0xFF);
  }
  return ip;
}

// Why a text that is no address is none, for a message.
Value NotAnIp(Context& context, std::string_view text, std::string_view what) {
  if (text.find('%') != std::string_view::npos) {
    return context.Fail({what, " must not have a zone: '", text.substr(0, 80), "'"});
  }
  if (text.find(':') != std::string_view::npos && text.find('.') != std::string_view::npos) {
    return context.Fail(
        {"an IPv4 address must not stand in an IPv6 address: '", text.substr(0, 80), "'"});
  }
  if (what == "a CIDR") {
    return context.Fail({"'", text.substr(0, 80), "' is not a CIDR, such as 10.0.0.0/8"});
  }
  return context.Fail({"'", text.substr(0, 80), "' is not an IP address"});
}

// An IPv4 address as one of IPv6, which Kubernetes takes in no spelling.
bool IsMapped(const Ip& ip) {
  const auto bits = ip.bytes.begin() + kFourAt;
  return !ip.is_four && bits[-1] == 0xFF && bits[-2] == 0xFF &&
         std::all_of(ip.bytes.begin(), bits - 2, [](uint8_t byte) { return byte == 0; });
}

std::optional<Ip> IpIn(const Context& context, std::string_view text) {
  const auto ip = ParseIp(text);
  return ip && context.follows_kubernetes() && IsMapped(*ip) ? std::nullopt : ip;
}

std::optional<Cidr> CidrIn(const Context& context, std::string_view text) {
  const size_t slash = text.rfind('/');
  if (slash == std::string_view::npos) return std::nullopt;
  const auto ip = IpIn(context, text.substr(0, slash));
  const std::string_view digits = text.substr(slash + 1);
  int prefix = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), prefix);
  if (!ip || error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  if (prefix < 0 || prefix > (ip->is_four ? 32 : 128)) return std::nullopt;
  if (digits.size() > 1 && digits[0] == '0') return std::nullopt;
  return Cidr{*ip, prefix};
}

// The address without the bits behind the prefix.
Ip Masked(const Ip& ip, int prefix) {
  Ip masked = ip;
  const int first = ip.is_four ? 96 + prefix : prefix;
  for (int i = 0; i < 16; ++i) {
    const int bits = std::clamp(first - 8 * i, 0, 8);
    masked.bytes[static_cast<size_t>(i)] &= static_cast<uint8_t>(0xFF00 >> bits);
  }
  return masked;
}

bool Holds(const Cidr& cidr, const Ip& ip) {
  return cidr.ip.is_four == ip.is_four &&
         Masked(cidr.ip, cidr.prefix).bytes == Masked(ip, cidr.prefix).bytes;
}

bool HoldsCidr(const Cidr& outer, const Cidr& inner) {
  return Holds(outer, inner.ip) && inner.prefix >= outer.prefix;
}

Value IpOf(Context& context, Args args) {
  const auto ip = IpIn(context, args[0].text());
  if (!ip) return NotAnIp(context, args[0].text(), "an IP address");
  return Value::Of(context.Keep(*ip));
}
Value IsIp(Context& context, Args args) {
  return Value::OfBool(IpIn(context, args[0].text()).has_value());
}

Value IpIsCanonical(Context& context, Args args) {
  const auto ip = IpIn(context, args[0].text());
  if (!ip) return NotAnIp(context, args[0].text(), "an IP address");
  return Value::OfBool(TextOfIp(*ip).text() == args[0].text());
}

Value IpFamily(Context&, Args args) { return Value::OfInt(args[0].ip().is_four ? 4 : 6); }

uint8_t FirstByte(const Ip& ip) { return ip.is_four ? ip.bytes[kFourAt] : ip.bytes[0]; }

bool Unspecified(const Ip& ip) {
  const size_t begin = ip.is_four ? kFourAt : 0;
  return std::all_of(ip.bytes.begin() + static_cast<ptrdiff_t>(begin), ip.bytes.end(),
                     [](uint8_t byte) { return byte == 0; });
}

bool Loopback(const Ip& ip) {
  if (ip.is_four) return FirstByte(ip) == 127;
  return ip.bytes[15] == 1 &&
         std::all_of(ip.bytes.begin(), ip.bytes.end() - 1, [](uint8_t byte) { return byte == 0; });
}

bool Multicast(const Ip& ip) {
  return ip.is_four ? (FirstByte(ip) & 0xF0) == 0xE0 : FirstByte(ip) == 0xFF;
}

bool LinkLocalMulticast(const Ip& ip) {
  if (!ip.is_four) return ip.bytes[0] == 0xFF && (ip.bytes[1] & 0x0F) == 2;
  return FirstByte(ip) == 224 && ip.bytes[kFourAt + 1] == 0 && ip.bytes[kFourAt + 2] == 0;
}

bool LinkLocalUnicast(const Ip& ip) {
  if (!ip.is_four) return ip.bytes[0] == 0xFE && (ip.bytes[1] & 0xC0) == 0x80;
  return FirstByte(ip) == 169 && ip.bytes[kFourAt + 1] == 254;
}

bool GlobalUnicast(const Ip& ip) {
  const bool broadcast = ip.is_four && std::all_of(ip.bytes.begin() + kFourAt, ip.bytes.end(),
                                                   [](uint8_t byte) { return byte == 0xFF; });
  return !broadcast && !Unspecified(ip) && !Loopback(ip) && !Multicast(ip) && !LinkLocalUnicast(ip);
}

template <bool (*kTest)(const Ip&)>
Value TestIp(Context&, Args args) {
  return Value::OfBool(kTest(args[0].ip()));
}

Value CidrOf(Context& context, Args args) {
  const auto cidr = CidrIn(context, args[0].text());
  if (!cidr) return NotAnIp(context, args[0].text(), "a CIDR");
  return Value::Of(context.Keep(*cidr));
}
Value IsCidr(Context& context, Args args) {
  return Value::OfBool(CidrIn(context, args[0].text()).has_value());
}

Value ContainsIp(Context&, Args args) { return Value::OfBool(Holds(args[0].cidr(), args[1].ip())); }
Value ContainsIpText(Context& context, Args args) {
  const auto ip = IpIn(context, args[1].text());
  if (!ip) return NotAnIp(context, args[1].text(), "an IP address");
  return Value::OfBool(Holds(args[0].cidr(), *ip));
}
Value ContainsCidr(Context&, Args args) {
  return Value::OfBool(HoldsCidr(args[0].cidr(), args[1].cidr()));
}
Value ContainsCidrText(Context& context, Args args) {
  const auto cidr = CidrIn(context, args[1].text());
  if (!cidr) return NotAnIp(context, args[1].text(), "a CIDR");
  return Value::OfBool(HoldsCidr(args[0].cidr(), *cidr));
}
Value IpOfCidr(Context& context, Args args) { return Value::Of(context.Keep(args[0].cidr().ip)); }
Value MaskedCidr(Context& context, Args args) {
  const Cidr& cidr = args[0].cidr();
  return Value::Of(context.Keep(Cidr{Masked(cidr.ip, cidr.prefix), cidr.prefix}));
}
Value PrefixOfCidr(Context&, Args args) { return Value::OfInt(args[0].cidr().prefix); }

constexpr std::array kNetworks{
    Overload{"ip", "(string): net.IP", IpOf},
    Overload{"isIP", "(string): bool", IsIp},
    Overload{"ip.isCanonical", "(string): bool", IpIsCanonical},
    Overload{"family", "net.IP.(): int", IpFamily},
    Overload{"isUnspecified", "net.IP.(): bool", TestIp<Unspecified>},
    Overload{"isLoopback", "net.IP.(): bool", TestIp<Loopback>},
    Overload{"isLinkLocalMulticast", "net.IP.(): bool", TestIp<LinkLocalMulticast>},
    Overload{"isLinkLocalUnicast", "net.IP.(): bool", TestIp<LinkLocalUnicast>},
    Overload{"isGlobalUnicast", "net.IP.(): bool", TestIp<GlobalUnicast>},
    Overload{"cidr", "(string): net.CIDR", CidrOf},
    Overload{"isCIDR", "(string): bool", IsCidr},
    Overload{"containsIP", "net.CIDR.(net.IP): bool", ContainsIp},
    Overload{"containsIP", "net.CIDR.(string): bool", ContainsIpText},
    Overload{"containsCIDR", "net.CIDR.(net.CIDR): bool", ContainsCidr},
    Overload{"containsCIDR", "net.CIDR.(string): bool", ContainsCidrText},
    Overload{"ip", "net.CIDR.(): net.IP", IpOfCidr},
    Overload{"masked", "net.CIDR.(): net.CIDR", MaskedCidr},
    Overload{"prefixLength", "net.CIDR.(): int", PrefixOfCidr},
};

}  // namespace

std::optional<Ip> ParseIp(std::string_view text) {
  return text.find(':') == std::string_view::npos ? ParseFour(text) : ParseSix(text);
}

ShortText TextOfIp(const Ip& ip) {
  ShortText out;
  if (ip.is_four) {
    for (size_t i = kFourAt; i < 16; ++i) {
      if (i > kFourAt) out.Add(".");
      out.Add(NumberText(static_cast<int64_t>(ip.bytes[i])));
    }
    return out;
  }
  const auto group = [&ip](size_t i) {
    return static_cast<uint64_t>(ip.bytes[2 * i] << 8 | ip.bytes[2 * i + 1]);
  };
  // The first of the longest rows of two or more zeros.
  size_t gap = 8;
  size_t length = 1;
  for (size_t begin = 0; begin < 8; ++begin) {
    size_t end = begin;
    while (end < 8 && group(end) == 0) ++end;
    if (end - begin > length) {
      gap = begin;
      length = end - begin;
    }
  }
  for (size_t i = 0; i < 8; ++i) {
    if (i == gap) {
      out.Add("::");
      i += length - 1;
      continue;
    }
    if (i > 0 && i != gap + length) out.Add(":");
    out.Add(NumberText(group(i), 16));
  }
  return out;
}

std::span<const Overload> Networks() { return kNetworks; }

}  // namespace mindgate::cel
