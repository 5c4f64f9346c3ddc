#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/threads.h"
#include "json/decode.h"
#include "json/value.h"
#include "schemas/names.h"
#include "support/dice.h"
#include "watcher/history_replica.h"
#include "watcher/history_truth.h"

// A cluster in which everything happens that can, and two replicas of the watcher that see it late.
// One step after the other, each by chance; the same seed gives the same history.
namespace mindgate::watcher::rescheduling::histories {

using json::Json;
using mindgate::testing::Dice;
namespace resources = kube::resources;

// As kube::Elector: a leader stops before another one may begin.
inline constexpr seconds kLeads(10);
inline constexpr seconds kLeaseLasts(15);

// Nodes, jobs, their owners, scheduler and kubelets; leaders and their Lease.
class HistoryWorld {
 public:
  // `asked` sees each call before it is carried out.
  using Asked = std::function<void(const HistoryReplica& by, const kube::HttpCall& call)>;

  HistoryWorld(uint64_t seed, Asked asked) : dice_(seed), seed_(seed), asked_(std::move(asked)) {
    server_.Listen([this](ApiServer::Change change, const ApiServer::PodName& name,
                          const Json& object) { PodChanged(change, name, object); });
    for (size_t i = 0; i < kReplicas; ++i) {
      replicas_.push_back(std::make_unique<HistoryReplica>(
          i, [this](HistoryReplica& from, const kube::HttpCall& call, std::stop_token stop) {
            return Answer(from, call, std::move(stop));
          }));
    }
    for (size_t i = 0; i < kNodes; ++i) {
      nodes_[i].name = "n" + std::to_string(i);
      PutNode(i);
    }
    for (const char* ns : {"blue", "green"}) PutNamespace(ns, false);
    SetPaused(false);
    for (size_t i = 0; i < kJobs; ++i) {
      jobs_[i].ns = i % 2 == 0 ? "blue" : "green";
      jobs_[i].name = "job" + std::to_string(i);
      PutJob(jobs_[i]);
      PutOwner(jobs_[i], false);
    }
    Recreate();
    Schedule();
    Kubelets();
    ReportPods();
    for (const auto& replica : replicas_) replica->DeliverAll();
  }

  // --- what is so, whatever anybody knows ---

  struct Counts {
    uint64_t looks = 0;
    uint64_t stopped = 0;  // of these, with too many faulty nodes
    uint64_t terms = 0;
  };
  const Counts& counts() const { return counts_; }
  milliseconds now() const { return clock_.now; }
  bool HasLease(const HistoryReplica& replica) const { return lease_holder_ == replica.number; }
  const Switch& paused() const { return paused_; }
  const Switch& opted_out(const std::string& ns) const { return namespaces_.at(ns); }
  // "job3", which is its PodGroup's name, too.
  JobTruth& JobNamed(const std::string& name) {
    return jobs_.at(static_cast<size_t>(std::stoi(name.substr(3))));
  }
  const NodeTruth& NodeNamed(const std::string& name) const {
    return nodes_.at(static_cast<size_t>(std::stoi(name.substr(1))));
  }

  void Step() {
    ++event_;
    ReportPods();
    if (const auto number = std::exchange(replica_to_restart_, std::nullopt)) {
      replicas_[*number]->Restart();
    }
    switch (dice_.Below(24)) {
      case 0:
        ChangeNode();
        break;
      case 1:
        ChangeSwitch(dice_.OneIn(10), AnyJob());
        break;
      case 2:
        FailPod();
        break;
      case 3:
        Advance(seconds(1 + dice_.Below(4)));
        break;
      case 4:
        if (dice_.OneIn(8))
          Pick().clock.skew += seconds(static_cast<int64_t>(dice_.Below(7200)) - 3600);
        if (dice_.OneIn(16)) Pick().fails_until = clock_.now + seconds(dice_.Below(30));
        break;
      case 5:
        LoseTerm();
        break;
      case 6:
      case 7:
        Recreate();
        break;
      case 8:
      case 9:
        Schedule();
        break;
      case 10:
      case 11:
        Kubelets();
        break;
      case 12:
      case 13:
      case 14:
        DeliverSome();
        break;
      case 15:
        Pick().DeliverAll();
        break;
      case 16:
        Repair();
        break;
      default:
        Lead();
        Reconcile(Pick());
    }
  }

