#include "kube/config_material.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include "base/files.h"
#include "certs/pem.h"
#include "kube/credential_files.h"

namespace mindgate::kube {

const MaterialKind kAuthority{"certificate-authority", ReadCertificatesFile, CertificatesFault};
const MaterialKind kCertificate{"client-certificate", ReadCertificatesFile, CertificatesFault};
const MaterialKind kKey{"client-key", ReadKeyFile, KeyFault};

Material ReadMaterial(const ConfigNode& node, const MaterialKind& kind, ConfigErrors& complaints) {
  Material material;
  const ConfigNode data = node.Member(std::string(kind.name) + "-data");
  const std::string encoded = node.Text(std::string(kind.name) + "-data", complaints);
  if (!encoded.empty()) {
    material.given = true;
    material.place = data.Place();
    auto text = certs::DecodeBase64(encoded);
    const std::string fault =
        text ? kind.fault_of(*text) : "not base64: write the PEM text base64-encoded";
    if (fault.empty()) {
      material.text = *std::move(text);
    } else {
      complaints.Add(data.Place(), data.Field() + ": " + fault);
    }
    return material;
  }
  const std::string path = node.Text(kind.name, complaints);
  if (path.empty()) return material;
  const ConfigNode member = node.Member(kind.name);
  material.given = true;
  material.path = PathFrom(node.file(), path);
  material.place = member.Place();
  if (auto text = kind.read(material.path)) {
    material.text = *std::move(text);
  } else {
    complaints.Add(member.Place(), member.Field() + ": " + std::move(text).error().message);
  }
  return material;
}

Material ReadMaterialFile(const std::string& place, const std::string& path,
                          const MaterialKind& kind, ConfigErrors& complaints) {
  std::error_code ignored;
  Material material;
  material.given = true;
  material.path = std::filesystem::absolute(path, ignored).lexically_normal().string();
  material.place = place;
  if (auto text = kind.read(material.path)) {
    material.text = *std::move(text);
  } else {
    complaints.Add(place, std::move(text).error().message);
  }
  return material;
}

std::string PathFrom(const ConfigFile& file, const std::string& path) {
  if (path.empty()) return path;
  std::error_code ignored;
  const auto folder = std::filesystem::absolute(FolderOf(file.path), ignored);
  return (folder / path).lexically_normal().string();
}

}  // namespace mindgate::kube
