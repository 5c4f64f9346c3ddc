#pragma once

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "base/threads.h"
#include "kube/client_fixture.h"
#include "kube/fake_api_server.h"
#include "support/eventually.h"
#include "support/running_clock.h"
#include "watcher/rescheduling/reconciler.h"

// A cluster with faults, and replicas of the watcher that reschedule.
namespace mindgate::watcher::rescheduling {

using json::Json;
using PodNames = std::set<std::string>;

inline constexpr const char* kNs = "serving";
inline const Json kForceLabel = {{"fault-scheduling", "force"}};
inline const Json kPodLabels = {{"fault-scheduling", "force"}, {"pod-rescheduling", "on"}};
inline const kube::testing::When kDeletes = {.method = "DELETE", .target_part = "/pods/"};

// Four nodes, and jobs of pods. The test is scheduler, kubelet and owner.
struct Cluster {
  mindgate::testing::RunningClock clock;  // begins at 2026-01-01T00:00:00Z
  kube::testing::FakeApiServer server{{.clock = &clock}};

  Cluster() {
    server.Register({.resource = kube::resources::kPodGroups, .custom = true});
    server.Put(kube::resources::kNamespaces, {{"metadata", {{"name", "mindgate-system"}}}});
    for (int i = 0; i < 4; ++i) PutNode("n" + std::to_string(i), true);
    ReportChips({});
  }

  void PutNode(const std::string& name, bool ready) {
    server.Put(kube::resources::kNodes,
               {{"metadata", {{"name", name}}},
                {"status",
                 {{"conditions", {{{"type", "Ready"}, {"status", ready ? "True" : "Unknown"}}}}}}});
  }

  // As ClusterD does: {node, unhealthy chips}.
  void ReportChips(const std::map<std::string, std::string>& unhealthy) {
    Json nodes = Json::object();
    for (int i = 0; i < 4; ++i) {
      const std::string node = "n" + std::to_string(i);
      const auto found = unhealthy.find(node);
      nodes["mindx-dl-deviceinfo-" + node] = {
          {"DeviceList",
           {{"huawei.com/Ascend910-Unhealthy", found == unhealthy.end() ? "" : found->second}}},
          {"UpdateTime", 1767225600}};
    }
    server.Put(kube::resources::kConfigMaps, {{"metadata",
                                               {{"namespace", "mindx-dl"},
                                                {"name", "cluster-info-device-0"},
                                                {"labels", {{"mx-consumer-volcano", "true"}}}}},
                                              {"data", {{"cluster-info-device-0", nodes.dump()}}}});
  }

  void PutGroup(const std::string& name, const Json& labels, int min_member) {
    server.Put(kube::resources::kPodGroups, {{"metadata",
                                              {{"namespace", kNs},
                                               {"name", name},
                                               {"uid", "uid-" + name},
                                               {"labels", labels},
                                               {"ownerReferences",
                                                {{{"apiVersion", "batch.volcano.sh/v1alpha1"},
                                                  {"kind", "Job"},
                                                  {"name", "train"},
                                                  {"uid", "uid-train"},
                                                  {"controller", true}}}}}},
                                             {"spec", {{"minMember", min_member}}},
                                             {"status", {{"phase", "Running"}}}});
  }

  void PutPod(const std::string& group, const std::string& name, const std::string& node,
              const Json& labels = Json::object()) {
    Json annotations = {{"scheduling.k8s.io/group-name", group}};
    if (!node.empty()) annotations["huawei.com/AscendReal"] = "Ascend910-0";
    Json pod = {{"metadata",
                 {{"namespace", kNs},
                  {"name", name},
                  {"labels", labels},
                  {"annotations", std::move(annotations)}}},
                {"spec", {{"containers", {{{"name", "main"}, {"image", "i"}}}}}},
                {"status", {{"phase", node.empty() ? "Pending" : "Running"}}}};
    if (!node.empty()) {
      pod["spec"]["nodeName"] = node;
      pod["status"]["conditions"] = {{{"type", "PodScheduled"}, {"status", "True"}}};
    }
    server.Put(kube::resources::kPods, std::move(pod));
  }

  // A job of a pod on each node: "<group>-0" on n0, ...
  void PutJob(const std::string& group, const Json& labels, int pods = 4) {
    PutGroup(group, labels, pods);
    for (int i = 0; i < pods; ++i) {
      PutPod(group, group + "-" + std::to_string(i), "n" + std::to_string(i % 4), labels);
    }
  }

