#pragma once

#include <unistd.h>

#include <array>
#include <cstdlib>
#include <string>
#include <vector>

namespace mindgate::kube {

// A variable of the environment; empty when it is not set. Nothing in this program changes the
// environment while threads run.
inline std::string Environment(const char* name) {
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe)
  return value == nullptr ? "" : value;
}

// All of it, as programs that we start get it: "NAME=value".
inline std::vector<std::string> WholeEnvironment() {
  std::vector<std::string> variables;
  for (char** at = environ; at != nullptr && *at != nullptr; ++at) variables.emplace_back(*at);
  return variables;
}

// The name of the machine or container; empty when it has none.
inline std::string HostName() {
  std::array<char, 256> name{};  // Linux has at most 64 characters
  if (::gethostname(name.data(), name.size() - 1) != 0) name[0] = '\0';
  return name.data();
}

}  // namespace mindgate::kube
