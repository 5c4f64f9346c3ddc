#include "simulation/fault_reporters.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>
#include <vector>

#include "base/text.h"
#include "faults/codes.h"
#include "json/decode.h"

namespace mindgate::simulation {
namespace {

using json::Json;

// mind-cluster: component/ascend-device-plugin, although nothing changed.
constexpr std::chrono::minutes kWriteAgain{5};

// The first code of the source and level that MindCluster ships.
std::string CodeOfLevel(faults::CodeSource source, std::string_view level) {
  for (const faults::FaultCode& code : faults::FaultTable::Shipped().codes()) {
    if (code.source == source && faults::FaultLevelName(code.level) == level) return code.code;
  }
  return "";
}

std::string ChipNames(const std::set<int64_t>& chips) {
  std::vector<std::string> names;
  for (const int64_t chip : chips) names.push_back(ChipName(chip));
  return Join(names, ",");
}

constexpr std::string_view kPublicFault = "PublicFault";

Json FaultEntry(int64_t chip, std::string_view type, std::string_view level) {
  const bool is_public = type == kPublicFault;
  return {{"fault_type", type},
          {"npu_name", ChipName(chip)},
          {"fault_level", level},
          {"fault_handling", level},
          {"fault_code",
           CodeOfLevel(is_public ? faults::CodeSource::kPublic : faults::CodeSource::kChip, level)},
          {"large_model_fault_level", level}};
}

// 0 is no time in a report.
int64_t Stamp(Time at) { return std::max<int64_t>(1, at.time_since_epoch().count()); }

ReportMap MapOf(faults::Writer writer, const char* ns, const std::string& name, const char* key,
                const Json& text) {
  const Json object = {{"metadata", {{"namespace", ns}, {"name", name}}},
                       {"data", {{key, text.dump()}}}};
  const json::Document document(object);
  return {writer, std::string(ns) + "/" + name, faults::Summarize(document.root(), writer)};
}

// A public fault that separates a chip puts it into the list of the unhealthy ones, beside an entry
// of its own type (mind-cluster: component/clusterd/pkg/application/faultmanager).
Json DeviceText(const ReportFaults& report, bool with_public, Time at) {
  std::set<int64_t> unhealthy(report.unhealthy.begin(), report.unhealthy.end());
  const std::set<int64_t> network(report.network_unhealthy.begin(), report.network_unhealthy.end());
  Json entries = Json::array();
  for (const int64_t chip : report.unhealthy) {
    entries.push_back(FaultEntry(chip, "CardUnhealthy", "SeparateNPU"));
  }
  if (with_public) {
    unhealthy.insert(report.separated.begin(), report.separated.end());
    for (const int64_t chip : report.separated) {
      entries.push_back(FaultEntry(chip, kPublicFault, "SeparateNPU"));
    }
  }
  for (const int64_t chip : report.network_unhealthy) {
    entries.push_back(FaultEntry(chip, "CardNetworkUnhealthy", "PreSeparateNPU"));
  }
  for (const int64_t chip : report.sub_healthy) {
    entries.push_back(FaultEntry(chip, "CardUnhealthy", "SubHealthFault"));
  }
  return {{"DeviceList",
           {{"huawei.com/Ascend910", ""},
            {"huawei.com/Ascend910-Unhealthy", ChipNames(unhealthy)},
            {"huawei.com/Ascend910-NetworkUnhealthy", ChipNames(network)},
            {"huawei.com/Ascend910-Recovering", ""},
            {"huawei.com/Ascend910-Fault", entries.dump()}}},
          {"UpdateTime", Stamp(at)}};
}

Json SwitchText(const ReportFaults& report, Time at) {
  return {{"FaultInfo", Json::array()},
          {"FaultLevel", ""},
          {"UpdateTime", Stamp(at)},
          {"NodeStatus", report.switches}};
}

Json MachineText(const ReportFaults& report) {
  return {{"FaultDevList", Json::array()}, {"NodeStatus", report.machine}};
}

// One fault for each chip, with an id of its own.
Json PublicText(const ReportFaults& report, const ReportFaults& before, Time at) {
  Json faults = Json::array();
  const auto add = [&](int64_t chip, const char* assertion) {
    faults.push_back({{"faultId", "scenario-" + std::to_string(chip)},
                      {"faultCode", CodeOfLevel(faults::CodeSource::kPublic, "SeparateNPU")},
                      {"faultTime", 1000 * Stamp(at)},
                      {"assertion", assertion},
                      {"influence", {{{"nodeName", report.name}, {"deviceIds", {chip}}}}}});
  };
  for (const int64_t chip : before.separated) add(chip, "recover");
  for (const int64_t chip : report.separated) add(chip, "occur");
  return {{"resource", "scenario"}, {"faults", std::move(faults)}};
}

// What ClusterD writes when this is true of a node since `at`; one part for each node.
std::vector<ReportMap> OfClusterD(const ReportFaults& report, Time at) {
  using faults::Writer;
  const auto part = [&](const std::string& kind, const std::string& node, const Json& text) {
    const std::string name = "cluster-info-" + kind + "-" + std::to_string(report.node);
    Json nodes = Json::object();
    nodes[node + report.name] = text;
    return MapOf(Writer::kClusterD, "mindx-dl", name, name.c_str(), nodes);
  };
  std::vector<ReportMap> maps = {
      part("device", "mindx-dl-deviceinfo-", DeviceText(report, true, at)),
      part("switch", "mindx-dl-switchinfo-", SwitchText(report, at))};
  // ClusterD has one ConfigMap for all machines, of which each node is a part here.
  ReportMap machine =
      MapOf(Writer::kClusterD, "mindx-dl", "cluster-info-node-cm", "cluster-info-node-cm",
            {{"mindx-dl-nodeinfo-" + report.name, MachineText(report)}});
  machine.name += "-" + std::to_string(report.node);
  maps.push_back(std::move(machine));
  return maps;
}

// What the device plugin and NodeD of the node write, and who reports public faults. `before` is
// what was reported before of it.
std::vector<ReportMap> OfNode(const ReportFaults& report, const ReportFaults& before, Time at) {
  using faults::Writer;
  const std::string devices = "mindx-dl-deviceinfo-" + report.name;
  std::vector<ReportMap> maps = {MapOf(Writer::kNodes, "kube-system", devices, "DeviceInfoCfg",
                                       {{"DeviceInfo", DeviceText(report, false, at)}})};
  // In a key of the same ConfigMap; apart here, which is the same to the reader.
  ReportMap switches =
      MapOf(Writer::kNodes, "kube-system", devices, "SwitchInfoCfg", SwitchText(report, at));
  switches.name += "/switches";
  maps.push_back(std::move(switches));
  const std::string machine = "mindx-dl-nodeinfo-" + report.name;
  // NodeD writes only while something is wrong.
  maps.push_back(report.machine == "Healthy"
                     ? ReportMap{Writer::kNodes, "mindx-dl/" + machine, std::nullopt}
                     : MapOf(Writer::kNodes, "mindx-dl", machine, "NodeInfo",
                             {{"NodeInfo", MachineText(report)}}));
  maps.push_back(MapOf(Writer::kPublic, "cluster-system", "public-" + report.name, "PublicFault",
                       PublicText(report, before, at)));
  return maps;
}

// ClusterD, or all device plugins, wrote again at `at` what is true of the other nodes: of one that
// has no other report.
ReportMap BeatOf(faults::Writer writer, Time at) {
  const Time time{std::chrono::seconds(Stamp(at))};
  return {writer, "beat",
          faults::ReportSummary{.times = {{"beat", time}},
                                .newest = time,
                                .has_content = writer == faults::Writer::kClusterD}};
}

}  // namespace

std::string ChipName(int64_t chip) { return "Ascend910-" + std::to_string(chip); }

faults::NodeFaults Reported(const ReportFaults& report) {
  faults::FaultStore store;
  for (const ReportMap& map : OfClusterD(report, Time{}))
    store.Put(map.writer, map.name, &*map.summary);
  return store.Merged(report.name, {.clusterd = true, .nodes = false});
}

void FaultReporters::Start() {
  if (!options_.clusterd) return;
  replica_.ReportAfter(BeatOf(faults::Writer::kClusterD, clock_.WallNow()),
                       std::chrono::seconds(0));
}

void FaultReporters::Report(const ReportFaults& report) {
  ReportFaults& before = reported_[report.node];
  if (options_.clusterd) {
    for (ReportMap& map : OfClusterD(report, clock_.WallNow())) {
      replica_.ReportChanged(std::move(map));
    }
  }
  for (ReportMap& map : OfNode(report, before, clock_.WallNow())) {
    replica_.ReportChanged(std::move(map));
  }
  before = report;
}

// It writes down all that is true when it starts, and what it wrote last stays when it stops.
// Device plugins go on to write at least every 5 minutes.
void FaultReporters::RunClusterD(bool runs) {
  const Time now = clock_.WallNow();
  replica_.ReportChanged(BeatOf(faults::Writer::kClusterD, now));
  if (!runs) {
    replica_.ReportAfter(BeatOf(faults::Writer::kNodes, now + kWriteAgain), kWriteAgain);
    return;
  }
  for (const auto& [node, report] : reported_) {
    for (ReportMap& map : OfClusterD(report, now)) replica_.ReportChanged(std::move(map));
  }
}

std::string ReportText(const ReportFaults& report) {
  const auto chips = [](const char* word, const std::vector<int64_t>& of) {
    std::vector<std::string> texts;
    for (const int64_t chip : of) texts.push_back(ChipName(chip));
    return texts.empty() ? "" : std::string(word) + " " + Join(texts, ", ");
  };
  std::vector<std::string> texts = {
      chips("unhealthy", report.unhealthy),
      chips("network unhealthy", report.network_unhealthy),
      chips("sub-healthy", report.sub_healthy),
      chips("separated", report.separated),
      report.machine == "Healthy" ? "" : "machine " + report.machine,
      report.switches == "Healthy" ? "" : "switch " + report.switches};
  std::erase(texts, "");
  return texts.empty() ? "healthy" : Join(texts, "; ");
}

}  // namespace mindgate::simulation
