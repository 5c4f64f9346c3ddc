#include <algorithm>
#include <utility>

#include "audit/collections.h"
#include "schemas/names.h"
#include "schemas/raw_objects.h"
#include "schemas/site_kinds.h"
#include "watcher/frame/disruption_limits.h"
#include "why/reader.h"

namespace mindgate::why {
namespace {

using json::Value;
using schemas::Kind;
using schemas::KindInfo;

// Of owners above and below: Kubernetes' own controllers make three levels at most, OME and AIBrix
// four.
constexpr int kMaxLevels = 6;
constexpr size_t kMaxChildren = 2'000;

json::Projection SubjectFields() {
  std::vector<json::Projection::Path> paths;
  for (const char* member : {"name", "namespace", "uid", "labels", "annotations", "ownerReferences",
                             "creationTimestamp", "deletionTimestamp", "finalizers"}) {
    paths.push_back({"metadata", member});
  }
  paths.push_back({"spec"});
  paths.push_back({"status"});
  return json::Projection(paths);
}

json::Projection OwnerFields() {
  std::vector<json::Projection::Path> paths = watcher::OptOutFields();
  for (const char* member : {"uid", "ownerReferences"}) paths.push_back({"metadata", member});
  return json::Projection(paths);
}

// The controller, else the first owner: PodGroups have owners that are no controllers.
const Value* OwnerOf(const Value& object) {
  const Value* metadata = json::Find(object, "metadata");
  if (const Value* controller = schemas::ControllerOf(metadata)) return controller;
  const Value* owners = json::Find(metadata, "ownerReferences");
  return json::IsArray(owners) && owners->size() > 0 ? &(*owners)[0] : nullptr;
}

std::string RefText(std::string_view kind, std::string_view name) {
  return std::string(kind) + "/" + std::string(name);
}

int64_t IntAt(const Value& object, std::initializer_list<std::string_view> path, int64_t missing) {
  return json::AsInt(json::FindPath(object, path)).value_or(missing);
}

// Sums `replicas` of the items of a list or the members of a map.
int64_t SumOfReplicas(const Value* parts) {
  int64_t sum = 0;
  if (json::IsArray(parts)) {
    for (const Value& part : *parts) sum += IntAt(part, {"replicas"}, 1);
  } else if (json::IsObject(parts)) {
    for (const json::Member& part : parts->members()) sum += IntAt(part.value, {"replicas"}, 1);
  }
  return sum;
}

// Beside those that succeeded it has no more than are left to complete. Without completions it
// makes no pod after the first that succeeded (kubernetes: pkg/controller/job, manageJob).
int64_t WantedOfJob(const Value& object) {
  const int64_t parallelism = IntAt(object, {"spec", "parallelism"}, 1);
  const auto completions = json::AsInt(json::FindPath(object, {"spec", "completions"}));
  if (!completions) return parallelism;
  return std::min(*completions, parallelism + IntAt(object, {"status", "succeeded"}, 0));
}

std::optional<int64_t> WantedPods(Kind kind, const Value& object) {
  switch (kind) {
    case Kind::kPod:
      return 1;
    case Kind::kDeployment:
    case Kind::kReplicaSet:
    case Kind::kStatefulSet:
    case Kind::kReplicationController:
      return IntAt(object, {"spec", "replicas"}, 1);
    case Kind::kJob:
      return WantedOfJob(object);
    case Kind::kVolcanoJob:
      return SumOfReplicas(json::FindPath(object, {"spec", "tasks"}));
    case Kind::kAscendJob:
      return SumOfReplicas(json::FindPath(object, {"spec", "replicaSpecs"}));
    case Kind::kLeaderWorkerSet:
      return IntAt(object, {"spec", "replicas"}, 1) *
             IntAt(object, {"spec", "leaderWorkerTemplate", "size"}, 1);
    case Kind::kDaemonSet: {
      const auto wanted = json::AsInt(json::FindPath(object, {"status", "desiredNumberScheduled"}));
      return wanted;
    }
    default:
      return std::nullopt;
  }
}

// "BackoffLimitExceeded: Job has reached the specified backoff limit".
std::string FailureOf(Kind kind, const Value& object) {
  if (kind == Kind::kVolcanoJob) {
    const std::string phase = json::TextAt(object, {"status", "state", "phase"});
    if (phase != "Failed" && phase != "Aborted" && phase != "Terminated") return "";
    const std::string message = json::TextAt(object, {"status", "state", "message"});
    return phase + (message.empty() ? "" : ": " + message);
  }
  const Value* failed = schemas::FindCondition(object, "Failed");
  if (json::FindString(failed, "status") != "True") return "";
  const std::string message = json::TextAt(failed, {"message"});
  return json::TextAt(failed, {"reason"}) + (message.empty() ? "" : ": " + message);
}

}  // namespace

std::string PodsOfText(const std::string& ns) { return "Pods of namespace " + ns; }

void NoteUnread(Facts& facts, const std::string& what, const kube::Fault& fault) {
  if (fault.reason == kube::Reason::kNotFound) return;
  for (const UnreadFacts& unread : facts.unread) {
    if (unread.what == what) return;
  }
  facts.unread.push_back({what, fault.message});
}

kube::Answer<Subject> FindSubject(kube::Client& client, const KindRows& kinds,
                                  const schemas::SiteKinds& site, const std::string& ns,
                                  const std::string& name, const std::stop_token& stop) {
  std::optional<kube::Fault> failed;
  for (const KindInfo* info : kinds) {
    kube::Resource resource = audit::ResourceOf(*info);
    auto read = client.Get(resource, resource.namespaced ? ns : "", name, SubjectFields(), stop);
    if (read) {
      return Subject{*info,
                     site,
                     std::move(resource),
                     *std::move(read),
                     info->cluster_scoped ? std::string() : ns,
                     name};
    }
    if (!failed || failed->reason == kube::Reason::kNotFound) failed = read.error();
  }
  return tl::make_unexpected(*std::move(failed));
}

std::vector<std::string> NamesThere(kube::Client& client, const KindRows& kinds,
                                    const std::string& ns, const std::stop_token& stop) {
  constexpr int64_t kMaxNames = 500;
  std::vector<std::string> names;
  const json::Projection fields(std::vector<json::Projection::Path>{{"metadata", "name"}});
  for (const KindInfo* info : kinds) {
    const kube::Resource resource = audit::ResourceOf(*info);
    const auto page = client.List(resource, resource.namespaced ? ns : "",
                                  {.limit = kMaxNames, .metadata_only = true}, &fields, stop);
    if (!page) continue;
    for (const json::Json& item : page->items)
      names.push_back(json::TextAt(item, {"metadata", "name"}));
  }
  return names;
}

void ReadState(Kind kind, const Value& object, Facts& facts) {
  constexpr schemas::KindSet kJobs = {Kind::kJob, Kind::kVolcanoJob, Kind::kAscendJob};
  facts.wanted = WantedPods(kind, object);
  if (kJobs.Has(kind)) facts.succeeded = IntAt(object, {"status", "succeeded"}, 0);
  facts.makes_in_order = kind == Kind::kStatefulSet &&
                         json::TextAt(object, {"spec", "podManagementPolicy"}) != "Parallel";
  facts.suspended = json::AsBool(json::FindPath(object, {"spec", "suspend"})).value_or(false);
  facts.condition = kind == Kind::kPod ? "" : FailureOf(kind, object);
  facts.ended = kind == Kind::kPod ? json::TextAt(object, {"status", "phase"}) == "Succeeded"
                                   : facts.condition.empty() && audit::HasEnded(kind, object);
  facts.deleting = json::FindPath(object, {"metadata", "deletionTimestamp"}) != nullptr;
  // Their controllers make pods now and then only.
  if (kind == Kind::kCronJob || kind == Kind::kVolcanoCronJob) facts.wanted = std::nullopt;
}

void ReadOwners(kube::Client& client, const Subject& subject, Facts& facts,
                const std::stop_token& stop) {
  const auto note = [&facts](const Value& object, const std::string& whose) {
    if (facts.opted_out.empty() && watcher::OptsOut(object)) {
      facts.opted_out = std::string(schemas::kRescheduling) + ": disabled on " + whose;
    }
  };
  // Of objects of other kinds the watcher does not read it (watcher/frame/disruption_limits.h).
  if (subject.info.may_disable_rescheduling || subject.info.kind == Kind::kPodGroup) {
    note(subject.object.root(), RefText(subject.info.name, subject.name));
  }
  json::Document above;
  const Value* at = &subject.object.root();
  for (int level = 0; level < kMaxLevels; ++level) {
    const Value* owner = OwnerOf(*at);
    if (owner == nullptr) break;
    const std::string name = json::TextAt(*owner, {"name"});
    const std::string text = RefText(json::TextAt(*owner, {"kind"}), name);
    facts.owners.push_back(text);
    const KindInfo* info = schemas::FindKind(schemas::GroupOf(json::TextAt(*owner, {"apiVersion"})),
                                             json::TextAt(*owner, {"kind"}), subject.site);
    if (info == nullptr) break;
    auto read = client.Get(audit::ResourceOf(*info), info->cluster_scoped ? "" : subject.ns, name,
                           OwnerFields(), stop);
    if (!read) {
      NoteUnread(facts, text, read.error());
      break;
    }
    above = *std::move(read);
    at = &above.root();
    if (info->may_disable_rescheduling) note(*at, text);
  }
  if (subject.ns.empty()) return;
  const auto ns = client.Get(kube::resources::kNamespaces, "", subject.ns, OwnerFields(), stop);
  if (ns) {
    note(ns->root(), "namespace " + subject.ns);
  } else {
    NoteUnread(facts, "namespace " + subject.ns, ns.error());
  }
}

bool HasOwnerIn(const Value& object, const std::set<std::string>& uids) {
  const Value* owners = json::FindPath(object, {"metadata", "ownerReferences"});
  return json::IsArray(owners) &&
         std::any_of(owners->begin(), owners->end(), [&](const Value& owner) {
           return uids.contains(json::TextAt(owner, {"uid"}));
         });
}

namespace {

// The leader pods of LeaderWorkerSets (lws: pkg/webhooks/pod_webhook.go). Each owns the StatefulSet
// of its workers.
constexpr std::string_view kLeaders = "leaderworkerset.sigs.k8s.io/worker-index=0";

// What controllers made of an object, found level by level.
class Children {
 public:
  Children(kube::Client& client, const Subject& subject, Facts& facts, const std::stop_token& stop)
      : client_(client), subject_(subject), facts_(facts), stop_(stop) {}