 private:
  kube::Answer<kube::HttpAnswer> Answer(HistoryReplica& replica, const kube::HttpCall& call,
                                        std::stop_token stop) {
    if (IsMadeAlone(call)) BetweenCalls(replica, call);
    const MutexLock lock(mutex_);
    asked_(replica, call);
    // The same for each call, in whichever order threads make them.
    Dice outcome(seed_ + event_ + std::hash<std::string>()(call.path));
    if (clock_.now < replica.fails_until && outcome.OneIn(3)) {
      return kube::Failed(kube::Reason::kUnreachable, "no answer");
    }
    return server_.Send(call, std::move(stop));
  }

  HistoryReplica& Pick() { return *replicas_[dice_.Below(kReplicas)]; }
  JobTruth& AnyJob() { return jobs_[dice_.Below(kJobs)]; }

  void Advance(milliseconds by) {
    clock_.now += by;
    for (const auto& replica : replicas_) replica->clock.now = clock_.now;
  }

  // --- between the calls of a look ---

  // Calls about pods, nodes and reports may be made by several threads at once.
  static bool IsMadeAlone(const kube::HttpCall& call) {
    return call.path.find("/pods/") == std::string::npos &&
           call.path.find("/nodes/") == std::string::npos;
  }

  void BetweenCalls(HistoryReplica& replica, const kube::HttpCall& call) {
    ReportPods();
    Advance(milliseconds(1 + dice_.Below(20)));
    if (dice_.OneIn(20)) Advance(seconds(1 + dice_.Below(8)));
    const bool writes = call.method == "PATCH";
    const bool reads_group = call.path.find("/podgroups/") != std::string::npos;
    if ((writes || reads_group) && depth_ == 0 && dice_.OneIn(3)) {
      ++depth_;
      ++event_;
      switch (dice_.Below(8)) {
        case 0:
          ChangeNode();
          break;
        case 1:  // a storm, which its watches report
          for (size_t i = 0; i < kNodes / 2; ++i) Break(i);
          replica.DeliverAll();
          break;
        case 2:
          LoseTerm();
          break;
        case 3: {
          HistoryReplica& other = *replicas_[1 - replica.number];
          Lead();
          if (other.leads()) Reconcile(other);
          break;
        }
        default:
          ChangeSwitch(!dice_.OneIn(3),
                       replica.look.job ? JobNamed(replica.look.job->pod_group) : AnyJob());
      }
      --depth_;
    }
    if (!writes) return;
    replica.look.written = ++event_;
    replica.look.stopped_late = replica.look.stopped_late || !replica.Stopped().empty();
  }

  // --- leaders ---

  // Both see the Lease as it is; one that cannot renew it stops before the other may begin.
  void Lead() {
    for (const auto& replica : replicas_) {
      const bool holds = lease_holder_ == replica->number;
      if (replica->leads() && holds) {
        if (dice_.OneIn(10)) continue;
        lease_renewed_ = clock_.now;
        replica->deadline = clock_.now + kLeads;
      } else if (!replica->leads() &&
                 (!lease_holder_ || clock_.now >= lease_renewed_ + kLeaseLasts)) {
        if (dice_.OneIn(2)) continue;
        lease_holder_ = replica->number;
        lease_renewed_ = clock_.now;
        replica->deadline = clock_.now + kLeads;
        replica->term = ++terms_;
        ++counts_.terms;
      }
    }
  }
  // A program that ends releases its Lease and remembers nothing; one that was cut off does
  // neither.
  void LoseTerm() {
    HistoryReplica& replica = Pick();
    if (!dice_.OneIn(12) || !replica.leads()) return;
    replica.deadline = milliseconds(-1);
    if (dice_.OneIn(2)) return;
    lease_holder_.reset();
    replica_to_restart_ = replica.number;
  }

