// What the webhook costs over TLS, beside a webhook in Go that makes the same changes, in the same
// run and in turns. The client shares the machine with both.
#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <optional>

#include "bench/reviews.h"
#include "bench/server_process.h"
#include "bench/tls_load.h"
#include "certs/base64.h"

namespace mindgate::bench {
namespace {

using std::chrono::milliseconds;

// The object of a review after the patch that the server answers with; null without one.
Json Mutated(const ServerProcess& server, const std::string& request) {
  const SslContext context = ClientContext();
  TlsConnection connection(context.get(), server.port());
  if (!connection.Ask(request)) return nullptr;
  const Json review = Json::parse(request.substr(request.find("\r\n\r\n") + 4));
  const Json answer = Json::parse(connection.answer().Body());
  const Json patch = answer["response"].value("patch", Json());
  if (!patch.is_string()) return nullptr;
  const auto operations = certs::DecodeBase64(patch.get<std::string>());
  return operations ? review["request"]["object"].patch(Json::parse(*operations)) : Json();
}

// False, and says what differs, when the two do not do the same.
bool DoTheSame(const ServerProcess& mindgate, const ServerProcess& go, const std::string& request) {
  const Json ours = Mutated(mindgate, request);
  const Json theirs = Mutated(go, request);
  if (!ours.is_null() && ours == theirs) return true;
  std::printf("\nthe Go webhook makes another object, so the ratios mean nothing: %s\n",
              Json::diff(ours, theirs).dump().substr(0, 1000).c_str());
  return false;
}

// One server under load, in several turns.
class Measured {
 public:
  explicit Measured(const ServerProcess& server) : server_(server) {}

  void Turn(const std::string& request, size_t connections, milliseconds duration) {
    const double before = server_.CpuTime();
    const LoadResult load = Load(server_.port(), request, connections, duration);
    cpu_ += server_.CpuTime() - before;
    answers_ += load.answers;
    seconds_ += load.seconds;
    last_ = load;
  }

  double cpu_a_review() const { return answers_ == 0 ? 0 : cpu_ / static_cast<double>(answers_); }
  double rate() const { return static_cast<double>(answers_) / seconds_; }
  const LoadResult& last() const { return last_; }

