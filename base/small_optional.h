#pragma once

#include <compare>
#include <limits>
#include <optional>

namespace mindgate {

// A number or a time, or nothing, in no more room than the number alone: where there may be 100,000
// of them. The least value stands for nothing.
template <typename T>
class SmallOptional {
 public:
  constexpr SmallOptional() = default;
  constexpr SmallOptional(std::nullopt_t) {}  // NOLINT(google-explicit-constructor): as optional
  constexpr SmallOptional(T value) : value_(value) {}  // NOLINT(google-explicit-constructor)

  constexpr bool has_value() const { return value_ != kNothing; }
  constexpr explicit operator bool() const { return has_value(); }
  constexpr T operator*() const { return value_; }
  constexpr T value_or(T other) const { return has_value() ? value_ : other; }
  constexpr void reset() { value_ = kNothing; }
  // NOLINTNEXTLINE(google-explicit-constructor): every value is one of an optional.
  constexpr operator std::optional<T>() const {
    return has_value() ? std::optional<T>(value_) : std::nullopt;
  }
  friend constexpr auto operator<=>(const SmallOptional&, const SmallOptional&) = default;

 private:
  static constexpr T Least() {
    if constexpr (requires { T::min(); }) {
      return T::min();
    } else {
      return std::numeric_limits<T>::min();
    }
  }
  static constexpr T kNothing = Least();
  T value_ = kNothing;
};

}  // namespace mindgate
