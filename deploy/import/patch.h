#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "deploy/import/find.h"
#include "deploy/render.h"
#include "json/json.h"

namespace mindgate::deploy {

// The entries of `patches:` that make of `rendered`, the objects of a configuration without
// patches, what runs. One for each object, or one without a name where all objects of a kind need
// the same. A list of {kind, name, patch}; `patch` is merged (deploy/patches.h).
//
// Not kept, so that deploying changes it, is what mindgate writes otherwise on purpose:
// - labels, annotations, numbers of replicas and readiness probes that only mindgate writes;
// - the labels and the annotation by which mindgate knows its objects;
// - of the store: more replicas than the one in which engine and decoder meet, probes of a path,
// and
//   a port other than that of its container, which nobody reaches;
// - the size of a gang that the old template wrote. That of a user is a key of the file.
json::Json PatchesToward(const FoundApplication& found,
                         const std::vector<RenderedObject>& rendered);

}  // namespace mindgate::deploy
