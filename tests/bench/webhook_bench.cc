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
#include "certs/certificate.h"

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

// One server under load, in several turns over the same connections.
class Measured {
 public:
  Measured(const ServerProcess& server, size_t connections)
      : server_(server), callers_(server.port(), connections) {}

  const LoadResult& Turn(const std::string& request, milliseconds duration) {
    return last_ = callers_.Ask(request, duration);
  }

  // What it has used up to now, in microseconds.
  double CpuTime() const { return server_.CpuTime(); }
  const LoadResult& last() const { return last_; }

 private:
  const ServerProcess& server_;
  Callers callers_;
  LoadResult last_;
};

double MedianOf(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

// What several turns of one server cost.
class Turns {
 public:
  // The server used so much CPU for what `load` got.
  void Add(double cpu, const LoadResult& load) {
    if (load.answers > 0) cpu_a_review_.push_back(cpu / static_cast<double>(load.answers));
    rate_.push_back(static_cast<double>(load.answers) / load.seconds);
  }

  const std::vector<double>& all() const { return cpu_a_review_; }
  double cpu_a_review() const { return cpu_a_review_.empty() ? 0 : MedianOf(cpu_a_review_); }
  double rate() const { return MedianOf(rate_); }

 private:
  std::vector<double> cpu_a_review_;
  std::vector<double> rate_;
};

// The speed of a shared machine changes within seconds. So the two take short turns in pairs, the
// one or the other first, and what counts is the median of the ratios of the pairs, not the ratio
// of two sums. Each server's CPU is that of the whole pair: a garbage collection that outlasts a
// turn belongs to it.
constexpr int kPairs = 31;

// The ratios of all pairs, in order.
std::vector<double> InPairs(Measured& ours, Measured& theirs, const std::string& request,
                            milliseconds turn, Turns& of_ours, Turns& of_theirs) {
  (void)ours.Turn(request, turn);
  (void)theirs.Turn(request, turn);
  std::vector<double> ratios;
  for (int i = 0; i < kPairs; ++i) {
    const double ours_before = ours.CpuTime();
    const double theirs_before = theirs.CpuTime();
    for (Measured* each : i % 2 == 0 ? std::array{&ours, &theirs} : std::array{&theirs, &ours}) {
      (void)each->Turn(request, turn);
    }
    of_ours.Add(ours.CpuTime() - ours_before, ours.last());
    of_theirs.Add(theirs.CpuTime() - theirs_before, theirs.last());
    if (ours.last().answers == 0 || theirs.last().answers == 0) continue;
    ratios.push_back(of_theirs.all().back() / of_ours.all().back());
  }
  std::sort(ratios.begin(), ratios.end());
  return ratios;
}

// Returns whether both do the same.
bool Against(const ServerProcess& mindgate, const ServerProcess* go, milliseconds duration) {
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
  std::printf(
      "\nCPU of the server for one review, microseconds, %zu connections; medians of %d pairs of "
      "turns\n",
      kConnections, kPairs);
  std::printf("  %7s %-16s %8s %12s %8s %16s %12s %12s\n", "body", "kind", "mindgate", "Go webhook",
              "ratio", "half of all", "mindgate/s", "Go/s");
  Measured ours(mindgate, kConnections);
  std::optional<Measured> theirs;
  if (go != nullptr) theirs.emplace(*go, kConnections);
  const milliseconds turn = std::max(milliseconds(1), 3 * duration / kPairs);
  for (const auto& [kind, request] : rows) {
    Turns of_ours;
    std::printf("  %4.1f KB %-16s", static_cast<double>(request.size()) / 1024, kind);
    if (theirs) {
      Turns of_theirs;
      const auto ratios = InPairs(ours, *theirs, request, turn, of_ours, of_theirs);
      if (ratios.empty()) {
        std::printf(" a server gave no answers\n");
        return false;
      }
      std::printf(" %8.0f %12.0f %8.1f %7.1f - %6.1f %12.0f %12.0f\n", of_ours.cpu_a_review(),
                  of_theirs.cpu_a_review(), MedianOf(ratios), ratios[ratios.size() / 4],
                  ratios[ratios.size() * 3 / 4], of_ours.rate(), of_theirs.rate());
    } else {
      for (int i = 0; i < kPairs; ++i) {
        const double before = ours.CpuTime();
        const LoadResult& load = ours.Turn(request, turn);
        of_ours.Add(ours.CpuTime() - before, load);
      }
      std::printf(" %8.0f %12s %8s %16s %12.0f %12s\n", of_ours.cpu_a_review(), "-", "-", "-",
                  of_ours.rate(), "-");
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
    Measured ours(mindgate, connections);
    const double before = ours.CpuTime();
    const LoadResult& load = ours.Turn(request, duration);
    Turns turns;
    turns.Add(ours.CpuTime() - before, load);
    std::printf("  %11zu %10.0f %10.0f %10.0f %8.0f", connections, turns.rate(), load.p50, load.p99,
                turns.cpu_a_review());
    if (load.starved > 0) std::printf("   %zu connections got no answer", load.starved);
    std::printf("\n");
    std::fflush(stdout);
  }
}

void Memory(const CertFolder& folder, uint64_t reviews) {
  const std::string request = RequestOf(10 * 1024);
  const uint16_t port = FreePort();
  const ServerProcess server(MindgateCommand(folder, port), port, request);
  std::printf("\nMemory of mindgate, MiB resident\n  idle %28.1f\n", server.ResidentMib());
  (void)Callers(port, 64).Ask(request, std::chrono::seconds(2));
  std::printf("  64 connections, loaded %10.1f\n", server.ResidentMib());
  for (int part = 1; part <= 4 && reviews > 0; ++part) {
    (void)Callers(port, 8).Ask(request, milliseconds(0), reviews / 4);
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

// webhook_bench [MILLISECONDS [REVIEWS of the memory run]]: how long a server is under load for a
// figure, three times that for those of pairs; 10^6 reviews take minutes.
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
