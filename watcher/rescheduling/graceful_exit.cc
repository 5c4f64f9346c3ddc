#include "watcher/rescheduling/graceful_exit.h"

#include <utility>

#include "faults/check_code.h"
#include "json/decode.h"
#include "json/value.h"

namespace mindgate::watcher::rescheduling {
namespace {

constexpr std::string_view kKey = "reset.json";
constexpr std::string_view kMember = "GracefulExit";
// The plugin's device plugin writes to it as well, whenever a chip is reset.
constexpr int kMostTries = 3;

// The text with the number in it; nothing: it is no object.
std::optional<std::string> With(std::string_view text, std::string_view number) {
  const auto document = json::Document::Decode(text);
  if (!document || !json::IsObject(&document->root())) return std::nullopt;
  std::string changed(text);
  if (const std::string_view value = faults::TextOfMember(text, kMember); !value.empty()) {
    changed.replace(static_cast<size_t>(value.data() - text.data()), value.size(), number);
    return changed;
  }
  const bool is_empty = document->root().empty();
  changed.insert(changed.rfind('}'),
                 (is_empty ? "\"" : ",\"") + std::string(kMember) + "\":" + std::string(number));
  return changed;
}

}  // namespace

std::optional<json::Json> GracefulExitPatch(const json::Value& config_map, bool exits) {
  const std::string text = json::TextAt(config_map, {"data", kKey});
  const std::string_view number = exits ? "1" : "0";
  const std::string_view there = faults::TextOfMember(text, kMember);
  if (there == number || (there.empty() && !exits)) return std::nullopt;
  std::optional<std::string> changed = With(text, number);
  if (!changed) return std::nullopt;
  const std::string code = faults::Sha256Hex(*changed);
  return json::Json{
      {"metadata",
       {{"resourceVersion", json::TextAt(config_map, {"metadata", "resourceVersion"})}}},
      {"data", {{std::string(kKey), *std::move(changed)}, {"checkCode", code}}}};
}

kube::Answer<void> SetGracefulExit(LeaderClient& client, std::string_view ns, std::string_view job,
                                   bool exits) {
  const std::string name = "reset-config-" + std::string(job);
  for (int tries = 1;; ++tries) {
    static const json::Projection fields({{"metadata", "resourceVersion"}, {"data", "reset.json"}});
    const auto config_map = client.Read(kube::resources::kConfigMaps, ns, name, fields);
    if (!config_map) {
      if (config_map.error().reason == kube::Reason::kNotFound) return {};
      return tl::make_unexpected(config_map.error());
    }
    const auto patch = GracefulExitPatch(config_map->root(), exits);
    if (!patch) return {};
    const auto patched = client.MergePatch(kube::resources::kConfigMaps, ns, name, *patch);
    if (patched) return {};
    if (patched.error().reason != kube::Reason::kConflict || tries == kMostTries) {
      return tl::make_unexpected(patched.error());
    }
  }
}

}  // namespace mindgate::watcher::rescheduling
