// What the most expensive reviews cost that a tenant can write, up to the 3 MiB that an API server
// takes: CPU and memory of each shape at four sizes, each in a process of its own, then the program
// itself with two of them at once. Fails when a shape misses a goal of kGoals.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "bench/decide.h"
#include "bench/measure.h"
#include "bench/reviews.h"
#include "bench/server_process.h"
#include "http/request.h"
#include "support/hostile.h"

namespace mindgate::bench {
namespace {

using testing::HostileShape;
using webhook::Hook;

struct Goals {
  double cpu_ms = 250;
  // Of the cost when the text grows fourfold: linear, and some room for caches.
  double growth = 5;
  // Beyond that: what leaving a cache and other work on the machine add to a quick decision.
  double slack_ms = 5;
  double memory = 4;  // bytes a byte of text
  double process_mib = 128;
};
constexpr Goals kGoals;

// Below this a cost says nothing about growth, and a text nothing about memory: what is constant,
// and noise, are larger.
constexpr double kNoiseMs = 2;
constexpr size_t kNoiseBytes = 512 * 1024;

constexpr std::array<size_t, 4> kSizes = {48 << 10, 192 << 10, 768 << 10, 3 << 20};

// A shape that cost this much is over its goal by far: larger texts of it would only take time.
constexpr double kHopelessMs = 1000;

// What looks like a fault is measured again when all else was, up to so many times: other work on
// the machine makes figures too large, never too small, and it passes.
constexpr int kMaxAgain = 5;

struct Cost {
  double cpu_ms = 0;
  double memory = 0;   // the peak above what was there before, bytes
  bool ended = false;  // false: it crashed, or met the limit of CPU time
};

// Of this thread, the only one: under RLIMIT_CPU the clock of the process counts ticks.
double CpuMs() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) / 1e6;
}

// In the child. Memory is that of the first decision of the text, after one of something else: the
// child's own copies of pages of the program do not count. The fastest of three runs counts.
Cost Measured(Decider& decider, const std::string& text, Hook hook) {
  Cost cost;
  static const std::string ordinary = ReviewOf(10 * 1024);
  (void)decider.Answer(ordinary, hook);
  ForgetPeak();
  const double before = ResidentBytes();
  for (int i = 0; i < 3 && cost.cpu_ms < kHopelessMs; ++i) {
    const double start = CpuMs();
    (void)decider.Answer(text, hook);
    const double took = CpuMs() - start;
    if (i == 0) cost.memory = std::max(0.0, StatusBytes(0, "VmHWM:") - before);
    cost.cpu_ms = i == 0 ? took : std::min(cost.cpu_ms, took);
  }
  cost.ended = true;
  return cost;
}

// `decider` has decided something before, so that what is made once is not counted.
Cost InChild(Decider& decider, const std::string& text, Hook hook, rlim_t cpu_seconds) {
  int pipe[2];
  if (::pipe(pipe) != 0) std::_Exit(1);
  const pid_t pid = ::fork();
  if (pid == 0) {
    const rlimit cpu{cpu_seconds, cpu_seconds};
    const rlimit memory{rlim_t{4} << 30, rlim_t{4} << 30};
    const rlimit no_core{0, 0};
    ::setrlimit(RLIMIT_CPU, &cpu);
    ::setrlimit(RLIMIT_AS, &memory);
    ::setrlimit(RLIMIT_CORE, &no_core);
    const Cost cost = Measured(decider, text, hook);
    std::_Exit(::write(pipe[1], &cost, sizeof cost) == sizeof cost ? 0 : 1);
  }
  ::close(pipe[1]);
  Cost cost;
  if (::read(pipe[0], &cost, sizeof cost) != sizeof cost) cost = Cost();
  ::close(pipe[0]);
  rusage usage{};
  int status = 0;
  ::wait4(pid, &status, 0, &usage);
  if (!cost.ended) {
    cost.cpu_ms = static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1e3;
  }
  return cost;
}

const char* NameOf(Hook hook) { return hook == Hook::kMutate ? "mutate" : "validate"; }

std::string SizeName(size_t bytes) {
  return bytes >= 1 << 20 ? std::to_string(bytes >> 20) + " MiB"
                          : std::to_string(bytes >> 10) + " KB";
}

// One shape at one webhook.
struct Row {
  const HostileShape* shape = nullptr;
  Hook hook = Hook::kMutate;
  std::vector<Cost> costs;  // of the sizes in order, as far as they were tried
  double growth = 0;        // the worst between neighbours
  double memory = 0;        // bytes a byte, the worst
  std::vector<std::string> faults;

  bool hopeless() const {
    return !costs.empty() && (!costs.back().ended || costs.back().cpu_ms > kHopelessMs);
  }
};

std::string Text(const char* format, auto... values) {
  char text[200];
  std::snprintf(text, sizeof text, format, values...);
  return text;
}

// How much dearer the second of two neighbours is; 0 when they say nothing about it.
double GrowthOf(const Cost& smaller, const Cost& larger) {
  return larger.ended && smaller.cpu_ms > kNoiseMs ? larger.cpu_ms / smaller.cpu_ms : 0;
}

