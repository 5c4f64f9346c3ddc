// Faults in a large cluster: from the change of a report to the deletion of the pod, what the
// reports of all nodes cost that ClusterD writes every five seconds, and what the watcher keeps in
// memory with elastic scaling beside it. The API server is the tests' own, in another process of
// this machine; it takes its share of the cores.
//   faults_bench [NODES [FAULTS]]      default 10000 200
#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "kube/http_server.h"
#include "measure.h"
#include "support/scaling.h"
#include "watcher/rescheduling/reconciler.h"
#include "watcher/scaling/controller.h"

namespace mindgate::bench {
namespace {

using json::Json;
using kube::testing::HttpRequest;
using kube::testing::HttpResponse;
using kube::testing::HttpStream;
using Moment = std::chrono::steady_clock::time_point;

constexpr int kPodsOfNode = 10;
constexpr int kPodsOfGroup = 8;
constexpr int kPodsOfService = 20;
constexpr int kNodesOfReport = 1250;  // at 640 bytes each: ClusterD begins another at 800 KiB
constexpr const char* kShapes = "p=13 d=7 | p=8 d=4";

void Check(bool good, const char* what) {
  if (good) return;
  std::fprintf(stderr, "%s\n", what);
  std::exit(1);
}

// --- the cluster ---------------------------------------------------------------------------------

// Pods of three kilobytes on all nodes, eight in each PodGroup, and the reports of ClusterD.
class FaultyCluster {
 public:
  explicit FaultyCluster(int nodes)
      : nodes_(nodes),
        pods_(nodes * kPodsOfNode),
        reports_((nodes + kNodesOfReport - 1) / kNodesOfReport),
        faulty_(static_cast<size_t>(nodes)),
        versions_(static_cast<size_t>(reports_)),
        rule_(Escaped(testing::RuleText(kShapes))),
        server_({}, [this](const HttpRequest& request) { return Answer(request); }) {}

  std::string url() const { return "http://127.0.0.1:" + std::to_string(server_.port()); }
  int reports() const { return reports_; }
  int report_of(int node) const { return node / kNodesOfReport; }
  size_t report_bytes() const { return Report(0).size(); }
  static std::string PodOn(int node) { return "pod-" + std::to_string(node); }

