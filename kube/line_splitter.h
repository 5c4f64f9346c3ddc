#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace mindgate::kube {

// Cuts a stream into lines: a watch is one JSON value a line. One thread.
class LineSplitter {
 public:
  // `limit`: bytes of the longest line.
  explicit LineSplitter(size_t limit) : limit_(limit) {}

  // Gives each whole line, without its end and never empty, to `consume`, which returns false to
  // end. False when it did, or when a line passed the limit (see too_long).
  template <typename Consume>
  bool Feed(std::string_view piece, const Consume& consume) {
    while (!piece.empty()) {
      const size_t end = piece.find('\n');
      const std::string_view part = piece.substr(0, end);
      if (rest_.size() + part.size() > limit_) {
        too_long_ = true;
        return false;
      }
      if (end == std::string_view::npos) {
        rest_ += part;
        return true;
      }
      piece.remove_prefix(end + 1);
      bool more = true;
      if (rest_.empty()) {
        if (!part.empty()) more = consume(part);
      } else {
        rest_ += part;
        more = consume(std::string_view(rest_));
        rest_.clear();
        // One large object must not be paid for until the watch ends.
        if (rest_.capacity() > kMaxKept) rest_.shrink_to_fit();
      }
      if (!more) return false;
    }
    return true;
  }

  bool too_long() const { return too_long_; }
  bool in_a_line() const { return !rest_.empty(); }

 private:
  static constexpr size_t kMaxKept = 256 * 1024;

  const size_t limit_;
  std::string rest_;
  bool too_long_ = false;
};

}  // namespace mindgate::kube