bool IsTooSteep(const Cost& smaller, const Cost& larger) {
  return larger.ended && larger.cpu_ms > kGoals.growth * smaller.cpu_ms + kGoals.slack_ms;
}

void Evaluate(Row& row) {
  row.faults.clear();
  row.growth = row.memory = 0;
  for (size_t i = 0; i < row.costs.size(); ++i) {
    const Cost& cost = row.costs[i];
    const std::string at = " at " + SizeName(kSizes[i]);
    if (!cost.ended) {
      row.faults.push_back(Text("no answer after %.0f s of CPU", cost.cpu_ms / 1e3) + at);
    } else if (cost.cpu_ms > kGoals.cpu_ms) {
      row.faults.push_back(Text("%.0f ms of CPU", cost.cpu_ms) + at);
    }
    if (i > 0) {
      const Cost& smaller = row.costs[i - 1];
      row.growth = std::max(row.growth, GrowthOf(smaller, cost));
      if (IsTooSteep(smaller, cost)) {
        row.faults.push_back(Text("%.1f ms after %.1f", cost.cpu_ms, smaller.cpu_ms) + at);
      }
    }
    if (!cost.ended || kSizes[i] < kNoiseBytes) continue;
    const double memory = cost.memory / static_cast<double>(kSizes[i]);
    row.memory = std::max(row.memory, memory);
    if (memory > kGoals.memory) {
      row.faults.push_back(Text("%.1f bytes of memory a byte", memory) + at);
    }
  }
}

std::string TextOf(const HostileShape& shape, size_t bytes) {
  std::string text = testing::HostileText(shape, bytes);
  text.reserve(text.size() + http::kBodyRoom);
  return text;
}

Row Measure(Decider& decider, const HostileShape& shape, Hook hook, size_t sizes, rlim_t seconds) {
  Row row{&shape, hook, {}, 0, 0, {}};
  for (size_t i = 0; i < sizes && !row.hopeless(); ++i) {
    row.costs.push_back(InChild(decider, TextOf(shape, kSizes[i]), hook, seconds));
  }
  Evaluate(row);
  return row;
}

void MeasureAgain(Decider& decider, Row& row, rlim_t seconds) {
  for (size_t i = 0; i < row.costs.size() && !row.hopeless(); ++i) {
    Cost& cost = row.costs[i];
    const Cost again = InChild(decider, TextOf(*row.shape, kSizes[i]), row.hook, seconds);
    cost.cpu_ms = std::min(cost.cpu_ms, again.cpu_ms);
    cost.memory = std::min(cost.memory, again.memory);
  }
  Evaluate(row);
}

void Print(const Row& row, size_t sizes) {
  std::printf("  %-38s %-8s", std::string(row.shape->name).c_str(), NameOf(row.hook));
  for (size_t i = 0; i < sizes; ++i) {
    std::string text = "-";
    if (i < row.costs.size()) {
      const Cost& cost = row.costs[i];
      text = cost.ended ? Text(cost.cpu_ms < 10 ? "%.1f" : "%.0f", cost.cpu_ms)
                        : Text(">%.0f", cost.cpu_ms);
    }
    std::printf(" %8s", text.c_str());
  }
  std::printf(" %7s", row.growth > 0 ? Text("%.1f", row.growth).c_str() : "-");
  std::printf(" %7s%s\n", row.memory > 0 ? Text("%.1f", row.memory).c_str() : "-",
              row.faults.empty() ? "" : "  FAILS");
  std::fflush(stdout);
}

// Two webhooks are called for each object: the dearer one is printed, both are evaluated.
std::vector<Row> Decisions(const std::vector<HostileShape>& shapes, size_t sizes, rlim_t seconds) {
  std::printf("\nHostile texts: CPU of one review, milliseconds\n  %-38s %-8s", "shape", "webhook");
  for (size_t i = 0; i < sizes; ++i) std::printf(" %8s", SizeName(kSizes[i]).c_str());
  std::printf(" %7s %7s\n", "growth", "memory");
  Decider decider;
  const std::string ordinary = ReviewOf(10 * 1024);
  for (const Hook hook : {Hook::kMutate, Hook::kValidate}) (void)decider.Answer(ordinary, hook);
  std::vector<Row> rows;
  for (const HostileShape& shape : shapes) {
    const auto cost = [](const Row& row) { return row.costs.back().cpu_ms; };
    Row mutate = Measure(decider, shape, Hook::kMutate, sizes, seconds);
    Row validate = Measure(decider, shape, Hook::kValidate, sizes, seconds);
    const bool first = mutate.costs.size() != validate.costs.size()
                           ? mutate.costs.size() < validate.costs.size()
                           : cost(mutate) > cost(validate);
    Print(first ? mutate : validate, sizes);
    rows.push_back(std::move(mutate));
    rows.push_back(std::move(validate));
  }
  for (Row& row : rows) {
    if (row.faults.empty()) continue;
    for (int i = 0; i < kMaxAgain && !row.faults.empty(); ++i) MeasureAgain(decider, row, seconds);
    Print(row, sizes);
  }
  return rows;
}

