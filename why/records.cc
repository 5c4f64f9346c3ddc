#include <string>

#include "json/decode.h"
#include "watcher/rescheduling/plugin_records.h"
#include "why/reader.h"
#include "why/subject.h"

namespace mindgate::why {
namespace {

using json::Value;
namespace plugin = watcher::rescheduling;

constexpr std::string_view kFaultNodes = "fault-node";
// A cluster of 10,000 nodes has fewer that are faulty at one time.
constexpr size_t kMaxCached = 1'000;
constexpr size_t kMaxChips = 64;

json::Projection NoteFields(std::initializer_list<std::string_view> keys) {
  std::vector<json::Projection::Path> paths;
  for (const std::string_view key : keys) paths.push_back({"data", std::string(key)});
  return json::Projection(paths);
}

// The plugin's cache is a JSON text in a ConfigMap; what is not understood is left out.
void AddCached(const Value& config_map, Facts& facts) {
  const std::string text = json::TextAt(config_map, {"data", kFaultNodes});
  if (text.empty()) return;
  const auto nodes = json::Document::Decode(text);
  if (!nodes || !nodes->root().is_array()) return;
  for (const Value& node : nodes->root()) {
    CachedFacts cached{.node = json::TextAt(node, {"NodeName"}),
                       .state = json::TextAt(node, {"NodeHealthState"})};
    const Value* chips = json::Find(node, "UnhealthyNPU");
    if (json::IsArray(chips)) {
      for (const Value& chip : *chips) {
        const auto name = json::AsString(&chip);
        if (name && cached.chips.size() < kMaxChips) cached.chips.emplace_back(*name);
      }
    }
    const bool faulty =
        !cached.chips.empty() || (!cached.state.empty() && cached.state != "Healthy");
    if (!cached.node.empty() && faulty && facts.cached.size() < kMaxCached) {
      facts.cached.push_back(std::move(cached));
    }
  }
}

}  // namespace

void ReadPluginRecords(kube::Client& client, Facts& facts, const std::stop_token& stop) {
  const auto read = [&](std::string_view ns, std::string_view name,
                        std::initializer_list<std::string_view> keys, const auto& use) {
    const auto config_map =
        client.Get(kube::resources::kConfigMaps, ns, name, NoteFields(keys), stop);
    if (config_map) {
      use(config_map->root());
    } else {
      NoteUnread(facts, "ConfigMap " + std::string(ns) + "/" + std::string(name),
                 config_map.error());
    }
  };
  read(plugin::kRetriesNamespace, plugin::kRetriesName, {plugin::kRetriesKey, kFaultNodes},
       [&](const Value& config_map) {
         const auto left = plugin::RetriesLeft(config_map);
         for (GroupFacts& group : facts.groups) {
           const auto found = left.find(facts.ns + "/" + group.name);
           if (found != left.end()) group.retries_left = found->second;
         }
         AddCached(config_map, facts);
       });
  read(plugin::kRecordsNamespace, plugin::kRecordsName, {plugin::kRecordsKey},
       [&](const Value& config_map) {
         const auto restarts = plugin::LastRestarts(config_map);
         for (GroupFacts& group : facts.groups) {
           const auto found = restarts.find(facts.ns + "/" + group.name);
           if (found == restarts.end()) continue;
           group.restarted = found->second.time;
           group.restarted_for = found->second.faulty;
         }
       });
}

}  // namespace mindgate::why
