#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

// Whether a key that nobody reads was meant for one that somebody does.
namespace mindgate {

// A key as people remember it: letters and digits only, in lower case, so that "fault_Scheduling"
// is fault-scheduling.
class Word {
 public:
  static constexpr size_t kMax = 40;

  // At most kMax bytes.
  explicit Word(std::string_view key);

  std::string_view text() const { return {text_.data(), size_}; }
  // Which letters and digits occur: rules most pairs out without comparing them.
  uint64_t letters() const { return letters_; }

 private:
  std::array<char, kMax> text_{};
  size_t size_ = 0;
  uint64_t letters_ = 0;
};

// Whether at most so many letters differ.
bool Resembles(const Word& a, const Word& b, int typos);

}  // namespace mindgate
