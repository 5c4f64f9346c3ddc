#include "base/text.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace mindgate {
namespace {

constexpr size_t kLongestComparedWord = 64;
constexpr size_t kLongestQuote = 80;

char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

template <typename Words>
std::string JoinWords(const Words& words, std::string_view separator) {
  std::string out;
  for (const auto& word : words) {
    if (!out.empty()) out += separator;
    out += word;
  }
  return out;
}

bool IsLowerAlphanumeric(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }

}  // namespace

std::optional<int64_t> ParseGoInt(std::string_view text) {
  if (text.starts_with('+')) {
    text.remove_prefix(1);
    if (text.starts_with('-') || text.starts_with('+')) return std::nullopt;
  }
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 10);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

int EditDistance(std::string_view a, std::string_view b) {
  a = a.substr(0, kLongestComparedWord);
  b = b.substr(0, kLongestComparedWord);
  std::array<int, kLongestComparedWord + 1> row;
  for (size_t j = 0; j <= b.size(); ++j) row[j] = static_cast<int>(j);
  for (size_t i = 1; i <= a.size(); ++i) {
    int diagonal = row[0];
    row[0] = static_cast<int>(i);
    for (size_t j = 1; j <= b.size(); ++j) {
      const int substitute = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, substitute});
    }
  }
  return row[b.size()];
}

std::optional<std::string_view> NearestOf(std::string_view word,
                                          std::span<const std::string_view> candidates) {
  const int allowed = std::clamp(static_cast<int>(word.size() / 3), 1, 3);
  std::optional<std::string_view> nearest;
  int best = allowed + 1;
  for (std::string_view candidate : candidates) {
    if (candidate == word) return std::nullopt;
    const int distance = EqualIgnoreCase(word, candidate) ? 0 : EditDistance(word, candidate);
    if (distance < best) {
      best = distance;
      nearest = candidate;
    }
  }
  return nearest;
}

bool EqualIgnoreCase(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return Lower(x) == Lower(y); });
}

std::string ToLower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), Lower);
  return out;
}

std::string_view Trim(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n\v\f";
  const size_t begin = text.find_first_not_of(kSpace);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kSpace) - begin + 1);
}

std::vector<std::string_view> Split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::string Join(std::span<const std::string_view> words, std::string_view separator) {
  return JoinWords(words, separator);
}

std::string Join(std::span<const std::string> words, std::string_view separator) {
  return JoinWords(words, separator);
}

std::string OneOf(std::span<const std::string_view> values) {
  std::string out;
  for (size_t i = 0; i < values.size(); ++i) {
    if (i > 0) out += i + 1 == values.size() ? " or " : ", ";
    out += Quote(values[i]);
  }
  return out;
}

std::string Quote(std::string_view text) {
  std::string out = "\"";
  size_t taken = 0;
  for (char c : text) {
    if (++taken > kLongestQuote && (c & 0xC0) != 0x80) return out + "...\"";
    switch (c) {
      case '"':
        out += "\\\"";
        break;
      case '\\':
        out += "\\\\";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\t':
        out += "\\t";
        break;
      default:
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
          constexpr std::string_view kHex = "0123456789abcdef";
          out += "\\x";
          out += kHex[static_cast<unsigned char>(c) >> 4];
          out += kHex[c & 0xf];
        } else {
          out += c;
        }
    }
  }
  return out + "\"";
}

bool IsDns1123Label(std::string_view text) {
  if (text.empty() || text.size() > 63) return false;
  if (!IsLowerAlphanumeric(text.front()) || !IsLowerAlphanumeric(text.back())) return false;
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return IsLowerAlphanumeric(c) || c == '-'; });
}

}  // namespace mindgate
