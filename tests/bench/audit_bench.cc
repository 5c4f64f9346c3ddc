// An audit of a large cluster, as a process beside an API server that writes each page from a
// pattern: CPU and memory of `mindgate audit`, and what the first audit of all namespaces costs in
// the watcher.
//   audit_bench [WORKLOADS [PROGRAM]]      default 10000 build/release/mindgate
#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "kube/http_server.h"
#include "manifests.h"

namespace mindgate::bench {
namespace {

using kube::testing::HttpRequest;
using kube::testing::HttpResponse;

constexpr int64_t kPodsOfNode = 4;  // with two NPUs each
constexpr int64_t kNamespaces = 50;

// Services of one pod each, in manifests of 10 KB of which every second is wrong. Their nodes are
// full but for one in 40.
class AuditedCluster {
 public:
  explicit AuditedCluster(int64_t workloads)
      : workloads_(workloads),
        nodes_(workloads / kPodsOfNode * 41 / 40 + 1),
        spec_(Spec()),
        server_({}, [this](const HttpRequest& request) { return Answer(request); }) {}

  int64_t reports() const { return reports_; }  // that were written
  int64_t watches() const { return watches_; }  // that were begun
  std::string url() const { return "http://127.0.0.1:" + std::to_string(server_.port()); }

 private:
  // All of a Deployment after its metadata.
  static std::string Spec() {
    Json pod = Json::parse(Padded(bench::Pod, 10 << 10));
    Json& spec = pod["spec"];
    spec["containers"][0]["resources"] = {{"limits", {{"huawei.com/Ascend910", "2"}}},
                                          {"requests", {{"huawei.com/Ascend910", "2"}}}};
    const Json deployment = {
        {"replicas", 1},
        {"selector", {{"matchLabels", {{"app", "llm"}}}}},
        {"template",
         {{"metadata", {{"labels", {{"app", "llm"}, {"fault-scheduling", "VALUE"}}}}},
          {"spec", std::move(spec)}}}};
    return R"(},"spec":)" + deployment.dump() + "}";
  }

