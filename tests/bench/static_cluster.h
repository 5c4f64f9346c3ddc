#pragma once

#include <poll.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "kube/http_server.h"
#include "support/scaling.h"

namespace mindgate::bench {

// A large cluster in which nothing happens, behind an API server that writes each page from a
// pattern: what is measured beside it is the watcher and not a store of 100,000 objects. Twenty
// pods of three kilobytes a service, all of which run, and a rule for each service.
class StaticCluster {
 public:
  StaticCluster(int64_t nodes, int64_t services, const char* shapes)
      : nodes_(nodes),
        services_(services),
        rule_(Escaped(testing::RuleText(shapes))),
        server_({}, [this](const kube::testing::HttpRequest& request) { return Answer(request); }) {
  }

  std::string url() const { return "http://127.0.0.1:" + std::to_string(server_.port()); }
  uint64_t bytes() const { return bytes_; }  // of all lists

 private:
  using HttpRequest = kube::testing::HttpRequest;
  using HttpResponse = kube::testing::HttpResponse;

  static std::string Escaped(std::string_view text) {
    std::string escaped;
    for (const char c : text) escaped += c == '"' ? std::string("\\\"") : std::string(1, c);
    return escaped;
  }
  static std::string Namespace(int64_t service) { return "team-" + std::to_string(service % 50); }
  static std::string Metadata(const std::string& ns, const std::string& name) {
    return R"({"metadata":{"namespace":")" + ns + R"(","name":")" + name + R"(","uid":"uid-)" +
           name + R"(","resourceVersion":"1","creationTimestamp":"2026-01-01T00:00:00Z")";
  }
  static std::string Pod(int64_t number) {
    static const std::string kRest = [] {
      std::string rest = R"(,"managedFields":[{"manager":"kube-controller-manager","fieldsV1":")" +
                         std::string(1400, 'f') +
                         R"("}]},"spec":{"nodeName":"node-1","containers":[{"name":"server",)"
                         R"("image":"example/server","env":[)";
      for (int i = 0; i < 20; ++i) {
        rest += std::string(i == 0 ? "" : ",") + R"({"name":"VARIABLE_)" + std::to_string(i) +
                R"(","value":"a value of some length"})";
      }
      return rest +
             R"(],"resources":{"limits":{"huawei.com/Ascend910":"8","cpu":"32"}}}]},"status":)"
             R"({"phase":"Running","conditions":[{"type":"Ready","status":"True"}]}})";
    }();
    const int64_t service = number / 20;
    const int64_t of_service = number % 20;
    const std::string id = std::to_string(service);
    const std::string group = of_service < 14 ? "p" : "d";
    return Metadata(Namespace(service), "s" + id + "-" + std::to_string(of_service)) +
           R"(,"labels":{"jobID":"service-)" + id + R"(","mind-cluster/scaling-rule":"rule-)" + id +
           R"(","mind-cluster/group-name":")" + group + R"("})" + kRest;
  }
  static std::string Node(int64_t number) {
    return Metadata("", "node-" + std::to_string(number)) +
           R"(},"status":{"conditions":[{"type":"Ready","status":"True"}]}})";
  }
  std::string Rule(int64_t number) const {
    return Metadata(Namespace(number), "rule-" + std::to_string(number)) +
           R"(},"data":{"elastic_scaling.json":")" + rule_ + R"("}})";
  }

  static std::string Parameter(const HttpRequest& request, const char* name) {
    const auto found = request.query.find(name);
    return found == request.query.end() ? "" : found->second;
  }

  HttpResponse Answer(const HttpRequest& request) {
    if (request.method != "GET") return {.status = 201, .body = "{}"};
    if (!Parameter(request, "watch").empty()) return Watch();
    const bool pods = request.path.ends_with("/pods");
    const bool rules = request.path.ends_with("/configmaps");
    const std::string selector = Parameter(request, "fieldSelector");
    constexpr std::string_view kByName = "metadata.name=rule-";
    if (rules && selector.starts_with(kByName)) {
      const int64_t number = std::strtoll(selector.c_str() + kByName.size(), nullptr, 10);
      return List(Rule(number), "");
    }
    const int64_t all = pods                               ? services_ * 20
                        : rules                            ? services_
                        : request.path.ends_with("/nodes") ? nodes_
                                                           : 0;
    const int64_t begin = std::strtoll(Parameter(request, "continue").c_str(), nullptr, 10);
    const int64_t limit = std::strtoll(Parameter(request, "limit").c_str(), nullptr, 10);
    const int64_t end = limit > 0 ? std::min(all, begin + limit) : all;
    std::string items;
    for (int64_t i = begin; i < end; ++i) {
      if (i > begin) items += ',';
      items += pods ? Pod(i) : rules ? Rule(i) : Node(i);
    }
    return List(items, end < all ? std::to_string(end) : "");
  }

  HttpResponse List(const std::string& items, const std::string& token) {
    HttpResponse response;
    response.body =
        R"({"kind":"List","apiVersion":"v1","metadata":{"resourceVersion":"1","continue":")" +
        token + R"("},"items":[)" + items + "]}";
    bytes_ += response.body.size();
    return response;
  }

  static HttpResponse Watch() {
    HttpResponse response;
    response.stream = [](kube::testing::HttpStream& stream) {
      stream.Write(R"({"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"1"}}})"
                   "\n");
      pollfd gone{.fd = stream.socket(), .events = POLLIN, .revents = 0};
      ::poll(&gone, 1, -1);
      return true;
    };
    return response;
  }

  const int64_t nodes_;
  const int64_t services_;
  const std::string rule_;
  std::atomic<uint64_t> bytes_ = 0;
  kube::testing::HttpServer server_;
};

}  // namespace mindgate::bench
