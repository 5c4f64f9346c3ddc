#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

// What pods take besides labels, annotations and a node selector, with the names of Kubernetes.
namespace mindgate::deploy {

struct Toleration {
  std::string key;  // empty: all keys
  std::string op = "Equal";
  std::string value;
  std::string effect;              // empty: all effects
  std::optional<int64_t> seconds;  // of NoExecute
};

struct EmptyDir {
  bool in_memory = false;
  std::optional<std::string> size_limit;
};

// A volume and where the container sees it. One of the sources is set.
struct VolumeSettings {
  std::string name;
  std::string mount_path;  // empty: mindgate mounts a volume of this name already
  std::string sub_path;
  bool read_only = false;
  std::optional<std::string> claim;  // PersistentVolumeClaim
  std::optional<std::string> config_map;
  std::optional<std::string> secret;
  std::optional<std::string> host_path;
  std::optional<EmptyDir> empty_dir;
};

struct PodExtras {
  std::vector<Toleration> tolerations;
  std::vector<std::string> image_pull_secrets;
  std::string priority_class;  // empty: that of the namespace's default
  std::vector<VolumeSettings> volumes;

  bool empty() const {
    return tolerations.empty() && image_pull_secrets.empty() && priority_class.empty() &&
           volumes.empty();
  }
};

}  // namespace mindgate::deploy
