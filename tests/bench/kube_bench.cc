// What it costs to follow the pods of a cluster: memory for each that is kept, time for each that
// changes. The API server is a stub in memory, so that only the client is measured.
//   kube_bench [PODS...]      default 10000 100000

#include <sys/wait.h>
#include <unistd.h>

#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "json/value.h"
#include "kube/informer.h"
#include "kube/transport.h"
#include "measure.h"

namespace mindgate::bench {
namespace {

using kube::Answer;
using kube::HttpAnswer;
using kube::HttpCall;

// What a watcher wants to know of a pod.
struct PodFacts {
  std::string uid;
  std::string node;
  std::string phase;
  std::string group;
  std::string owner;
  int64_t npus = 0;
  bool gated = false;
};

std::string Text(const json::Value& object, std::initializer_list<std::string_view> keys) {
  return std::string(json::AsString(json::FindPath(object, keys)).value_or(""));
}

std::optional<PodFacts> FactsOf(const json::Value& pod) {
  PodFacts facts;
  facts.uid = Text(pod, {"metadata", "uid"});
  facts.node = Text(pod, {"spec", "nodeName"});
  facts.phase = Text(pod, {"status", "phase"});
  facts.group = Text(pod, {"metadata", "annotations", "scheduling.k8s.io/group-name"});
  facts.owner = Text(pod, {"metadata", "labels", "volcano.sh/job-name"});
  facts.gated = json::Find(json::Find(pod, "spec"), "schedulingGates") != nullptr;
  return facts;
}

// A pod as an API server stores it: 5 KB, most of which nobody needs to keep.
std::string PodText(int64_t number, const char* phase) {
  const std::string n = std::to_string(number);
  std::string text =
      R"({"metadata":{"name":"train-worker-)" + n + R"(","namespace":"team-)" +
      std::to_string(number % 50) + R"(","uid":"11111111-2222-3333-4444-)" +
      std::to_string(100000000000 + number) + R"(","resourceVersion":")" +
      std::to_string(1000000 + number) + R"(","labels":{"volcano.sh/job-name":"train-)" +
      std::to_string(number / 8) +
      R"(","fault-scheduling":"force"},"annotations":{"scheduling.k8s.io/group-name":"train-)" +
      std::to_string(number / 8) + R"("},"managedFields":[)";
  for (int i = 0; i < 3; ++i) {
    text += std::string(i == 0 ? "" : ",") + R"({"manager":"m)" + std::to_string(i) +
            R"(","operation":"Update","fieldsV1":{)";
    for (int f = 0; f < 30; ++f) {
      text += std::string(f == 0 ? "" : ",") + R"("f:field-)" + std::to_string(f) + R"(":{})";
    }
    text += "}}";
  }
  text +=
      R"(]},"spec":{"nodeName":"node-)" + std::to_string(number % 1000) +
      R"(","schedulerName":"volcano","containers":[{"name":"worker","image":"registry.example/train:1",)"
      R"("resources":{"limits":{"huawei.com/Ascend910":"8"},"requests":{"huawei.com/Ascend910":"8"}},"env":[)";
  for (int i = 0; i < 20; ++i) {
    text += std::string(i == 0 ? "" : ",") + R"({"name":"VARIABLE_)" + std::to_string(i) +
            R"(","value":"some value of it"})";
  }
  text +=
      std::string(R"(]}]},"status":{"phase":")") + phase +
      R"(","conditions":[{"type":"Ready","status":"True"},{"type":"PodScheduled","status":"True"}]}})";
  return text;
}

class Stub final : public kube::Transport {
 public:
  Stub(int64_t pods, int64_t events) : pods_(pods), events_(events) {}

  Answer<HttpAnswer> Send(const HttpCall& call, std::stop_token) override {
    int64_t first = 0;
    if (const size_t at = call.path.find("continue="); at != std::string::npos) {
      std::from_chars(call.path.data() + at + 9, call.path.data() + call.path.size(), first);
    }
    const int64_t end = std::min(first + 500, pods_);
    HttpAnswer answer{.status = 200};
    answer.body = R"({"kind":"PodList","metadata":{"resourceVersion":"1")";
    if (end < pods_) answer.body += R"(,"continue":")" + std::to_string(end) + "\"";
    answer.body += R"(},"items":[)";
    for (int64_t i = first; i < end; ++i) {
      if (i > first) answer.body += ',';
      answer.body += PodText(i, "Running");
    }
    answer.body += "]}";
    return answer;
  }

  Answer<HttpAnswer> Stream(const HttpCall&, const Consume& consume, std::stop_token) override {
    listed();
    std::chrono::nanoseconds spent{0};
    for (int64_t i = 0; i < events_; ++i) {
      const std::string line = Line(i * 7919 % pods_);
      const auto begin = std::chrono::steady_clock::now();
      consume(line);
      spent += std::chrono::steady_clock::now() - begin;
    }
    event_microseconds =
        std::chrono::duration<double, std::micro>(spent).count() / static_cast<double>(events_);
    done();
    return HttpAnswer{.status = 200};
  }

  std::function<void()> listed;
  std::function<void()> done;
  double event_microseconds = 0;

 private:
  static std::string Line(int64_t number) {
    return R"({"type":"MODIFIED","object":)" + PodText(number, "Failed") + "}\n";
  }

  const int64_t pods_;
  const int64_t events_;
};

void FollowPods(int64_t pods) {
  constexpr int64_t kEvents = 20'000;
  Stub stub(pods, kEvents);
  kube::RealSleeper sleeper;
  const SystemClock clock;
  kube::Client client(stub, sleeper);
  std::stop_source stop;
  stub.done = [&] { stop.request_stop(); };
  kube::Informer<PodFacts>::Options options;
  options.selection.resource = kube::resources::kPods;
  options.selection.fields = {{"metadata", "labels", "volcano.sh/job-name"},
                              {"metadata", "annotations", "scheduling.k8s.io/group-name"},
                              {"spec", "nodeName"},
                              {"spec", "schedulingGates"},
                              {"status", "phase"}};
  options.project = FactsOf;
  kube::Informer<PodFacts> informer(client, sleeper, clock, std::move(options));
  const double before = ResidentBytes();
  const auto begin = std::chrono::steady_clock::now();
  double after = 0;
  double list_ms = 0;
  stub.listed = [&] {
    after = ResidentBytes();
    list_ms =
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
  };
  informer.Run(stop.get_token());
  std::printf(
      "%7lld pods of %zu B: %4.0f B resident for each (%.1f MiB in all), list %.0f ms, %.1f us a "
      "change\n",
      static_cast<long long>(pods), PodText(1, "Running").size(),
      (after - before) / static_cast<double>(pods), (after - before) / (1024 * 1024), list_ms,
      stub.event_microseconds);
  if (informer.objects()->size() != static_cast<size_t>(pods)) std::abort();
}

}  // namespace
}  // namespace mindgate::bench

int main(int argc, char** argv) {
  std::vector<int64_t> sizes;
  for (int i = 1; i < argc; ++i) sizes.push_back(std::atoll(argv[i]));
  if (sizes.empty()) sizes = {10'000, 100'000};
  // Each in a process of its own, so that none profits from what the one before has freed.
  for (const int64_t size : sizes) {
    const pid_t child = ::fork();
    if (child == 0) {
      mindgate::bench::FollowPods(size);
      std::fflush(stdout);
      std::_Exit(0);
    }
    ::waitpid(child, nullptr, 0);
  }
}