 private:
  const ServerProcess& server_;
  double cpu_ = 0;
  uint64_t answers_ = 0;
  double seconds_ = 0;
  LoadResult last_;
};

// Returns whether both do the same.
bool Against(const ServerProcess& mindgate, const ServerProcess* go, milliseconds duration) {
  constexpr int kTurns = 3;
  constexpr size_t kConnections = 16;
  struct Row {
    const char* kind;
    std::string request;
  };
  const std::array<Row, 4> rows = {
      Row{kStormService.kind, RequestOf(5 << 10)}, Row{kStormService.kind, RequestOf(10 << 10)},
      Row{kStormService.kind, RequestOf(60 << 10)},
      Row{kLeaderWorkerSet.kind, RequestOf(60 << 10, kLeaderWorkerSet)}};
  const bool same = go == nullptr || std::all_of(rows.begin(), rows.end(), [&](const Row& row) {
                      return DoTheSame(mindgate, *go, row.request);
                    });
  std::printf("\nCPU of the server for one review, microseconds, %zu connections, in turns\n",
              kConnections);
  std::printf("  %7s %-16s %8s %12s %8s %12s %12s\n", "body", "kind", "mindgate", "Go webhook",
              "ratio", "mindgate/s", "Go/s");
  for (const auto& [kind, request] : rows) {
    Measured ours(mindgate);
    std::optional<Measured> theirs;
    if (go != nullptr) theirs.emplace(*go);
    for (int i = 0; i < kTurns; ++i) {
      ours.Turn(request, kConnections, duration);
      if (theirs) theirs->Turn(request, kConnections, duration);
    }
    std::printf("  %4.1f KB %-16s %8.0f", static_cast<double>(request.size()) / 1024, kind,
                ours.cpu_a_review());
    if (theirs) {
      std::printf(" %12.0f %8.1f %12.0f %12.0f\n", theirs->cpu_a_review(),
                  theirs->cpu_a_review() / ours.cpu_a_review(), ours.rate(), theirs->rate());
    } else {
      std::printf(" %12s %8s %12.0f %12s\n", "-", "-", ours.rate(), "-");
    }
    std::fflush(stdout);
  }
  return same;
}

void Saturation(const ServerProcess& mindgate, milliseconds duration) {
  const std::string request = RequestOf(10 * 1024);
  std::printf("\nmindgate when each connection asks again at once, 10 KB\n");
  std::printf("  %11s %10s %10s %10s %8s\n", "connections", "reviews/s", "p50 us", "p99 us",
              "CPU us");
  for (const size_t connections : {1u, 16u, 64u, 256u}) {
    Measured ours(mindgate);
    ours.Turn(request, connections, duration);
    std::printf("  %11zu %10.0f %10.0f %10.0f %8.0f", connections, ours.rate(), ours.last().p50,
                ours.last().p99, ours.cpu_a_review());
    if (ours.last().starved > 0) {
      std::printf("   %zu connections got no answer", ours.last().starved);
    }
    std::printf("\n");
    std::fflush(stdout);
  }
}

void Memory(const CertFolder& folder, uint64_t reviews) {
  const std::string request = RequestOf(10 * 1024);
  const uint16_t port = FreePort();
  const ServerProcess server(MindgateCommand(folder, port), port, request);
  std::printf("\nMemory of mindgate, MiB resident\n  idle %28.1f\n", server.ResidentMib());
  (void)Load(port, request, 64, std::chrono::seconds(2));
  std::printf("  64 connections, loaded %10.1f\n", server.ResidentMib());
  for (int part = 1; part <= 4 && reviews > 0; ++part) {
    (void)Load(port, request, 8, milliseconds(0), reviews / 4);
    std::printf("  after %9llu reviews %8.1f\n",
                static_cast<unsigned long long>(reviews / 4 * part), server.ResidentMib());
    std::fflush(stdout);
  }
}

// From exec to the first answer.
void Start(const CertFolder& folder) {
  const std::string request = RequestOf(0);
  std::vector<double> times;
  for (int i = 0; i < 5; ++i) {
    const uint16_t port = FreePort();
    const auto start = std::chrono::steady_clock::now();
    const ServerProcess server(MindgateCommand(folder, port), port, request);
    times.push_back(
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
            .count());
  }
  std::sort(times.begin(), times.end());
  std::printf("\nFrom exec to the first answer: %.0f ms (median of 5)\n", times[2]);
}

}  // namespace
}  // namespace mindgate::bench

// webhook_bench [MILLISECONDS a turn [REVIEWS of the memory run]]: 10^6 reviews take minutes.
int main(int argc, char** argv) {
  using namespace mindgate::bench;
  std::signal(SIGPIPE, SIG_IGN);
  const std::chrono::milliseconds duration(argc > 1 ? std::max(1, std::atoi(argv[1])) : 2000);
  const uint64_t reviews = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 40'000;
  const CertFolder folder;
  bool same = true;
  std::printf(
      "\nTLS 1.3, ECDSA P-256, keep-alive, loopback; the client takes its share of the cores\n");
  {
    const std::string probe = RequestOf(0);
    const uint16_t port = FreePort();
    const ServerProcess mindgate(MindgateCommand(folder, port), port, probe);
    std::optional<ServerProcess> go;
    const uint16_t go_port = FreePort();
    if (const auto command = GoCommand(folder, go_port); !command.empty()) {
      go.emplace(command, go_port, probe);
    }
    same = Against(mindgate, go ? &*go : nullptr, duration);
    Saturation(mindgate, duration);
  }
  Memory(folder, reviews);
  Start(folder);
  return same ? 0 : 1;
}
