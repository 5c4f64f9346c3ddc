#include <list>
#include <optional>
#include <set>
#include <utility>

#include "base/text.h"
#include "cli/deploy/deploy.h"
#include "deploy/cluster.h"
#include "json/decode.h"
#include "json/value.h"
#include "what_if/forecast.h"
#include "what_if/snapshot.h"

namespace mindgate::cli {
namespace {

std::vector<Problem> NotLookedAt(const std::string& why) {
  return {{"whether there is room now is not checked: " + why, ""}};
}

Problem NoteOf(const what_if::InstanceForecast& instance) {
  std::string what = "does not fit now: " + instance.owner;
  if (!instance.pod_group.empty()) what += " (PodGroup " + instance.pod_group + ")";
  what += " of " + Counted(static_cast<int64_t>(instance.pods), "pod");
  if (!instance.why.empty()) what += ": " + instance.why;
  const std::string nodes = instance.shortage ? LeftOutText(*instance.shortage) : "";
  if (!nodes.empty()) what += " (nodes: " + nodes + ")";
  std::string hint = "its pods stay Pending until others leave";
  if (!instance.fix.empty()) hint += ", or until there is " + instance.fix;
  return {std::move(what), std::move(hint)};
}

// The pods that the application has already: what is deployed takes their place.
std::optional<kube::Fault> RemoveOwnPods(kube::Client& client,
                                         const deploy::Application& application,
                                         const std::stop_token& stop,
                                         what_if::ClusterSnapshot& snapshot) {
  const auto pods = client.ListObjects(
      kube::resources::kPods, application.ns,
      {.label_selector = deploy::PodSelector(application.framework(), application.name)}, nullptr,
      stop);
  if (!pods) return pods.error();
  std::set<std::string> own;
  for (const json::Json& pod : *pods) own.insert(deploy::NameOf(pod));
  std::erase_if(snapshot.pods, [&](const json::Value* pod) {
    return json::TextAt(*pod, {"metadata", "namespace"}) == application.ns &&
           own.contains(json::TextAt(*pod, {"metadata", "name"}));
  });
  return std::nullopt;
}

}  // namespace

std::vector<Problem> LackOfRoom(kube::Client& client, Time now,
                                const deploy::Application& application,
                                const std::vector<json::Json>& objects,
                                const std::stop_token& stop) {
  const auto text = what_if::TakeSnapshot(client, now, {}, stop);
  if (!text) return NotLookedAt(text.error().message);
  auto snapshot = what_if::ReadSnapshot(*text);
  if (!snapshot) return NotLookedAt("the cluster has objects that are not understood");
  if (const auto fault = RemoveOwnPods(client, application, stop, *snapshot)) {
    return NotLookedAt(fault->message);
  }
  std::list<json::Document> documents;
  std::vector<what_if::ManifestObject> manifests;
  for (const json::Json& object : objects) {
    documents.emplace_back(object);
    manifests.push_back({&documents.back().root(), application.ns});
  }
  const what_if::Answer answer = what_if::AnswerOf(*snapshot, manifests, {});
  std::vector<Problem> notes;
  if (!answer.applied) return notes;
  for (const what_if::InstanceForecast& instance : answer.applied->instances) {
    const bool waits = instance.outcome == what_if::Outcome::kNoRoom ||
                       instance.outcome == what_if::Outcome::kPartly ||
                       instance.outcome == what_if::Outcome::kHeld;
    if (instance.is_new && waits) notes.push_back(NoteOf(instance));
  }
  return notes;
}

}  // namespace mindgate::cli
