#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>

namespace mindgate::testing {

// A folder that lives as long as a test.
class TempFolder {
 public:
  TempFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "mindgate-test-XXXXXX").string();
    path_ = ::mkdtemp(name.data());
  }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
  ~TempFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  const std::string& path() const { return path_; }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  // Folders are made as needed. The file is there with the whole text, or as it was before: what
  // follows the folder never reads an empty one. A pipe or link of that name is replaced.
  void Write(const std::string& name, const std::string& text) const {
    namespace fs = std::filesystem;
    const fs::path path = *this / name;
    fs::create_directories(path.parent_path());
    std::string written = path_ + ".writing-" + name;
    std::replace(written.begin() + static_cast<std::ptrdiff_t>(path_.size()), written.end(), '/',
                 '-');
    std::ofstream(written, std::ios::binary) << text;
    if (fs::exists(path)) fs::permissions(written, fs::status(path).permissions());
    fs::rename(written, path);
  }
  std::string Read(const std::string& name) const {
    std::ostringstream text;
    text << std::ifstream(*this / name, std::ios::binary).rdbuf();
    return text.str();
  }

 private:
  std::string path_;
};

// A folder in which kubelet mounts a Secret or ConfigMap: files are links into ..data, which is a
// link to the folder of one version and is replaced by renaming (kubelet's atomic_writer.go).
class MountedSecret {
 public:
  const std::string& path() const { return folder_.path(); }

  void Update(const std::map<std::string, std::string>& files) {
    namespace fs = std::filesystem;
    const std::string old = version_ == 0 ? "" : "..version-" + std::to_string(version_);
    const std::string name = "..version-" + std::to_string(++version_);
    fs::create_directory(folder_ / name);
    for (const auto& [file, text] : files) folder_.Write(name + "/" + file, text);
    fs::create_symlink(name, folder_ / "..data_tmp");
    fs::rename(folder_ / "..data_tmp", folder_ / "..data");
    for (const auto& [file, text] : files) {
      if (!fs::exists(fs::symlink_status(folder_ / file))) {
        fs::create_symlink("..data/" + file, folder_ / file);
      }
    }
    if (!old.empty()) fs::remove_all(folder_ / old);
  }

 private:
  TempFolder folder_;
  int version_ = 0;
};

}  // namespace mindgate::testing
