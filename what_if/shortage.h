#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "what_if/inventory.h"

namespace mindgate::what_if {

// Why nodes take none of the pods, as a scheduler says it: "full", "cordoned", "taint dedicated",
// "label pool=blue". A node counts once.
struct LeftOut {
  std::string why;
  size_t nodes = 0;
  bool operator==(const LeftOut&) const = default;
};

// What would have to be there for pods that found no room.
struct Shortage {
  int64_t pods = 0;
  int64_t npus = 0;  // of each
  std::string resource{};
  Labels node_selector{};
  bool one_super_pod = false;
  std::vector<LeftOut> left_out{};  // most nodes first; empty: nobody asked
  // What no node has: "no node has pool=red: they have blue, green", "no node offers
  // huawei.com/Ascend910B3: they offer huawei.com/Ascend910".
  std::vector<std::string> unknown{};
  bool operator==(const Shortage&) const = default;
};

// "room for 1 more pod with 8 huawei.com/Ascend910 on a node with pool=blue".
std::string ShortageText(const Shortage& shortage);

// "full on 12, taint dedicated on 6, cordoned on 1; no node has pool=red: ...". Empty: nobody
// asked.
std::string LeftOutText(const Shortage& shortage);

}  // namespace mindgate::what_if