  void Reconcile(HistoryReplica& replica) {
    if (!replica.leads()) return;
    const bool stopped = !replica.Stopped().empty();
    ++event_;
    replica.look = {
        .began = event_, .written = event_, .stopped = stopped, .stopped_late = stopped};
    if (dice_.OneIn(6)) {
      replica.Isolate(nodes_[dice_.Below(kNodes)].name);
    } else {
      size_t number = dice_.Below(kJobs);
      // There are many that are well.
      for (size_t i = 0; i < kJobs && IsWhole(jobs_[number]); ++i) number = (number + 1) % kJobs;
      replica.look.job = JobKey{jobs_[number].ns, jobs_[number].name};
      ++counts_.looks;
      counts_.stopped += stopped ? 1 : 0;
      replica.Reconcile(*replica.look.job);
    }
    ReportPods();
  }
  bool IsWhole(const JobTruth& job) const {
    return std::all_of(job.pods.begin(), job.pods.end(), [this](const auto& pod) {
      return pod && pod->running && NodeNamed(pod->node).IsHealthy();
    });
  }

  // --- what happens ---

  void ChangeNode() {
    const size_t i = dice_.Below(kNodes);
    if (nodes_[i].IsHealthy() && dice_.OneIn(3)) {
      Break(i);
    } else {
      Heal(i);
    }
  }
  void Break(size_t i) {
    NodeTruth& node = nodes_[i];
    switch (dice_.Below(4)) {
      case 0:
        node.there = false;
        break;
      case 1:
        node.ready = false;
        break;
      default:
        node.chip_bad = true;
    }
    PutNode(i);
  }
  void Heal(size_t i) {
    NodeTruth& node = nodes_[i];
    if (node.IsHealthy()) return;
    node.there = node.ready = true;
    node.chip_bad = false;
    node.healthy_since = ++event_;
    PutNode(i);
  }
  void Repair() {
    if (!dice_.OneIn(6)) return;
    for (size_t i = 0; i < kNodes; ++i) Heal(i);
  }

  void ChangeSwitch(bool on, JobTruth& job) {
    ++event_;
    switch (dice_.Below(6)) {
      case 0:
        SetPaused(on);
        break;
      case 1:
        PutNamespace(job.ns, on);
        break;
      case 2:
        PutOwner(job, on);
        break;
      case 3:
        job.opted_out.Set(on, event_);
        PutJob(job);
        break;
      case 4:
        job.without_policy.Set(on, event_);
        PutJob(job);
        break;
      default:
        OptOutPod(job, on);
    }
  }