// Both at once, as one object that is mutated while another is validated. Returns what is wrong,
// empty if nothing is: a text that cannot be decoded is refused with 4xx.
std::string AskTwice(const ServerProcess& server, const std::string& text) {
  constexpr int kPatience = 10;
  const SslContext context = ClientContext();
  std::array<int, 2> statuses{};
  {
    std::vector<std::jthread> threads;
    for (const Hook hook : {Hook::kMutate, Hook::kValidate}) {
      threads.emplace_back([&, hook] {
        const std::string target = std::string(webhook::PathOf(hook)) + "?timeout=10s";
        TlsConnection connection(context.get(), server.port(), kPatience);
        if (!connection.Exchange(http::testing::Post(text, "", target))) return;
        statuses[static_cast<size_t>(hook)] = connection.answer().status();
      });
    }
  }
  const auto [least, most] = std::minmax(statuses[0], statuses[1]);
  if (least == 0) return "no answer";
  return most >= 500 ? "answered with " + std::to_string(most) : "";
}

// One program for all shapes, as long as it stays within its goal: what it keeps of one is there
// when the next one comes. Returns what is wrong.
std::vector<std::string> InProgram(const std::vector<HostileShape>& shapes,
                                   const std::vector<Row>& rows) {
  const CertFolder folder;
  const std::string probe = RequestOf(0);
  std::optional<ServerProcess> server;
  std::vector<std::pair<double, std::string_view>> peaks;
  std::vector<std::string> faults;
  size_t left_out = 0;
  for (const HostileShape& shape : shapes) {
    if (std::any_of(rows.begin(), rows.end(),
                    [&](const Row& row) { return row.shape == &shape && row.hopeless(); })) {
      ++left_out;
      continue;
    }
    if (!server) {
      const uint16_t port = FreePort();
      server.emplace(MindgateCommand(folder, port), port, probe);
    }
    const double peak_before = server->PeakMib();
    const std::string fault = AskTwice(*server, testing::HostileText(shape, kSizes.back()));
    const double peak = server->PeakMib();
    if (peak > peak_before) peaks.emplace_back(peak, shape.name);
    if (peak > kGoals.process_mib) {
      faults.push_back(std::string(shape.name) +
                       Text(": two at once take the program to %.0f MiB", peak));
    }
    if (!fault.empty()) faults.push_back(std::string(shape.name) + ": two at once, " + fault);
    if (peak > kGoals.process_mib || !fault.empty()) server.reset();
  }
  std::sort(peaks.rbegin(), peaks.rend());
  std::printf("\nTwo reviews of 3 MiB at once: MiB resident of the program, the largest peaks\n");
  for (size_t i = 0; i < peaks.size() && i < 5; ++i) {
    std::printf("  %-38s %8.1f\n", std::string(peaks[i].second).c_str(), peaks[i].first);
  }
  if (left_out > 0)
    std::printf("  %zu shapes that take more than a second are not sent\n", left_out);
  return faults;
}

}  // namespace
}  // namespace mindgate::bench

// hostile_bench [SIZES [SECONDS [ONLY]]]: how many sizes, the CPU time that one review may take,
// and a word that the shape's name must hold. The program is tried when all sizes are.
int main(int argc, char** argv) {
  using namespace mindgate::bench;
  std::signal(SIGPIPE, SIG_IGN);
  const size_t sizes =
      argc > 1 ? std::clamp<size_t>(std::strtoul(argv[1], nullptr, 10), 1, kSizes.size())
               : kSizes.size();
  const auto seconds = static_cast<rlim_t>(argc > 2 ? std::max(1, std::atoi(argv[2])) : 5);
  auto shapes = mindgate::testing::HostileShapes();
  if (argc > 3) {
    std::erase_if(shapes, [&](const auto& shape) {
      return shape.name.find(argv[3]) == std::string_view::npos;
    });
  }
  const auto rows = Decisions(shapes, sizes, seconds);
  std::vector<std::string> faults;
  for (const Row& row : rows) {
    for (const std::string& fault : row.faults) {
      faults.push_back(std::string(row.shape->name) + ", " + NameOf(row.hook) + ": " + fault);
    }
  }
  if (sizes == kSizes.size()) {
    for (std::string& fault : InProgram(shapes, rows)) faults.push_back(std::move(fault));
  }
  std::printf(
      "\nGoals: %.0f ms, %.0f times the cost and %.0f ms for four times the bytes, %.0f bytes of "
      "memory a byte, %.0f MiB: %s\n",
      kGoals.cpu_ms, kGoals.growth, kGoals.slack_ms, kGoals.memory, kGoals.process_mib,
      faults.empty() ? "met" : "missed by");
  for (const std::string& fault : faults) std::printf("  %s\n", fault.c_str());
  return faults.empty() ? 0 : 1;
}
