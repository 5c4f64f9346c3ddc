#include "cli/status/watcher_events.h"

#include <algorithm>
#include <array>
#include <utility>

#include "json/value.h"
#include "kube/reflector.h"
#include "kube/times.h"
#include "schemas/names.h"

namespace mindgate::cli {
namespace {

// What rescheduling tells.
constexpr std::array<std::string_view, 6> kReasons = {
    "JobRestarted", "NotRestarted", "PluginDiffers", "PodsMarked", "RestartWaits", "WouldRestart"};

}  // namespace

kube::Answer<std::vector<WatcherEvent>> ReadFaultEvents(kube::Client& client) {
  std::vector<WatcherEvent> newest;
  const auto keep_newest = [&newest] {
    std::stable_sort(newest.begin(), newest.end(),
                     [](const WatcherEvent& a, const WatcherEvent& b) { return a.time < b.time; });
    if (newest.size() > kMaxWatcherEvents) {
      newest.erase(newest.begin(), newest.end() - kMaxWatcherEvents);
    }
  };
  std::vector<json::Projection::Path> members = kube::LastTimeFields();
  members.insert(members.end(),
                 {{"reason"}, {"note"}, {"regarding", "kind"}, {"regarding", "name"}});
  const auto fields = kube::WithIdentity(std::move(members));
  // kube-apiserver selects Events by it (k8s.io/kubernetes pkg/apis/events/v1/conversion.go).
  const std::string selector = "reportingController=" + std::string(schemas::kWatcherReporter);
  const auto listed = client.ListAll(
      kube::resources::kEvents, "", {.field_selector = selector}, &fields,
      {.started = [&newest] { newest.clear(); },
       .item =
           [&](const json::Value& event) {
             std::string reason = json::TextAt(event, {"reason"});
             if (std::find(kReasons.begin(), kReasons.end(), reason) == kReasons.end()) return;
             newest.push_back({kube::LastTimeOf(event),
                               json::TextAt(event, {"metadata", "namespace"}),
                               json::TextAt(event, {"regarding", "kind"}) + " " +
                                   json::TextAt(event, {"regarding", "name"}),
                               std::move(reason), json::TextAt(event, {"note"})});
             if (newest.size() >= 10 * kMaxWatcherEvents) keep_newest();
           }});
  if (!listed) return tl::make_unexpected(listed.error());
  keep_newest();
  return newest;
}

}  // namespace mindgate::cli
