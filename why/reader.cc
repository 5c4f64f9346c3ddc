#include "why/reader.h"

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "base/text.h"
#include "json/decode.h"
#include "kube/events.h"
#include "kube/reflector.h"
#include "schemas/names.h"
#include "watcher/frame/disruption_limits.h"
#include "watcher/rescheduling/plugin.h"

namespace mindgate::why {
namespace {

using json::Value;
using schemas::Kind;

// What MindCluster's plugin noted: restarts of the PodGroups of `facts` and what is left of their
// retries, and the nodes in its cache of faults.
void ReadPluginRecords(kube::Client& client, Facts& facts, const std::stop_token& stop);

// The newest Events of a namespace that are about one of these objects ("Pod/chat-0"), the oldest
// first: kMaxEvents at most.
void ReadEvents(kube::Client& client, const std::set<std::string>& about, Facts& facts,
                const std::stop_token& stop);

// Of claims, queues and rules, each a call.
constexpr size_t kMaxNamed = 32;

class FactReader {
 public:
  FactReader(kube::Client& client, const Subject& subject, const ReadOptions& options,
             const std::stop_token& stop)
      : client_(client), subject_(subject), options_(options), stop_(stop) {
    facts_.kind = subject.info.name;
    // kubectl takes a job to be one of batch, and other kinds to be of the first group that has
    // one.
    facts_.resource = subject.info.built_in ? ToLower(subject.info.name)
                                            : std::string(subject.info.plural) + "." +
                                                  std::string(subject.info.group);
    facts_.name = subject.name;
    facts_.ns = subject.ns;
    facts_.now = options.now;
    facts_.watcher = options.watcher;
  }

  Facts Run() {
    ReadState(subject_.info.kind, subject_.object.root(), facts_);
    ReadOwners(client_, subject_, facts_, stop_);
    uids_ = ReadChildren(client_, subject_, facts_, stop_);
    ReadGroups();
    ReadPods();
    CountGroups();
    ReadQueues();
    ReadQuotas();
    ReadClaims();
    ReadRules();
    AddHeld(scaling_, options_.scaling, facts_);
    ReadEvents(client_, Objects(), facts_, stop_);
    ReadPluginRecords(client_, facts_, stop_);
    ReadCluster();
    return std::move(facts_);
  }

 private:
  bool IsOurPod(const Value& pod, const std::string& name, const std::string& group) const {
    if (subject_.info.kind == Kind::kPod) return name == subject_.name;
    if (subject_.info.kind == Kind::kPodGroup) return group == subject_.name;
    return HasOwnerIn(pod, uids_);
  }

  // Those of the subject; the pods name others.
  void ReadGroups() {
    const auto fields = kube::WithIdentity(GroupFactFields());
    const auto listed = client_.ListAll(
        kube::resources::kPodGroups, facts_.ns, {}, &fields,
        {.started =
             [this] {
               groups_.clear();
               scaling_.pod_groups.clear();
             },
         .item =
             [this](const Value& object) {
               GroupFacts group = GroupFactsOf(object);
               const bool ours =
                   HasOwnerIn(object, uids_) ||
                   (subject_.info.kind == Kind::kPodGroup && group.name == subject_.name);
               if (ours) ours_.insert(group.name);
               if (watcher::OptsOut(object)) disabled_.insert(group.name);
               groups_.emplace(group.name, std::move(group));
               if (auto state = watcher::scaling::PodGroupOf(object)) {
                 scaling_.pod_groups.push_back(
                     std::make_shared<const watcher::scaling::PodGroupState>(*std::move(state)));
               }
             }},
        stop_);
    if (!listed) NoteUnread(facts_, "PodGroups", listed.error());
    groups_known_ = listed.has_value();
  }

  struct Count {
    int64_t pods = 0;
    int64_t gated = 0;
    int64_t placed = 0;
    std::optional<int64_t> k{};
  };

  void ReadPods() {
    const auto fields = kube::WithIdentity(PodFactFields());
    const auto listed = client_.ListAll(kube::resources::kPods, facts_.ns, {}, &fields,
                                        {.started =
                                             [this] {
                                               facts_.pods.clear();
                                               facts_.pods_left_out = 0;
                                               counts_.clear();
                                               scaling_.pods.clear();
                                             },
                                         .item = [this](const Value& pod) { TakePod(pod); }},
                                        stop_);
    if (!listed) {
      NoteUnread(facts_, PodsOfText(facts_.ns), listed.error());
      // A pod was read by its name.
      if (subject_.info.kind == Kind::kPod) TakePod(subject_.object.root());
    }
    std::sort(facts_.pods.begin(), facts_.pods.end(),
              [](const PodFacts& a, const PodFacts& b) { return a.name < b.name; });
  }

