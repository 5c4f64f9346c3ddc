#include "kube/resource.h"

#include "base/text.h"

namespace mindgate::kube {

namespace {

void SkipDigits(std::string_view& text) {
  while (!text.empty() && text.front() >= '0' && text.front() <= '9') text.remove_prefix(1);
}

// "v1", and "beta" or "alpha" of the same form.
bool SkipNumbered(std::string_view& text, std::string_view word) {
  if (!text.starts_with(word)) return false;
  text.remove_prefix(word.size());
  const size_t before = text.size();
  SkipDigits(text);
  return text.size() < before;
}

}  // namespace

bool IsVersion(std::string_view version) {
  if (!SkipNumbered(version, "v")) return false;
  return version.empty() ||
         ((SkipNumbered(version, "alpha") || SkipNumbered(version, "beta")) && version.empty());
}

std::string PathOf(const Resource& resource, std::string_view ns, std::string_view name,
                   std::string_view subresource) {
  if (!IsVersion(resource.version) || resource.plural.empty()) return "";
  std::string path;
  bool valid = true;
  const auto add = [&](std::string_view segment) {
    valid = valid && segment != "." && segment != "..";
    path += "/" + PercentEncoded(segment);
  };
  add(resource.group.empty() ? "api" : "apis");
  if (!resource.group.empty()) add(resource.group);
  add(resource.version);
  if (resource.namespaced && !ns.empty()) {
    add("namespaces");
    add(ns);
  }
  add(resource.plural);
  if (!name.empty()) add(name);
  if (!subresource.empty()) add(subresource);
  return valid ? path : "";
}

}  // namespace mindgate::kube
