#include <algorithm>

#include "base/text.h"
#include "schemas/names.h"
#include "support/mutations.h"

// Which pods of a PodGroup Volcano binds in one session, as MindCluster's plugin and Volcano's own
// gang plugin count them, beside what mindgate writes for pods under a scaling rule. What is here
// is written from what those do, not from what mindgate expects of them:
//
//   mind-cluster: component/ascend-for-volcano/plugin/job.go, initByJobInfo (the size) and
//     validJobFn (JobValid: "pods not enough"); npu.go, jobReady
//   volcano: pkg/scheduler/plugins/gang/gang.go; pkg/scheduler/actions/allocate (a pod that is
//     behind a gate is skipped, and what was allocated to a job that is not ready is discarded)
namespace mindgate::testing {
namespace {

// Who owns the PodGroup.
enum class GangOwner : uint8_t { kReplicaSet, kOther };

struct GangCase {
  std::string name;
  GangOwner owner = GangOwner::kReplicaSet;
  std::optional<std::string> k{};  // huawei.com/schedule_minAvailable
  int64_t min_member = 1;          // of the PodGroup
  int64_t replicas = 0;            // of the owner, where it is a ReplicaSet
  // One letter a pod: behind a gate (g), waiting for a node (p), running (r).
  std::string pods{};
};

// "valid ready", "valid", "refused": what a plugin says of the job; then how many pods are bound in
// this session.
struct GangSession {
  std::string upstream;
  std::string volcano;
  int64_t bound = 0;
  bool operator==(const GangSession&) const = default;
};

void PrintTo(const GangSession& session, std::ostream* out) {
  *out << "{\"" << session.upstream << "\", \"" << session.volcano << "\", " << session.bound
       << "}";
}

// Nothing: the plugin refuses the job as an invalid argument.
std::optional<int64_t> UpstreamSize(const GangCase& c) {
  if (c.k) {
    const auto k = ParseGoInt(*c.k);
    if (!k) return std::nullopt;
    return c.min_member == 1 ? *k : c.min_member;
  }
  return c.owner == GangOwner::kReplicaSet ? c.replicas : c.min_member;
}

std::string SessionText(int64_t there, int64_t ready, std::optional<int64_t> size) {
  if (!size || there < *size) return "refused";
  return ready < *size ? "valid" : "valid ready";
}

// There is room for every pod.
GangSession PlaySession(const GangCase& c) {
  const auto there = std::ssize(c.pods);  // a gate hides nothing
  const auto open = there - std::count(c.pods.begin(), c.pods.end(), 'g');
  const auto waiting = std::count(c.pods.begin(), c.pods.end(), 'p');
  GangSession session{SessionText(there, open, UpstreamSize(c)),
                      SessionText(there, open, c.min_member), 0};
  const bool binds = session.upstream == "valid ready" && session.volcano == "valid ready";
  session.bound = binds ? waiting : 0;
  return session;
}

TEST(GangArithmetic, WhichPodsAreBound) {
  const auto set = GangOwner::kReplicaSet;
  const auto other = GangOwner::kOther;
  const std::string ready = "valid ready";
  const std::vector<std::pair<GangCase, GangSession>> table = {
      // A Deployment of four under a rule that lets in one, then two of them.
      {{"K 1: the one that is let in", set, "1", 1, 4, "pggg"}, {ready, ready, 1}},
      {{"K 1: the second, beside it", set, "1", 1, 4, "rpgg"}, {ready, ready, 1}},
      {{"K 1: two at once", set, "1", 1, 4, "ppgg"}, {ready, ready, 2}},
      {{"K 1: nobody is let in", set, "1", 1, 4, "gggg"}, {"valid", "valid", 0}},
      {{"no K: the one that is let in waits", set, {}, 1, 4, "pggg"}, {"valid", ready, 0}},
      {{"no K: three do", set, {}, 1, 4, "pppg"}, {"valid", ready, 0}},
      {{"no K: only all four start", set, {}, 1, 4, "pppp"}, {ready, ready, 4}},
      {{"no K: one that comes back while another is held", set, {}, 1, 4, "rrpg"},
       {"valid", ready, 0}},
      {{"no K: fewer pods than replicas", set, {}, 1, 4, "ppp"}, {"refused", ready, 0}},
      {{"no K, one replica", set, {}, 1, 1, "p"}, {ready, ready, 1}},
      {{"K of all: the one that is let in waits", set, "4", 1, 4, "pggg"}, {"valid", ready, 0}},
      {{"K of all: only all four start", set, "4", 1, 4, "pppp"}, {ready, ready, 4}},
      {{"K 2: one waits", set, "2", 1, 4, "pggg"}, {"valid", ready, 0}},
      {{"K 2: two start", set, "2", 1, 4, "ppgg"}, {ready, ready, 2}},
      {{"K 2: one that comes back beside one that runs", set, "2", 1, 4, "rpgg"},
       {ready, ready, 1}},
      {{"K 2: one that comes back alone waits", set, "2", 1, 4, "pggg"}, {"valid", ready, 0}},
      {{"K above the replicas", set, "5", 1, 4, "pppp"}, {"refused", ready, 0}},
      {{"K that is no number", set, "two", 1, 4, "pppp"}, {"refused", ready, 0}},
      // Volcano 1.12 and later with scheduling.volcano.sh/group-min-member: K is not read.
      {{"K 1 beside minMember 4", set, "1", 4, 4, "pggg"}, {"valid", "valid", 0}},
      // A LeaderWorkerSet of two groups of two, without the gang provider: one PodGroup holds the
      // leaders, one each group's workers.
      {{"leaders of two groups, one let in", other, {}, 1, 0, "pg"}, {ready, ready, 1}},
      {{"K 2 on the leaders", other, "2", 1, 0, "pg"}, {"valid", ready, 0}},
      // With it, each group is a PodGroup of its own, and its gates are opened together.
      {{"a group that is let in", other, {}, 2, 0, "pp"}, {ready, ready, 2}},
      {{"a group of which one gate is open yet", other, {}, 2, 0, "pg"}, {"valid", "valid", 0}},
      {{"a group whose K is not read", other, "1", 2, 0, "pg"}, {"valid", "valid", 0}},
      // A StormService's roles with podGroupSize 1 share the PodGroup of the RoleSet.
      {{"one of three pods of a RoleSet", other, {}, 1, 0, "pgg"}, {ready, ready, 1}},
      {{"with the sum that is written without a rule", other, "3", 1, 0, "pgg"},
       {"valid", ready, 0}},
      // A PodSet is one instance.
      {{"a PodSet that is let in", other, "2", 1, 0, "pp"}, {ready, ready, 2}},
      {{"an AscendJob that is let in", other, {}, 3, 0, "ppp"}, {ready, ready, 3}},
      {{"one whose pods are not all there", other, {}, 3, 0, "pp"}, {"refused", "refused", 0}},
  };
  for (const auto& [c, want] : table) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(PlaySession(c), want);
  }
}

// What of a kind stands under the rule.
struct ScaledCase {
  std::string name;
  std::string object;     // YAML
  std::string template_;  // of its pods: where K is written
  GangOwner owner;
  int64_t min_member;
  int64_t pods;  // in one PodGroup
};

constexpr const char* kScaledTemplate =
    "template: {metadata: {labels: {jobID: s, mind-cluster/scaling-rule: r, "
    "mind-cluster/group-name: g0}}, spec: {schedulerName: volcano, containers: [{name: a, "
    "resources: {limits: {huawei.com/Ascend910: 8}}}]}}";

// The K of the pods after admission.
std::optional<std::string> AdmittedK(const ScaledCase& c, bool enforced) {
  const json::Document object = YamlDocument(c.object);
  schemas::AdmissionRequest request;
  request.object = &object.root();
  schemas::Config config;
  if (enforced) config.elastic_scaling.mode = schemas::EnforcementMode::kEnforce;
  const json::Json after = After(MutateOnly(request, config), object.root());
  const json::Json& metadata = after.at(json::Json::json_pointer(c.template_ + "/metadata"));
  const auto annotations = metadata.find("annotations");
  if (annotations == metadata.end()) return std::nullopt;
  const auto k = annotations->find(schemas::kMinAvailable);
  return k == annotations->end() ? std::nullopt : std::optional(k->get<std::string>());
}

// How many pods run after each gate is opened, one after the other: "1 2 3 4".
std::string OpenedOneByOne(const ScaledCase& c, const std::optional<std::string>& k) {
  std::string running;
  GangCase group{c.name,       c.owner, k,
                 c.min_member, c.pods,  std::string(static_cast<size_t>(c.pods), 'g')};
  for (char& pod : group.pods) {
    pod = 'p';
    if (PlaySession(group).bound > 0) std::replace(group.pods.begin(), group.pods.end(), 'p', 'r');
    running += (running.empty() ? "" : " ") +
               std::to_string(std::count(group.pods.begin(), group.pods.end(), 'r'));
  }
  return running;
}

TEST(GangArithmetic, InstancesThatAreLetInOneByOneStart) {
  const std::string native = "metadata: {name: d}, spec: {replicas: 4, selector: {}, ";
  const std::string scaled = kScaledTemplate;
  const ScaledCase deployment{"a Deployment",
                              "{apiVersion: apps/v1, kind: Deployment, " + native + scaled + "}}",
                              "/spec/template",
                              GangOwner::kReplicaSet,
                              1,
                              4};
  const ScaledCase replica_set{"a ReplicaSet",
                               "{apiVersion: apps/v1, kind: ReplicaSet, " + native + scaled + "}}",
                               "/spec/template",
                               GangOwner::kReplicaSet,
                               1,
                               4};
  const ScaledCase leaders{
      "a LeaderWorkerSet of four groups without the gang provider",
      "{apiVersion: leaderworkerset.x-k8s.io/v1, kind: LeaderWorkerSet, metadata: {name: l}, spec: "
      "{replicas: 4, leaderWorkerTemplate: {size: 2, workerT" +
          scaled.substr(1) + "}}}",
      "/spec/leaderWorkerTemplate/workerTemplate",
      GangOwner::kOther,
      1,
      4};
  const ScaledCase roles{
      "a StormService with podGroupSize 1",
      "{apiVersion: orchestration.aibrix.ai/v1alpha1, kind: StormService, metadata: {name: s}, "
      "spec: {replicas: 1, template: {spec: {roles: [{name: prefill, replicas: 4, " +
          scaled + "}]}}}}",
      "/spec/template/spec/roles/0/template",
      GangOwner::kOther,
      1,
      4};
  // With what mindgate writes, and with the gates alone.
  struct Want {
    const ScaledCase& c;
    std::optional<std::string> k;
    std::string with_it;
    std::string gates_alone;
  };
  const std::vector<Want> table = {
      {deployment, "1", "1 2 3 4", "0 0 0 4"},
      {replica_set, "1", "1 2 3 4", "0 0 0 4"},
      {leaders, std::nullopt, "1 2 3 4", "1 2 3 4"},
      {roles, std::nullopt, "1 2 3 4", "1 2 3 4"},
  };
  for (const Want& want : table) {
    SCOPED_TRACE(want.c.name);
    const auto k = AdmittedK(want.c, true);
    EXPECT_EQ(k, want.k);
    EXPECT_EQ(OpenedOneByOne(want.c, k), want.with_it);
    EXPECT_EQ(OpenedOneByOne(want.c, std::nullopt), want.gates_alone);
  }
  // The sum that a StormService gets where nothing is gated would be such a wait, too.
  EXPECT_EQ(AdmittedK(roles, false), "4");
  EXPECT_EQ(OpenedOneByOne(roles, "4"), "0 0 0 4");
}

}  // namespace
}  // namespace mindgate::testing
