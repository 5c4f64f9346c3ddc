#include "schemas/versions.h"

#include <algorithm>

#include "base/text.h"

namespace mindgate::schemas {

std::optional<Version> ReadVersion(std::string_view text) {
  constexpr int64_t kMaxNumber = 1'000'000;
  if (text.starts_with('v')) text.remove_prefix(1);
  text = text.substr(0, text.find_first_of("-+"));
  const auto parts = Split(text, '.');
  if (parts.size() < 2 || parts.size() > 3) return std::nullopt;
  std::array<int, 3> numbers{};
  for (size_t i = 0; i < parts.size(); ++i) {
    const auto number = ParseGoInt(parts[i]);
    if (!number || !IsDigit(parts[i].front()) || *number > kMaxNumber) return std::nullopt;
    numbers[i] = static_cast<int>(*number);
  }
  return Version{numbers[0], numbers[1], numbers[2]};
}

std::string VersionText(const Version& version) {
  return std::to_string(version.major) + "." + std::to_string(version.minor) + "." +
         std::to_string(version.patch);
}

namespace {

// "registry:5000/lws/lws:v0.7.0@sha256:..." without digest, and where its tag begins.
struct Image {
  std::string_view name;
  std::string_view tag;  // empty: none
};

Image ReadImage(std::string_view text) {
  text = text.substr(0, text.find('@'));
  const size_t colon = text.rfind(':');
  const size_t slash = text.rfind('/');
  // A colon before the last slash belongs to a port.
  if (colon == std::string_view::npos || (slash != std::string_view::npos && colon < slash)) {
    return {text, ""};
  }
  return {text.substr(0, colon), text.substr(colon + 1)};
}

bool EndsWithName(std::string_view image, std::string_view name) {
  if (!image.ends_with(name)) return false;
  return image.size() == name.size() || image[image.size() - name.size() - 1] == '/';
}

}  // namespace

std::optional<Component> ComponentOfImage(std::string_view image) {
  const std::string_view name = ReadImage(image).name;
  for (const ComponentInfo& info : kComponents) {
    for (std::string_view end : Split(info.images, ' ')) {
      if (!end.empty() && EndsWithName(name, end)) return info.component;
    }
  }
  return std::nullopt;
}

std::optional<Version> VersionOfImage(std::string_view image) {
  return ReadVersion(ReadImage(image).tag);
}

}  // namespace mindgate::schemas
