#pragma once

#include <atomic>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>

#include "kube/client_fixture.h"
#include "kube/fake_api_server.h"
#include "support/eventually.h"
#include "support/running_clock.h"
#include "watcher/scaling/controller.h"

// A cluster and replicas of the watcher, for tests of the scaling controller.
namespace mindgate::watcher::scaling {

using Names = std::set<std::string>;

inline constexpr const char* kTwoShapes = R"({"version": "1.0", "elastic_scaling_list": [
  {"group_list": [{"group_name": "g0", "group_num": "2", "server_num_per_group": "1"},
                  {"group_name": "g1", "group_num": "1", "server_num_per_group": "1"}]},
  {"group_list": [{"group_name": "g0", "group_num": "1", "server_num_per_group": "1"},
                  {"group_name": "g1", "group_num": "1", "server_num_per_group": "1"}]}]})";
inline constexpr const char* kOneShape = R"({"version": "1.0", "elastic_scaling_list": [
  {"group_list": [{"group_name": "g0", "group_num": "1", "server_num_per_group": "1"},
                  {"group_name": "g1", "group_num": "1", "server_num_per_group": "1"}]}]})";

// The pods and rules of a cluster without controllers: the test is scheduler and kubelet.
struct Cluster {
  mindgate::testing::RunningClock clock;  // begins at 2026-01-01T00:00:00Z
  kube::testing::FakeApiServer server{{.clock = &clock}};

  void PutRule(const std::string& text) {
    server.Put(kube::resources::kConfigMaps, {{"metadata", {{"namespace", "ns"}, {"name", "rule"}}},
                                              {"data", {{"elastic_scaling.json", text}}}});
  }
  static json::Json Pod(const std::string& name, const std::string& group) {
    return {{"metadata",
             {{"namespace", "ns"},
              {"name", name},
              {"labels",
               {{"jobID", "s"},
                {"mind-cluster/scaling-rule", "rule"},
                {"mind-cluster/group-name", group}}}}},
            {"spec", {{"schedulingGates", {{{"name", "mindgate.io/elastic-scaling"}}}}}},
            {"status", {{"phase", "Pending"}}}};
  }
  void Submit(const std::string& name, const std::string& group) {
    server.Put(kube::resources::kPods, Pod(name, group));
  }
  void SetPhase(const std::string& name, const std::string& phase) {
    json::Json pod = server.Find(kube::resources::kPods, "ns", name);
    pod["status"] = {{"phase", phase}};
    server.Put(kube::resources::kPods, pod);
  }
  bool IsOpen(const std::string& name) const {
    const json::Json pod = server.Find(kube::resources::kPods, "ns", name);
    return pod.is_object() &&
           (!pod["spec"].contains("schedulingGates") || pod["spec"]["schedulingGates"].empty());
  }
  Names Open(const Names& names) const {
    Names open;
    for (const std::string& name : names) {
      if (IsOpen(name)) open.insert(name);
    }
    return open;
  }
  bool WaitOpen(const Names& names, const Names& of) const {
    return mindgate::testing::Eventually([&] { return Open(of) == names; });
  }
};

// One replica of the watcher.
struct Replica {
  explicit Replica(Cluster& of) : Replica(of, OverHttp(of)) {}
  Replica(Cluster& of, std::unique_ptr<kube::Transport> by,
          const kube::ClientOptions& of_client = {})
      : cluster(of),
        transport(std::move(by)),
        client(*transport, sleeper, of_client),
        writer(*transport, sleeper, LeaderClient::kOptions) {}
  ~Replica() { Stop(); }
  static std::unique_ptr<kube::Transport> OverHttp(const Cluster& of) {
    return kube::MakeTransport(kube::testing::AccessTo(of.server.url()), "mindgate/test");
  }
  void Start() {
    following = std::jthread([this] { pods.Run(stop.get_token()); });
    thread = std::jthread([this] { controller.Run(stop.get_token()); });
  }
  void Stop() {
    stop.request_stop();
    if (thread.joinable()) thread.join();
    if (following.joinable()) following.join();
  }
  std::vector<DecisionLog::Entry> entries() const { return decisions.entries(); }

  Cluster& cluster;
  std::atomic<bool> leads = true;
  schemas::ElasticScaling settings = [] {
    schemas::ElasticScaling enforced;
    enforced.mode = schemas::EnforcementMode::kEnforce;
    enforced.rebalance = schemas::EnforcementMode::kEnforce;
    return enforced;
  }();
  std::unique_ptr<kube::Transport> transport;
  kube::RealSleeper sleeper;
  kube::Client client;
  kube::Client writer;
  log::Logger logger{log::Format::kText, log::Level::kError, cluster.clock,
                     [](std::string_view) {}};
  kube::Recorder recorder{
      client, sleeper, cluster.clock, {.controller = "mindgate.io/watcher", .instance = "a"}, 1};
  DecisionLog decisions{cluster.clock, logger, recorder};
  const Time since = cluster.clock.WallNow();
  DisruptionBudget budget;
  DisruptionGate gate{writer, cluster.clock, budget, {}};
  PodInformer pods{client, sleeper, cluster.clock, {}};
  ScalingController controller{client,
                               writer,
                               sleeper,
                               cluster.clock,
                               logger,
                               pods,
                               decisions,
                               gate,
                               {.settings = [this] { return settings; },
                                .term = [this]() -> std::optional<Term> {
                                  if (!leads) return std::nullopt;
                                  return Term(since, [this] { return leads.load(); }, {});
                                }}};
  std::stop_source stop;
  std::jthread following;
  std::jthread thread;
};

}  // namespace mindgate::watcher::scaling
