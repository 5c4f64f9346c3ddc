#include "faults/reports.h"

#include <openssl/evp.h>

#include <array>
#include <map>
#include <utility>

#include "base/text.h"
#include "faults/node_faults.h"
#include "json/decode.h"
#include "json/scanner.h"
#include "kube/answers.h"

namespace mindgate::faults {
std::string Sha256Hex(std::string_view text) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int size = 0;
  if (EVP_Digest(text.data(), text.size(), digest.data(), &size, EVP_sha256(), nullptr) != 1) {
    return "";
  }
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string hex;
  for (unsigned int i = 0; i < size; ++i) {
    hex += kDigits[digest[i] >> 4U];
    hex += kDigits[digest[i] & 15U];
  }
  return hex;
}

std::string_view TextOfMember(std::string_view object, std::string_view member) {
  constexpr size_t kNone = std::string_view::npos;
  size_t at = json::SkipSpace(object, 0);
  if (!json::IsAt(object, at, '{')) return "";
  do {
    at = json::SkipSpace(object, at + 1);
    const size_t end_of_key = json::IsAt(object, at, '"') ? json::EndOfString(object, at) : kNone;
    if (end_of_key == kNone) return "";
    const std::string_view key = object.substr(at + 1, end_of_key - at - 2);
    at = json::SkipSpace(object, end_of_key);
    if (!json::IsAt(object, at, ':')) return "";
    at = json::SkipSpace(object, at + 1);
    const size_t end = json::EndOfValue(object, at);
    if (end == kNone) return "";
    if (key == member) return object.substr(at, end - at);
    at = json::SkipSpace(object, end);
  } while (json::IsAt(object, at, ','));
  return "";
}

namespace {

// The device plugin and NodeD write {"DeviceInfo": {...}, ..., "CheckCode": "<hex>"}: the SHA-256
// of the JSON text of the member as Go writes it (mind-cluster: component/ascend-common), which is
// the very text that stands there. Their readers reject a ConfigMap whose code is another one. We
// say so and take what it says all the same: the text of another version or one that a person
// changed by hand is the only report there is, and without it broken hardware would pass for
// healthy.
//
// What is wrong with the code, for people; nothing: it is right, or there is none.
std::optional<std::string> WrongCheckCode(std::string_view text, std::string_view member) {
  std::string_view code = TextOfMember(text, "CheckCode");
  if (code.size() < 2 || code.front() != '"') return std::nullopt;
  code = code.substr(1, code.size() - 2);
  const std::string_view value = TextOfMember(text, member);
  if (code.empty() || value.empty() || EqualIgnoreCase(code, Sha256Hex(value))) return std::nullopt;
  return "CheckCode is not the SHA-256 of " + std::string(member) +
         ", so that MindCluster's components reject it: somebody changed it by hand, or it is of "
         "another version. What it reports counts here all the same";
}

using json::Value;

constexpr std::string_view kDeviceName = "mindx-dl-deviceinfo-";
constexpr std::string_view kNodeName = "mindx-dl-nodeinfo-";
constexpr std::string_view kSwitchName = "mindx-dl-switchinfo-";

// What is reported of one node.
using Part = void (*)(const Value& value, NodeReport& node, std::vector<std::string>& problems);

// Nothing for a text that is empty: such is what ClusterD leaves behind when it needs fewer parts.
std::optional<json::Document> DecodeText(const Value* data, std::string_view key,
                                         std::vector<std::string>& problems) {
  const auto text = json::FindString(data, key);
  if (!text || text->empty()) return std::nullopt;
  if (text->size() > kMaxReport) {
    problems.push_back(std::string(key) + " has " + std::to_string(text->size()) +
                       " bytes, more than any component writes");
    return std::nullopt;
  }
  auto document = json::Document::Decode(*text);
  if (document) return *std::move(document);
  problems.push_back(std::string(key) + " is not JSON: " + document.error().message);
  return std::nullopt;
}

void AddWrongCheckCode(const Value* data, std::string_view key, std::string_view member,
                       std::vector<std::string>& problems) {
  const auto text = json::FindString(data, key).value_or("");
  if (auto wrong = WrongCheckCode(text, member)) problems.push_back(*std::move(wrong));
}

// A map of names with a prefix to what is reported of each node.
void ReadNodes(const Value& value, std::string_view prefix, Part part, Report& report) {
  if (!json::IsObject(&value)) {
    report.problems.push_back("it is not a map of nodes");
    return;
  }
  for (const auto& [key, entry] : value.members()) {
    if (!key.starts_with(prefix) || key.size() == prefix.size()) {
      report.problems.push_back("key " + Quote(key) + " does not begin with " +
                                std::string(prefix));
      continue;
    }
    const std::string_view name = key.substr(prefix.size());
    if (!kube::IsName(name)) {
      report.problems.push_back(Quote(name) + " is not the name of a node");
      continue;
    }
    NodeReport& node = report.nodes.emplace_back();
    node.node = name;
    part(entry, node, report.problems);
  }
  report.has_content = !report.nodes.empty();
}

void ReadNodeDevices(const Value& value, NodeReport& node, std::vector<std::string>& problems) {
  node.devices = ReadDevices(value, problems);
}
void ReadNodeMachine(const Value& value, NodeReport& node, std::vector<std::string>& problems) {
  node.machine = ReadMachine(value, problems);
}
void ReadNodeSwitches(const Value& value, NodeReport& node, std::vector<std::string>& problems) {
  node.switches = ReadSwitches(value, problems);
}

// Written by the device plugin: its own report in two keys.
void ReadOfDevicePlugin(const Value* data, NodeReport& node, std::vector<std::string>& problems) {
  if (const auto devices = DecodeText(data, "DeviceInfoCfg", problems)) {
    AddWrongCheckCode(data, "DeviceInfoCfg", "DeviceInfo", problems);
    const Value* info = json::Find(devices->root(), "DeviceInfo");
    if (info == nullptr) {
      problems.emplace_back("DeviceInfoCfg has no DeviceInfo");
    } else {
      node.devices = ReadDevices(*info, problems);
    }
  }
  if (const auto manual = json::FindString(data, "ManuallySeparateNPU")) {
    if (!node.devices) node.devices.emplace();
    AddManuallySeparated(*manual, *node.devices);
  }
  if (const auto switches = DecodeText(data, "SwitchInfoCfg", problems)) {
    node.switches = ReadSwitches(switches->root(), problems);
  }
}

void ReadOfNodeD(const Value* data, NodeReport& node, std::vector<std::string>& problems) {
  const auto text = DecodeText(data, "NodeInfo", problems);
  if (!text) return;
  AddWrongCheckCode(data, "NodeInfo", "NodeInfo", problems);
  const Value* info = json::Find(text->root(), "NodeInfo");
  if (info == nullptr) {
    problems.emplace_back("NodeInfo has no member NodeInfo");
  } else {
    node.machine = ReadMachine(*info, problems);
  }
}

}  // namespace