  std::set<std::string> Run() {
    uids_ = {json::TextAt(subject_.object.root(), {"metadata", "uid"})};
    const KindRows all = schemas::AllKinds(subject_.site);
    KindRows parents = {&subject_.info};
    for (int level = 0; level < kMaxLevels && !parents.empty(); ++level) {
      KindRows found;
      for (const KindInfo* parent : parents) {
        of_lws_ = of_lws_ || parent->kind == Kind::kLeaderWorkerSet;
      }
      for (const KindInfo* info : all) {
        if (MayBeBetween(*info, parents) && Read(*info)) found.push_back(info);
      }
      parents = std::move(found);
    }
    return std::move(uids_);
  }

 private:
  // Whether objects of the kind stand between these and their pods. Pods do so only as leaders.
  bool MayBeBetween(const KindInfo& info, const KindRows& parents) const {
    if (info.kind == Kind::kConfigMap || (info.kind == Kind::kPod && !of_lws_)) return false;
    return std::any_of(parents.begin(), parents.end(),
                       [&info](const KindInfo* parent) { return schemas::Makes(*parent, info); });
  }

  // Whether there are any that were not known.
  bool Read(const KindInfo& info) {
    const bool leaders = info.kind == Kind::kPod;
    const json::Projection fields(
        {{"metadata", "name"}, {"metadata", "uid"}, {"metadata", "ownerReferences", "*", "uid"}});
    bool any = false;
    const auto listed = client_.ListAll(
        audit::ResourceOf(info), subject_.ns,
        {.label_selector = std::string(leaders ? kLeaders : ""), .metadata_only = true}, &fields,
        {.item =
             [&](const Value& object) {
               if (uids_.size() >= kMaxChildren || !HasOwnerIn(object, uids_)) return;
               if (!uids_.insert(json::TextAt(object, {"metadata", "uid"})).second) return;
               any = true;
               if (leaders) return;
               facts_.made_by_it.push_back(
                   RefText(info.name, json::TextAt(object, {"metadata", "name"})));
             }},
        stop_);
    if (!listed) {
      NoteUnread(facts_, leaders ? PodsOfText(subject_.ns) : std::string(info.plural),
                 listed.error());
    }
    return any;
  }

  kube::Client& client_;
  const Subject& subject_;
  Facts& facts_;
  const std::stop_token& stop_;
  std::set<std::string> uids_;
  bool of_lws_ = false;  // a LeaderWorkerSet is among what was found
};

}  // namespace

std::set<std::string> ReadChildren(kube::Client& client, const Subject& subject, Facts& facts,
                                   const std::stop_token& stop) {
  return Children(client, subject, facts, stop).Run();
}

}  // namespace mindgate::why