  void Break(int node) { faulty_[static_cast<size_t>(node)] = true; }
  // As ClusterD does: the whole ConfigMap again.
  void Publish(int report) {
    versions_[static_cast<size_t>(report)] = ++version_;
    const std::string event = R"({"type":"MODIFIED","object":)" + Report(report) + "}\n";
    const std::lock_guard lock(mutex_);
    for (HttpStream* watch : watches_) watch->Write(event);
  }
  bool WaitForWatch() const {
    for (int tries = 0; tries < 60'000; ++tries) {
      {
        const std::lock_guard lock(mutex_);
        if (!watches_.empty()) return true;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return false;
  }
  // When the pod was deleted.
  Moment AwaitDeletion(const std::string& pod) {
    for (int tries = 0; tries < 300'000; ++tries) {
      {
        const std::lock_guard lock(mutex_);
        const auto found = deleted_.find(pod);
        if (found != deleted_.end()) return found->second;
      }
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
    Check(false, "a pod was not deleted");
    return {};
  }

 private:
  static std::string Escaped(std::string_view text) {
    std::string escaped;
    for (const char c : text) {
      if (c == '"' || c == '\\') escaped += '\\';
      escaped += c;
    }
    return escaped;
  }
  static std::string Namespace(int pod) {
    return "team-" + std::to_string(pod / (kPodsOfGroup * kPodsOfService) % 50);
  }
  std::string Metadata(const std::string& ns, const std::string& name) const {
    return R"({"metadata":{"namespace":")" + ns + R"(","name":")" + name + R"(","uid":")" + name +
           R"(-3f0c7d1e-aaaa-bbbb-cccc","resourceVersion":")" + std::to_string(version_) +
           R"(","creationTimestamp":"2026-01-01T00:00:00Z")";
  }
  std::string Pod(int number) const {
    static const std::string kRest =
        R"("containers":[{"name":"server","image":"example/server","env":[{"name":"FILL","value":")" +
        std::string(2400, 'x') +
        R"("}],"resources":{"limits":{"huawei.com/Ascend910":"8"}}}]},"status":)"
        R"({"phase":"Running","conditions":[{"type":"Ready","status":"True"}],)"
        R"("containerStatuses":[{"name":"server","lastState":{}}]}})";
    const std::string service = std::to_string(number / kPodsOfService);
    const std::string chip = std::to_string(number / nodes_ % 8);
    return Metadata(Namespace(number), "pod-" + std::to_string(number)) +
           R"(,"labels":{"fault-scheduling":"force","pod-rescheduling":"on","jobID":"service-)" +
           service + R"(","mind-cluster/scaling-rule":"rule-)" + service +
           R"(","mind-cluster/group-name":")" + (number % kPodsOfService < 13 ? "p" : "d") +
           R"("},"annotations":{"huawei.com/AscendReal":"Ascend910-)" + chip +
           R"(","scheduling.k8s.io/group-name":"group-)" + std::to_string(number / kPodsOfGroup) +
           R"("}},"spec":{"nodeName":"node-)" + std::to_string(number % nodes_) + R"(",)" + kRest;
  }
  std::string Group(int number) const {
    return Metadata(Namespace(number * kPodsOfGroup), "group-" + std::to_string(number)) +
           R"(},"spec":{"minMember":8},"status":{"phase":"Running"}})";
  }
  std::string Node(int number) const {
    return Metadata("", "node-" + std::to_string(number)) +
           R"(},"status":{"conditions":[{"type":"Ready","status":"True"}]}})";
  }
  std::string Rule(int number) const {
    return Metadata(Namespace(number * kPodsOfService), "rule-" + std::to_string(number)) +
           R"(},"data":{"elastic_scaling.json":")" + rule_ + R"("}})";
  }
  std::string Report(int number) const {
    const std::string name = "cluster-info-device-" + std::to_string(number);
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    const std::string seconds =
        std::to_string(std::chrono::duration_cast<std::chrono::seconds>(now).count());
    std::string text = "{";
    const int end = std::min(nodes_, (number + 1) * kNodesOfReport);
    for (int node = number * kNodesOfReport; node < end; ++node) {
      const bool faulty = faulty_[static_cast<size_t>(node)];
      const std::string id = std::to_string(node);
      text +=
          std::string(text.size() > 1 ? "," : "") + R"("mindx-dl-deviceinfo-node-)" + id +
          R"(":{"DeviceList":{"huawei.com/Ascend910":"Ascend910-1,Ascend910-2,Ascend910-3,)" +
          R"(Ascend910-4,Ascend910-5,Ascend910-6,Ascend910-7","huawei.com/Ascend910-Fault":"[]",)" +
          R"("huawei.com/Ascend910-NetworkUnhealthy":"","huawei.com/Ascend910-Recovering":"",)" +
          R"("huawei.com/Ascend910-Unhealthy":")" + (faulty ? "Ascend910-0" : "") +
          R"("},"UpdateTime":)" + seconds + R"(,"CmName":"mindx-dl-deviceinfo-node-)" + id +
          R"(","SuperPodID":)" + std::to_string(node / 48) + R"(,"RackID":0,"ServerIndex":)" +
          std::to_string(node % 48) + "}";
    }
    return R"({"kind":"ConfigMap","apiVersion":"v1",)" + Metadata("mindx-dl", name).substr(1) +
           R"(,"labels":{"mx-consumer-volcano":"true"}},"data":{")" + name + R"(":")" +
           Escaped(text + "}") + R"("}})";
  }

  static std::string Parameter(const HttpRequest& request, const char* name) {
    const auto found = request.query.find(name);
    return found == request.query.end() ? "" : found->second;
  }
  static int NumberIn(std::string_view text) {
    const size_t digits = text.find_last_not_of("0123456789") + 1;
    return std::atoi(std::string(text.substr(digits)).c_str());
  }

  HttpResponse Answer(const HttpRequest& request) {
    if (request.method == "DELETE") {
      const std::string pod = request.path.substr(request.path.rfind('/') + 1);
      const std::string event = R"({"type":"DELETED","object":)" + Pod(NumberIn(pod)) + "}\n";
      const std::lock_guard lock(mutex_);
      deleted_.emplace(pod, request.received);
      for (HttpStream* watch : pod_watches_) watch->Write(event);
      return {.body = "{}"};
    }
    if (request.method != "GET") return {.status = 201, .body = "{}"};
    const bool reports =
        request.path.find("/namespaces/mindx-dl/configmaps") != std::string::npos &&
        Parameter(request, "labelSelector").find("volcano") != std::string::npos;
    if (!Parameter(request, "watch").empty()) {
      if (reports) return Watch(&watches_);
      return Watch(request.path.ends_with("/pods") ? &pod_watches_ : nullptr);
    }
    if (request.path.find("/pods/pod-") != std::string::npos) {
      return {.body = Single("Pod", "v1", Pod(NumberIn(request.path)))};
    }
    if (request.path.find("/podgroups/group-") != std::string::npos) {
      return {.body = Single("PodGroup", "scheduling.volcano.sh/v1beta1",
                             Group(NumberIn(request.path)))};
    }
    if (request.path.find("/namespaces/team-") != std::string::npos &&
        request.path.ends_with(std::to_string(NumberIn(request.path))) &&
        request.path.find("/pods") == std::string::npos) {
      const std::string name = request.path.substr(request.path.rfind('/') + 1);
      return {.body = Single("Namespace", "v1", R"({"metadata":{"name":")" + name + R"("}})")};
    }
    const bool pods = request.path.ends_with("/pods");
    const bool groups = request.path.ends_with("/podgroups");
    const bool rules = request.path.ends_with("/configmaps") && !reports &&
                       request.path.find("/namespaces/") == std::string::npos;
    const bool nodes = request.path.ends_with("/nodes");
    if (!pods && !groups && !rules && !nodes && !reports) {
      const std::string selector = Parameter(request, "fieldSelector");
      if (selector.starts_with("metadata.name=rule-")) return List(Rule(NumberIn(selector)), "");
      if (selector.starts_with("metadata.name=cluster-info-device-")) {
        const int version = versions_[static_cast<size_t>(NumberIn(selector))];
        return List(R"({"metadata":{"resourceVersion":")" + std::to_string(version) + R"("}})", "");
      }
      if (request.path.ends_with("s")) return List("", "");
      return {.status = 404,
              .body = R"({"kind":"Status","status":"Failure","reason":"NotFound","code":404})"};
    }
    const int all = pods      ? pods_
                    : groups  ? pods_ / kPodsOfGroup
                    : rules   ? pods_ / kPodsOfService
                    : reports ? reports_
                              : nodes_;
    const int begin = std::atoi(Parameter(request, "continue").c_str());
    const int limit = std::atoi(Parameter(request, "limit").c_str());
    const int end = limit > 0 ? std::min(all, begin + limit) : all;
    std::string items;
    for (int i = begin; i < end; ++i) {
      if (i > begin) items += ',';
      items += pods ? Pod(i) : groups ? Group(i) : rules ? Rule(i) : reports ? Report(i) : Node(i);
    }
    return List(items, end < all ? std::to_string(end) : "");
  }

  // An item of a list does not say what it is; an object that is read by its name does.
  static std::string Single(const std::string& kind, const std::string& version,
                            const std::string& object) {
    return R"({"kind":")" + kind + R"(","apiVersion":")" + version + R"(",)" + object.substr(1);
  }

  static HttpResponse List(const std::string& items, const std::string& token) {
    return {.body = R"({"kind":"List","apiVersion":"v1","metadata":{"resourceVersion":"1",)"
                    R"("continue":")" +
                    token + R"("},"items":[)" + items + "]}"};
  }

  // `followers`: of what changes in this benchmark; nullptr for the rest.
  HttpResponse Watch(std::vector<HttpStream*>* followers) {
    HttpResponse response;
    response.stream = [this, followers](HttpStream& stream) {
      stream.Write(R"({"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"1"}}})"
                   "\n");
      if (followers != nullptr) {
        const std::lock_guard lock(mutex_);
        followers->push_back(&stream);
      }
      pollfd gone{.fd = stream.socket(), .events = POLLIN, .revents = 0};
      ::poll(&gone, 1, -1);
      if (followers != nullptr) {
        const std::lock_guard lock(mutex_);
        std::erase(*followers, &stream);
      }
      return true;
    };
    return response;
  }

  const int nodes_;
  const int pods_;
  const int reports_;
  std::vector<std::atomic<bool>> faulty_;
  std::vector<std::atomic<int>> versions_;  // of the reports that were written anew
  const std::string rule_;
  std::atomic<int> version_ = 1;
  mutable std::mutex mutex_;
  std::vector<HttpStream*> watches_;  // of the reports
  std::vector<HttpStream*> pod_watches_;
  std::map<std::string, Moment> deleted_;
  kube::testing::HttpServer server_;
};