std::optional<Report> ReadReport(const Value& config_map) {
  const auto name = json::FindString(json::Find(config_map, "metadata"), "name").value_or("");
  const Value* data = json::Find(config_map, "data");
  Report report;
  const auto of_cluster = [&](std::string_view prefix, Part part) {
    // The key is the ConfigMap's own name.
    const auto text = DecodeText(data, name, report.problems);
    if (text) ReadNodes(text->root(), prefix, part, report);
  };
  if (name.starts_with("cluster-info-device-")) {
    of_cluster(kDeviceName, ReadNodeDevices);
  } else if (name.starts_with("cluster-info-switch-")) {
    of_cluster(kSwitchName, ReadNodeSwitches);
  } else if (name == "cluster-info-node-cm") {
    of_cluster(kNodeName, ReadNodeMachine);
  } else if (name.starts_with(kDeviceName)) {
    NodeReport& node = report.nodes.emplace_back();
    node.node = name.substr(kDeviceName.size());
    ReadOfDevicePlugin(data, node, report.problems);
  } else if (name.starts_with(kNodeName)) {
    NodeReport& node = report.nodes.emplace_back();
    node.node = name.substr(kNodeName.size());
    ReadOfNodeD(data, node, report.problems);
  } else {
    return std::nullopt;
  }
  for (std::string& problem : report.problems) {
    problem = "ConfigMap " + std::string(name) + ": " + problem;
  }
  return report;
}

Report ReadPublicReport(const Value& config_map) {
  Report report;
  const Value* metadata = json::Find(config_map, "metadata");
  const std::string ns(json::FindString(metadata, "namespace").value_or(""));
  if (const auto text = DecodeText(json::Find(config_map, "data"), kPublicKey, report.problems)) {
    std::map<std::string, NodeReport> nodes;
    for (PublicFault& fault : ReadPublicFaults(text->root(), report.problems)) {
      NodeReport& node = nodes[fault.node];
      node.node = fault.node;
      node.added.push_back(std::move(fault));
    }
    for (auto& [name, node] : nodes) report.nodes.push_back(std::move(node));
  }
  for (std::string& problem : report.problems) {
    problem = "ConfigMap " + ns + "/" +
              std::string(json::FindString(metadata, "name").value_or("")) + ": " + problem;
  }
  return report;
}

void Merge(const Report& report, FaultsByNode& faults) {
  const auto put = [](const auto& reported, auto& known) {
    if (reported && !(reported->updated < known.updated)) known = *reported;
  };
  for (const NodeReport& node : report.nodes) {
    NodeFaults& of_node = faults[node.node];
    put(node.devices, of_node.devices);
    put(node.machine, of_node.machine);
    put(node.switches, of_node.switches);
  }
}

}  // namespace mindgate::faults
