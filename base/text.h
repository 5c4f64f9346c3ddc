#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mindgate {

// Go's strconv.Atoi: optional sign, decimal digits only, fits in int64. "+3" and "007" parse;
// "", " 3", "3.0", "1_000" and "0x2" do not. Upstream reads all its numeric labels with it.
std::optional<int64_t> ParseGoInt(std::string_view text);

// Levenshtein distance, case-sensitive. Cost is |a| * |b|; both are cut at 64 characters.
int EditDistance(std::string_view a, std::string_view b);

// The candidate that a person most likely meant: equal ignoring case, or the nearest within
// a third of the word's length (at least 1, at most 3 edits). Nothing when none is that near, or
// when `word` is a candidate.
std::optional<std::string_view> NearestOf(std::string_view word,
                                          std::span<const std::string_view> candidates);
std::optional<std::string_view> NearestOf(std::string_view word,
                                          std::span<const std::string> candidates);

// Whether the word can mean no other candidate: it is this one ignoring case, or no other is near.
bool MeansOnly(std::string_view word, std::string_view candidate,
               std::span<const std::string_view> candidates);

inline bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool EqualIgnoreCase(std::string_view a, std::string_view b);
std::string ToLower(std::string_view text);
std::string_view Trim(std::string_view text);
std::vector<std::string_view> Split(std::string_view text, char separator);
std::string Join(std::span<const std::string_view> words, std::string_view separator);
std::string Join(std::span<const std::string> words, std::string_view separator);

// "a, b and 3 more": the first `most` of a container, each as `text` says it.
template <typename Items, typename Text = std::identity>
std::string JoinFirst(const Items& items, size_t most, std::string_view separator = ", ",
                      const Text& text = {}) {
  std::string out;
  size_t named = 0;
  for (const auto& item : items) {
    if (named == most) break;
    if (named++ > 0) out += separator;
    out += std::invoke(text, item);
  }
  const size_t others = items.size() - named;
  return others == 0 ? out : out + " and " + std::to_string(others) + " more";
}

// "1 pod", "2 pods".
std::string Counted(int64_t number, std::string_view noun);

// "a", "a or b", "a, b or c", each in double quotes.
std::string OneOf(std::span<const std::string_view> values);

// "a string", "an object"; "null" stays as it is.
std::string WithArticle(std::string_view noun);

// Length of the well-formed UTF-8 sequence that the text begins with, 0 when there is none.
size_t Utf8Length(std::string_view text);

// The character that the text begins with, or its first byte where that is none.
std::string_view FirstCharacter(std::string_view text);

// Whether a character in UTF-8 is a control character (C0, delete or C1): terminals may act on it.
bool IsControl(std::string_view character);

// Each byte as "\x1b", for what must not act on a terminal.
std::string HexEscaped(std::string_view bytes);

// For messages: the text in double quotes, control characters and bytes that are not UTF-8 escaped,
// cut at 80 characters with "...".
std::string Quote(std::string_view text);

// The longest beginning of at most `most` bytes that ends with a whole character of UTF-8.
std::string Cut(std::string text, size_t most);

// The text with a space for each control character.
std::string OneLine(std::string text);

// The text padded with spaces to a width, in bytes.
std::string Padded(std::string_view text, size_t width);

// RFC 1123 label: lower-case alphanumerics and '-', at most 63, alphanumeric at both ends.
bool IsDns1123Label(std::string_view text);

// Names in the order that people expect, with the numbers in them as numbers: npu-2 before npu-10.
// A strict order; names that differ only in leading zeros stand in the order of their bytes.
bool NaturalLess(std::string_view left, std::string_view right);

struct NaturalOrder {
  using is_transparent = void;
  bool operator()(std::string_view left, std::string_view right) const {
    return NaturalLess(left, right);
  }
};

// Without the escapes of RFC 3986, 2.1: "%2F" is "/". What is no escape stays as it is.
std::string PercentDecoded(std::string_view text);

// For a part of a URL: all but letters, digits and - . _ ~ (RFC 3986, 2.3) as "%2F". What `also`
// lists stands for itself, too.
std::string PercentEncoded(std::string_view text, std::string_view also = {});

// The whole number that a Kubernetes resource.Quantity denotes ("8", "8.0", "1k", "2Ki", "8000m",
// "1e3"), or nothing when the text is not a quantity, is not whole, or does not fit in int64.
// Grammar: https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/quantity/
std::optional<int64_t> ParseWholeQuantity(std::string_view text);

}  // namespace mindgate
