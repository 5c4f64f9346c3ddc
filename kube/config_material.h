#pragma once

#include <string>
#include <string_view>

#include "kube/config_node.h"

namespace mindgate::kube {

// What a member `NAME-data` of a kubeconfig holds in base64, else the file that `NAME` names.
struct Material {
  std::string text;  // empty when there is none, or when it has been complained about
  std::string path;  // absolute; empty when it did not come from a file
  std::string place;
  bool given = false;
};

// One kind of it: how its file is read and what can be wrong with its text.
struct MaterialKind {
  const char* name;
  Answer<std::string> (*read)(const std::string& path);
  std::string (*fault_of)(std::string_view text);
};
extern const MaterialKind kAuthority;
extern const MaterialKind kCertificate;
extern const MaterialKind kKey;

Material ReadMaterial(const ConfigNode& node, const MaterialKind& kind, ConfigErrors& complaints);

// The same of a file that the flag `place` names; a path counts from the current folder.
Material ReadMaterialFile(const std::string& place, const std::string& path,
                          const MaterialKind& kind, ConfigErrors& complaints);

// A path in a file counts from the folder that the file is in; empty stays empty.
std::string PathFrom(const ConfigFile& file, const std::string& path);

}  // namespace mindgate::kube
