#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "faults/node_faults.h"
#include "faults/public_faults.h"
#include "json/value.h"

namespace mindgate::faults {

// Of the bytes, 64 lower-case hex digits.
std::string Sha256Hex(std::string_view text);

// The text of a member of the outermost object; empty when it has none, or is no JSON object.
std::string_view TextOfMember(std::string_view object, std::string_view member);

// The ConfigMaps in which MindCluster reports faults (mind-cluster: component/ascend-device-plugin
// pkg/common, component/noded pkg/common, component/clusterd pkg/domain).

// ClusterD's, for all nodes, in namespace mindx-dl.
inline constexpr std::string_view kClusterNamespace = "mindx-dl";
inline constexpr std::string_view kClusterSelector = "mx-consumer-volcano=true";
// Of one node: the device plugin's in kube-system, NodeD's in mindx-dl.
inline constexpr std::string_view kDeviceNamespace = "kube-system";
inline constexpr std::string_view kNodeNamespace = "mindx-dl";
inline constexpr std::string_view kNodeSelector = "mx-consumer-cim=true";

// Larger than any that a component writes: ClusterD begins another one at 800 KiB.
inline constexpr size_t kMaxReport = 2 * 1024 * 1024;

// What one ConfigMap says, by node. A part that it does not report is not set.
struct NodeReport {
  std::string node;
  std::optional<DeviceFaults> devices{};
  std::optional<HardwareFaults> machine{};
  std::optional<HardwareFaults> switches{};
  std::vector<PublicFault> added{};  // to what is reported of the chips
  bool operator==(const NodeReport&) const = default;
};

struct Report {
  std::vector<NodeReport> nodes{};      // by name
  std::vector<std::string> problems{};  // what could not be understood, for people
  bool has_content = false;             // of ClusterD: it is not one that is left empty
  bool operator==(const Report&) const = default;
};

// Recognized by the name of the ConfigMap; nothing for one that is no report. Takes what it
// understands, and says what it does not: nothing that is unknown makes hardware faulty. Never
// throws, whatever the bytes.
std::optional<Report> ReadReport(const json::Value& config_map);

// The same of a ConfigMap with a public fault, which may have any name. The caller has read it in a
// namespace that counts.
Report ReadPublicReport(const json::Value& config_map);

// Adds what a report says. Of what two reports say of the same, the newer one counts: a node moves
// from one part of ClusterD's to another, and the part that it left may stay as it was.
void Merge(const Report& report, FaultsByNode& faults);

}  // namespace mindgate::faults
