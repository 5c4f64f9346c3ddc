// What-if in a large cluster: reading it, one question, and every single loss of a node, beside
// single questions about some of them, whose answers must be the same.
//   what_if_bench [NODES [SAMPLE [PROGRAM]]]      default 10000 20 build/release/mindgate
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "what_if/forecaster.h"
#include "what_if/snapshot.h"

namespace mindgate::bench {
namespace {

constexpr int kPodsOfNode = 10;
constexpr int kNodesOfJob = 8;      // a job has a whole node for each pod
constexpr int kPodsOfService = 20;  // with a card each

double Seconds(std::chrono::steady_clock::duration time) {
  return std::chrono::duration<double>(time).count();
}

// A quarter of the nodes runs jobs of eight nodes, one in 40 is free, and the others run services
// under scaling rules. Some jobs wait for nodes of the first kind. All other pods need no NPUs.
class LargeCluster {
 public:
  explicit LargeCluster(int nodes) {
    for (int i = 0; i < nodes; ++i) AddNode(i);
    for (int i = 0; i < nodes / 100; ++i) AddWaitingJob(i);
  }

  std::string Text() const {
    return R"({"kind":"Snapshot","version":1,"taken":"2026-03-02T12:00:00Z",)" +
           List("nodes", nodes_) + "," + List("pods", pods_) + "," + List("podGroups", groups_) +
           "," + R"("faultReports":[],)" + List("scalingRules", rules_) + "}\n";
  }

