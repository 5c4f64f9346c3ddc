#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <tuple>
#include <utility>

#include "base/time.h"
#include "simulation/api_server.h"
#include "watcher/frame/disruption_gate.h"
#include "watcher/frame/leader_client.h"
#include "watcher/rescheduling/job.h"
#include "watcher/rescheduling/nodes.h"
#include "watcher/rescheduling/reconciler.h"

// A replica of the watcher in a random history: the reconcilers of `mindgate watch`, with watches
// that the world delivers, a term that the world ends, and a wall clock that the world sets.
namespace mindgate::watcher::rescheduling::histories {

using simulation::ApiServer;
using std::chrono::milliseconds;
using std::chrono::seconds;

inline constexpr const char* kWatcherNs = "mindgate-system";
inline constexpr const char* kLease = "mindgate-watcher";
inline constexpr int64_t kRestartsPerMinute = 3;
inline constexpr int64_t kMaxFaultyNodes = 30;  // percent: 3 of 8 stop everything

// All steady clocks are the same. A wall clock is off by `skew`.
class HistoryClock final : public Clock {
 public:
  Instant Now() const override { return Instant(now); }
  Time WallNow() const override {
    return Time(std::chrono::sys_days{std::chrono::January / 1 / 2026}) +
           std::chrono::floor<seconds>(now) + skew;
  }
  milliseconds now{0};
  seconds skew{0};
};

class HistoryReplica final : public DecisionListener {
 public:
  // Carries a call to the API server, or not.
  using Send = std::function<kube::Answer<kube::HttpAnswer>(
      HistoryReplica& from, const kube::HttpCall& call, std::stop_token stop)>;

  HistoryReplica(size_t which, Send send) : number(which), calls_(*this, std::move(send)) {
    Restart();
  }

  // It remembers nothing but what was written down. Its watches go on.
  void Restart() {
    budget_ = std::make_unique<DisruptionBudget>();
    gate_ = std::make_unique<DisruptionGate>(
        client_, clock, *budget_, DisruptionGate::Options{.ns = kWatcherNs, .lease = kLease});
    gate_->SetBrake([this] { return faulty_nodes_.Brake(nodes_.size(), kMaxFaultyNodes); });
    isolation_ = std::make_unique<Isolation>(
        client_, clock, logger_, *this, *gate_,
        Isolation::Options{.writes = [] { return true; },
                           .enabled = [] { return true; },
                           .is_unhealthy =
                               [this](const std::string& node) {
                                 const auto found = reported_.find(node);
                                 return found != reported_.end() && found->second.IsUnhealthy();
                               }});
    reconciler_ = std::make_unique<Reconciler>(
        client_, clock, logger_, *this, *gate_,
        Reconciler::Options{.settings =
                                [] {
                                  schemas::Rescheduling settings;
                                  settings.mode = schemas::ReschedulingMode::kEnforce;
                                  settings.restarts_per_minute = kRestartsPerMinute;
                                  settings.max_faulty_nodes = kMaxFaultyNodes;
                                  return settings;
                                },
                            .grace_over_time = [] { return seconds(900); },
                            .ns = kWatcherNs});
  }

  // --- what its watches report, each in order ---

  enum Watch : uint8_t { kPods, kPodGroups, kNodesAndFaults };
  void Later(Watch watch, std::function<void()> report) {
    deliveries_.at(watch).push_back(std::move(report));
  }
  void Deliver(Watch watch, size_t most) {
    auto& queue = deliveries_.at(watch);
    for (; most > 0 && !queue.empty(); --most) {
      const auto report = std::move(queue.front());
      queue.pop_front();
      report();
    }
  }
  void DeliverAll() {
    for (const Watch watch : {kPods, kPodGroups, kNodesAndFaults}) Deliver(watch, SIZE_MAX);
  }

  void PodReported(const ApiServer::PodName& name, const PodPtr& after) {
    PodPtr& seen = pods_[name];
    const PodPtr before = std::exchange(seen, after);
    index_.Changed(before, after);
    for (const PodPtr& pod : {before, after}) {
      if (pod != nullptr && pod->node != nullptr) faulty_nodes_.Changed({*pod->node});
    }
    if (after == nullptr) pods_.erase(name);
  }
  void GroupReported(const std::string& name, const PodGroupPtr& after) {
    index_.Changed(groups_[name], after);
    groups_[name] = after;
  }
  void NodeReported(const std::string& name, bool there, bool ready, bool chip_bad) {
    if (there) {
      nodes_[name] = ready;
    } else {
      nodes_.erase(name);
      faulty_nodes_.Left(name);
    }
    reported_.erase(name);
    if (chip_bad) {
      reported_[name].devices.unhealthy = {"Ascend910-0"};
      reported_[name].machine.status = faults::NodeStatus::kUnhealthy;
    }
    faulty_nodes_.Changed({name});
  }

