// Any bytes as the text of each ConfigMap in which MindCluster reports faults: no crash, every
// problem with a message, and nothing is told of a node that the text does not name.
#include <array>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "fuzz/require.h"
#include "json/decode.h"
#include "watcher/faults/reports.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace mindgate;
  using testing::Require;
  if (size == 0) return 0;
  struct Place {
    const char* name;
    const char* key;
  };
  constexpr std::array<Place, 6> kPlaces = {{
      {"cluster-info-device-0", "cluster-info-device-0"},
      {"cluster-info-switch-0", "cluster-info-switch-0"},
      {"cluster-info-node-cm", "cluster-info-node-cm"},
      {"mindx-dl-deviceinfo-n", "DeviceInfoCfg"},
      {"mindx-dl-deviceinfo-n", "SwitchInfoCfg"},
      {"mindx-dl-nodeinfo-n", "NodeInfo"},
  }};
  const Place& place = kPlaces[data[0] % kPlaces.size()];
  const std::string text(reinterpret_cast<const char*>(data + 1), size - 1);
  json::Json tree;
  tree["metadata"]["name"] = place.name;
  tree["data"][place.key] = text;
  const json::Document document(tree);
  const auto report = watcher::faults::ReadReport(document.root());
  Require(report.has_value());
  for (const std::string& problem : report->problems) Require(!problem.empty());
  for (const auto& node : report->nodes) Require(!node.node.empty());
  watcher::faults::FaultsByNode faults;
  Merge(*report, faults);
  Require(faults.size() <= report->nodes.size());
  return 0;
}
