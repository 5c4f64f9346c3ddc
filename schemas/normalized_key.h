#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

// Whether the key of a label or annotation was meant to be another one.
namespace mindgate::schemas {

struct SplitKey {
  std::string_view prefix;  // without the slash
  std::string_view name;
};
SplitKey SplitOf(std::string_view key);

// A key of somebody else's domain is theirs: only those without a prefix, or with one that nearly
// is huawei.com, may be meant for MindCluster.
bool IsMindClusterKey(const SplitKey& key);

// Letters and digits only, in lower case, so that "fault_Scheduling" is fault-scheduling.
class NormalizedKey {
 public:
  static constexpr size_t kMax = 40;  // bytes of a name; none of ours is longer

  // Of a name of at most kMax bytes.
  explicit NormalizedKey(std::string_view name);

  bool Resembles(const NormalizedKey& other, int typos) const;

 private:
  std::string_view text() const { return {text_.data(), size_}; }

  std::array<char, kMax> text_{};
  size_t size_ = 0;
  uint64_t letters_ = 0;  // which occur: rules most pairs out without comparing them
};

// Bounds what an object with 100,000 labels may cost; real ones have a few dozen.
inline constexpr size_t kMaxComparedKeys = 4096;

}  // namespace mindgate::schemas