  Json Pod(const std::string& name) const { return server.Find(kube::resources::kPods, kNs, name); }
  PodNames Pods(const std::string& group, int of = 4) const {
    PodNames names;
    for (int i = 0; i < of; ++i) {
      const std::string name = group + "-" + std::to_string(i);
      if (!Pod(name).is_null()) names.insert(name);
    }
    return names;
  }
  Json Kept() const {
    const Json config_map =
        server.Find(kube::resources::kConfigMaps, "mindgate-system", "mindgate-rescheduling");
    return config_map.is_null() ? Json()
                                : Json::parse(config_map["data"]["state.json"].get<std::string>());
  }
};

// One replica of the watcher.
struct Replica {
  explicit Replica(Cluster& of, bool dry_run = false)
      : cluster(of),
        transport(kube::MakeTransport(kube::testing::AccessTo(of.server.url()), "mindgate/test")),
        client(*transport, sleeper, {}),
        writer(*transport, sleeper, LeaderClient::kOptions),
        controller(client, writer, sleeper, of.clock, logger, pods, decisions, gate,
                   {.settings = [this] { return settings; },
                    .grace_over_time = [this] { return grace_over_time; },
                    .term = [this]() -> std::optional<Term> {
                      if (!leads) return std::nullopt;
                      return Term(since, [this] { return leads.load(); }, {});
                    },
                    .dry_run = dry_run,
                    .ns = "mindgate-system"}) {
    settings.mode = schemas::ReschedulingMode::kEnforce;
    settings.settle = std::chrono::seconds(0);
    settings.max_faulty_nodes = 60;
  }
  ~Replica() { Stop(); }

  // Until it knows all there is and has reconciled it.
  bool Start() {
    following = std::jthread([this] { pods.Run(stop.get_token()); });
    thread = std::jthread([this] { controller.Run(stop.get_token()); });
    return mindgate::testing::Eventually([this] { return controller.current(); });
  }
  void Stop() {
    stop.request_stop();
    if (thread.joinable()) thread.join();
    if (following.joinable()) following.join();
  }
  // What it reported of a job: "restarted", "not restarted", ...
  std::vector<std::string> Reported(const std::string& group) const {
    std::vector<std::string> reported;
    for (const auto& entry : decisions.entries()) {
      if (entry.record.about.front().second == group)
        reported.emplace_back(WordsOf(entry.record.kind).word);
    }
    return reported;
  }
  bool WaitReported(const std::string& group, const std::string& what) const {
    return mindgate::testing::Eventually([&] {
      const auto reported = Reported(group);
      return std::find(reported.begin(), reported.end(), what) != reported.end();
    });
  }
  // How many lines of the log have the text.
  size_t Logged(const std::string& text) const {
    const MutexLock lock(mutex);
    return static_cast<size_t>(std::count_if(
        lines.begin(), lines.end(),
        [&](const std::string& line) { return line.find(text) != std::string::npos; }));
  }
  // By the metric: too many nodes are faulty.
  bool IsStopped() const {
    std::vector<prometheus::MetricFamily> families;
    controller.AddMetrics(families);
    return std::any_of(families.begin(), families.end(), [](const auto& family) {
      return family.name == "mindgate_rescheduling_stopped" &&
             family.metric.front().gauge.value == 1;
    });
  }
  std::string LastReason(const std::string& group) const {
    std::string reason;
    for (const auto& entry : decisions.entries()) {
      if (entry.record.about.front().second == group) reason = entry.record.reason;
    }
    return reason;
  }

  Cluster& cluster;
  std::atomic<bool> leads = true;
  Time since{};
  schemas::Rescheduling settings;
  std::chrono::seconds grace_over_time{900};
  std::unique_ptr<kube::Transport> transport;
  kube::RealSleeper sleeper;
  kube::Client client;
  kube::Client writer;
  mutable Mutex mutex;
  std::vector<std::string> lines GUARDED_BY(mutex);  // of the log
  log::Logger logger{log::Format::kText, log::Level::kWarning, cluster.clock,
                     [this](std::string_view line) {
                       const MutexLock lock(mutex);
                       lines.emplace_back(line);
                     }};
  kube::Recorder recorder{
      client, sleeper, cluster.clock, {.controller = "mindgate.io/watcher", .instance = "a"}, 1};
  DecisionLog decisions{cluster.clock, logger, recorder};
  DisruptionBudget budget;
  DisruptionGate gate{
      writer, cluster.clock, budget, {.ns = "mindgate-system", .lease = "mindgate-watcher"}};
  PodInformer pods{client, sleeper, cluster.clock, {}};
  ReschedulingController controller;
  std::stop_source stop;
  std::jthread following;
  std::jthread thread;
};

}  // namespace mindgate::watcher::rescheduling
