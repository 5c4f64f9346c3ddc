#include "faults/fault_store.h"

#include <algorithm>

#include "json/value.h"

namespace mindgate::faults {
namespace {

// Resources of which a cluster has chips; more are made up.
constexpr size_t kMaxChipTypes = 8;
// How the names of ConfigMaps begin, apart from what they report.
constexpr std::string_view kClusterReports = "cluster-info-";
constexpr std::string_view kNodeReports = "mindx-dl-";
constexpr const char* kDefaultChipType = "Ascend910";

void UpdateMax(const std::optional<Time>& time, std::optional<Time>& newest) {
  if (time && (!newest || *newest < *time)) newest = time;
}

// Without what changes although nothing happens.
template <typename Faults>
void DropTimes(std::optional<Faults>& faults) {
  if (!faults) return;
  faults->updated.reset();
  if constexpr (requires { faults->chip_type; }) faults->chip_type.clear();
  if (*faults == Faults()) faults.reset();
}

// When a part reports the node; nothing: it does not.
std::optional<Time> TimeIn(const std::vector<std::pair<std::string, Time>>& times,
                           const std::string& node) {
  const auto found =
      std::lower_bound(times.begin(), times.end(), node,
                       [](const auto& each, const std::string& name) { return each.first < name; });
  if (found == times.end() || found->first != node) return std::nullopt;
  return found->second;
}

}  // namespace

Writer WriterOf(const json::Value& config_map) {
  const std::string name = json::TextAt(config_map, {"metadata", "name"});
  if (name.starts_with(kClusterReports)) return Writer::kClusterD;
  const bool is_public = !name.starts_with(kNodeReports) &&
                         json::FindPath(config_map, {"data", kPublicKey}) != nullptr;
  return is_public ? Writer::kPublic : Writer::kNodes;
}

std::optional<ReportSummary> Summarize(const json::Value& config_map, Writer writer) {
  std::optional<Report> report =
      writer == Writer::kPublic ? ReadPublicReport(config_map) : ReadReport(config_map);
  if (!report) return std::nullopt;
  ReportSummary summary;
  summary.has_content = report->has_content;
  summary.problems = std::move(report->problems);
  for (NodeReport& node : report->nodes) {
    std::optional<Time> time;
    if (node.devices) time = node.devices->updated;
    if (node.switches) UpdateMax(node.switches->updated, time);
    if (time) summary.times.emplace_back(node.node, *time);
    if (node.machine) UpdateMax(node.machine->updated, time);
    UpdateMax(time, summary.newest);
    if (node.devices && summary.chip_type.empty()) summary.chip_type = node.devices->chip_type;
    DropTimes(node.devices);
    DropTimes(node.machine);
    DropTimes(node.switches);
    if (node.devices || node.machine || node.switches || !node.added.empty()) {
      summary.nodes.push_back(std::move(node));
    }
  }
  // What a message with public faults said counts when another one has taken its place.
  if (!summary.nodes.empty() || writer == Writer::kPublic) {
    summary.version = json::TextAt(config_map, {"metadata", "resourceVersion"});
  }
  std::sort(summary.times.begin(), summary.times.end());
  summary.nodes.shrink_to_fit();
  summary.times.shrink_to_fit();
  return summary;
}

std::set<std::string> FaultStore::Put(Writer writer, const std::string& config_map,
                                      const ReportSummary* summary) {
  if (writer == Writer::kPublic) return PutPublic(config_map, summary);
  std::set<std::string> changed = PutNodes(writer, config_map, summary);
  if (writer == Writer::kNodes) PutNodeTimes(config_map, summary, changed);
  if (writer == Writer::kClusterD) PutPart(config_map, summary, changed);
  return changed;
}

std::set<std::string> FaultStore::PutPublic(const std::string& config_map,
                                            const ReportSummary* summary) {
  if (summary == nullptr) {
    public_versions_.erase(config_map);
    return Named(public_.Forget(config_map));
  }
  public_versions_[config_map] = summary->version;
  std::vector<PublicFault> faults;
  for (const NodeReport& node : summary->nodes) {
    faults.insert(faults.end(), node.added.begin(), node.added.end());
  }
  return Named(public_.Put(config_map, faults));
}

// What the ConfigMap reports of its nodes, in place of what it reported before.
std::set<std::string> FaultStore::PutNodes(Writer writer, const std::string& config_map,
                                           const ReportSummary* summary) {
  std::set<std::string> changed;
  std::map<std::string_view, const NodeReport*> now;
  if (summary != nullptr) {
    for (const NodeReport& node : summary->nodes) now[node.node] = &node;
  }
  std::set<std::string>& before = of_config_map_[config_map];
  for (const std::string& node : before) {
    if (now.contains(node)) continue;
    const auto found = nodes_.find(node);
    found->second.erase(config_map);
    if (found->second.empty()) nodes_.erase(found);
    changed.insert(node);
  }
  before.clear();
  for (const auto& [name, report] : now) {
    const std::string node(name);
    before.insert(node);
    auto& reports = nodes_[node];
    const auto [place, is_new] = reports.try_emplace(config_map, OfNode{writer, *report, {}});
    place->second.version = summary->version;
    if (!is_new && place->second.report == *report) continue;
    place->second.report = *report;
    changed.insert(node);
  }
  if (before.empty()) of_config_map_.erase(config_map);
  return changed;
}

void FaultStore::PutNodeTimes(const std::string& config_map, const ReportSummary* summary,
                              std::set<std::string>& changed) {
  if (summary == nullptr || summary->times.empty()) {
    node_times_.erase(config_map);
  } else {
    node_times_[config_map] = summary->times;
  }
  if (summary == nullptr || summary->chip_type.empty()) return;
  if (chip_types_.size() < kMaxChipTypes && chip_types_.insert(summary->chip_type).second) {
    changed.merge(nodes());
  }
}

void FaultStore::PutPart(const std::string& config_map, const ReportSummary* summary,
                         std::set<std::string>& changed) {
  if (summary == nullptr) {
    parts_.erase(config_map);
  } else {
    parts_[config_map] = {config_map.substr(0, config_map.rfind('-') + 1), summary->times,
                          summary->newest, summary->has_content};
  }
  if (parts_.size() <= 1) return;
  // Nodes that another part reports as well may have moved, to this part or from it.
  if (summary != nullptr) {
    for (const NodeReport& node : summary->nodes) changed.insert(node.node);
  }
  for (const auto& [node, reports] : nodes_) {
    const bool elsewhere = std::any_of(reports.begin(), reports.end(), [&](const auto& each) {
      return each.second.writer == Writer::kClusterD && each.first != config_map;
    });
    if (elsewhere && (summary == nullptr || TimeIn(summary->times, node))) changed.insert(node);
  }
}

std::set<std::string> FaultStore::nodes() const {
  std::set<std::string> names = Named(public_.nodes());
  for (const auto& [node, reports] : nodes_) names.insert(node);
  return names;
}

// With the names of those that have a serial number.
std::set<std::string> FaultStore::Named(const std::set<std::string>& nodes) const {
  std::set<std::string> names;
  for (const std::string& node : nodes) {
    const auto serial = SerialOfKey(node);
    std::string name = !serial ? node : serials_.node_of ? serials_.node_of(*serial) : "";
    if (!name.empty()) names.insert(std::move(name));
  }
  return names;
}

void FaultStore::AddPublic(const std::string& node, DeviceFaults& devices) const {
  for (const PublicFault& fault : public_.Of(node)) {
    if (chip_types_.empty()) AddPublicFault(fault, kDefaultChipType, devices);
    for (const std::string& type : chip_types_) AddPublicFault(fault, type, devices);
  }
}

// Another part of the same kind is newer: also one that says that the node is healthy.
bool FaultStore::IsOutdated(const std::string& config_map, const std::string& node) const {
  const auto own = parts_.find(config_map);
  if (own == parts_.end()) return false;
  const auto time = TimeIn(own->second.times, node);
  if (!time) return false;
  return std::any_of(parts_.begin(), parts_.end(), [&](const auto& part) {
    if (part.second.kind != own->second.kind) return false;
    const auto other = TimeIn(part.second.times, node);
    return other && *time < *other;
  });
}

NodeFaults FaultStore::Merged(const std::string& node, TrustedSources counting) const {
  FaultsByNode faults;
  const auto found = nodes_.find(node);
  if (found != nodes_.end()) {
    for (const auto& [config_map, each] : found->second) {
      if (!Counts(each.writer, counting) || IsOutdated(config_map, node)) continue;
      Merge({.nodes = {each.report}}, faults);
    }
  }
  NodeFaults merged = std::move(faults[node]);
  if (!counting.nodes) return merged;
  AddPublic(node, merged.devices);
  const std::string serial = serials_.serial_of ? serials_.serial_of(node) : "";
  if (!serial.empty()) AddPublic(KeyOfSerial(serial), merged.devices);
  return merged;
}

std::vector<ReportVersion> FaultStore::ReportsOf(const std::string& node,
                                                 TrustedSources counting) const {
  std::vector<ReportVersion> reports;
  const auto add = [&](const std::string& config_map, const std::string& version) {
    const size_t slash = config_map.find('/');
    reports.push_back({config_map.substr(0, slash), config_map.substr(slash + 1), version});
  };
  if (const auto found = nodes_.find(node); found != nodes_.end()) {
    for (const auto& [config_map, each] : found->second) {
      if (!Counts(each.writer, counting) || IsOutdated(config_map, node)) continue;
      add(config_map, each.version);
    }
  }
  if (!counting.nodes) return reports;
  std::set<std::string> of_public = public_.ConfigMapsOf(node);
  const std::string serial = serials_.serial_of ? serials_.serial_of(node) : "";
  if (!serial.empty()) of_public.merge(public_.ConfigMapsOf(KeyOfSerial(serial)));
  for (const std::string& config_map : of_public) {
    add(config_map, public_versions_.at(config_map));
  }
  return reports;
}

bool FaultStore::IsOld(Time now) const {
  if (!clusterd_newest()) return false;
  const auto newest = clusterd_newest(now + kAhead);
  return !newest || *newest + kStaleAfter < now;
}

// Whether a node reported after ClusterD did of it.
bool FaultStore::IsBehind(Time now) const {
  const auto newest = clusterd_newest(now + kAhead);
  const auto is_behind = [&](const std::pair<std::string, Time>& own) {
    const auto& [node, time] = own;
    std::optional<Time> theirs;
    for (const auto& [config_map, part] : parts_) UpdateMax(TimeIn(part.times, node), theirs);
    if (theirs) return *theirs + kMaxLag < time;
    // ClusterD does not know the node, so that clocks of two nodes are compared.
    return newest && time <= now + kAhead && *newest + kMaxLag < time;
  };
  return std::any_of(node_times_.begin(), node_times_.end(), [&](const auto& report) {
    return std::any_of(report.second.begin(), report.second.end(), is_behind);
  });
}

bool FaultStore::WantsNodes(Source source, Time now) const {
  if (source != Source::kAuto) return source == Source::kNodes;
  return !ClusterdIsActive() || IsOld(now);
}

FaultStore::TrustedSources FaultStore::ChooseSources(Source source, Time now) const {
  constexpr TrustedSources kClusterD{.clusterd = true, .nodes = false};
  constexpr TrustedSources kNodes{.clusterd = false, .nodes = true};
  if (source != Source::kAuto) return source == Source::kNodes ? kNodes : kClusterD;
  if (!ClusterdIsActive()) return kNodes;
  return IsOld(now) && IsBehind(now) ? kNodes : kClusterD;
}

bool FaultStore::ClusterdIsActive() const {
  return std::any_of(parts_.begin(), parts_.end(),
                     [](const auto& part) { return part.second.has_content; });
}

std::optional<Time> FaultStore::clusterd_newest(Time latest) const {
  std::optional<Time> newest;
  for (const auto& [config_map, part] : parts_) {
    if (part.newest && *part.newest <= latest) {
      UpdateMax(part.newest, newest);
      continue;
    }
    for (const auto& [node, time] : part.times) {
      if (time <= latest) UpdateMax(time, newest);
    }
  }
  return newest;
}

KnownFaults::Nodes KnownFaults::Refresh(const std::set<std::string>& nodes) {
  std::map<std::string, NodeFaults> changes;
  for (const std::string& node : nodes) {
    NodeFaults merged = store_.Merged(node, sources_);
    const auto before = faults_->find(node);
    if (merged == (before == faults_->end() ? NodeFaults() : before->second)) continue;
    changes.emplace(node, std::move(merged));
  }
  Nodes changed;
  if (changes.empty()) return changed;
  auto next = std::make_shared<FaultsByNode>(*faults_);
  for (auto& [node, merged] : changes) {
    changed.push_back(node);
    if (merged == NodeFaults()) {
      next->erase(node);
    } else {
      next->insert_or_assign(node, std::move(merged));
    }
  }
  faults_ = std::move(next);
  return changed;
}

std::optional<KnownFaults::Nodes> KnownFaults::Recount(Source source, Time now) {
  const FaultStore::TrustedSources counting = store_.ChooseSources(source, now);
  if (counting == sources_) return std::nullopt;
  sources_ = counting;
  return Refresh(store_.nodes());
}

}  // namespace mindgate::faults