  void TakePod(const Value& object) {
    PodFacts pod = PodFactsOf(object);
    if (!pod.pod_group.empty() && !pod.ended()) {
      Count& count = counts_[pod.pod_group];
      ++count.pods;
      count.gated += pod.gated() && pod.node.empty() ? 1 : 0;
      count.placed += pod.node.empty() ? 0 : 1;
      if (!count.k) count.k = KOf(object);
    }
    if (auto state = watcher::scaling::PodOf(object)) {
      scaling_.pods.push_back(
          std::make_shared<const watcher::scaling::PodState>(*std::move(state)));
    }
    if (!IsOurPod(object, pod.name, pod.pod_group)) return;
    if (facts_.pods.size() == kMaxPods) {
      ++facts_.pods_left_out;
      return;
    }
    if (facts_.opted_out.empty() && watcher::OptsOut(object)) {
      facts_.opted_out = std::string(schemas::kRescheduling) + ": disabled on Pod/" + pod.name;
    }
    facts_.pods.push_back(std::move(pod));
  }

  void CountGroups() {
    for (const PodFacts& pod : facts_.pods) {
      if (!pod.pod_group.empty()) ours_.insert(pod.pod_group);
    }
    for (const std::string& name : ours_) {
      const auto found = groups_.find(name);
      if (found == groups_.end() && !groups_known_) continue;
      GroupFacts group = found == groups_.end() ? GroupFacts{.name = name, .exists = false}
                                                : std::move(found->second);
      const Count& count = counts_[name];
      group.pods = count.pods;
      group.gated = count.gated;
      group.placed = count.placed;
      if (!group.k) group.k = count.k;
      if (facts_.opted_out.empty() && disabled_.contains(name)) {
        facts_.opted_out = std::string(schemas::kRescheduling) + ": disabled on PodGroup/" + name;
      }
      facts_.groups.push_back(std::move(group));
    }
  }

  void ReadQueues() {
    const json::Projection fields(
        {{"spec", "capability"}, {"status", "allocated"}, {"status", "state"}});
    for (const GroupFacts& group : facts_.groups) {
      if (!group.exists || facts_.FindQueue(group.queue) != nullptr ||
          facts_.queues.size() == kMaxNamed) {
        continue;
      }
      const auto read = client_.Get(kube::resources::kQueues, "", group.queue, fields, stop_);
      if (read) {
        facts_.queues.push_back(
            {.name = group.queue,
             .state = json::TextAt(read->root(), {"status", "state"}),
             .capability = AmountsOf(json::FindPath(read->root(), {"spec", "capability"})),
             .allocated = AmountsOf(json::FindPath(read->root(), {"status", "allocated"}))});
      } else if (read.error().reason == kube::Reason::kNotFound) {
        facts_.queues.push_back({.name = group.queue, .exists = false});
      } else {
        NoteUnread(facts_, "Queue " + group.queue, read.error());
      }
    }
  }

  void ReadQuotas() {
    if (facts_.ns.empty()) return;
    const auto fields = kube::WithIdentity({{"status", "hard"}, {"status", "used"}});
    const auto listed =
        client_.ListAll(kube::resources::kResourceQuotas, facts_.ns, {}, &fields,
                        {.started = [this] { facts_.quotas.clear(); },
                         .item =
                             [this](const Value& quota) {
                               if (facts_.quotas.size() == kMaxNamed) return;
                               facts_.quotas.push_back(
                                   {.name = json::TextAt(quota, {"metadata", "name"}),
                                    .hard = AmountsOf(json::FindPath(quota, {"status", "hard"})),
                                    .used = AmountsOf(json::FindPath(quota, {"status", "used"}))});
                             }},
                        stop_);
    if (!listed) NoteUnread(facts_, "ResourceQuotas", listed.error());
  }

  void ReadClaims() {
    const kube::Resource claims{"", "v1", "persistentvolumeclaims", "PersistentVolumeClaim", true};
    const json::Projection fields({{"spec", "storageClassName"}, {"status", "phase"}});
    std::set<std::string> names;
    for (const PodFacts& pod : facts_.pods) {
      if (pod.phase == "Pending") names.insert(pod.claims.begin(), pod.claims.end());
    }
    for (const std::string& name : names) {
      if (facts_.claims.size() == kMaxNamed) break;
      const auto read = client_.Get(claims, facts_.ns, name, fields, stop_);
      if (read) {
        facts_.claims.push_back(
            {.name = name,
             .phase = json::TextAt(read->root(), {"status", "phase"}),
             .storage_class = json::TextAt(read->root(), {"spec", "storageClassName"})});
      } else if (read.error().reason == kube::Reason::kNotFound) {
        facts_.claims.push_back({.name = name, .exists = false});
      } else {
        NoteUnread(facts_, "PersistentVolumeClaim " + name, read.error());
      }
    }
  }

