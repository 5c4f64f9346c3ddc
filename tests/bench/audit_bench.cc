// `mindgate audit` of a large cluster, as a process beside an API server that writes each page from
// a pattern: CPU and memory of the whole command.
//   audit_bench [WORKLOADS [PROGRAM]]      default 10000 build/release/mindgate
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>

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

  std::string Deployment(int64_t number) const {
    std::string spec = spec_;
    const size_t at = spec.find("VALUE");
    spec.replace(at, 5, number % 2 == 0 ? "force" : "forced");
    return Metadata(Namespace(number), "llm-" + std::to_string(number)) + spec;
  }
  std::string ReplicaSet(int64_t number) const {
    const std::string name = "llm-" + std::to_string(number);
    return Metadata(Namespace(number), name + "-7d") + Owner("Deployment", name) + spec_.substr(1);
  }
  std::string PodOf(int64_t number) const {
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
  static std::string Node(int64_t number) {
    return R"({"metadata":{"name":"npu-)" + std::to_string(number) +
           R"("},"status":{"allocatable":{"huawei.com/Ascend910":"8"},)"
           R"("capacity":{"huawei.com/Ascend910":"8"},)"
           R"("conditions":[{"type":"Ready","status":"True"}]}})";
  }

  HttpResponse Answer(const HttpRequest& request) {
    using Make = std::string (AuditedCluster::*)(int64_t) const;
    constexpr std::array<std::pair<std::string_view, Make>, 3> kMade = {
        {{"/deployments", &AuditedCluster::Deployment},
         {"/replicasets", &AuditedCluster::ReplicaSet},
         {"/pods", &AuditedCluster::PodOf}}};
    const bool nodes = request.path.ends_with("/nodes");
    const auto* const made = std::find_if(kMade.begin(), kMade.end(), [&](const auto& one) {
      return request.path.ends_with(one.first);
    });
    const int64_t all = nodes ? nodes_ : made != kMade.end() ? workloads_ : 0;
    const auto parameter = [&](const char* name) {
      const auto found = request.query.find(name);
      return found == request.query.end() ? 0 : std::strtoll(found->second.c_str(), nullptr, 10);
    };
    const int64_t begin = parameter("continue");
    const int64_t limit = parameter("limit");
    const int64_t end = limit > 0 ? std::min(all, begin + limit) : all;
    std::string items;
    for (int64_t i = begin; i < end; ++i) {
      if (i > begin) items += ',';
      items += nodes ? Node(i) : (this->*made->second)(i);
    }
    HttpResponse response;
    response.body =
        R"({"kind":"List","apiVersion":"v1","metadata":{"resourceVersion":"1","continue":")" +
        (end < all ? std::to_string(end) : "") + R"("},"items":[)" + items + "]}";
    return response;
  }

  const int64_t workloads_;
  const int64_t nodes_;
  const std::string spec_;
  kube::testing::HttpServer server_;
};

int Run(int64_t workloads, const char* program) {
  const AuditedCluster cluster(workloads);
  const std::string server = "--server=" + cluster.url();
  const pid_t pid = ::fork();
  if (pid == 0) {
    const int nowhere = ::open("/dev/null", O_WRONLY);
    ::dup2(nowhere, 1);
    ::dup2(nowhere, 2);
    ::execl(program, program, "audit", "-A", "-o", "json", server.c_str(), nullptr);
    std::_Exit(127);
  }
  int status = 0;
  rusage usage{};
  ::wait4(pid, &status, 0, &usage);
  // Something is denied.
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 1) {
    std::fprintf(stderr, "%s audit ended with %d\n", program, status);
    return 1;
  }
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  const double cpu = seconds(usage.ru_utime) + seconds(usage.ru_stime);
  const double megabytes = static_cast<double>(usage.ru_maxrss) / 1024;
  std::printf("audit of %lld workloads: %.2f s of CPU (at most 3), %.0f MiB (at most 200)\n",
              static_cast<long long>(workloads), cpu, megabytes);
  return 0;
}

}  // namespace
}  // namespace mindgate::bench

int main(int count, char** arguments) {
  return mindgate::bench::Run(count > 1 ? std::atoi(arguments[1]) : 10'000,
                              count > 2 ? arguments[2] : "build/release/mindgate");
}
