#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "json/decode.h"
#include "watcher/rescheduling/job.h"
#include "watcher/rescheduling_cluster.h"

// A reconciler without the watches: the test says what they reported, and how late they are.
namespace mindgate::watcher::rescheduling {

class ReportedDecisions final : public DecisionListener {
 public:
  void Report(DecisionRecord record) override { records.push_back(std::move(record)); }
  // "restart waits: ..."
  std::string last() const {
    return records.empty()
               ? ""
               : std::string(WordsOf(records.back().kind).word) + ": " + records.back().reason;
  }
  std::vector<DecisionRecord> records;
};

// Of a cluster, as Replica, but called by the test.
struct Direct {
  Direct()
      : transport(
            kube::MakeTransport(kube::testing::AccessTo(cluster.server.url()), "mindgate/test")),
        writer(*transport, sleeper, LeaderClient::kOptions) {
    settings.mode = schemas::ReschedulingMode::kEnforce;
    gate.SetBrake([this] { return brake; });
    Restart();
  }

  // What the next leader has: nothing but what was written down.
  void Restart() {
    ++term;
    reconciler = std::make_unique<Reconciler>(
        writer, cluster.clock, logger, decisions, gate,
        Reconciler::Options{
            .settings = [this] { return settings; },
            .grace_over_time = [] { return std::chrono::seconds(900); },
            .ns = "mindgate-system",
            .reports_of =
                [this](const std::string& node, const faults::NodeFaults&) {
                  using Reports = std::vector<faults::ReportVersion>;
                  const auto found = reports.find(node);
                  return found == reports.end() ? std::optional(Reports()) : found->second;
                },
            .is_lost = [this](const Task& task) { return !ready.contains(task.node); }});
  }

  Json Group(const std::string& name) const {
    return cluster.server.Find(kube::resources::kPodGroups, kNs, name);
  }

  // As watches that are not late report it.
  Job JobNow(const std::string& group, int pods = 4) const {
    const json::Document of_group(Group(group));
    std::vector<PodPtr> of_pods;
    PodReader reader;
    for (int i = 0; i < pods; ++i) {
      const Json pod = cluster.Pod(group + "-" + std::to_string(i));
      if (!pod.is_null()) of_pods.push_back(reader.Read(json::Document(pod).root()));
    }
    return JobOf(PodGroupOf(of_group.root()), of_pods);
  }

  // `not_ready` as the watch of nodes reports it: also what it does not know.
  ReconcileResult Reconcile(const std::string& group, std::optional<Job> job,
                            const PodNames& not_ready, std::string stopped = "") {
    Reconciler::Inputs inputs{.job = std::move(job),
                              .faults = std::make_shared<const faults::FaultsByNode>(reported),
                              .not_ready = {not_ready.begin(), not_ready.end()}};
    brake = {.why = std::move(stopped)};
    return reconciler->Reconcile({kNs, group}, inputs,
                                 Term(Time(std::chrono::seconds(term)), [] { return true; }, {}));
  }
  ReconcileResult Reconcile(const std::string& group, const PodNames& not_ready,
                            std::string stopped = "") {
    return Reconcile(group, JobNow(group), not_ready, std::move(stopped));
  }

  size_t Deletes() const { return cluster.server.Count(kDeletes); }

  Cluster cluster;
  schemas::Rescheduling settings;
  faults::FaultsByNode reported;
  // That it rests on, by node; nothing: something else is reported by now.
  std::map<std::string, std::optional<std::vector<faults::ReportVersion>>> reports;
  PodNames ready;  // nodes of which the watch has reported since the decision that they are
  ReportedDecisions decisions;
  DisruptionBudget budget;
  Refusal brake{};
  std::unique_ptr<kube::Transport> transport;
  kube::RealSleeper sleeper;
  kube::Client writer;
  DisruptionGate gate{
      writer, cluster.clock, budget, {.ns = "mindgate-system", .lease = "mindgate-watcher"}};
  log::Logger logger{log::Format::kText, log::Level::kError, cluster.clock,
                     [](std::string_view) {}};
  int64_t term = 0;
  std::unique_ptr<Reconciler> reconciler;
};

}  // namespace mindgate::watcher::rescheduling
