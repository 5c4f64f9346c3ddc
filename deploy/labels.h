#pragma once

#include <string_view>

#include "schemas/raw_objects.h"

// The words by which the objects of an application are found, ours and those of the frameworks.
namespace mindgate::deploy {

// Who writes the fields of the objects (server-side apply).
inline constexpr const char* kFieldManager = "mindgate-deploy";

// On every object that `mindgate deploy` makes.
using schemas::kManagedBy;                                                    // kFieldManager
inline constexpr std::string_view kInstance = "app.kubernetes.io/instance";   // the application
inline constexpr std::string_view kFrameworkLabel = "mindgate.io/framework";  // "ome"
// An annotation, "llm/chat". Labels of a custom resource are copied to what controllers make of it;
// this and the lack of a controller say that the object itself was written.
inline constexpr std::string_view kApplication = "mindgate.io/application";

// OME, on what it makes of an InferenceService (pkg/constants/constants.go).
inline constexpr std::string_view kComponent = "component";  // "engine", "decoder", "router"
inline constexpr std::string_view kStoreComponent = "mf-store";
inline constexpr std::string_view kMemfabricName = "memfabric.ascend.com/name";

// AIBrix, on the pods of a StormService since v0.5.0 (pkg/controller/constants).
inline constexpr std::string_view kStormName = "storm-service-name";
inline constexpr std::string_view kRoleName = "role-name";
inline constexpr std::string_view kReplicaIndex =
    "stormservice.orchestration.aibrix.ai/role-replica-index";
inline constexpr std::string_view kGroupIndex =
    "stormservice.orchestration.aibrix.ai/pod-group-index";

}  // namespace mindgate::deploy