  // --- what it knows and does ---

  bool leads() const { return clock.now < deadline; }
  // Why it restarts nothing, as far as its watches have reported.
  std::string Stopped() const { return faulty_nodes_.WhyStopped(nodes_.size(), kMaxFaultyNodes); }
  bool KnowsFaultOf(const std::string& node) const { return reported_.contains(node); }

  void Reconcile(const JobKey& key) {
    Reconciler::Inputs inputs{.job = index_.Find(key),
                              .faults = std::make_shared<const faults::FaultsByNode>(reported_)};
    if (inputs.job) {
      for (const Task& task : inputs.job->tasks) {
        const auto node = nodes_.find(task.node);
        const bool ready = node != nodes_.end() && node->second;
        if (!task.node.empty() && !ready) inputs.not_ready.insert(task.node);
      }
    }
    std::ignore = reconciler_->Reconcile(key, inputs, NewTerm());
  }
  void Isolate(const std::string& node) { std::ignore = isolation_->Reconcile({node}, NewTerm()); }

  // --- of the world ---

  const size_t number;
  HistoryClock clock;
  milliseconds deadline{-1};  // of its term
  uint64_t term = 0;
  milliseconds fails_until{0};  // calls
  // The look that is under way. Events of the world are numbered.
  struct UnderWay {
    std::optional<JobKey> job{};  // nothing: of a node
    uint64_t began = 0;
    uint64_t written = 0;       // when what is about to be done was written down, or when it began
    bool stopped = false;       // by what it knew when it began
    bool stopped_late = false;  // or when it wrote
  } look{};

 private:
  class Calls final : public kube::Transport {
   public:
    Calls(HistoryReplica& of, HistoryReplica::Send send) : of_(of), send_(std::move(send)) {}
    kube::Answer<kube::HttpAnswer> Send(const kube::HttpCall& call, std::stop_token stop) override {
      return send_(of_, call, std::move(stop));
    }
    kube::Answer<kube::HttpAnswer> Stream(const kube::HttpCall&, const Consume&,
                                          std::stop_token) override {
      return kube::Failed(kube::Reason::kUnreachable, "nothing is streamed");
    }

   private:
    HistoryReplica& of_;
    const HistoryReplica::Send send_;
  };
  struct NoSleeper final : kube::Sleeper {
    bool Sleep(milliseconds, std::stop_token) override { return true; }
  };

  void Report(DecisionRecord record) override { std::ignore = record; }

  Term NewTerm() const {
    return {Time(seconds(term)), [this, of = term] { return term == of && leads(); }, {}};
  }
  FaultyNodes::Seen See(const std::string& node) const {
    const auto there = nodes_.find(node);
    return {.exists = there != nodes_.end(),
            .ready = there != nodes_.end() && there->second,
            .reported = reported_.contains(node),
            .jobs = index_.BoundJobsOn(node)};
  }

  Calls calls_;
  NoSleeper sleeper_;
  kube::Client client_{calls_, sleeper_, LeaderClient::kOptions};
  log::Logger logger_{log::Format::kText, log::Level::kError, clock, [](std::string_view) {}};
  JobIndex index_;
  std::map<ApiServer::PodName, PodPtr> pods_;
  std::map<std::string, PodGroupPtr> groups_;
  std::map<std::string, bool, std::less<>> nodes_;  // that are there; whether each is ready
  faults::FaultsByNode reported_;
  FaultyNodes faulty_nodes_{clock, {.see = [this](const std::string& node) { return See(node); }}};
  std::unique_ptr<DisruptionBudget> budget_;
  std::unique_ptr<DisruptionGate> gate_;
  std::unique_ptr<Reconciler> reconciler_;
  std::unique_ptr<Isolation> isolation_;
  std::array<std::deque<std::function<void()>>, 3> deliveries_;
};

}  // namespace mindgate::watcher::rescheduling::histories
