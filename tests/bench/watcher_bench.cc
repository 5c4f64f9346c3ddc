// From a change of a pod to the gate that opens for it, through the API client: an instance of a
// service fails, and the one that waits gets its grant. The API server is the tests' own, in
// another process of this machine; it takes its share of the cores.
// Then a large cluster, from the list to the decisions, and a tenant who fills pages.
//   watcher_bench [SERVICES [CHANGES [PODS]]]      default 1000 2000 100000
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "kube/fake_api_server.h"
#include "measure.h"
#include "static_cluster.h"
#include "support/scaling.h"
#include "watcher/scaling/controller.h"

namespace mindgate::bench {
namespace {

using json::Json;
using kube::testing::FakeApiServer;
namespace resources = kube::resources;

// One more p than the largest shape wants.
constexpr const char* kShapes = "p=13 d=6 | p=10 d=5 | p=8 d=4 | p=4 d=2 | p=2 d=1";
constexpr int kRunningP = 13;
constexpr int kRunningD = 6;

void Check(bool good, const char* what) {
  if (good) return;
  std::fprintf(stderr, "%s\n", what);
  std::exit(1);
}

// --- the watcher's process -----------------------------------------------------------------------

class NoCredentials final : public kube::CredentialSource {
 public:
  kube::Answer<kube::Credential> Get() override { return kube::Credential{}; }
  void Refused(const kube::Credential&) override {}
};

// Follows the server whose URL comes first on `in`; answers a line with KiB resident and the number
// of decisions to each line that comes then, and ends with it.
[[noreturn]] void Watch(int in, int out) {
  std::array<char, 100> line{};
  Check(::read(in, line.data(), line.size() - 1) > 0, "the server has no address");
  Check(::write(out, "!", 1) == 1, "the server is gone");
  const SystemClock clock;
  kube::Access access;
  access.server = line.data();
  access.origin = "a benchmark";
  access.credentials = std::make_shared<NoCredentials>();
  const auto transport = kube::MakeTransport(std::move(access), "mindgate/bench");
  kube::RealSleeper sleeper;
  kube::Client client(*transport, sleeper);
  kube::Client writer(*transport, sleeper, {.retries = 0});
  log::Logger logger(log::Format::kText, log::Level::kWarning, clock);
  kube::Recorder recorder(client, sleeper, clock, {.controller = "bench", .instance = "bench"}, 1);
  watcher::scaling::ScalingController::Options options;
  options.settings = [] {
    schemas::ElasticScaling settings;
    settings.mode = schemas::EnforcementMode::kEnforce;
    return settings;
  };
  options.term = [] { return watcher::Term(Time{}, [] { return true; }, {}); };
  watcher::DecisionLog decisions(clock, logger, recorder);
  watcher::DisruptionBudget budget;
  watcher::DisruptionGate gate(writer, clock, budget, {});
  watcher::PodInformer pods(client, sleeper, clock, {});
  watcher::scaling::ScalingController controller(client, writer, sleeper, clock, logger, pods,
                                                 decisions, gate, options);
  std::jthread follow([&](const std::stop_token& stop) { pods.Run(stop); });
  std::jthread thread([&](const std::stop_token& stop) { controller.Run(stop); });
  while (::read(in, line.data(), line.size()) > 0) {
    const std::string text = std::to_string(static_cast<long long>(ResidentBytes() / 1024)) + " " +
                             std::to_string(controller.counts().decisions) + "\n";
    if (::write(out, text.data(), text.size()) < 0) break;
  }
  std::_Exit(0);
}

// --- the server's process ------------------------------------------------------------------------

struct Watcher {
  pid_t pid = 0;
  int to = -1;
  int from = -1;

