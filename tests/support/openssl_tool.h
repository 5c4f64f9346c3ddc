#pragma once

#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace mindgate::testing {

// The openssl command line shows what others make of our certificates. Tests skip without it.
inline bool HasOpenSslTool() { return std::system("openssl version >/dev/null 2>&1") == 0; }

// Both outputs of `openssl <arguments>`, run by a shell.
inline std::string RunOpenSsl(const std::string& arguments) {
  std::string text;
  FILE* pipe = ::popen(("openssl " + arguments + " 2>&1").c_str(), "r");
  if (pipe == nullptr) return text;
  std::array<char, 4096> buffer{};
  for (size_t count; (count = std::fread(buffer.data(), 1, buffer.size(), pipe)) > 0;) {
    text.append(buffer.data(), count);
  }
  ::pclose(pipe);
  return text;
}

}  // namespace mindgate::testing
