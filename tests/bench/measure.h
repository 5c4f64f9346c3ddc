#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

// How benchmarks measure, and on what.
namespace mindgate::bench {

struct Percentiles {
  double p50 = 0;  // microseconds
  double p99 = 0;
};

// Of single runs, after some that warm up.
inline Percentiles Measure(const std::function<void()>& run, int runs) {
  for (int i = 0; i < runs / 10; ++i) run();
  std::vector<int64_t> samples(static_cast<size_t>(runs));
  for (int64_t& sample : samples) {
    const auto start = std::chrono::steady_clock::now();
    run();
    sample = std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now() -
                                                                  start)
                 .count();
  }
  std::sort(samples.begin(), samples.end());
  const auto at = [&](size_t percent) {
    return static_cast<double>(samples[samples.size() * percent / 100]) / 1000;
  };
  return {at(50), at(99)};
}

// Of this process.
inline double ResidentBytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmRSS:")) return std::strtod(line.c_str() + 6, nullptr) * 1024;
  }
  return 0;
}

inline std::string CpuModel() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  }
  return "unknown processor";
}

}  // namespace mindgate::bench
