// Any bytes as the text of each ConfigMap in which MindCluster reports faults: no crash, every
// problem with a message, and nothing is reported of a node that the text does not name.
#include <array>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "faults/fault_store.h"
#include "faults/reports.h"
#include "fuzz/require.h"
#include "json/decode.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace mindgate;
  using testing::Require;
  if (size == 0) return 0;
  struct Place {
    const char* name;
    const char* key;
  };
  constexpr std::array<Place, 7> kPlaces = {{
      {"cluster-info-device-0", "cluster-info-device-0"},
      {"cluster-info-switch-0", "cluster-info-switch-0"},
      {"cluster-info-node-cm", "cluster-info-node-cm"},
      {"mindx-dl-deviceinfo-n", "DeviceInfoCfg"},
      {"mindx-dl-deviceinfo-n", "SwitchInfoCfg"},
      {"mindx-dl-nodeinfo-n", "NodeInfo"},
      {"public", "PublicFault"},
  }};
  const Place& place = kPlaces[data[0] % kPlaces.size()];
  const std::string text(reinterpret_cast<const char*>(data + 1), size - 1);
  json::Json tree;
  tree["metadata"]["name"] = place.name;
  tree["metadata"]["namespace"] = "mindx-dl";
  tree["data"][place.key] = text;
  const json::Document document(tree);
  const bool is_public = std::string_view(place.key) == faults::kPublicKey;
  const auto report =
      is_public ? faults::ReadPublicReport(document.root()) : faults::ReadReport(document.root());
  Require(report.has_value());
  for (const std::string& problem : report->problems) Require(!problem.empty());
  for (const auto& node : report->nodes) Require(!node.node.empty());
  faults::FaultsByNode faults;
  Merge(*report, faults);
  Require(faults.size() <= report->nodes.size());
  // As the feed keeps it: what is worth keeping is not more than what was said.
  const auto writer = is_public                      ? faults::Writer::kPublic
                      : data[0] % kPlaces.size() < 3 ? faults::Writer::kClusterD
                                                     : faults::Writer::kNodes;
  const auto reported = faults::Summarize(document.root(), writer);
  Require(reported.has_value());
  faults::FaultStore all;
  all.Put(writer, place.name, &*reported);
  Require(all.nodes().size() <= report->nodes.size());
  for (const std::string& node : all.nodes()) {
    (void)all.Merged(node, {.clusterd = true, .nodes = true});
  }
  all.Put(writer, place.name, nullptr);
  Require(all.nodes().empty());
  return 0;
}
