#include <filesystem>
#include <system_error>

#include "kube/credential_files.h"

namespace mindgate::kube {
namespace {

constexpr const char* kBundles[] = {
    "/etc/ssl/certs/ca-certificates.crt",                 // Debian, Ubuntu, images of mindgate
    "/etc/pki/tls/certs/ca-bundle.crt",                   // openEuler, Kylin, Fedora
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",  // the same, where the link is missing
    "/etc/ssl/ca-bundle.pem",                             // openSUSE
    "/etc/ssl/cert.pem",                                  // Alpine
};

}  // namespace

std::string SystemAuthoritiesBelow(const std::string& root) {
  for (const char* place : kBundles) {
    std::error_code unreadable;
    if (std::filesystem::is_regular_file(root + place, unreadable)) return root + place;
  }
  return "";
}

const std::string& SystemAuthorities() {
  static const std::string found = SystemAuthoritiesBelow("");
  return found;
}

}  // namespace mindgate::kube