  void ReadRules() {
    const json::Projection fields(
        std::vector<json::Projection::Path>{{"data", std::string(schemas::kScalingRuleKey)}});
    for (const PodFacts& pod : facts_.pods) {
      if (pod.rule.empty() || !pod.gated() || scaling_.rules.contains(pod.rule) ||
          scaling_.rules.size() == kMaxNamed) {
        continue;
      }
      const auto read =
          client_.Get(kube::resources::kConfigMaps, facts_.ns, pod.rule, fields, stop_);
      if (read) {
        scaling_.rules.emplace(pod.rule, watcher::scaling::RuleOf(read->root()));
      } else if (read.error().reason == kube::Reason::kNotFound) {
        scaling_.rules.emplace(pod.rule, std::nullopt);
      } else {
        NoteUnread(facts_, "ConfigMap " + pod.rule, read.error());
      }
    }
  }

  // What Events may be about.
  std::set<std::string> Objects() const {
    std::set<std::string> objects = {facts_.kind + "/" + facts_.name};
    objects.insert(facts_.owners.begin(), facts_.owners.end());
    objects.insert(facts_.made_by_it.begin(), facts_.made_by_it.end());
    for (const PodFacts& pod : facts_.pods) objects.insert("Pod/" + pod.name);
    for (const GroupFacts& group : facts_.groups) objects.insert("PodGroup/" + group.name);
    for (const ClaimFacts& claim : facts_.claims) {
      objects.insert("PersistentVolumeClaim/" + claim.name);
    }
    return objects;
  }

  void ReadCluster() {
    const auto text = what_if::TakeSnapshot(client_, options_.now, options_.snapshot, stop_);
    if (!text) {
      NoteUnread(facts_, "nodes, pods of all namespaces and fault reports", text.error());
      return;
    }
    const auto snapshot = what_if::ReadSnapshot(*text);
    if (!snapshot) {
      facts_.unread.push_back({"nodes, pods of all namespaces and fault reports",
                               "the cluster's objects are not understood"});
      return;
    }
    AddCluster(*snapshot, facts_);
  }

  kube::Client& client_;
  const Subject& subject_;
  const ReadOptions& options_;
  const std::stop_token& stop_;
  Facts facts_;
  std::set<std::string> uids_;
  std::map<std::string, GroupFacts> groups_;  // of the namespace
  bool groups_known_ = false;
  std::set<std::string> ours_;           // PodGroups
  std::set<std::string> disabled_;       // PodGroups that opt out of rescheduling
  std::map<std::string, Count> counts_;  // by PodGroup
  ScalingView scaling_;
};

}  // namespace

Facts ReadFacts(kube::Client& client, const Subject& subject, const ReadOptions& options,
                const std::stop_token& stop) {
  return FactReader(client, subject, options, stop).Run();
}

namespace {

// An Event's note has 1 KiB at most; who reads a screen reads less.
constexpr size_t kMaxNote = 1'024;

void KeepNewest(std::vector<EventFacts>& events) {
  std::stable_sort(events.begin(), events.end(),
                   [](const EventFacts& a, const EventFacts& b) { return a.time < b.time; });
  if (events.size() > kMaxEvents) {
    events.erase(events.begin(), events.end() - static_cast<std::ptrdiff_t>(kMaxEvents));
  }
}

std::string ReporterOf(const json::Value& event) {
  std::string reporter = json::TextAt(event, {"reportingController"});
  return reporter.empty() ? json::TextAt(event, {"deprecatedSource", "component"}) : reporter;
}

void ReadEvents(kube::Client& client, const std::set<std::string>& about, Facts& facts,
                const std::stop_token& stop) {
  std::vector<json::Projection::Path> members = kube::LastTimeFields();
  members.insert(members.end(), {{"reason"},
                                 {"note"},
                                 {"type"},
                                 {"reportingController"},
                                 {"deprecatedSource", "component"},
                                 {"regarding", "kind"},
                                 {"regarding", "name"}});
  const auto fields = kube::WithIdentity(std::move(members));
  std::vector<EventFacts>& events = facts.events;
  const auto listed = client.ListAll(
      kube::resources::kEvents, facts.ns, {}, &fields,
      {.started = [&events] { events.clear(); },
       .item =
           [&](const json::Value& event) {
             std::string of = json::TextAt(event, {"regarding", "kind"}) + "/" +
                              json::TextAt(event, {"regarding", "name"});
             if (!about.contains(of)) return;
             events.push_back({.about = std::move(of),
                               .reason = json::TextAt(event, {"reason"}),
                               .note = Cut(json::TextAt(event, {"note"}), kMaxNote),
                               .reporter = ReporterOf(event),
                               .time = kube::LastTimeOf(event),
                               .warning = json::TextAt(event, {"type"}) == "Warning"});
             if (events.size() >= 4 * kMaxEvents) KeepNewest(events);
           }},
      stop);
  if (!listed) NoteUnread(facts, "Events of namespace " + facts.ns, listed.error());
  KeepNewest(events);
}

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

}  // namespace

}  // namespace mindgate::why
