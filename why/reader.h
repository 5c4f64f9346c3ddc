#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time.h"
#include "json/decode.h"
#include "json/value.h"
#include "kube/client.h"
#include "kube/resource.h"
#include "schemas/config.h"
#include "schemas/kinds.h"
#include "schemas/site_kinds.h"
#include "watcher/scaling/instances.h"
#include "watcher/scaling/pod.h"
#include "what_if/snapshot.h"
#include "why/facts.h"

namespace mindgate::why {

// The object that is asked about, what owns it and what it owns.

struct Subject {
  schemas::KindInfo info;
  schemas::SiteKinds site{};  // the kinds of the cluster's configuration
  kube::Resource resource;
  json::Document object;  // metadata without managedFields, spec and status
  std::string ns{};
  std::string name{};
};

using KindRows = std::vector<const schemas::KindInfo*>;

// The first of these kinds, built in or of `site`, that has an object of that name: "jobs" are two.
// kNotFound: none has.
kube::Answer<Subject> FindSubject(kube::Client& client, const KindRows& kinds,
                                  const schemas::SiteKinds& site, const std::string& ns,
                                  const std::string& name, const std::stop_token& stop = {});

// The names of these kinds in a namespace, for hints: the first few hundred.
std::vector<std::string> NamesThere(kube::Client& client, const KindRows& kinds,
                                    const std::string& ns, const std::stop_token& stop = {});

// How many pods it asks for and how many succeeded, whether it is suspended, has ended or is being
// deleted, or failed and why.
void ReadState(schemas::Kind kind, const json::Value& object, Facts& facts);

// Whether it, an owner of it or its namespace opts out of rescheduling; the chain of its owners.
void ReadOwners(kube::Client& client, const Subject& subject, Facts& facts,
                const std::stop_token& stop);

// Whether an object with one of these uids owns it.
bool HasOwnerIn(const json::Value& object, const std::set<std::string>& uids);

// The uids of the subject and of all that its controllers made of it between it and its pods: of
// pods those that own others, the leaders of LeaderWorkerSets.
std::set<std::string> ReadChildren(kube::Client& client, const Subject& subject, Facts& facts,
                                   const std::stop_token& stop);

// "Pods of namespace infer", which are read in more than one place.
std::string PodsOfText(const std::string& ns);

// Notes that something could not be read, unless the cluster does not have it.
void NoteUnread(Facts& facts, const std::string& what, const kube::Fault& fault);

// The members of a Pod that PodFactsOf and GroupOfPod read, and those that elastic scaling reads.
std::vector<json::Projection::Path> PodFactFields();

PodFacts PodFactsOf(const json::Value& pod);

// huawei.com/schedule_minAvailable of a pod or a PodGroup; nothing: it has none that is a number.
std::optional<int64_t> KOf(const json::Value& object);

// The members of a PodGroup that GroupFactsOf reads, and those that elastic scaling reads.
std::vector<json::Projection::Path> GroupFactFields();

// Without what its pods say.
GroupFacts GroupFactsOf(const json::Value& pod_group);

// Whole quantities of a map of resources; others are left out.
std::map<std::string, int64_t> AmountsOf(const json::Value* resources);

// What elastic scaling sees of a namespace: its pods and PodGroups under rules.
struct ScalingView {
  std::vector<watcher::scaling::PodPtr> pods{};
  std::vector<watcher::scaling::PodGroupPtr> pod_groups{};
  // By name; nothing for a ConfigMap that is not there. Without an entry: it could not be read.
  std::map<std::string, std::optional<watcher::scaling::RuleState>> rules{};
};

// What the watcher would decide about the pods of `facts` that are behind mindgate's gate.
void AddHeld(const ScalingView& view, const schemas::ElasticScaling& settings, Facts& facts);

struct ReadOptions {
  Time now{};
  what_if::SnapshotOptions snapshot{};  // without workloads
  schemas::ElasticScaling scaling{};    // as the watcher of the cluster has them
  WatcherFacts watcher{};
};

// Reads what there is to know about the subject: its namespace, and of the cluster a snapshot as
// what-if takes it. Nothing is written. What may not be read, or is too much, is noted as unread,
// and the rest is read all the same.
Facts ReadFacts(kube::Client& client, const Subject& subject, const ReadOptions& options,
                const std::stop_token& stop = {});

// The parts of it that are in files of their own.

// What a snapshot of the cluster says about the pods of `facts`: nodes against what waits, faults
// in its way and under it, and what follows. Pure.
void AddCluster(const what_if::ClusterSnapshot& snapshot, Facts& facts);

}  // namespace mindgate::why
