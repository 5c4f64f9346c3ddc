#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "schemas/site_kinds.h"

// Kinds of well-known operators, in the form of mindgate.yaml: `kinds: [{use: ray}]` switches those
// of one operator on.
namespace mindgate::schemas {

struct ShippedKinds {
  std::string_view name;     // "ray"
  std::string_view project;  // "KubeRay 1.0 and later", for people
  std::string_view rows;     // YAML: a list of kinds, as under `kinds`
};

std::span<const ShippedKinds> AllShippedKinds();
// The rows of that name, in their order; empty when there are none.
std::vector<SiteKind> ShippedKindsNamed(std::string_view name);

}  // namespace mindgate::schemas
