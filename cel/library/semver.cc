#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <optional>
#include <span>

#include "base/text.h"
#include "cel/context.h"
#include "cel/function.h"
#include "cel/library/libraries.h"
#include "cel/value.h"

namespace mindgate::cel {
namespace {

using Args = std::span<const Value>;

bool IsNumeric(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, IsDigit);
}

bool IsIdentifier(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    return IsDigit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-';
  });
}

std::string_view TakeUntil(std::string_view& rest, char separator) {
  const size_t at = std::min(rest.find(separator), rest.size());
  const std::string_view part = rest.substr(0, at);
  rest.remove_prefix(std::min(at + 1, rest.size()));
  return part;
}

std::optional<uint64_t> NumberOfVersion(std::string_view text, bool normalize) {
  if (!IsNumeric(text)) return std::nullopt;
  if (text.size() > 1 && text[0] == '0' && !normalize) return std::nullopt;
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || number > INT64_MAX) return std::nullopt;
  return number;
}

// Whether all parts between dots are identifiers; numbers of a pre-release have no leading zeros.
bool AreIdentifiers(std::string_view text, bool pre_release) {
  while (true) {
    const bool last = text.find('.') == std::string_view::npos;
    const std::string_view part = TakeUntil(text, '.');
    if (!IsIdentifier(part)) return false;
    if (pre_release && IsNumeric(part) && part.size() > 1 && part[0] == '0') return false;
    if (last) return true;
  }
}

std::optional<Semver> ParseSemver(std::string_view text, bool normalize) {
  if (normalize && text.starts_with('v')) text.remove_prefix(1);
  Semver version;
  const size_t plus = text.find('+');
  if (plus != std::string_view::npos) {
    if (!AreIdentifiers(text.substr(plus + 1), false)) return std::nullopt;
    text = text.substr(0, plus);
  }
  bool extra = plus != std::string_view::npos;
  const size_t dash = text.find('-');
  if (dash != std::string_view::npos) {
    version.pre_release = text.substr(dash + 1);
    if (!AreIdentifiers(version.pre_release, true)) return std::nullopt;
    text = text.substr(0, dash);
    extra = true;
  }
  const auto dots = std::ranges::count(text, '.');
  if (dots > 2 || (dots < 2 && (!normalize || extra))) return std::nullopt;
  size_t index = 0;
  for (uint64_t* part : {&version.major, &version.minor, &version.patch}) {
    if (static_cast<ptrdiff_t>(index++) > dots) break;
    const auto number = NumberOfVersion(TakeUntil(text, '.'), normalize);
    if (!number) return std::nullopt;
    *part = *number;
  }
  return version;
}

int ComparePart(std::string_view a, std::string_view b) {
  const bool numbers = IsNumeric(a) && IsNumeric(b);
  if (numbers && a.size() != b.size()) return a.size() < b.size() ? -1 : 1;
  if (!numbers && IsNumeric(a) != IsNumeric(b)) return IsNumeric(a) ? -1 : 1;
  const int order = a.compare(b);
  return order < 0 ? -1 : (order > 0 ? 1 : 0);
}

Value SemverFrom(Context& context, std::string_view text, bool normalize) {
  const auto version = ParseSemver(text, normalize);
  if (!version) {
    return context.Fail({"'", text.substr(0, 80), "' is not a semantic version, such as 1.2.3"});
  }
  return Value::Of(context.Keep(*version));
}

Value SemverOf(Context& context, Args args) { return SemverFrom(context, args[0].text(), false); }
Value SemverNormalized(Context& context, Args args) {
  return SemverFrom(context, args[0].text(), args[1].is_true());
}
Value IsSemver(Context&, Args args) {
  return Value::OfBool(ParseSemver(args[0].text(), false).has_value());
}
Value IsSemverNormalized(Context&, Args args) {
  return Value::OfBool(ParseSemver(args[0].text(), args[1].is_true()).has_value());
}
Value SemverMajor(Context&, Args args) {
  return Value::OfInt(static_cast<int64_t>(args[0].semver().major));
}
Value SemverMinor(Context&, Args args) {
  return Value::OfInt(static_cast<int64_t>(args[0].semver().minor));
}
Value SemverPatch(Context&, Args args) {
  return Value::OfInt(static_cast<int64_t>(args[0].semver().patch));
}
Value SemverIsLess(Context&, Args args) {
  return Value::OfBool(CompareSemvers(args[0].semver(), args[1].semver()) < 0);
}
Value SemverIsGreater(Context&, Args args) {
  return Value::OfBool(CompareSemvers(args[0].semver(), args[1].semver()) > 0);
}
Value SemverCompare(Context&, Args args) {
  return Value::OfInt(CompareSemvers(args[0].semver(), args[1].semver()));
}

constexpr std::array kSemvers{
    Overload{"semver", "(string): kubernetes.Semver", SemverOf},
    Overload{"semver", "(string, bool): kubernetes.Semver", SemverNormalized},
    Overload{"isSemver", "(string): bool", IsSemver},
    Overload{"isSemver", "(string, bool): bool", IsSemverNormalized},
    Overload{"major", "kubernetes.Semver.(): int", SemverMajor},
    Overload{"minor", "kubernetes.Semver.(): int", SemverMinor},
    Overload{"patch", "kubernetes.Semver.(): int", SemverPatch},
    Overload{"isLessThan", "kubernetes.Semver.(kubernetes.Semver): bool", SemverIsLess},
    Overload{"isGreaterThan", "kubernetes.Semver.(kubernetes.Semver): bool", SemverIsGreater},
    Overload{"compareTo", "kubernetes.Semver.(kubernetes.Semver): int", SemverCompare},
};

}  // namespace

int CompareSemvers(const Semver& a, const Semver& b) {
  for (const auto part : {&Semver::major, &Semver::minor, &Semver::patch}) {
    if (a.*part != b.*part) return a.*part < b.*part ? -1 : 1;
  }
  std::string_view left = a.pre_release;
  std::string_view right = b.pre_release;
  // A release comes after all of its pre-releases.
  if (left.empty() || right.empty())
    return left.empty() == right.empty() ? 0 : (left.empty() ? 1 : -1);
  while (!left.empty() && !right.empty()) {
    const int order = ComparePart(TakeUntil(left, '.'), TakeUntil(right, '.'));
    if (order != 0) return order;
  }
  if (left.empty() && right.empty()) return 0;
  return left.empty() ? -1 : 1;
}

std::span<const Overload> Semvers() { return kSemvers; }

}  // namespace mindgate::cel