// --- the watcher's process -----------------------------------------------------------------------

class NoCredentials final : public kube::CredentialSource {
 public:
  kube::Answer<kube::Credential> Get() override { return kube::Credential{}; }
  void Refused(const kube::Credential&) override {}
};

// Follows the server whose URL comes first on `in`; answers "!" once it is current, then each line
// with KiB resident, microseconds of CPU, jobs evaluated and decisions about services.
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
  kube::Client writer(*transport, sleeper, watcher::LeaderClient::kOptions);
  log::Logger logger(log::Format::kText, log::Level::kWarning, clock);
  kube::Recorder recorder(client, sleeper, clock, {.controller = "bench", .instance = "bench"}, 1);
  const auto term = [] { return watcher::Term(Time{}, [] { return true; }, {}); };
  watcher::DecisionLog decisions(clock, logger, recorder);
  watcher::DisruptionBudget budget;
  watcher::DisruptionGate gate(writer, clock, budget, {});
  watcher::PodInformer pods(client, sleeper, clock, {});
  watcher::scaling::ScalingController::Options scaling_options;
  scaling_options.settings = [] { return schemas::ElasticScaling(); };
  scaling_options.term = term;
  watcher::scaling::ScalingController scaling(client, writer, sleeper, clock, logger, pods,
                                              decisions, gate, scaling_options);
  watcher::rescheduling::ReschedulingController::Options options;
  options.settings = [] {
    schemas::Rescheduling settings;
    settings.mode = schemas::ReschedulingMode::kEnforce;
    settings.restarts_per_minute = 1'000'000;
    settings.settle = std::chrono::seconds(0);
    return settings;
  };
  options.grace_over_time = [] { return std::chrono::seconds(900); };
  options.term = term;
  options.ns = "mindgate-system";
  watcher::rescheduling::ReschedulingController controller(client, writer, sleeper, clock, logger,
                                                           pods, decisions, gate, options);
  std::jthread follow([&](const std::stop_token& stop) { pods.Run(stop); });
  std::jthread scale([&](const std::stop_token& stop) { scaling.Run(stop); });
  std::jthread thread([&](const std::stop_token& stop) { controller.Run(stop); });
  while (!controller.current()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  Check(::write(out, "!", 1) == 1, "the server is gone");
  while (::read(in, line.data(), line.size()) > 0) {
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    const auto micros = [](const timeval& time) { return time.tv_sec * 1'000'000 + time.tv_usec; };
    const std::string text = std::to_string(static_cast<long long>(ResidentBytes() / 1024)) + " " +
                             std::to_string(micros(usage.ru_utime) + micros(usage.ru_stime)) + " " +
                             std::to_string(controller.counts().looks) + " " +
                             std::to_string(scaling.counts().decisions) + "\n";
    if (::write(out, text.data(), text.size()) < 0) break;
  }
  std::_Exit(0);
}