 private:
  static std::string List(std::string_view name, const std::string& entries) {
    return "\"" + std::string(name) + "\":[" + entries + "]";
  }
  static void Append(const std::string& entry, std::string& list) {
    if (!list.empty()) list += ",\n";
    list += entry;
  }
  static std::string Metadata(const std::string& ns, const std::string& name,
                              const std::string& owner, const std::string& labels,
                              const std::string& annotations) {
    const size_t slash = owner.find('/');
    return R"({"metadata":{"namespace":")" + ns + R"(","name":")" + name +
           R"(","creationTimestamp":"2026-03-01T08:00:00Z","labels":{)" + labels +
           R"(},"annotations":{)" + annotations +
           R"(},"ownerReferences":[{"apiVersion":"apps/v1",)" + R"("kind":")" +
           owner.substr(0, slash) + R"(","name":")" + owner.substr(slash + 1) +
           R"(","uid":"u","controller":true}]})";
  }
  void AddPod(const std::string& ns, const std::string& name, const std::string& owner,
              const std::string& labels, const std::string& group, const std::string& node,
              int first, int npus) {
    std::string chips;
    for (int i = first; i < first + npus; ++i) {
      chips += (chips.empty() ? "" : ",") + std::string("Ascend910-") + std::to_string(i);
    }
    std::string annotations;
    if (!group.empty()) annotations = R"("scheduling.k8s.io/group-name":")" + group + "\"";
    if (!chips.empty() && !node.empty()) {
      annotations += R"(,"huawei.com/AscendReal":")" + chips + "\"";
    }
    std::string spec = R"("containers":[{"resources":{"limits":{)";
    if (npus > 0) spec += R"("huawei.com/Ascend910":")" + std::to_string(npus) + "\"";
    spec += R"(}}}],"nodeSelector":{"accelerator":"huawei-Ascend910")" +
            std::string(ns == "queue" ? R"(,"pool":"train")" : "") + "}";
    if (!node.empty()) spec += R"(,"nodeName":")" + node + "\"";
    Append(Metadata(ns, name, owner, labels, annotations) + R"(,"spec":{)" + spec +
               R"(},"status":{"phase":")" + (node.empty() ? "Pending" : "Running") +
               R"(","conditions":[{"type":"PodScheduled","status":"True"}]}})",
           pods_);
  }
  void AddGroup(const std::string& ns, const std::string& name, const std::string& owner,
                const std::string& labels, int min_member) {
    Append(Metadata(ns, name, owner, labels, "") + R"(,"spec":{"minMember":)" +
               std::to_string(min_member) + R"(},"status":{"phase":"Running"}})",
           groups_);
  }

  void AddNode(int i) {
    const std::string node = "npu-" + std::to_string(i);
    const std::string rack = std::to_string(i / 16);
    const bool trains = i % 40 != 39 && i / kNodesOfJob % 4 == 0;
    Append(R"({"metadata":{"name":")" + node +
               R"(","labels":{"accelerator":"huawei-Ascend910","rack":"r)" + rack +
               (trains ? R"(","pool":"train)" : "") +
               R"("}},"status":{"allocatable":{"huawei.com/Ascend910":"8"},)"
               R"("capacity":{"huawei.com/Ascend910":"8"},)"
               R"("conditions":[{"type":"Ready","status":"True"}]}})",
           nodes_);
    int pods = 0;
    if (i % 40 == 39) {
      // It is free.
    } else if (trains) {
      AddPodOfJob(i / kNodesOfJob, i % kNodesOfJob, node);
      ++pods;
    } else {
      for (; pods < 8; ++pods) AddPodOfService(node, pods);
    }
    for (; pods < kPodsOfNode; ++pods) {
      const bool is_daemon = pods == kPodsOfNode - 1;
      AddPod("kube-system", "p" + std::to_string(pods) + "-" + node,
             is_daemon ? "DaemonSet/agent" : "ReplicaSet/web-" + std::to_string(i % 100),
             R"("app":"x")", "", node, 0, 0);
    }
  }
  void AddPodOfJob(int job, int rank, const std::string& node) {
    const std::string ns = "team-" + std::to_string(job % 50);
    const std::string name = "job-" + std::to_string(job);
    const std::string labels = R"("fault-scheduling":"force","pod-rescheduling":"on")";
    if (groups_made_.insert(name).second) AddGroup(ns, name, "AscendJob/" + name, labels, 8);
    AddPod(ns, name + "-" + std::to_string(rank), "AscendJob/" + name, labels, name, node, 0, 8);
  }
  void AddPodOfService(const std::string& node, int card) {
    const int number = service_pods_++;
    const std::string service = std::to_string(number / kPodsOfService);
    const std::string ns = "serving-" + std::to_string(number / kPodsOfService % 50);
    const bool prefill = number % kPodsOfService < 13;
    const std::string labels = R"("fault-scheduling":"force","jobID":"service-)" + service +
                               R"(","mind-cluster/scaling-rule":"rule-)" + service +
                               R"(","mind-cluster/group-name":")" + (prefill ? "p" : "d") + "\"";
    const std::string name = "s" + service + "-" + std::to_string(number % kPodsOfService);
    if (number % kPodsOfService == 0) AddRule(ns, "rule-" + service);
    AddGroup(ns, name, "AscendJob/" + name, labels, 1);
    AddPod(ns, name, "AscendJob/" + name, labels, name, node, card, 1);
  }
  void AddRule(const std::string& ns, const std::string& name) {
    const auto shape = [](int p, int d) {
      return R"({\"group_list\":[{\"group_name\":\"p\",\"group_num\":\")" + std::to_string(p) +
             R"(\",\"server_num_per_group\":\"1\"},{\"group_name\":\"d\",\"group_num\":\")" +
             std::to_string(d) + R"(\",\"server_num_per_group\":\"1\"}]})";
    };
    Append(
        R"({"metadata":{"namespace":")" + ns + R"(","name":")" + name +
            R"("},"data":{"elastic_scaling.json":"{\"version\":\"1.0\",\"elastic_scaling_list\":[)" +
            shape(13, 7) + "," + shape(8, 4) + R"(]}"}})",
        rules_);
  }
  void AddWaitingJob(int i) {
    const std::string name = "waiting-" + std::to_string(i);
    AddGroup("queue", name, "AscendJob/" + name, "", 8);
    for (int rank = 0; rank < 8; ++rank) {
      AddPod("queue", name + "-" + std::to_string(rank), "AscendJob/" + name, "", name, "", 0, 8);
    }
  }

  std::string nodes_;
  std::string pods_;
  std::string groups_;
  std::string rules_;
  std::set<std::string> groups_made_;
  int service_pods_ = 0;
};