  void SetPaused(bool on) {
    paused_.Set(on, event_);
    Put(resources::kLeases, kWatcherNs, kLease,
        {{"metadata",
          {{"annotations", {{std::string(schemas::kPauseRescheduling), on ? "true" : "false"}}}}}});
  }
  void PutNamespace(const std::string& ns, bool on) {
    namespaces_[ns].Set(on, event_);
    Put(resources::kNamespaces, "", ns, {{"metadata", {{"name", ns}, {"labels", OptOut(on)}}}});
  }
  void PutOwner(JobTruth& job, bool on) {
    job.owner_opted_out.Set(on, event_);
    Put({"batch.volcano.sh", "v1alpha1", "jobs", "Job", true}, job.ns, job.name,
        {{"metadata", {{"name", job.name}, {"uid", "owner-" + job.name}, {"labels", OptOut(on)}}}});
  }
  static Json OptOut(bool on) {
    return on ? Json{{std::string(schemas::kRescheduling), "disabled"}} : Json::object();
  }
  Json OwnersOf(const JobTruth& job) const {
    return {{{"apiVersion", "batch.volcano.sh/v1alpha1"},
             {"kind", "Job"},
             {"name", job.name},
             {"uid", "owner-" + job.name},
             {"controller", true}}};
  }
  void PutJob(const JobTruth& job) {
    Json labels = OptOut(job.opted_out.since.has_value());
    labels["fault-scheduling"] = job.without_policy.since ? "off" : "force";
    labels["fault-retry-times"] = "3";
    const Json group = {{"metadata",
                         {{"namespace", job.ns},
                          {"name", job.name},
                          {"uid", "group-" + job.name},
                          {"labels", std::move(labels)},
                          {"ownerReferences", OwnersOf(job)}}},
                        {"spec", {{"minMember", kPodsOfJob}}},
                        {"status", {{"phase", "Running"}}}};
    Put(resources::kPodGroups, job.ns, job.name, group);
    const auto reported =
        std::make_shared<const PodGroupState>(PodGroupOf(json::Document(group).root()));
    for (const auto& replica : replicas_) {
      replica->Later(HistoryReplica::kPodGroups, [to = replica.get(), name = job.name, reported] {
        to->GroupReported(name, reported);
      });
    }
  }
  void PutNode(size_t i) {
    const NodeTruth& node = nodes_[i];
    const std::string path = kube::PathOf(resources::kNodes, "", node.name);
    if (!node.there) {
      server_.RemoveObject(path);
    } else {
      Json object = server_.FindObject(path);
      if (object.is_null()) object = {{"spec", Json::object()}};
      object["status"]["conditions"] = {
          {{"type", "Ready"}, {"status", node.ready ? "True" : "Unknown"}}};
      server_.PutObject(resources::kNodes, "", node.name, std::move(object));
    }
    for (const auto& replica : replicas_) {
      replica->Later(HistoryReplica::kNodesAndFaults, [to = replica.get(), node] {
        to->NodeReported(node.name, node.there, node.ready, node.chip_bad);
      });
    }
  }
  void Put(const kube::Resource& resource, const std::string& ns, const std::string& name,
           Json object) {
    server_.PutObject(resource, ns, name, std::move(object));
  }

  static ApiServer::PodName PodName(const JobTruth& job, size_t pod) {
    return {job.ns, job.name + "-" + std::to_string(pod)};
  }

  void FailPod() {
    const JobTruth& job = AnyJob();
    const size_t pod = dice_.Below(kPodsOfJob);
    if (!dice_.OneIn(4) || !job.pods[pod] || !job.pods[pod]->running) return;
    server_.Update(PodName(job, pod), [](Json& of) { of["status"]["phase"] = "Failed"; });
  }
  void OptOutPod(const JobTruth& job, bool on) {
    server_.Update(PodName(job, dice_.Below(kPodsOfJob)),
                   [&](Json& of) { of["metadata"]["labels"] = OptOut(on); });
  }

