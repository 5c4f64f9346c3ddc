#pragma once

#include <string>
#include <vector>

#include "kube/fault.h"

namespace mindgate::kube {

// All that is wrong with what a user wrote about a cluster, in the order found. Values are never
// part of a complaint unless they are names: they may be secrets.
class ConfigErrors {
 public:
  // "place: what (instead)"; `instead` may be empty.
  void Add(const std::string& place, const std::string& what, const std::string& instead = {});

  bool empty() const { return lines_.empty(); }

  // One line each, at most kMax of them; later ones are counted.
  static constexpr size_t kMax = 20;
  Fault AsFault() const;

 private:
  std::vector<std::string> lines_;
};

}  // namespace mindgate::kube
