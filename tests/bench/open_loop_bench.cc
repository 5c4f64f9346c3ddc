// What callers wait at a steady rate, when requests are sent at fixed times whether or not answers
// came: the server has one core, the client another.
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

#include "bench/measure.h"
#include "bench/open_loop.h"
#include "bench/reviews.h"
#include "bench/server_process.h"

namespace mindgate::bench {
namespace {

constexpr size_t kConnections = 25;

struct Cores {
  std::optional<int> client;
  std::optional<int> server;
};

// The server's is not the first: that one serves most interrupts.
Cores TwoCores() {
  const unsigned cores = std::thread::hardware_concurrency();
  if (cores < 2) return {};
  return {0, static_cast<int>(cores) - 1};
}

void Row(const char* name, const ServerProcess& server, const std::string& request, int per_second,
         std::chrono::milliseconds duration, const Cores& cores) {
  PinTo(cores.client);
  (void)OpenLoop(server.port(), request, kConnections).Run(per_second, duration / 10);  // warm
  OpenLoop client(server.port(), request, kConnections);
  const double before = server.CpuTime();
  const OpenLoopResult result = client.Run(per_second, duration);
  const double cpu =
      (server.CpuTime() - before) / static_cast<double>(result.answers + result.lost);
  PinTo(std::nullopt);
  std::printf("  %-10s %9d %9.0f %9.0f %9.0f %9.0f %12.0f", name, per_second, result.p50,
              result.p99, result.max, cpu, result.late_p99);
  if (result.lost > 0)
    std::printf("   %llu without an answer", static_cast<unsigned long long>(result.lost));
  std::printf("\n");
  std::fflush(stdout);
}

}  // namespace
}  // namespace mindgate::bench

// open_loop_bench [SECONDS a row]
int main(int argc, char** argv) {
  using namespace mindgate::bench;
  std::signal(SIGPIPE, SIG_IGN);
  const std::chrono::seconds duration(argc > 1 ? std::max(1, std::atoi(argv[1])) : 10);
  const Cores cores = TwoCores();
  const CertFolder folder;
  const std::string request = RequestOf(10 * 1024);
  std::printf("\nOpen loop over TLS, 10 KB, %zu connections, %lld s a row, %s\n", kConnections,
              static_cast<long long>(duration.count()),
              cores.server ? "the server on one core, the client on another"
                           : "client and server on the only core: the client takes its share");
  std::printf("  %-10s %9s %9s %9s %9s %9s %12s\n", "server", "a second", "p50 us", "p99 us",
              "max us", "CPU us", "late p99 us");
  {
    const uint16_t port = FreePort();
    const ServerProcess mindgate(MindgateCommand(folder, port), port, request, cores.server);
    for (const int rate : {300, 2000}) Row("mindgate", mindgate, request, rate, duration, cores);
  }
  const uint16_t port = FreePort();
  if (const auto command = GoCommand(folder, port); !command.empty()) {
    const ServerProcess go(command, port, request, cores.server);
    Row("Go webhook", go, request, 300, duration,
        cores);  // 2,000 a second are more than a core does
  }
  return 0;
}
