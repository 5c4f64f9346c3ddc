#pragma once

#include <cstdint>
#include <string>

#include "what_if/inventory.h"

namespace mindgate::what_if {

// What would have to be there for pods that found no room.
struct Shortage {
  int64_t pods = 0;
  int64_t npus = 0;  // of each
  std::string resource{};
  Labels node_selector{};
  bool one_super_pod = false;
  bool operator==(const Shortage&) const = default;
};

// "room for 1 more pod with 8 huawei.com/Ascend910 on a node with pool=blue".
std::string ShortageText(const Shortage& shortage);

}  // namespace mindgate::what_if