  static std::string Namespace(int64_t number) {
    return "team-" + std::to_string(number % kNamespaces);
  }
  static std::string Metadata(const std::string& ns, const std::string& name) {
    return R"({"metadata":{"namespace":")" + ns + R"(","name":")" + name + R"(","uid":"uid-)" +
           name + R"(","creationTimestamp":"2026-01-01T00:00:00Z")";
  }
  static std::string Owner(const char* kind, const std::string& name) {
    return R"(,"ownerReferences":[{"apiVersion":"apps/v1","kind":")" + std::string(kind) +
           R"(","name":")" + name + R"(","uid":"u","controller":true}])";
  }

  std::string Deployment(int64_t number, bool metadata_only) const {
    const std::string metadata = Metadata(Namespace(number), "llm-" + std::to_string(number));
    if (metadata_only) return metadata + "}}";
    std::string spec = spec_;
    const size_t at = spec.find("VALUE");
    spec.replace(at, 5, number % 2 == 0 ? "force" : "forced");
    return metadata + spec;
  }
  std::string ReplicaSet(int64_t number, bool metadata_only) const {
    const std::string name = "llm-" + std::to_string(number);
    const std::string metadata =
        Metadata(Namespace(number), name + "-7d") + Owner("Deployment", name);
    return metadata + (metadata_only ? "}}" : spec_.substr(1));
  }
  std::string PodOf(int64_t number, bool /*metadata_only*/) const {
    const std::string name = "llm-" + std::to_string(number);
    const std::string first = std::to_string(number % kPodsOfNode * 2);
    const std::string second = std::to_string(number % kPodsOfNode * 2 + 1);
    return Metadata(Namespace(number), name + "-7d-x") + Owner("ReplicaSet", name + "-7d") +
           R"(,"labels":{"pod-template-hash":"7d","fault-scheduling":"force"},)"
           R"("annotations":{"huawei.com/AscendReal":"Ascend910-)" +
           first + ",Ascend910-" + second + R"("}},"spec":{"nodeName":"npu-)" +
           std::to_string(number / kPodsOfNode) +
           R"(","containers":[{"name":"main","resources":{"limits":{"huawei.com/Ascend910":"2"}}}]},)"
           R"("status":{"phase":"Running"}})";
  }
  std::string Node(int64_t number, bool /*metadata_only*/) const {
    return R"({"metadata":{"name":"npu-)" + std::to_string(number) +
           R"("},"status":{"allocatable":{"huawei.com/Ascend910":"8"},)"
           R"("capacity":{"huawei.com/Ascend910":"8"},)"
           R"("conditions":[{"type":"Ready","status":"True"}]}})";
  }
  std::string NamespaceObject(int64_t number, bool /*metadata_only*/) const {
    return R"({"metadata":{"name":")" + Namespace(number) + R"("}})";
  }

  // Objects with the numbers first, first + step and so on.
  struct Collection {
    std::string (AuditedCluster::*make)(int64_t, bool) const = nullptr;
    int64_t first = 0;
    int64_t step = 1;
    int64_t count = 0;
  };
  Collection CollectionAt(const std::string& path) const {
    if (path.ends_with("/nodes")) return {&AuditedCluster::Node, 0, 1, nodes_};
    if (path.ends_with("/namespaces")) return {&AuditedCluster::NamespaceObject, 0, 1, kNamespaces};
    Collection found;
    if (path.ends_with("/deployments")) found.make = &AuditedCluster::Deployment;
    if (path.ends_with("/replicasets")) found.make = &AuditedCluster::ReplicaSet;
    if (path.ends_with("/pods")) found.make = &AuditedCluster::PodOf;
    if (found.make == nullptr) return found;
    const size_t team = path.find("/namespaces/team-");
    if (team == std::string::npos) {
      found.count = workloads_;
    } else {
      found.first = std::strtoll(path.c_str() + team + 17, nullptr, 10);
      found.step = kNamespaces;
      found.count = (workloads_ - found.first + kNamespaces - 1) / kNamespaces;
    }
    return found;
  }

  HttpResponse Answer(const HttpRequest& request) {
    if (request.path.find("/openreports.io/") != std::string::npos) return {.status = 404};
    if (request.method == "PATCH") {
      ++reports_;
      return {.body = request.body};
    }
    if (request.query.contains("watch")) {
      ++watches_;
      return {.stream = [](kube::testing::HttpStream& stream) {
        pollfd gone{.fd = stream.socket(), .events = POLLIN, .revents = 0};
        ::poll(&gone, 1, -1);
        return false;
      }};
    }
    const Collection all = CollectionAt(request.path);
    const auto accept = request.headers.find("accept");
    const bool metadata_only = accept != request.headers.end() &&
                               accept->second.find("PartialObjectMetadata") != std::string::npos;
    const auto parameter = [&](const char* name) {
      const auto found = request.query.find(name);
      return found == request.query.end() ? 0 : std::strtoll(found->second.c_str(), nullptr, 10);
    };
    const int64_t begin = parameter("continue");
    const int64_t limit = parameter("limit");
    const int64_t end = limit > 0 ? std::min(all.count, begin + limit) : all.count;
    std::string items;
    for (int64_t i = begin; i < end; ++i) {
      if (i > begin) items += ',';
      items += (this->*all.make)(all.first + i * all.step, metadata_only);
    }
    HttpResponse response;
    response.body =
        R"({"kind":"List","apiVersion":"v1","metadata":{"resourceVersion":"1","continue":")" +
        (end < all.count ? std::to_string(end) : "") + R"("},"items":[)" + items + "]}";
    return response;
  }

  const int64_t workloads_;
  const int64_t nodes_;
  const std::string spec_;
  std::atomic<int64_t> reports_ = 0;
  std::atomic<int64_t> watches_ = 0;
  kube::testing::HttpServer server_;
};

