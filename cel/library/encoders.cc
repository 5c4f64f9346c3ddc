#include <array>
#include <cstdint>
#include <span>

#include "cel/function.h"
#include "cel/library/libraries.h"

namespace mindgate::cel {
namespace {

constexpr std::string_view kAlphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

// -1 for what is not in the alphabet.
int SextetOf(char c) {
  const size_t at = kAlphabet.find(c);
  return at == std::string_view::npos ? -1 : static_cast<int>(at);
}

std::string_view WithoutPadding(std::string_view text) {
  for (int i = 0; i < 2 && text.ends_with('='); ++i) text.remove_suffix(1);
  return text;
}

Value EncodeBase64(Context& context, std::span<const Value> args) {
  const std::string_view bytes = args[0].text();
  TextBuilder out(context);
  for (size_t at = 0; at < bytes.size() && context.Charge(1); at += 3) {
    const std::string_view three = bytes.substr(at, 3);
    uint32_t bits = 0;
    for (size_t i = 0; i < 3; ++i) {
      bits = bits << 8 | (i < three.size() ? static_cast<unsigned char>(three[i]) : 0U);
    }
    for (size_t i = 0; i < 4; ++i) {
      out.Add(i <= three.size() ? kAlphabet[bits >> (18 - 6 * i) & 63] : '=');
    }
  }
  return out.Finish();
}

Value DecodeBase64(Context& context, std::span<const Value> args) {
  return DecodedBase64(context, args[0].text());
}

constexpr std::array kEncoders{
    Overload{"base64.encode", "(bytes): string", EncodeBase64},
    Overload{"base64.decode", "(string): bytes", DecodeBase64},
};

}  // namespace

bool IsBase64(std::string_view text) {
  if (text.size() % 4 != 0) return false;
  for (const char c : WithoutPadding(text)) {
    if (SextetOf(c) < 0) return false;
  }
  return true;
}

Value DecodedBase64(Context& context, std::string_view text) {
  const std::string_view digits = WithoutPadding(text);
  const bool padded = digits.size() == text.size() || text.size() % 4 == 0;
  if (!context.Charge(digits.size())) return context.Stopped();
  char* row = context.Row<char>(digits.size() * 3 / 4 + 1);
  if (context.stopped()) return context.Stopped();
  size_t size = 0;
  uint32_t bits = 0;
  for (size_t i = 0; i < digits.size(); ++i) {
    const int sextet = SextetOf(digits[i]);
    if (sextet < 0) return context.Fail("the text is not base64");
    bits = bits << 6 | static_cast<uint32_t>(sextet);
    if (i % 4 != 0) row[size++] = static_cast<char>(bits >> (6 - 2 * (i % 4)));
  }
  if (digits.size() % 4 == 1 || !padded) return context.Fail("the text is not base64");
  return Value::OfBytes({row, size});
}

std::span<const Overload> Encoders() { return kEncoders; }

}  // namespace mindgate::cel
