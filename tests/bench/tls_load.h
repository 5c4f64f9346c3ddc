#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
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

// Connections that stay open between turns, so that handshakes are no part of what is measured.
class Callers {
 public:
  Callers(uint16_t port, size_t connections) : context_(ClientContext()) {
    for (size_t i = 0; i < connections; ++i) {
      connections_.push_back(std::make_unique<TlsConnection>(context_.get(), port));
    }
  }

  // A thread for each, until `duration` has passed and at least `least` answers came.
  LoadResult Ask(const std::string& request, std::chrono::milliseconds duration,
                 uint64_t least = 0) {
    using Clock = std::chrono::steady_clock;
    std::atomic<uint64_t> answers{0};
    std::vector<std::vector<uint32_t>> samples(connections_.size());
    std::vector<std::jthread> threads;
    const auto start = Clock::now();
    const auto ended = [&] { return Clock::now() - start >= duration && answers >= least; };
    for (size_t i = 0; i < connections_.size(); ++i) {
      threads.emplace_back([&, i] {
        while (!ended()) {
          const auto asked = Clock::now();
          if (!connections_[i]->Ask(request)) return;
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

 private:
  const SslContext context_;
  std::vector<std::unique_ptr<TlsConnection>> connections_;
};

}  // namespace mindgate::bench