pid_t Start(const std::vector<std::string>& arguments) {
  const pid_t pid = ::fork();
  if (pid != 0) return pid;
  const int nowhere = ::open("/dev/null", O_WRONLY);
  ::dup2(nowhere, 1);
  ::dup2(nowhere, 2);
  std::vector<char*> words;
  for (const std::string& argument : arguments)
    words.push_back(const_cast<char*>(argument.c_str()));
  words.push_back(nullptr);
  ::execv(words[0], words.data());
  std::_Exit(127);
}

double Seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

struct Cost {
  double cpu = 0;        // seconds
  double mebibytes = 0;  // at most
};

// Waits for the end, which must have this exit code.
Cost CostOf(pid_t pid, int exit_code) {
  int status = 0;
  rusage usage{};
  ::wait4(pid, &status, 0, &usage);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != exit_code) {
    std::fprintf(stderr, "mindgate ended with %d\n", status);
    std::exit(1);
  }
  return {Seconds(usage.ru_utime) + Seconds(usage.ru_stime),
          static_cast<double>(usage.ru_maxrss) / 1024};
}

void AuditAtOnce(int64_t workloads, const std::string& program) {
  const AuditedCluster cluster(workloads);
  // Something is denied.
  const Cost cost =
      CostOf(Start({program, "audit", "-A", "-o", "json", "--server=" + cluster.url()}), 1);
  std::printf("audit of %lld workloads: %.2f s of CPU (at most 3), %.0f MiB (at most 200)\n",
              static_cast<long long>(workloads), cost.cpu, cost.mebibytes);
}

// The watcher with its defaults, until `done`, and for how long that was.
template <typename Done>
std::pair<Cost, double> Watch(const AuditedCluster& cluster, const std::string& program,
                              const char* audit_mode, const Done& done) {
  const std::string config =
      std::filesystem::temp_directory_path() / ("audit-bench-" + std::to_string(::getpid()));
  std::ofstream(config) << "audit: {mode: \"" << audit_mode << "\"}\n";
  const auto began = std::chrono::steady_clock::now();
  const pid_t pid = Start({program, "watch", "--config", config, "--server=" + cluster.url(),
                           "--probe-listen=127.0.0.1:0"});
  while (!done()) std::this_thread::sleep_for(std::chrono::milliseconds(100));
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
  ::kill(pid, SIGTERM);
  const Cost cost = CostOf(pid, 0);
  std::filesystem::remove(config);
  return {cost, took.count()};
}

void AuditInTheWatcher(int64_t workloads, const std::string& program) {
  const AuditedCluster cluster(workloads);
  // What is watched without the audit: nothing more comes within two seconds.
  int64_t seen = 0;
  int quiet = 0;
  const auto [without, _] = Watch(cluster, program, "off", [&] {
    quiet = cluster.watches() == seen && seen > 0 ? quiet + 1 : 0;
    seen = cluster.watches();
    return quiet == 20;
  });
  const auto [with, took] =
      Watch(cluster, program, "on", [&] { return cluster.reports() == workloads / 2; });
  const double cpu = with.cpu - without.cpu;
  std::printf(
      "the first audit in the watcher, with %lld reports: %.2f s of CPU within %.0f s, %.1f %% of "
      "a "
      "core (at most 2), %.1f MiB more than without (at most 16)\n",
      static_cast<long long>(cluster.reports()), cpu, took, 100 * cpu / took,
      with.mebibytes - without.mebibytes);
}

int Run(int64_t workloads, const char* program) {
  AuditAtOnce(workloads, program);
  AuditInTheWatcher(workloads, program);
  return 0;
}

}  // namespace
}  // namespace mindgate::bench

int main(int count, char** arguments) {
  return mindgate::bench::Run(count > 1 ? std::atoi(arguments[1]) : 10'000,
                              count > 2 ? arguments[2] : "build/release/mindgate");
}
