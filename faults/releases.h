#pragma once

#include <span>
#include <string_view>

namespace mindgate::faults {

// What a release of MindCluster ships about faults: JSON texts, those of faults/releases.
struct FaultFiles {
  std::string_view release;        // "26.1"
  std::string_view chips;          // ascend-device-plugin/build/faultCode.json
  std::string_view switches;       // ascend-device-plugin/build/SwitchFaultCode.json
  std::string_view customization;  // ascend-device-plugin/build/faultCustomization.json
  std::string_view machines;       // noded/build/NodeDConfiguration.json
  std::string_view public_faults;  // clusterd/build/publicFaultConfiguration.json
  std::string_view relations;      // clusterd/build/relationFaultCustomization.json
  std::string_view waits;          // clusterd/build/faultDuration.json
};

// The oldest release first; at least one.
std::span<const FaultFiles> FaultReleases();

}  // namespace mindgate::faults
