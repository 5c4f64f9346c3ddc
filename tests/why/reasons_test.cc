#include "why/reasons.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "why/chat.h"

namespace mindgate::why {
namespace {

using testing::Chat;
using ::testing::Contains;
using ::testing::ElementsAre;
using testing::Event;
using testing::IdsOf;
using testing::kNow;
using testing::Node;
using ::testing::Not;
using testing::Placement;
using testing::Running;
using testing::RunningChat;
using testing::Waiting;
using testing::WithContainer;

constexpr const char* kGate = "mindgate.io/elastic-scaling";

struct Case {
  Facts facts;
  Reason want;
  std::function<void(Facts&)> without{};  // takes the reason away
};

std::vector<Case> GangCases() {
  std::vector<Case> cases;
  {
    Facts facts = Chat();
    facts.pods.clear();
    facts.suspended = true;
    cases.push_back({facts,
                     {.id = "suspended",
                      .state = State::kWaiting,
                      .what = "Deployment/chat is suspended: spec.suspend is true",
                      .why = "Its controller creates no pods meanwhile.",
                      .fix = "set spec.suspend to false"},
                     [](Facts& f) { f.suspended = false; }});
  }
  {
    Facts facts = Chat();
    facts.condition = "InvalidQueue: queue not found";
    cases.push_back({facts,
                     {.id = "refused",
                      .state = State::kHanging,
                      .what = "Deployment/chat has failed: InvalidQueue: queue not found",
                      .why = "Its controller does not try again by itself.",
                      .fix = "correct what the message names and create the object again"},
                     [](Facts& f) { f.condition.clear(); }});
  }
  {
    Facts facts = Chat();
    facts.pods.pop_back();
    const std::string note =
        "Error creating: pods \"chat-1\" is forbidden: exceeded quota: npus, requested: "
        "requests.huawei.com/Ascend910=8, used: requests.huawei.com/Ascend910=8, limited: "
        "requests.huawei.com/Ascend910=8";
    facts.events = {Event("ReplicaSet/chat-7d", "FailedCreate", note, "replicaset-controller")};
    cases.push_back(
        {facts,
         {.id = "quota-refuses-pods",
          .state = State::kPending,
          .what = "pods cannot be created, since ResourceQuota npus is exceeded: 1 of 2 pods exist",
          .why = "requested requests.huawei.com/Ascend910=8, used "
                 "requests.huawei.com/Ascend910=8, limited requests.huawei.com/Ascend910=8",
          .fix = "raise the quota (kubectl edit resourcequota npus -n infer), ask for less, or end "
                 "other pods of the namespace",
          .evidence = {"ReplicaSet/chat-7d: FailedCreate (replicaset-controller): " + note}},
         [](Facts& f) { f.pods.push_back(Waiting("chat-1")); }});
  }
  {
    Facts facts = Chat();
    facts.pods.clear();
    const std::string note =
        "Error creating: admission webhook \"validate.mindgate.io\" denied the request: MG050";
    facts.events = {Event("ReplicaSet/chat-7d", "FailedCreate", note)};
    cases.push_back({facts,
                     {.id = "webhook-refuses-pods",
                      .state = State::kPending,
                      .what = "pods cannot be created, since admission webhook "
                              "validate.mindgate.io denies them: 0 of 2 pods exist",
                      .why = note,
                      .fix = "correct the pod template as the message says; `mindgate explain` has "
                             "the rules of mindgate",
                      .evidence = {"ReplicaSet/chat-7d: FailedCreate"}},
                     [](Facts& f) { f.events.clear(); }});
  }
  {
    Facts facts = Chat();
    facts.pods.clear();
    const std::string note = "Error creating: serviceaccount \"x\" not found";
    facts.events = {Event("ReplicaSet/chat-7d", "FailedCreate", note)};
    cases.push_back({facts,
                     {.id = "pods-not-created",
                      .state = State::kPending,
                      .what = "pods cannot be created: 0 of 2 pods exist",
                      .why = note,
                      .fix = "correct what the API server names",
                      .evidence = {"ReplicaSet/chat-7d: FailedCreate: " + note}},
                     [](Facts& f) { f.events.clear(); }});
  }
  {
    Facts facts = Chat();
    facts.pods.pop_back();
    facts.groups[0].pods = 1;
    cases.push_back({facts,
                     {.id = "gang-pods-missing",
                      .state = State::kPending,
                      .what = "PodGroup pg waits for pods: minMember is 2, and it has 1 pod",
                      .why = "The scheduler binds a gang together or not at all.",
                      .fix = "find out why the controller creates no more pods: kubectl describe "
                             "deployment/chat -n infer"},
                     [](Facts& f) { f.groups[0].min_member = 1; }});
  }
  {
    Facts facts = Chat();
    facts.groups[0].min_member = 3;
    cases.push_back({facts,
                     {.id = "min-member-too-large",
                      .state = State::kPending,
                      .what = "PodGroup pg can never start: minMember is 3, and it has only 2 pods",
                      .why = "The controller created all pods that the workload asks for.",
                      .fix = "set minMember (minAvailable of a job, "
                             "scheduling.volcano.sh/group-min-member of pods) to 2 or less, or ask "
                             "for more replicas"},
                     [](Facts& f) { f.groups[0].min_member = 2; }});
  }
  {
    Facts facts = Chat();
    facts.groups[0].min_member = 1;
    facts.groups[0].k = 3;
    cases.push_back(
        {facts,
         {.id = "k-too-large",
          .state = State::kPending,
          .what = "PodGroup pg can never start: huawei.com/schedule_minAvailable is 3, and it has "
                  "only 2 pods",
          .why = "MindCluster's plugin binds that many pods together or none.",
          .fix = "set the annotation huawei.com/schedule_minAvailable to \"2\" or less"},
         [](Facts& f) { f.groups[0].k = 2; }});
  }
  {
    Facts facts = Chat();
    facts.groups[0].gated = 1;
    cases.push_back({facts,
                     {.id = "gang-gated",
                      .state = State::kPending,
                      .what = "PodGroup pg needs 2 pods, and 1 of its 2 pods are behind a "
                              "scheduling gate",
                      .why = "The scheduler waits for the whole gang, also for its gated pods.",
                      .fix = "see what holds the gated pods, or lower what the gang needs"},
                     [](Facts& f) { f.groups[0].gated = 0; }});
  }
  {
    Facts facts = Chat();
    facts.groups[0].exists = false;
    cases.push_back({facts,
                     {.id = "pod-group-missing",
                      .state = State::kPending,
                      .what = "PodGroup pg of Pods chat-0, chat-1 does not exist",
                      .why = "Volcano places no pod without its PodGroup.",
                      .fix = "remove the annotation scheduling.k8s.io/group-name, or create the "
                             "PodGroup"},
                     [](Facts& f) { f.groups[0].exists = true; }});
  }
  return cases;
}

std::vector<Case> QueueCases() {
  std::vector<Case> cases;
  {
    Facts facts = Chat();
    facts.queues[0].exists = false;
    cases.push_back(
        {facts,
         {.id = "queue-missing",
          .state = State::kPending,
          .what = "PodGroup pg names Queue default, which does not exist",
          .why = "Volcano enqueues nothing of a queue that it does not know.",
          .fix = "create the Queue, or name another one: kubectl get queues.scheduling.volcano.sh"},
         [](Facts& f) { f.queues[0].exists = true; }});
  }
  {
    Facts facts = Chat();
    facts.queues[0].state = "Closed";
    cases.push_back({facts,
                     {.id = "queue-closed",
                      .state = State::kPending,
                      .what = "Queue default is Closed: it takes no new PodGroups",
                      .why = "PodGroup pg is of this queue. Newer schedulers of Volcano place none "
                             "of its pods; that of 1.10.0 places them all the same.",
                      .fix = "open it (vcctl queue operate -a open -n default), or use another "
                             "queue"},
                     [](Facts& f) { f.groups[0].phase = "Running"; }});
  }
  {
    Facts facts = Chat();
    facts.queues[0].capability = {{"huawei.com/Ascend910", 8}};
    facts.groups[0].min_resources = {{"huawei.com/Ascend910", 16}};
    cases.push_back({facts,
                     {.id = "queue-full",
                      .state = State::kPending,
                      .what = "Queue default has no room: 0 of 8 huawei.com/Ascend910 are "
                              "allocated, and PodGroup pg asks for 16",
                      .why = "spec.capability of the Queue limits what all of its PodGroups use "
                             "together.",
                      .fix = "raise spec.capability[huawei.com/Ascend910] of the Queue, ask for "
                             "less, or end other jobs of it"},
                     [](Facts& f) { f.queues[0].capability["huawei.com/Ascend910"] = 16; }});
  }
  {
    Facts facts = Chat();
    facts.pods.pop_back();
    facts.quotas = {{.name = "npus", .hard = {{"pods", 1}}, .used = {{"pods", 1}}}};
    cases.push_back({facts,
                     {.id = "quota-exhausted",
                      .state = State::kPending,
                      .what = "ResourceQuota npus is used up: 1 of 1 pods",
                      .why = "Pods beyond it are refused when they are created.",
                      .fix = "raise it: kubectl edit resourcequota npus -n infer"},
                     [](Facts& f) { f.quotas[0].hard["pods"] = 2; }});
  }
  {
    Facts facts = Chat();
    facts.groups[0].phase = "Pending";
    facts.groups[0].condition = "NotEnoughResources: queue is full";
    cases.push_back({facts,
                     {.id = "pod-group-not-enqueued",
                      .state = State::kPending,
                      .what = "PodGroup pg is not enqueued: its phase is Pending",
                      .why = "NotEnoughResources: queue is full",
                      .fix = "free room in Queue default and on the nodes; kubectl describe "
                             "podgroups.scheduling.volcano.sh/pg -n infer"},
                     [](Facts& f) { f.groups[0].phase = "Inqueue"; }});
  }
  return cases;
}

Facts GatedChat() {
  Facts facts = Chat();
  for (PodFacts& pod : facts.pods) pod.gates = {kGate};
  facts.groups.clear();
  facts.held = {{.pods = {"chat-0", "chat-1"},
                 .rule = "rule",
                 .instance = "Deployment/chat",
                 .group = "decode",
                 .waits = "group prefill comes first"}};
  return facts;
}

std::vector<Case> GateCases() {
  std::vector<Case> cases;
  const std::string behind =
      "Pods chat-0, chat-1 are behind the scheduling gate " + std::string(kGate);
  {
    Facts facts = GatedChat();
    cases.push_back({facts,
                     {.id = "held-by-rule",
                      .state = State::kGated,
                      .what = behind + ": scaling rule rule holds Deployment/chat of group decode",
                      .why = "group prefill comes first",
                      .fix = "wait for the other groups of the service, or change the rule: "
                             "mindgate status -n infer shows what it waits for"},
                     [](Facts& f) { f.held[0].granted = true; }});
    facts.held[0].rule_exists = false;
    cases.push_back({facts,
                     {.id = "rule-missing",
                      .state = State::kGated,
                      .what = behind + ", and their scaling rule does not exist: ConfigMap rule",
                      .why = "Without its rule no instance of the service may start.",
                      .fix = "create ConfigMap rule with the key elastic_scaling.json -n infer, or "
                             "correct the label mind-cluster/scaling-rule"},
                     [](Facts& f) { f.held[0].rule_exists = true; }});
    facts.held[0].rule_exists = true;
    facts.held[0].problem = "key elastic_scaling.json is missing";
    cases.push_back({facts,
                     {.id = "rule-invalid",
                      .state = State::kGated,
                      .what = behind + ", and their scaling rule cannot be used: ConfigMap rule",
                      .why = "key elastic_scaling.json is missing",
                      .fix = "correct the key elastic_scaling.json; `mindgate apply -f FILE -o "
                             "table` shows each mistake with its line"},
                     [](Facts& f) { f.held[0].problem.clear(); }});
  }
  {
    Facts facts = GatedChat();
    facts.watcher = {.known = true};
    cases.push_back({facts,
                     {.id = "gate-without-watcher",
                      .state = State::kGated,
                      .what = behind + ", and no watcher of mindgate runs to open it",
                      .why = "The Lease of the watcher has no current holder.",
                      .fix = "start the watcher (mindgate doctor names what keeps it), or open the "
                             "gates with `mindgate release-gates -n infer`"},
                     [](Facts& f) { f.watcher.leads = true; }});
    facts.watcher = {.known = true, .leads = true, .mode = "observe"};
    facts.held[0].granted = true;
    cases.push_back(
        {facts,
         {.id = "gate-without-watcher",
          .state = State::kGated,
          .what = behind + ", and the watcher only observes: elasticScaling.mode is "
                           "observe",
          .why = "The rule lets them start, but the watcher opens no gate in this mode.",
          .fix = "set elasticScaling.mode to enforce, or open the gates with `mindgate "
                 "release-gates -n infer`"},
         [](Facts& f) { f.watcher.acts = true; }});
  }
  {
    Facts facts = GatedChat();
    facts.held.clear();
    for (PodFacts& pod : facts.pods) pod.gates = {"kueue.x-k8s.io/admission"};
    cases.push_back({facts,
                     {.id = "other-gate",
                      .state = State::kGated,
                      .what = "Pods chat-0, chat-1 are behind the scheduling gate "
                              "kueue.x-k8s.io/admission",
                      .why = "It is not mindgate's: whoever set it must remove it.",
                      .fix = "ask the component that owns kueue.x-k8s.io/admission, or remove the "
                             "gate from spec.schedulingGates"},
                     [](Facts& f) {
                       for (PodFacts& pod : f.pods) pod.gates.clear();
                     }});
  }
  return cases;
}

std::vector<Case> NodeCases() {
  std::vector<Case> cases;
  const auto makes_room = [](Facts& f) { f.placements[0].nodes.push_back(Node("npu-9", "")); };
  {
    Facts facts = Chat();
    facts.placements = {Placement({Node("npu-0", "full", 4), Node("npu-1", "full", 6)})};
    cases.push_back({facts,
                     {.id = "not-enough-npus",
                      .state = State::kPending,
                      .what = "not enough free NPUs: Pods chat-0, chat-1 ask for 8 "
                              "huawei.com/Ascend910 each, and the most that a node has free is 6",
                      .why = "On all nodes together 10 are free, but one pod takes its NPUs from "
                             "one node.",
                      .fix = "end or move pods (mindgate what-if shows what would fit), ask for "
                             "less, or add a node",
                      .evidence = {"npu-0: 4 of 8 free", "npu-1: 6 of 8 free",
                                   "why nodes take none: full on 2"}},
                     makes_room});
    facts.placements[0].npus = 16;
    cases.push_back({facts,
                     {.id = "more-than-a-node-has",
                      .state = State::kPending,
                      .what = "Pods chat-0, chat-1 ask for 16 huawei.com/Ascend910 each, and no "
                              "node has more than 8",
                      .why = "The largest node is npu-0.",
                      .fix = "ask for 8 or less in one pod, and use several pods for more"},
                     makes_room});
  }
  {
    Facts facts = Chat();
    facts.placements = {Placement({Node("npu-0", "label pool=red")})};
    facts.placements[0].nodes[0].unmet = {"pool=red"};
    facts.placements[0].node_selector = {{"pool", "red"}};
    facts.placements[0].unknown = {"no node has pool=red: they have blue"};
    cases.push_back(
        {facts,
         {.id = "no-such-label",
          .state = State::kPending,
          .what = "Pods chat-0, chat-1 may go to no node: nodeSelector asks for pool=red",
          .why = "no node has pool=red: they have blue",
          .fix = "correct spec.nodeSelector, or label a node: kubectl label node NODE "
                 "pool=red"},
         makes_room});
  }
  {
    Facts facts = Chat();
    facts.placements = {Placement({{.name = "real-0", .why_not = "no huawei.com/Ascend910"}})};
    facts.placements[0].unknown = {"no node offers huawei.com/Ascend910, nor any other device"};
    cases.push_back(
        {facts,
         {.id = "no-such-device",
          .state = State::kPending,
          .what = "no node offers huawei.com/Ascend910, the resource of Pods chat-0, chat-1",
          .why = "Nodes offer what their device plugin registers.",
          .fix = "write the resource that the nodes have (kubectl describe nodes), or "
                 "start Ascend Device Plugin there",
          .evidence = {"no node offers huawei.com/Ascend910, nor any other device"}},
         makes_room});
  }
  {
    Facts facts = Chat();
    facts.placements = {Placement({Node("npu-0", "taint dedicated")})};
    cases.push_back({facts,
                     {.id = "taint",
                      .state = State::kPending,
                      .what = "Pods chat-0, chat-1 do not tolerate the taint dedicated of 1 node "
                              "(npu-0)",
                      .why = "These nodes would have enough free NPUs.",
                      .fix = "add a toleration for dedicated to the pod template, or remove the "
                             "taint: kubectl taint node NODE dedicated-"},
                     makes_room});
    facts.placements = {Placement({Node("npu-0", "cordoned"), Node("npu-1", "not Ready")})};
    cases.push_back({facts,
                     {.id = "nodes-cordoned",
                      .state = State::kPending,
                      .what = "1 node (npu-0) may take no new pods, as cordoned",
                      .why = "spec.unschedulable of the node is true.",
                      .fix = "kubectl uncordon npu-0"},
                     makes_room});
    cases.push_back({facts,
                     {.id = "nodes-not-ready",
                      .state = State::kPending,
                      .what = "1 node (npu-1) cannot take pods, as not Ready",
                      .why = "The kubelet does not report, or reports that it cannot run pods.",
                      .fix = "repair the node: kubectl describe node npu-1"},
                     makes_room});
  }
  {
    Facts facts = Chat();
    facts.placements = {Placement({Node("npu-0", "")})};
    facts.placements[0].gang_lacks = "room for 1 more pod with 8 huawei.com/Ascend910";
    cases.push_back({facts,
                     {.id = "gang-room",
                      .state = State::kPending,
                      .what = "a node takes one of Pods chat-0, chat-1, but there is no room for "
                              "all of its gang",
                      .why = "It lacks room for 1 more pod with 8 huawei.com/Ascend910.",
                      .fix = "free that room, or ask for a smaller gang (minMember, replicas)"},
                     [](Facts& f) { f.placements[0].gang_lacks.clear(); }});
  }
  {
    Facts facts = Chat();
    for (PodFacts& pod : facts.pods) {
      pod.scheduler = "volcanoo";
      pod.scheduler_reported = false;
    }
    cases.push_back(
        {facts,
         {.id = "scheduler-absent",
          .state = State::kPending,
          .what = "no scheduler answers for Pods chat-0, chat-1: spec.schedulerName is "
                  "volcanoo",
          .why = "No scheduler wrote a condition or an Event about them in 30s.",
          .fix = "start the scheduler of that name, or correct spec.schedulerName (NPUs "
                 "need volcano)"},
         [](Facts& f) {
           for (PodFacts& pod : f.pods) pod.created = kNow;
         }});
  }
  {
    Facts facts = Chat();
    for (PodFacts& pod : facts.pods) pod.scheduler = "default-scheduler";
    cases.push_back({facts,
                     {.id = "wrong-scheduler",
                      .state = State::kPending,
                      .what = "Pods chat-0, chat-1 ask for NPUs with spec.schedulerName "
                              "default-scheduler",
                      .why = "MindCluster chooses chips in Volcano: another scheduler places the "
                             "pod without chips, or counts chips that are faulty as free.",
                      .fix = "set spec.schedulerName to volcano in the pod template"},
                     [](Facts& f) {
                       for (PodFacts& pod : f.pods) pod.npus = 0;
                     }});
  }
  {
    Facts facts = Chat();
    facts.pods[0].unscheduled = "0/4 nodes are available: 4 Insufficient cpu.";
    cases.push_back({facts,
                     {.id = "scheduler-message",
                      .state = State::kPending,
                      .what = "the scheduler cannot place Pod chat-0: 0/4 nodes are available: 4 "
                              "Insufficient cpu.",
                      .why = "This is the message of the scheduler itself.",
                      .fix = "kubectl describe pod chat-0 -n infer has all of its Events"},
                     [](Facts& f) { f.pods[0].unscheduled.clear(); }});
  }
  return cases;
}

std::vector<Case> FaultCases() {
  std::vector<Case> cases;
  const FaultFacts chip = {"npu-0", "Ascend910-3", "RestartNPU", {"80E18005"}};
  const std::string chip_text = "npu-0: Ascend910-3 is RestartNPU, codes 80E18005";
  {
    Facts facts = Chat();
    facts.placements = {Placement({Node("npu-0", "full", 7)})};
    facts.placements[0].nodes[0].faulty = {"Ascend910-3"};
    facts.faults = {chip};
    cases.push_back(
        {facts,
         {.id = "faulty-chips",
          .state = State::kPending,
          .what = "faulty chips keep Pods chat-0, chat-1 from npu-0: npu-0/Ascend910-3",
          .why = "With these chips the node would have 8 free huawei.com/Ascend910.",
          .fix = "repair or reset the chips; `mindgate status --faults` shows them, and `mindgate "
                 "explain --fault CODE` what a code means",
          .evidence = {chip_text}},
         [](Facts& f) { f.placements[0].nodes[0].free = 3; }});
    facts.placements = {Placement({Node("npu-0", "faulty")})};
    facts.faults = {{"npu-0", "node", "UnHealthy", {}}};
    cases.push_back({facts,
                     {.id = "faulty-nodes",
                      .state = State::kPending,
                      .what = "MindCluster keeps Pods chat-0, chat-1 from faulty nodes: npu-0",
                      .why = "NodeD or a switch reports the node as unhealthy or to be separated.",
                      .fix = "repair the node; `mindgate status --faults` shows what is reported",
                      .evidence = {"npu-0: node is UnHealthy"}},
                     [](Facts& f) { f.placements[0].nodes[0].why_not.clear(); }});
  }
  {
    Facts facts = Chat();
    facts.cached = {
        {.node = "npu-0", .state = "CardUnhealthy", .chips = {"Ascend910-3"}, .reported = false}};
    cases.push_back({facts,
                     {.id = "plugin-cache-stale",
                      .state = State::kPending,
                      .what = "MindCluster's plugin still holds node npu-0 as faulty in its cache: "
                              "Ascend910-3",
                      .why = "No fault report names it any more; ConfigMap "
                             "volcano-system/vcjob-fault-npu-cm has it as CardUnhealthy.",
                      .fix = "wait for the next session of volcano-scheduler; if it stays, restart "
                             "that: kubectl rollout restart deployment volcano-scheduler -n "
                             "volcano-system"},
                     [](Facts& f) { f.cached[0].reported = true; }});
  }
  {
    Facts facts = RunningChat();
    facts.faults = {chip};
    facts.hits = {{.pods = {"chat-0"},
                   .node = "npu-0",
                   .fault = "CardUnhealthy",
                   .fault_scheduling = "force",
                   .by = "mindgate",
                   .when = "at once",
                   .why = "fault-scheduling is force"}};
    const std::string hit = "Pod chat-0 runs on faulty hardware of node npu-0 (CardUnhealthy)";
    cases.push_back({facts,
                     {.id = "on-faulty-hardware",
                      .state = State::kHanging,
                      .what = hit + ": mindgate restarts them at once",
                      .why = "fault-scheduling is force",
                      .fix = "wait for it; `mindgate what-if` shows where they find room",
                      .evidence = {chip_text}},
                     [](Facts& f) { f.hits.clear(); }});
    facts.opted_out = "mindgate.io/rescheduling: disabled on namespace infer";
    cases.push_back({facts,
                     {.id = "opted-out",
                      .state = State::kHanging,
                      .what = hit + ", and mindgate.io/rescheduling: disabled on namespace infer "
                                    "keeps mindgate from restarting them",
                      .why = "Nothing else restarts them: fault-scheduling is force.",
                      .fix = "remove mindgate.io/rescheduling: disabled there, or delete the pods "
                             "yourself: kubectl delete pod chat-0 -n infer",
                      .evidence = {chip_text}},
                     [](Facts& f) { f.opted_out.clear(); }});
    facts.opted_out.clear();
    facts.hits[0].by.clear();
    facts.hits[0].fault_scheduling.clear();
    facts.hits[0].why = "fault-scheduling is off";
    cases.push_back(
        {facts,
         {.id = "fault-not-handled",
          .state = State::kHanging,
          .what = hit + ", and nothing restarts them",
          .why = "fault-scheduling is off",
          .fix = "set the label fault-scheduling (force or grace) in the pod template, "
                 "and delete the pods on the faulty hardware: kubectl delete pod chat-0 "
                 "-n infer",
          .evidence = {chip_text}},
         [](Facts& f) { f.hits[0].by = "mindgate"; }});
  }
  {
    Facts facts = WithContainer({.name = "main", .state = "terminated", .exit_code = 1});
    facts.pods[0].phase = "Failed";
    facts.groups[0].retries_left = 0;
    cases.push_back({facts,
                     {.id = "retries-used-up",
                      .state = State::kHanging,
                      .what = "PodGroup pg has used up its restarts: fault-retry-times has 0 left",
                      .why = "MindCluster's plugin restarts a failed pod no more; it counts in "
                             "ConfigMap volcano-system/vcjob-fault-npu-cm.",
                      .fix = "correct what makes the pods fail, then create the workload again, or "
                             "raise the label fault-retry-times"},
                     [](Facts& f) { f.groups[0].retries_left = 1; }});
  }
  {
    Facts facts = RunningChat();
    facts.groups[0].restarted = kNow;
    facts.groups[0].restarted_for = {"chat-0"};
    cases.push_back({facts,
                     {.id = "restarted-by-plugin",
                      .state = State::kRestarted,
                      .what = "MindCluster's plugin restarted PodGroup pg at 2026-03-01T08:00:00Z, "
                              "as it called faulty: chat-0",
                      .why = "ConfigMap mindx-dl/job-reschedule-reason has the record.",
                      .fix = "`mindgate status --faults` shows which hardware is faulty now"},
                     [](Facts& f) { f.groups[0].restarted.reset(); }});
    facts.groups[0].restarted.reset();
    facts.events = {
        Event("Deployment/chat", "JobRestarted", "deleted 2 pods", "mindgate.io/watcher")};
    cases.push_back(
        {facts,
         {.id = "restarted-by-mindgate",
          .state = State::kRestarted,
          .what = "mindgate decided about a fault at 2026-03-01T07:59:00Z: JobRestarted",
          .why = "deleted 2 pods",
          .fix = "`mindgate status --faults` shows all decisions",
          .evidence = {"Deployment/chat: JobRestarted (mindgate.io/watcher): deleted 2 "
                       "pods"}},
         [](Facts& f) { f.events.clear(); }});
  }
  return cases;
}

std::vector<Case> ContainerCases() {
  std::vector<Case> cases;
  const auto heals = [](Facts& f) { f.pods[0] = Running("chat-0"); };
  cases.push_back({WithContainer({.name = "main",
                                  .state = "waiting",
                                  .reason = "ImagePullBackOff",
                                  .message = "Back-off pulling image \"x\""}),
                   {.id = "image-pull",
                    .state = State::kWaiting,
                    .what = "container main of Pod chat-0 has no image: ImagePullBackOff",
                    .why = "Back-off pulling image \"x\"",
                    .fix = "correct the image's name or tag, or give the pod the registry's "
                           "imagePullSecrets; in a cluster without Internet, import the image on "
                           "node npu-0"},
                   heals});
  cases.push_back({WithContainer({.name = "main",
                                  .state = "waiting",
                                  .reason = "CrashLoopBackOff",
                                  .message = "back-off 10s",
                                  .exit_code = 3,
                                  .ended_because = "Error",
                                  .restarts = 2}),
                   {.id = "crash-loop",
                    .state = State::kHanging,
                    .what = "container main of Pod chat-0 ends again and again: exit code 3, 2 "
                            "restarts",
                    .why = "back-off 10s",
                    .fix = "kubectl logs chat-0 -c main --previous -n infer"},
                   heals});
  cases.push_back({WithContainer({.name = "main",
                                  .state = "waiting",
                                  .reason = "CrashLoopBackOff",
                                  .exit_code = 137,
                                  .ended_because = "OOMKilled",
                                  .restarts = 1}),
                   {.id = "out-of-memory",
                    .state = State::kHanging,
                    .what = "container main of Pod chat-0 used more memory than its limit and was "
                            "killed (OOMKilled), 1 restart",
                    .why = "The kernel ends a container that reaches resources.limits.memory.",
                    .fix = "raise resources.limits.memory, or load less"},
                   heals});
  cases.push_back({WithContainer({.name = "main",
                                  .state = "waiting",
                                  .reason = "CreateContainerConfigError",
                                  .message = "configmap \"settings\" not found"}),
                   {.id = "config-missing",
                    .state = State::kWaiting,
                    .what = "container main of Pod chat-0 cannot be created: configmap "
                            "\"settings\" not found",
                    .why = "A ConfigMap, a Secret or a key that its environment names is missing.",
                    .fix = "create it -n infer, or mark the reference optional"},
                   heals});
  {
    Facts facts =
        WithContainer({.name = "main", .state = "waiting", .reason = "ContainerCreating"});
    const std::string note = "MountVolume.SetUp failed: configmap \"rings-config-train\" not found";
    facts.events = {Event("Pod/chat-0", "FailedMount", note)};
    cases.push_back({facts,
                     {.id = "rank-table-missing",
                      .state = State::kWaiting,
                      .what = "Pod/chat-0 waits for its rank table: " + note,
                      .why = "Ascend Operator writes ConfigMap rings-config-<job> for jobs with "
                             "the label ring-controller.atlas, or the mount names another one.",
                      .fix = "see that ascend-operator runs, and that the volume names "
                             "rings-config-<name of the job>"},
                     heals});
    facts.events[0].note = "configmap \"x\" not found";
    cases.push_back({facts,
                     {.id = "volume-not-mounted",
                      .state = State::kWaiting,
                      .what = "Pod chat-0 waits for a volume: configmap \"x\" not found",
                      .why = "The kubelet starts no container before all volumes are mounted.",
                      .fix = "create the ConfigMap, Secret or volume that the message names -n "
                             "infer",
                      .evidence = {"Pod/chat-0: FailedMount: configmap \"x\" not found"}},
                     heals});
    facts.events.clear();
    cases.push_back({facts,
                     {.id = "container-creating",
                      .state = State::kWaiting,
                      .what = "container main of Pod chat-0 waits: ContainerCreating",
                      .why = "",
                      .fix = "kubectl describe pod chat-0 -n infer; the kubelet of node npu-0 "
                             "creates it"},
                     heals});
  }
  {
    Facts facts = WithContainer({.name = "download", .init = true, .state = "running"});
    facts.pods[0].phase = "Pending";
    cases.push_back({facts,
                     {.id = "init-container",
                      .state = State::kWaiting,
                      .what = "init container download of Pod chat-0 has not ended yet",
                      .why = "Other containers start after all init containers have ended.",
                      .fix = "kubectl logs chat-0 -c download -n infer shows what it waits for"},
                     heals});
  }
  cases.push_back({WithContainer({.name = "main", .state = "running"}),
                   {.id = "not-ready",
                    .state = State::kWaiting,
                    .what = "container main of Pod chat-0 runs and is not ready",
                    .why = "Its readiness probe or startup probe does not succeed.",
                    .fix = "wait while it loads its model, or see kubectl logs chat-0 -c main -n "
                           "infer"},
                   heals});
  return cases;
}

std::vector<Case> PodCases() {
  std::vector<Case> cases;
  {
    Facts facts = Chat();
    facts.pods[0].claims = {"models"};
    facts.claims = {{.name = "models", .exists = false}};
    cases.push_back({facts,
                     {.id = "claim-missing",
                      .state = State::kPending,
                      .what = "PersistentVolumeClaim models of Pod chat-0 does not exist",
                      .why = "A pod is not placed before its claims exist.",
                      .fix = "create the claim -n infer, or correct claimName"},
                     [](Facts& f) { f.claims[0].exists = true; }});
    facts.claims = {{.name = "models", .phase = "Pending", .storage_class = "fast"}};
    cases.push_back({facts,
                     {.id = "claim-unbound",
                      .state = State::kPending,
                      .what = "PersistentVolumeClaim models of Pod chat-0 is not bound: its phase "
                              "is Pending",
                      .why = "StorageClass fast has provisioned no volume for it.",
                      .fix = "create a PersistentVolume that fits, or correct storageClassName: "
                             "kubectl describe pvc models -n infer"},
                     [](Facts& f) { f.claims[0].phase = "Bound"; }});
  }
  {
    Facts facts = RunningChat();
    facts.pods[0].gone_by = kNow - std::chrono::minutes(2);
    facts.lost_nodes = {"npu-0"};
    cases.push_back({facts,
                     {.id = "terminating-on-lost-node",
                      .state = State::kHanging,
                      .what = "Pod chat-0 cannot end: its node npu-0 is not Ready",
                      .why = "Only the kubelet of the node can confirm that the pod has ended, and "
                             "it does not answer; its place stays taken.",
                      .fix = "when the node is off for sure: kubectl delete pod chat-0 --force "
                             "--grace-period=0 -n infer"},
                     [](Facts& f) { f.lost_nodes.clear(); }});
    facts.lost_nodes.clear();
    facts.pods[0].finalizers = {"example.com/wait"};
    cases.push_back({facts,
                     {.id = "terminating",
                      .state = State::kHanging,
                      .what = "Pod chat-0 should have been gone by 2026-03-01T07:58:00Z",
                      .why = "It has finalizers: example.com/wait.",
                      .fix = "see that the owner of the finalizer runs"},
                     [](Facts& f) { f.pods[0].gone_by.reset(); }});
  }
  {
    Facts facts = RunningChat();
    facts.deleting = true;
    cases.push_back({facts,
                     {.id = "being-deleted",
                      .state = State::kWaiting,
                      .what = "Deployment/chat is being deleted: 2 pods of it are left",
                      .why = "Pods have terminationGracePeriodSeconds to end, and finalizers hold "
                             "objects.",
                      .fix = "wait; if it stays: kubectl describe deployment/chat -n infer"},
                     [](Facts& f) { f.deleting = false; }});
  }
  {
    Facts facts = WithContainer({.name = "main", .state = "terminated", .exit_code = 3});
    facts.pods[0].phase = "Failed";
    cases.push_back({facts,
                     {.id = "pod-failed",
                      .state = State::kHanging,
                      .what = "Pod chat-0 failed: container main ended with exit code 3",
                      .why = "",
                      .fix = "kubectl logs chat-0 -n infer"},
                     [](Facts& f) { f.pods[0] = Running("chat-0"); }});
  }
  return cases;
}

std::vector<Case> AllCases() {
  std::vector<Case> all;
  for (const auto& cases : {GangCases(), QueueCases(), GateCases(), NodeCases(), FaultCases(),
                            ContainerCases(), PodCases()}) {
    all.insert(all.end(), cases.begin(), cases.end());
  }
  return all;
}

std::ostream& operator<<(std::ostream& out, const Reason& reason) {
  out << reason.id << " " << StateName(reason.state) << "\nwhat: " << reason.what
      << "\nwhy: " << reason.why << "\nfix: " << reason.fix;
  for (const std::string& line : reason.evidence) out << "\n- " << line;
  return out;
}

std::string Text(const Reason& reason) {
  std::ostringstream out;
  out << reason;
  return out.str();
}

TEST(Reasons, AreFoundWholeAndGoWithTheirCause) {
  for (const Case& each : AllCases()) {
    SCOPED_TRACE(each.want.id);
    std::string got = "not found; found: ";
    for (const Reason& reason : WhyIsIt(each.facts).reasons) {
      if (reason.id == each.want.id) got = Text(reason);
      if (got.starts_with("not found")) got += reason.id + " ";
    }
    EXPECT_EQ(got, Text(each.want));
    Facts without = each.facts;
    each.without(without);
    EXPECT_THAT(IdsOf(without), Not(Contains(each.want.id)));
  }
}

TEST(Reasons, HaveACaseEach) {
  std::set<std::string_view> tested;
  const std::vector<Case> cases = AllCases();
  for (const Case& each : cases) tested.insert(each.want.id);
  for (const std::string_view id : ReasonIds()) EXPECT_TRUE(tested.contains(id)) << id;
  EXPECT_GE(ReasonIds().size(), 20u);
}

// Its PodGroup stays for a while without pods, and Events about pods that did not come stay, too.
TEST(Reasons, OfWhatIsBeingDeletedAreNotAboutPodsToCome) {
  const std::set<std::string> about_pods_to_come = {
      "suspended",    "refused",       "quota-refuses-pods",    "webhook-refuses-pods",
      "queue-closed", "queue-full",    "pods-not-created",      "quota-exhausted",
      "k-too-large",  "queue-missing", "min-member-too-large",  "gang-pods-missing",
      "gang-gated",   "pod-failed",    "pod-group-not-enqueued"};
  std::set<std::string> gone;
  for (const Case& each : AllCases()) {
    Facts facts = each.facts;
    facts.deleting = true;
    const std::vector<std::string> left = IdsOf(facts);
    for (const std::string& id : IdsOf(each.facts)) {
      if (!std::ranges::count(left, id)) gone.insert(id);
    }
    EXPECT_THAT(left, Contains("being-deleted"));
  }
  gone.erase("nothing-wrong");
  gone.erase("nothing-found");
  EXPECT_EQ(gone, about_pods_to_come);
}

TEST(Reasons, ComeInTheOrderOfLikelihood) {
  Facts facts = Chat();
  facts.pods[0].unscheduled = "0/2 nodes are available";
  facts.placements = {Placement(
      {Node("npu-0", "full", 4), Node("npu-1", "cordoned"), Node("npu-2", "taint dedicated")})};
  facts.queues[0].state = "Closed";
  facts.groups[0].restarted = kNow;
  EXPECT_THAT(IdsOf(facts),
              ElementsAre("queue-closed", "nodes-cordoned", "taint", "not-enough-npus",
                          "scheduler-message", "restarted-by-plugin"));
  EXPECT_EQ(WhyIsIt(facts).state, State::kPending);
}

// The kubelet tries again, and what it reported before stays.
TEST(Reasons, AVolumeThatWasMountedLateIsNone) {
  struct MountCase {
    ContainerFacts container;
    const char* phase;
    std::vector<std::string> want;
  };
  const std::vector<MountCase> cases = {
      {{.name = "main", .state = "waiting", .reason = "ContainerCreating"},
       "Pending",
       {"volume-not-mounted"}},
      {{.name = "main"}, "Pending", {"volume-not-mounted"}},
      {{.name = "download", .init = true, .state = "running"}, "Pending", {"init-container"}},
      {{.name = "main", .state = "waiting", .reason = "ErrImagePull"}, "Pending", {"image-pull"}},
      {{.name = "main", .state = "running"}, "Running", {"not-ready"}},
  };
  for (const MountCase& c : cases) {
    SCOPED_TRACE(c.container.name + " " + c.container.state + " " + c.container.reason);
    Facts facts = WithContainer(c.container);
    facts.pods[0].phase = c.phase;
    for (const char* reason : {"FailedAttachVolume", "FailedMount"}) {
      facts.events = {Event("Pod/chat-0", reason, "configmap \"x\" not found")};
      EXPECT_EQ(IdsOf(facts), c.want) << reason;
    }
    facts.events[0].note = "configmap \"rings-config-train\" not found";
    const bool waits = c.want.front() == "volume-not-mounted";
    EXPECT_EQ(IdsOf(facts), waits ? std::vector<std::string>{"rank-table-missing"} : c.want);
  }
}

// Its init container has ended, and the kubelet waits for something else by now.
TEST(Reasons, ASandboxThatWasCreatedLateIsNoEvidence) {
  const ContainerFacts waits = {.name = "main", .state = "waiting", .reason = "ContainerCreating"};
  for (const bool begun : {false, true}) {
    Facts facts = WithContainer(waits);
    facts.pods[0].phase = "Pending";
    if (begun) {
      facts.pods[0].containers.push_back(
          {.name = "download", .init = true, .state = "terminated", .exit_code = 0});
    }
    facts.events = {Event("Pod/chat-0", "FailedCreatePodSandBox", "no network")};
    const auto reasons = WhyIsIt(facts).reasons;
    ASSERT_EQ(IdsOf(facts), std::vector<std::string>{"container-creating"});
    EXPECT_EQ(reasons[0].evidence.empty(), begun);
  }
}

TEST(Reasons, ReportThatNothingIsWrong) {
  EXPECT_EQ(Text(WhyIsIt(RunningChat()).reasons.at(0)),
            "nothing-wrong running\nwhat: Deployment/chat runs: 2 pods of it are ready, and "
            "nothing is in the way\nwhy: \nfix: ");
  EXPECT_TRUE(IsSettled(WhyIsIt(RunningChat())));
  Facts ended = Chat();
  ended.pods.clear();
  ended.ended = true;
  ended.groups.clear();
  EXPECT_THAT(IdsOf(ended), ElementsAre("done"));
  EXPECT_EQ(WhyIsIt(ended).state, State::kDone);
}

TEST(Reasons, OfWhatRunsAgainAreItsRestarts) {
  Facts facts = RunningChat();
  facts.groups[0].restarted = kNow;
  EXPECT_THAT(IdsOf(facts), ElementsAre("nothing-wrong", "restarted-by-plugin"));
  EXPECT_EQ(WhyIsIt(facts).state, State::kRestarted);
  EXPECT_TRUE(IsSettled(WhyIsIt(facts)));
}

TEST(Reasons, ReportThatNothingIsFound) {
  EXPECT_EQ(
      Text(WhyIsIt(Chat()).reasons.at(0)),
      "nothing-found pending\nwhat: Deployment/chat does not run as a whole, and mindgate "
      "found no reason for it\nwhy: It may have been created moments ago, or wait for what no "
      "object says.\nfix: kubectl describe deployment/chat -n infer; run this command again "
      "in a minute, or with --wait");
  Facts unread = Chat();
  unread.unread = {{"nodes", "forbidden"}};
  EXPECT_EQ(WhyIsIt(unread).reasons.at(0).why,
            "Not all could be read: what is missing is listed below.");
  EXPECT_FALSE(IsSettled(WhyIsIt(unread)));
}

// What MindCluster's plugin does, nothing of mindgate's keeps away.
TEST(Reasons, OptingOutConcernsMindgateAlone) {
  Facts facts = RunningChat();
  facts.opted_out = "mindgate.io/rescheduling: disabled on namespace infer";
  facts.hits = {{.pods = {"chat-0"}, .node = "npu-0", .by = "MindCluster's plugin"}};
  for (const bool by_plugin : {false, true}) {
    facts.hits[0].by_plugin = by_plugin;
    EXPECT_EQ(WhyIsIt(facts).reasons.front().id, by_plugin ? "on-faulty-hardware" : "opted-out");
  }
  facts.hits[0] = {.pods = {"chat-0"}, .node = "npu-0", .in_pod_group = false};
  EXPECT_THAT(IdsOf(facts), ElementsAre("fault-not-handled")) << "nothing would act either way";
}

}  // namespace
}  // namespace mindgate::why
