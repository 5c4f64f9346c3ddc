#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace mindgate::kube {

// How many objects to ask for in the next page of a list. Nobody knows before how large they are:
// a namespace may be full of objects of a megabyte. So it begins low, halves when an answer was too
// large, and doubles only when the page before filled no more than a quarter of what a page may, so
// that the next one is expected to fill half of it.
class PageSize {
 public:
  static constexpr int64_t kFirst = 50;
  static constexpr int64_t kMax = 500;  // client-go's (tools/pager, defaultPageSize)

  explicit PageSize(int64_t first) : objects_(std::clamp<int64_t>(first, 1, kMax)) {}

  int64_t objects() const { return objects_; }

  // False: it was one object already.
  bool Halve() {
    if (objects_ == 1) return false;
    objects_ /= 2;
    return true;
  }

  // A page came that took so many of the bytes that one may take.
  void Came(size_t bytes, size_t of_bytes) {
    if (bytes <= of_bytes / 4) objects_ = std::min(objects_ * 2, kMax);
  }

 private:
  int64_t objects_;
};

}  // namespace mindgate::kube