  void Recreate() {
    for (const JobTruth& job : jobs_) {
      for (size_t pod = 0; pod < kPodsOfJob; ++pod) {
        if (job.pods[pod]) continue;
        const auto name = PodName(job, pod);
        server_.Create({{"metadata",
                         {{"namespace", name.ns},
                          {"name", name.name},
                          {"labels", Json::object()},
                          {"annotations",
                           {{std::string(schemas::kPodGroupAnnotation), job.name},
                            {std::string(schemas::kAscendReal), "Ascend910-0"}}},
                          {"ownerReferences", OwnersOf(job)}}},
                        {"spec", {{"containers", {{{"name", "ascend"}}}}}},
                        {"status", {{"phase", "Pending"}}}});
      }
    }
    ReportPods();
  }
  void Schedule() {
    for (const JobTruth& job : jobs_) {
      for (size_t pod = 0; pod < kPodsOfJob; ++pod) {
        if (!job.pods[pod] || !job.pods[pod]->node.empty()) continue;
        const NodeTruth& node = nodes_[dice_.Below(kNodes)];
        if (!node.IsHealthy()) continue;
        server_.Update(PodName(job, pod), [&](Json& of) {
          of["spec"]["nodeName"] = node.name;
          of["status"]["conditions"] = {{{"type", "PodScheduled"}, {"status", "True"}}};
        });
      }
    }
  }
  void Kubelets() {
    for (JobTruth& job : jobs_) {
      for (size_t pod = 0; pod < kPodsOfJob; ++pod) {
        if (!job.pods[pod] || job.pods[pod]->node.empty()) continue;
        const PodTruth truth = *job.pods[pod];
        const NodeTruth& node = NodeNamed(truth.node);
        if (!node.there || !node.ready) continue;
        if (truth.goes) {
          server_.Remove(PodName(job, pod));
        } else if (!truth.running && !truth.failed) {
          server_.Update(PodName(job, pod), [](Json& of) { of["status"]["phase"] = "Running"; });
        }
      }
      if (IsWhole(job)) job.restarting = false;
    }
  }

  void PodChanged(ApiServer::Change change, const ApiServer::PodName& name, const Json& object) {
    const bool gone = change == ApiServer::Change::kDeleted;
    const size_t dash = name.name.rfind('-');
    JobTruth& job = JobNamed(name.name.substr(0, dash));
    auto& pod = job.pods.at(static_cast<size_t>(std::stoi(name.name.substr(dash + 1))));
    pod.reset();
    if (!gone) {
      const std::string phase = json::TextAt(object, {"status", "phase"});
      pod = PodTruth{.uid = json::TextAt(object, {"metadata", "uid"}),
                     .node = json::TextAt(object, {"spec", "nodeName"}),
                     .running = phase == "Running",
                     .failed = phase == "Failed",
                     .goes = object["metadata"].contains("deletionTimestamp"),
                     .opted_out = object["metadata"]["labels"].contains(schemas::kRescheduling)};
    }
    job.pod_opted_out.Set(std::any_of(job.pods.begin(), job.pods.end(),
                                      [](const auto& each) { return each && each->opted_out; }),
                          event_);
    const PodPtr reported = gone ? nullptr : reader_.Read(json::Document(object).root());
    unreported_[name].push_back(reported);
  }
  // By name: threads delete the pods of a job in any order.
  void ReportPods() {
    for (auto& [name, changes] : std::exchange(unreported_, {})) {
      for (const PodPtr& after : changes) {
        for (const auto& replica : replicas_) {
          replica->Later(HistoryReplica::kPods,
                         [to = replica.get(), name, after] { to->PodReported(name, after); });
        }
      }
    }
  }

  void DeliverSome() {
    Pick().Deliver(static_cast<HistoryReplica::Watch>(dice_.Below(3)), 1 + dice_.Below(8));
  }

  Dice dice_;
  const uint64_t seed_;
  const Asked asked_;
  HistoryClock clock_;
  ApiServer server_{clock_};
  PodReader reader_;
  std::array<NodeTruth, kNodes> nodes_;
  std::array<JobTruth, kJobs> jobs_;
  std::map<std::string, Switch> namespaces_;
  Switch paused_;
  std::vector<std::unique_ptr<HistoryReplica>> replicas_;
  std::optional<size_t> replica_to_restart_;  // not while it looks
  std::optional<size_t> lease_holder_;
  milliseconds lease_renewed_{0};
  uint64_t terms_ = 0;
  uint64_t event_ = 0;
  int depth_ = 0;
  std::map<ApiServer::PodName, std::vector<PodPtr>> unreported_;
  Counts counts_;
  Mutex mutex_;
};

}  // namespace mindgate::watcher::rescheduling::histories
