// From a change of a pod to the gate that opens for it, through the API client: an instance of a
// service fails, and the one that waits gets its grant. The API server is the tests' own, in
// another process of this machine; it takes its share of the cores.
//   watcher_bench [SERVICES [CHANGES]]      default 1000 2000
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "kube/fake_api_server.h"
#include "measure.h"
#include "support/scaling.h"
#include "watcher/scaling/controller.h"

namespace mindgate::bench {
namespace {

using json::Json;
using kube::testing::FakeApiServer;
namespace resources = kube::resources;

// One more p than the fullest shape wants.
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

// Follows the server whose URL comes first on `in`; answers a line of KiB resident to each line
// that comes then, and ends with it.
[[noreturn]] void Watch(int in, int out) {
  std::array<char, 100> line{};
  Check(::read(in, line.data(), line.size() - 1) > 0, "the server has no address");
  const SystemClock clock;
  kube::Access access;
  access.server = line.data();
  access.origin = "a benchmark";
  access.credentials = std::make_shared<NoCredentials>();
  const auto transport = kube::MakeTransport(std::move(access), "mindgate/bench");
  kube::RealSleeper sleeper;
  kube::Client client(*transport, sleeper);
  kube::Client writer(*transport, sleeper, {.retries = 0});
  log::Logger logger(log::Format::kText, log::Level::kError, clock);
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
  watcher::PodInformer pods(client, sleeper, clock, {});
  watcher::scaling::ScalingController controller(client, writer, sleeper, clock, logger, pods,
                                                 decisions, budget, options);
  std::jthread follow([&](const std::stop_token& stop) { pods.Run(stop); });
  std::jthread thread([&](const std::stop_token& stop) { controller.Run(stop); });
  while (::read(in, line.data(), line.size()) > 0) {
    const std::string text = std::to_string(static_cast<long long>(ResidentBytes() / 1024)) + "\n";
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
  double ResidentMebibytes() const {
    Send("?");
    std::array<char, 100> line{};
    Check(::read(from, line.data(), line.size() - 1) > 0, "the watcher is gone");
    return std::atof(line.data()) / 1024;
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

void Run(int services, int changes) {
  const Watcher watcher = StartWatcher();
  FakeApiServer server;
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < services; ++i) Submit(server, i);
  watcher.Send(server.url());
  Check(server.WaitForWatches(2), "the watcher does not watch");
  std::printf("%d services of 20 instances; the watcher has %.1f MiB resident after the list\n",
              services, watcher.ResidentMebibytes());
  std::printf("  %-44s %8s %10s %10s %10s\n", "from the event to the patch", "grants", "p50 ms",
              "p99 ms", "max ms");
  Turns turns(server, services);
  std::vector<double> singly;
  for (int i = 0; i < changes; ++i) {
    const int service = i * 7919 % services;
    turns.Fail(service);
    AwaitGrants(server, 1);
    turns.GoOn(service);
    const auto one = turns.Latencies();
    singly.insert(singly.end(), one.begin(), one.end());
  }
  Print("one failure after the other", singly);
  for (int i = 0; i < services; ++i) turns.Fail(i);
  AwaitGrants(server, static_cast<size_t>(services));
  Print("a failure in every service at once", turns.Latencies());
  std::printf("  %.1f MiB resident in the end; %.1f s in all\n", watcher.ResidentMebibytes(),
              std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  ::close(watcher.to);
  ::waitpid(watcher.pid, nullptr, 0);
}

}  // namespace
}  // namespace mindgate::bench

int main(int argc, char** argv) {
  const int services = argc > 1 ? std::max(1, std::atoi(argv[1])) : 1000;
  const int changes = argc > 2 ? std::max(1, std::atoi(argv[2])) : 2000;
  mindgate::bench::Run(services, changes);
  return 0;
}
