#pragma once

#include <filesystem>
#include <string>

#include "support/temp_folder.h"

namespace mindgate::testing {

// An empty folder that is the current one while this lives, so that outputs name files without it.
class Workspace {
 public:
  Workspace() : before_(std::filesystem::current_path()) {
    std::filesystem::current_path(folder_.path());
  }
  ~Workspace() {
    std::error_code ignored;
    std::filesystem::current_path(before_, ignored);
  }
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;

  // Folders are made as needed. Returns the name.
  std::string Write(const std::string& name, const std::string& text) const {
    folder_.Write(name, text);
    return name;
  }

 private:
  std::filesystem::path before_;
  TempFolder folder_;
};

}  // namespace mindgate::testing