  void Send(const std::string& line) const {
    Check(::write(to, line.data(), line.size()) == std::ssize(line), "the watcher is gone");
  }
  void Follow(const std::string& url) const {
    Send(url);
    char heard = 0;
    Check(::read(from, &heard, 1) == 1, "the watcher is gone");
  }
  struct Answer {
    double resident_mebibytes = 0;
    uint64_t decisions = 0;
  };
  Answer Ask() const {
    Send("?");
    std::array<char, 100> line{};
    Check(::read(from, line.data(), line.size() - 1) > 0, "the watcher is gone");
    char* rest = nullptr;
    const double kibibytes = std::strtod(line.data(), &rest);
    return {kibibytes / 1024, std::strtoull(rest, nullptr, 10)};
  }
  // Until it has decided about so many services.
  void AwaitDecisions(uint64_t count) const {
    for (int tries = 0; Ask().decisions < count; ++tries) {
      Check(tries < 60'000, "a decision did not come");
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
  void End() const {
    ::close(to);
    ::close(from);
    ::kill(pid, SIGTERM);  // others have the other end of its pipe, too
    ::waitpid(pid, nullptr, 0);
  }
};

Watcher StartWatcher() {
  std::array<int, 2> down{};
  std::array<int, 2> up{};
  Check(::pipe(down.data()) == 0 && ::pipe(up.data()) == 0, "no pipes");
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::close(down[1]);
    ::close(up[0]);
    Watch(down[0], up[1]);
  }
  ::close(down[0]);
  ::close(up[1]);
  return {pid, down[1], up[0]};
}

std::string NamespaceOf(int service) { return "team-" + std::to_string(service % 50); }
std::string NameOf(int service, const std::string& instance) {
  return "s" + std::to_string(service) + "-" + instance;
}

Json PodOf(int service, const std::string& group, const std::string& instance, bool gated) {
  const std::string id = std::to_string(service);
  Json pod = {{"metadata",
               {{"namespace", NamespaceOf(service)},
                {"name", NameOf(service, instance)},
                {"labels",
                 {{"jobID", "service-" + id},
                  {"mind-cluster/scaling-rule", "rule-" + id},
                  {"mind-cluster/group-name", group}}}}},
              {"spec", {{"containers", {{{"name", "server"}, {"image", "example/server"}}}}}},
              {"status", {{"phase", gated ? "Pending" : "Running"}}}};
  if (gated) pod["spec"]["schedulingGates"] = {{{"name", "mindgate.io/elastic-scaling"}}};
  return pod;
}

// Twenty instances, of which all run that the shape wants, and one waits.
void Submit(FakeApiServer& server, int service) {
  server.Put(resources::kConfigMaps,
             {{"metadata",
               {{"namespace", NamespaceOf(service)}, {"name", "rule-" + std::to_string(service)}}},
              {"data", {{"elastic_scaling.json", testing::RuleText(kShapes)}}}});
  const auto put = [&](const std::string& group, int number, bool gated) {
    const std::string instance = group + "-" + std::to_string(number);
    server.Put(resources::kPods, PodOf(service, group, instance, gated));
  };
  for (int i = 0; i < kRunningP; ++i) put("p", i, false);
  for (int i = 0; i < kRunningD; ++i) put("d", i, false);
  put("p", kRunningP, true);
}

using Moment = std::chrono::steady_clock::time_point;

// Instances of the group p of every service take turns: one runs and fails, the one that waits is
// let in and runs, and the failed one comes back behind the gate.
class Turns {
 public:
  Turns(FakeApiServer& server, int services)
      : server_(server),
        next_(static_cast<size_t>(services), 0),
        waiting_(static_cast<size_t>(services), kRunningP) {}

  void Fail(int service) {
    int& next = next_[static_cast<size_t>(service)];
    next = (next + 1) % (kRunningP + 1);
    if (next == Waiting(service)) next = (next + 1) % (kRunningP + 1);
    Json pod = server_.Find(resources::kPods, NamespaceOf(service),
                            NameOf(service, "p-" + std::to_string(next)));
    pod["status"]["phase"] = "Failed";
    failed_[PathOf(service, Waiting(service))] = std::chrono::steady_clock::now();
    server_.Put(resources::kPods, std::move(pod));
  }

  // After the grant of the one that waited.
  void GoOn(int service) {
    const std::string granted = "p-" + std::to_string(Waiting(service));
    Waiting(service) = next_[static_cast<size_t>(service)];
    server_.Put(resources::kPods, PodOf(service, "p", granted, false));
    const std::string failed = "p-" + std::to_string(Waiting(service));
    server_.Remove(resources::kPods, NamespaceOf(service), NameOf(service, failed));
    server_.Put(resources::kPods, PodOf(service, "p", failed, true));
  }

  // From each failure to the grant that came of it, in microseconds; what is read is forgotten.
  std::vector<double> Latencies() {
    std::vector<double> latencies;
    for (const auto& request : server_.Requests({.method = "PATCH"})) {
      const auto failed = failed_.find(request.path);
      Check(failed != failed_.end(), "a grant without a failure");
      latencies.push_back(
          std::chrono::duration<double, std::micro>(request.received - failed->second).count());
    }
    server_.ForgetRequests();
    failed_.clear();
    return latencies;
  }

 private:
  int& Waiting(int service) { return waiting_[static_cast<size_t>(service)]; }
  static std::string PathOf(int service, int instance) {
    return "/api/v1/namespaces/" + NamespaceOf(service) + "/pods/" +
           NameOf(service, "p-" + std::to_string(instance));
  }

  FakeApiServer& server_;
  std::vector<int> next_;     // by service: the instance that failed last
  std::vector<int> waiting_;  // and the one behind the gate
  std::map<std::string, Moment> failed_;
};

void AwaitGrants(const FakeApiServer& server, size_t count) {
  for (int tries = 0; server.Count({.method = "PATCH"}) < count; ++tries) {
    Check(tries < 100'000, "a grant did not come");
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
}

void Print(const char* what, std::vector<double> latencies) {
  std::sort(latencies.begin(), latencies.end());
  const auto at = [&](size_t percent) {
    return latencies[(latencies.size() - 1) * percent / 100] / 1000;
  };
  std::printf("  %-44s %8zu %10.2f %10.2f %10.2f\n", what, latencies.size(), at(50), at(99),
              latencies.back() / 1000);
}

double SecondsSince(Moment begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

std::vector<double> OneAfterTheOther(FakeApiServer& server, Turns& turns, int services, int changes,
                                     const std::function<void(int)>& before = {}) {
  std::vector<double> singly;
  for (int i = 0; i < changes; ++i) {
    const int service = i * 7919 % services;
    if (before) before(i);
    turns.Fail(service);
    AwaitGrants(server, 1);
    turns.GoOn(service);
    const auto one = turns.Latencies();
    singly.insert(singly.end(), one.begin(), one.end());
  }
  return singly;
}

void PrintHead() {
  std::printf("  %-44s %8s %10s %10s %10s\n", "from the event to the patch", "grants", "p50 ms",
              "p99 ms", "max ms");
}

// Returns the median of single changes, in microseconds.
double Run(const Watcher& watcher, int services, int changes) {
  FakeApiServer server;
  for (int i = 0; i < services; ++i) Submit(server, i);
  watcher.Follow(server.url());
  Check(server.WaitForWatches(3), "the watcher does not watch");
  std::printf("%d services of 20 instances; the watcher has %.1f MiB resident after the list\n",
              services, watcher.Ask().resident_mebibytes);
  PrintHead();
  Turns turns(server, services);
  std::vector<double> singly = OneAfterTheOther(server, turns, services, changes);
  Print("one failure after the other", singly);
  for (int i = 0; i < services; ++i) turns.Fail(i);
  AwaitGrants(server, static_cast<size_t>(services));
  Print("a failure in every service at once", turns.Latencies());
  std::printf("  %.1f MiB resident in the end\n", watcher.Ask().resident_mebibytes);
  watcher.End();
  std::nth_element(singly.begin(), singly.begin() + std::ssize(singly) / 2, singly.end());
  return singly[singly.size() / 2];
}

// What pods take of the watcher, and how long a watcher that starts needs.
void RunLarge(const Watcher& watcher, int nodes, int pods) {
  const int services = std::max(1, pods / 20);
  const StaticCluster cluster(nodes, services, kShapes);
  const Moment begin = std::chrono::steady_clock::now();
  watcher.Follow(cluster.url());
  watcher.AwaitDecisions(static_cast<uint64_t>(services));
  std::printf(
      "%d nodes, %d pods in %d services, %.0f MB of lists: %.2f s from the list to the "
      "decisions, %.1f MiB resident\n",
      nodes, services * 20, services, static_cast<double>(cluster.bytes()) / 1e6,
      SecondsSince(begin), watcher.Ask().resident_mebibytes);
  watcher.End();
}

// A namespace with ConfigMaps of 1 MB, of which its pods name so many as rules, and of which one
// changes with every failure. What it costs although none is named is the API server's.
void RunBesideLargeConfigMaps(const Watcher& watcher, int services, int changes, int config_maps,
                              int named) {
  constexpr int kChanging = 20;
  FakeApiServer server;
  for (int i = 0; i < services; ++i) Submit(server, i);
  const std::string text(1'000'000, 'x');
  const auto put = [&](int i) {
    server.Put(resources::kConfigMaps,
               {{"metadata", {{"namespace", "large"}, {"name", "rule-" + std::to_string(i)}}},
                {"data", {{"elastic_scaling.json", text}}}});
  };
  for (int i = 0; i < config_maps; ++i) put(i);
  for (int i = 0; i < named; ++i) {
    Json pod = PodOf(i, "p", "p-0", true);
    pod["metadata"]["namespace"] = "large";
    server.Put(resources::kPods, std::move(pod));
  }
  const Moment begin = std::chrono::steady_clock::now();
  watcher.Follow(server.url());
  watcher.AwaitDecisions(static_cast<uint64_t>(services));
  Check(server.WaitForWatches(3), "the watcher does not watch");
  std::printf(
      "%d ConfigMaps of 1 MB in one namespace, %d named as rules, beside %d services: %.2f s from "
      "the list to the decisions, %.1f MiB resident\n",
      config_maps, named, services, SecondsSince(begin), watcher.Ask().resident_mebibytes);
  PrintHead();
  Turns turns(server, services);
  std::vector<double> singly = OneAfterTheOther(server, turns, services, changes, [&](int i) {
    if (config_maps > 0) put(i % std::min(kChanging, config_maps));
  });
  Print("one failure after the other", singly);
  watcher.End();
}

}  // namespace
}  // namespace mindgate::bench

int main(int argc, char** argv) {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  const int services = argc > 1 ? std::max(1, std::atoi(argv[1])) : 1000;
  const int changes = argc > 2 ? std::max(1, std::atoi(argv[2])) : 2000;
  const int pods = argc > 3 ? std::max(20, std::atoi(argv[3])) : 100'000;
  // Started while this process is small: what it has, they have.
  std::array<mindgate::bench::Watcher, 6> watchers;
  for (auto& watcher : watchers) watcher = mindgate::bench::StartWatcher();
  const double few = mindgate::bench::Run(watchers[0], std::max(1, services / 10), changes);
  const double many = mindgate::bench::Run(watchers[1], services, changes);
  std::printf("a single change among %d services takes %.2f times what it takes among %d\n",
              services, many / few, std::max(1, services / 10));
  mindgate::bench::RunLarge(watchers[2], pods / 10, pods);
  mindgate::bench::RunBesideLargeConfigMaps(watchers[3], 100, changes / 4, 0, 0);
  mindgate::bench::RunBesideLargeConfigMaps(watchers[4], 100, changes / 4, 100, 0);
  mindgate::bench::RunBesideLargeConfigMaps(watchers[5], 100, changes / 4, 100, 20);
  return 0;
}
