#pragma once

#include <cstdlib>
#include <string>

namespace mindgate::kube {

// A variable of the environment; empty when it is not set. Nothing in this program changes the
// environment while threads run.
inline std::string Environment(const char* name) {
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe)
  return value == nullptr ? "" : value;
}

}  // namespace mindgate::kube
