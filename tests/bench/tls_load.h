#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "bench/tls_connection.h"

// A client that keeps some TLS connections open and asks on each as soon as it has its answer: it
// shows what a server can do at most, and not how long callers wait at a rate of their own.
namespace mindgate::bench {

struct LoadResult {
  uint64_t answers = 0;
  double seconds = 0;
  double p50 = 0;  // microseconds
  double p99 = 0;
  size_t starved = 0;  // connections without a single answer
};

// `connections` threads, one each, until `duration` has passed and at least `least` answers came.
inline LoadResult Load(uint16_t port, const std::string& request, size_t connections,
                       std::chrono::milliseconds duration, uint64_t least = 0) {
  using Clock = std::chrono::steady_clock;
  const SslContext context = ClientContext();
  std::atomic<uint64_t> answers{0};
  std::vector<std::vector<uint32_t>> samples(connections);
  std::vector<std::jthread> threads;
  const auto start = Clock::now();
  const auto ended = [&] { return Clock::now() - start >= duration && answers >= least; };
  for (size_t i = 0; i < connections; ++i) {
    threads.emplace_back([&, i] {
      TlsConnection connection(context.get(), port);
      while (!ended()) {
        const auto asked = Clock::now();
        if (!connection.Ask(request)) return;
        samples[i].push_back(static_cast<uint32_t>(
            std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - asked).count() /
            100));
        ++answers;
      }
    });
  }
  threads.clear();
  LoadResult result;
  result.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  std::vector<uint32_t> all;
  for (const auto& of_one : samples) {
    if (of_one.empty()) ++result.starved;
    all.insert(all.end(), of_one.begin(), of_one.end());
  }
  result.answers = all.size();
  if (all.empty()) return result;
  std::sort(all.begin(), all.end());
  result.p50 = all[all.size() / 2] / 10.0;
  result.p99 = all[all.size() * 99 / 100] / 10.0;
  return result;
}

}  // namespace mindgate::bench
