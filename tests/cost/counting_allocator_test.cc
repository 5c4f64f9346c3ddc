// Replaces the allocator of this program, which is why its tests have one of their own.
#include "cost/counting_allocator.h"

#include <gtest/gtest.h>
#include <malloc.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <new>

namespace mindgate::testing {
namespace {

thread_local Allocations counted;

void* Count(void* memory) {
  if (memory == nullptr) return nullptr;
  ++counted.count;
  counted.live += ::malloc_usable_size(memory);
  counted.peak = std::max(counted.peak, counted.live);
  return memory;
}

void Free(void* memory) {
  // What came before Begin or from another thread is not counted below nothing.
  counted.live -= std::min(counted.live, ::malloc_usable_size(memory));
  std::free(memory);
}

}  // namespace

void Allocations::Begin() { counted = {}; }
Allocations Allocations::SoFar() { return counted; }

TEST(CountingAllocator, CountsWhatIsTakenAndGivenBack) {
  Allocations::Begin();
  auto small = std::make_unique_for_overwrite<char[]>(1000);
  const size_t one = Allocations::SoFar().live;
  EXPECT_GE(one, 1000);
  EXPECT_LT(one, 1100);
  auto large = std::make_unique_for_overwrite<char[]>(100'000);
  large.reset();
  EXPECT_EQ(Allocations::SoFar().count, 2);
  EXPECT_EQ(Allocations::SoFar().live, one);
  EXPECT_GE(Allocations::SoFar().peak, 101'000);
  small.reset();
  EXPECT_EQ(Allocations::SoFar().live, 0);
}

}  // namespace mindgate::testing

void* operator new(size_t size) {
  void* memory = mindgate::testing::Count(std::malloc(size));
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
void* operator new(size_t size, const std::nothrow_t&) noexcept {
  return mindgate::testing::Count(std::malloc(size));
}
void* operator new(size_t size, std::align_val_t alignment) {
  const auto step = static_cast<size_t>(alignment);
  void* memory =
      mindgate::testing::Count(std::aligned_alloc(step, (size + step - 1) / step * step));
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
void operator delete(void* memory) noexcept { mindgate::testing::Free(memory); }
void operator delete(void* memory, size_t) noexcept { mindgate::testing::Free(memory); }
void operator delete(void* memory, const std::nothrow_t&) noexcept {
  mindgate::testing::Free(memory);
}
void operator delete(void* memory, std::align_val_t) noexcept { mindgate::testing::Free(memory); }
void operator delete(void* memory, size_t, std::align_val_t) noexcept {
  mindgate::testing::Free(memory);
}
