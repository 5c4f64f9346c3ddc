#pragma once

#include <sys/types.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <string>
#include <string_view>
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

// A line of /proc/PID/status that counts kilobytes, such as "VmRSS:", in bytes; pid 0 is this
// process.
inline double StatusBytes(pid_t pid, std::string_view line_name) {
  const std::string who = pid == 0 ? "self" : std::to_string(pid);
  std::ifstream status("/proc/" + who + "/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(line_name))
      return std::strtod(line.c_str() + line_name.size(), nullptr) * 1024;
  }
  return 0;
}

// Of this process.
inline double ResidentBytes() { return StatusBytes(0, "VmRSS:"); }

// From here on VmHWM of this process is the peak of what follows.
inline void ForgetPeak() { std::ofstream("/proc/self/clear_refs") << "5"; }

inline std::string CpuModel() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  }
  return "unknown processor";
}

}  // namespace mindgate::bench
