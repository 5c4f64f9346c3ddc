#pragma once

#include <algorithm>
#include <compare>
#include <cstddef>
#include <limits>
#include <memory>
#include <optional>
#include <set>
#include <utility>

namespace mindgate {

// Keeps equal immutable values once, as long as somebody holds them: labels of 100,000 pods are
// mostly those of a few templates. One thread at a time; what it returns is safe from many.
template <typename T>
class Interner {
 public:
  using Ptr = std::shared_ptr<const T>;

  Ptr Get(T value) {
    const auto known = values_.find(value);
    if (known != values_.end()) return *known;
    if (values_.size() >= sweep_at_) Sweep();
    return *values_.insert(std::make_shared<const T>(std::move(value))).first;
  }

  size_t size() const { return values_.size(); }

 private:
  struct Less {
    using is_transparent = void;
    static const T& Of(const Ptr& value) { return *value; }
    static const T& Of(const T& value) { return value; }
    template <typename A, typename B>
    bool operator()(const A& a, const B& b) const {
      return Of(a) < Of(b);
    }
  };

  // Forgets what nobody holds: as often as the number of those that are held has doubled.
  void Sweep() {
    std::erase_if(values_, [](const Ptr& value) { return value.use_count() == 1; });
    sweep_at_ = std::max(kFewest, 2 * values_.size());
  }

  static constexpr size_t kFewest = 256;
  std::set<Ptr, Less> values_;
  size_t sweep_at_ = kFewest;
};

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
