#pragma once

#include <algorithm>
#include <cstddef>
#include <string>

namespace mindgate::doctor {

// Objects of which a finding names the first ones.
class NameList {
 public:
  void Add(const std::string& name) {
    if (++count_ <= kMaxNamed) names_ += (names_.empty() ? "" : ", ") + name;
  }
  size_t count() const { return count_; }
  // "pod a", "5 pods (a, b, c and 2 more)".
  std::string Text(const std::string& what) const {
    const size_t others = count_ - std::min(count_, kMaxNamed);
    if (count_ == 1) return what + " " + names_;
    return std::to_string(count_) + " " + what + "s (" + names_ +
           (others > 0 ? " and " + std::to_string(others) + " more)" : ")");
  }

 private:
  static constexpr size_t kMaxNamed = 3;

  size_t count_ = 0;
  std::string names_;
};

}  // namespace mindgate::doctor