// The program itself, in a process of its own: reading, every single loss, the order of drains, and
// its output.
bool RunCommand(const std::string& program, const std::string& text) {
  using Clock = std::chrono::steady_clock;
  char file[] = "/tmp/what_if_bench_XXXXXX";
  const int to = ::mkstemp(file);
  if (to < 0 || ::write(to, text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
    std::fprintf(stderr, "%s cannot be written\n", file);
    return false;
  }
  const auto begin = Clock::now();
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(::open("/dev/null", O_WRONLY), STDOUT_FILENO);
    ::execl(program.c_str(), program.c_str(), "what-if", "--each-node", "--snapshot", file,
            nullptr);
    std::_Exit(127);
  }
  int status = 0;
  struct rusage usage{};
  ::wait4(child, &status, 0, &usage);
  ::close(to);
  ::unlink(file);
  if (!WIFEXITED(status) || WEXITSTATUS(status) > 1) {
    std::fprintf(stderr, "%s what-if failed\n", program.c_str());
    return false;
  }
  std::printf("mindgate what-if --each-node: %.1f s, %.0f MB of memory at most\n",
              Seconds(Clock::now() - begin), static_cast<double>(usage.ru_maxrss) * 1024 / 1e6);
  return true;
}

int Run(int nodes, int sample, const std::string& program) {
  using Clock = std::chrono::steady_clock;
  what_if::ClusterSnapshot snapshot;
  {
    std::string text = LargeCluster(nodes).Text();
    if (!RunCommand(program, text)) return 1;
    std::printf("%d nodes, a snapshot of %.0f MB\n", nodes, static_cast<double>(text.size()) / 1e6);
    const auto before = Clock::now();
    auto read = what_if::ReadSnapshot(text);
    if (!read) {
      std::fprintf(stderr, "the snapshot cannot be read\n");
      return 1;
    }
    snapshot = *std::move(read);
    std::printf("read: %.1f s\n", Seconds(Clock::now() - before));
  }
  const auto begin = Clock::now();
  const what_if::InitialState initial(snapshot);
  what_if::Forecaster forecaster(initial);
  const double ready = Seconds(Clock::now() - begin);
  std::vector<what_if::Impact> impacts;
  const auto losses = EachNode(initial.inventory);
  const auto asked = Clock::now();
  for (const what_if::SingleLoss& loss : losses) {
    impacts.push_back(ImpactOf(loss.name, forecaster.Of(loss.hypothesis)));
  }
  const double each = Seconds(Clock::now() - asked);
  Rank(impacts);
  const auto stops = std::count_if(impacts.begin(), impacts.end(),
                                   [](const auto& impact) { return !impact.costs_nothing(); });
  std::printf("%zu pods, decided without a loss: %.1f s\n", snapshot.pods.size(), ready);
  std::printf("every node: %.1f s, %.2f ms a node; %td stop something\n", each, each * 1000 / nodes,
              stops);
  double single = 0;
  for (int i = 0; i < sample; ++i) {
    const what_if::SingleLoss& loss =
        losses[losses.size() * static_cast<size_t>(i) / static_cast<size_t>(sample)];
    const auto once = Clock::now();
    what_if::Forecast want = ForecastOf(snapshot, loss.hypothesis);
    single += Seconds(Clock::now() - once);
    for (what_if::InstanceForecast& instance : want.instances) {
      if (!instance.shortage) continue;
      instance.shortage->left_out.clear();
      instance.shortage->unknown.clear();
    }
    if (forecaster.Of(loss.hypothesis) == want) continue;
    std::fprintf(stderr, "%s: the answer is not that of a single question\n", loss.name.c_str());
    return 1;
  }
  if (sample > 0) {
    single /= sample;
    std::printf(
        "single questions, %d of them, all with the same answers: %.2f s each, %.0f times as "
        "long\n",
        sample, single, single / ((ready + each) / nodes));
  }
  return 0;
}

}  // namespace
}  // namespace mindgate::bench

int main(int count, char** arguments) {
  return mindgate::bench::Run(count > 1 ? std::atoi(arguments[1]) : 10'000,
                              count > 2 ? std::atoi(arguments[2]) : 20,
                              count > 3 ? arguments[3] : "build/release/mindgate");
}