struct Watcher {
  pid_t pid = 0;
  int to = -1;
  int from = -1;

  struct Answer {
    double mebibytes = 0;
    double cpu_seconds = 0;
    uint64_t looks = 0;
    uint64_t decisions = 0;
  };
  Answer Ask() const {
    Check(::write(to, "?", 1) == 1, "the watcher is gone");
    std::array<char, 100> line{};
    Check(::read(from, line.data(), line.size() - 1) > 0, "the watcher is gone");
    char* rest = nullptr;
    Answer answer;
    answer.mebibytes = std::strtod(line.data(), &rest) / 1024;
    answer.cpu_seconds = std::strtod(rest, &rest) / 1e6;
    answer.looks = std::strtoull(rest, &rest, 10);
    answer.decisions = std::strtoull(rest, nullptr, 10);
    return answer;
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

double SecondsSince(Moment begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

double Run(const Watcher& watcher, int nodes, int faults) {
  FaultyCluster cluster(nodes);
  const Moment begin = std::chrono::steady_clock::now();
  const std::string url = cluster.url();
  Check(::write(watcher.to, url.data(), url.size()) == std::ssize(url), "the watcher is gone");
  char heard = 0;
  Check(::read(watcher.from, &heard, 1) == 1, "the watcher is gone");
  const auto jobs = static_cast<uint64_t>(nodes * kPodsOfNode / kPodsOfGroup);
  while (watcher.Ask().looks < jobs) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  const double seconds = SecondsSince(begin);
  // Elastic scaling begins with a decision about each service, which reads its rule.
  const auto services = static_cast<uint64_t>(nodes * kPodsOfNode / kPodsOfService);
  while (watcher.Ask().decisions < services) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  Check(cluster.WaitForWatch(), "nobody watches the reports");
  std::printf(
      "%d nodes, %d pods, %d reports of %.0f KB: %.2f s from the lists to the decisions, "
      "%.1f MiB resident\n",
      nodes, nodes * kPodsOfNode, cluster.reports(),
      static_cast<double>(cluster.report_bytes()) / 1e3, seconds, watcher.Ask().mebibytes);

  // Each of them hits PodGroups that were whole: one that lost pods already waits for new ones.
  const int blocks = nodes / kPodsOfGroup;
  const auto victim = [&](int i) {
    return static_cast<int>(static_cast<int64_t>(i) * 7919 % blocks) * kPodsOfGroup;
  };
  faults = std::min(faults, blocks - 1);
  std::vector<double> latencies;
  for (int i = 0; i < faults; ++i) {
    const int node = victim(i);
    cluster.Break(node);
    const Moment sent = std::chrono::steady_clock::now();
    cluster.Publish(cluster.report_of(node));
    const Moment deleted = cluster.AwaitDeletion(FaultyCluster::PodOn(node));
    latencies.push_back(std::chrono::duration<double, std::milli>(deleted - sent).count());
  }
  std::sort(latencies.begin(), latencies.end());
  const auto at = [&](size_t percent) { return latencies[(latencies.size() - 1) * percent / 100]; };
  std::printf(
      "  from the report to the deletion: %d faults, p50 %.2f ms, p99 %.2f ms, max %.2f ms\n",
      faults, at(50), at(99), latencies.back());

  constexpr int kRounds = 5;
  const double before = watcher.Ask().cpu_seconds;
  for (int round = 0; round < kRounds; ++round) {
    for (int report = 0; report < cluster.reports(); ++report) cluster.Publish(report);
  }
  // The last of them was handled when a fault after it was.
  const int node = victim(faults);
  cluster.Break(node);
  cluster.Publish(cluster.report_of(node));
  cluster.AwaitDeletion(FaultyCluster::PodOn(node));
  const double cost = (watcher.Ask().cpu_seconds - before) / kRounds;
  std::printf(
      "  reports of all nodes: %.0f ms of CPU a round, %.1f %% of a core every 5 s; "
      "%.1f MiB resident in the end\n",
      cost * 1e3, cost * 100 / 5, watcher.Ask().mebibytes);
  ::close(watcher.to);
  ::kill(watcher.pid, SIGTERM);
  ::waitpid(watcher.pid, nullptr, 0);
  return cost;
}

}  // namespace
}  // namespace mindgate::bench

int main(int argc, char** argv) {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  const int nodes = argc > 1 ? std::max(100, std::atoi(argv[1])) : 10'000;
  const int faults = argc > 2 ? std::max(1, std::atoi(argv[2])) : 200;
  // Started while this process is small: what it has, they have.
  const auto small = mindgate::bench::StartWatcher();
  const auto large = mindgate::bench::StartWatcher();
  const double few = mindgate::bench::Run(small, nodes / 10, faults);
  const double many = mindgate::bench::Run(large, nodes, faults);
  std::printf("reports of ten times the nodes take %.1f times the CPU\n", many / few);
  return 0;
}
