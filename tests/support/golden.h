#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#include "support/places.h"

// Expected outputs that are files. With MINDGATE_REWRITE=1 in the environment a test writes what it
// got instead of comparing; the difference is then read like code.
namespace mindgate::testing {

inline std::string SourcePath(const std::string& path) {
  return std::string(SourceFolder()) + "/" + path;
}

inline std::string ReadSource(const std::string& path) {
  std::ifstream file(SourcePath(path), std::ios::binary);
  EXPECT_TRUE(file) << "no file " << path;
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

// `path` is relative to the repository.
inline void ExpectGolden(const std::string& path, const std::string& got) {
  const char* rewrite = std::getenv("MINDGATE_REWRITE");
  if (rewrite != nullptr && *rewrite != '\0') {
    std::ofstream(SourcePath(path), std::ios::binary) << got;
    return;
  }
  EXPECT_EQ(ReadSource(path), got) << path << ": run with MINDGATE_REWRITE=1 to rewrite it";
}

}  // namespace mindgate::testing
