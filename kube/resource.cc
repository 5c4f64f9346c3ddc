#include "kube/resource.h"

namespace mindgate::kube {

std::string PathOf(const Resource& resource, std::string_view ns, std::string_view name,
                   std::string_view subresource) {
  std::string path = resource.group.empty() ? "/api" : "/apis/" + resource.group;
  path += "/" + resource.version;
  if (resource.namespaced && !ns.empty()) path += "/namespaces/" + Encoded(ns);
  path += "/" + resource.plural;
  if (!name.empty()) path += "/" + Encoded(name);
  if (!subresource.empty()) path += "/" + std::string(subresource);
  return path;
}

std::string Encoded(std::string_view text) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '-' || c == '.' || c == '_' || c == '~';
    if (plain) {
      out += c;
      continue;
    }
    out += '%';
    out += kHex[static_cast<unsigned char>(c) >> 4];
    out += kHex[static_cast<unsigned char>(c) & 0xf];
  }
  return out;
}

}  // namespace mindgate::kube
