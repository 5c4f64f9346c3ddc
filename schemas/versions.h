#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

// The versions of what runs beside mindgate in a cluster. Rules whose facts hold for some of them
// ask what the cluster at hand has; where it is not known, they say what holds for all.
namespace mindgate::schemas {

enum class Component : uint8_t {
  kKubernetes,
  kVolcano,
  kMindCluster,
  kOme,
  kAibrix,
  kLeaderWorkerSet,
  kInferOperator,
};

struct ComponentInfo {
  Component component;
  std::string_view key;   // under `versions` in mindgate.yaml
  std::string_view name;  // for people
  // The release nearest to the source that the rules were read from.
  std::string_view read;
  // The versions that the end-to-end tests run; empty: none.
  std::string_view run;
  // The ends of the image names of its controllers, separated by spaces; empty: it has none.
  std::string_view images;
};

inline constexpr ComponentInfo kComponents[] = {
    {Component::kKubernetes, "kubernetes", "Kubernetes", "1.34", "1.30, 1.34, 1.36", ""},
    {Component::kVolcano, "volcano", "Volcano", "1.9, 1.12, 1.15, 1.16 alpha", "1.10",
     "vc-controller-manager vc-scheduler"},
    {Component::kMindCluster, "mindcluster", "MindCluster", "26.1", "", "ascend-operator clusterd"},
    {Component::kOme, "ome", "OME", "0.1.5", "", "ome-manager"},
    {Component::kAibrix, "aibrix", "AIBrix", "0.7 rc", "", "aibrix/controller-manager"},
    {Component::kLeaderWorkerSet, "leaderworkerset", "LeaderWorkerSet", "0.10", "0.7", "lws/lws"},
    {Component::kInferOperator, "infer-operator", "infer-operator", "26.1", "", "infer-operator"},
};
inline constexpr size_t kComponentCount = std::size(kComponents);

struct Version {
  int major = 0;
  int minor = 0;
  int patch = 0;
  auto operator<=>(const Version&) const = default;
};

// "1.10", "v1.12.2", "v1.9.0-v7.3.0" (what follows a '-' or '+' is left out); nothing for texts
// that are not of this form, such as "latest".
std::optional<Version> ReadVersion(std::string_view text);
std::string VersionText(const Version& version);  // "1.10.0"

// The component whose controller runs this image; nothing for other images.
std::optional<Component> ComponentOfImage(std::string_view image);
// Of an image with a tag that is one.
std::optional<Version> VersionOfImage(std::string_view image);

// Which versions a cluster has, as far as known.
class Versions {
 public:
  void Set(Component component, Version version) { versions_[Index(component)] = version; }
  std::optional<Version> Of(Component component) const { return versions_[Index(component)]; }

  // False also when the version is not known: for each of two answers there is one question.
  bool IsBefore(Component component, Version version) const {
    return Of(component) && *Of(component) < version;
  }
  bool IsFrom(Component component, Version version) const {
    return Of(component) && *Of(component) >= version;
  }
  bool operator==(const Versions&) const = default;

 private:
  static constexpr size_t Index(Component component) { return static_cast<size_t>(component); }
  std::array<std::optional<Version>, kComponentCount> versions_;
};

}  // namespace mindgate::schemas
