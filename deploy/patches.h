#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "deploy/render.h"
#include "json/json.h"

namespace mindgate::deploy {

// `patches:` of a configuration, for what its other keys do not say. `patch` is a list of RFC 6902
// operations (add, remove, replace, test), or an object that is merged as Kubernetes merges a
// strategic patch: null removes a member, lists whose items have a key (containers by name,
// volumeMounts by mountPath) are merged item by item, an item or an object with `$patch: delete` is
// removed and one with `$patch: replace` replaced, and other lists are replaced.
//
// Applies each patch to the objects of its kind and name, in the order of the file. A patch that
// fits no object, fails or changes what an object is known by is a fault of the object, or of the
// first object where it is of none. What it writes has its place in the file.
void ApplyPatches(const std::vector<ObjectPatch>& patches, std::vector<RenderedObject>& objects);

// The member by whose value the items of two lists are the same ones: "name" for "containers",
// "mountPath" for "volumeMounts". Empty: lists of this name have none, or an item of the two lacks
// it; such lists are replaced as a whole.
std::string_view MergeKeyOf(std::string_view list, const json::Json& items,
                            const json::Json& change);

// No more than that in one file, and operations in one patch.
inline constexpr size_t kMaxPatches = 64;
inline constexpr size_t kMaxPatchOperations = 256;

}  // namespace mindgate::deploy
