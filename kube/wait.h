#pragma once

#include <chrono>
#include <cstdint>
#include <random>
#include <stop_token>

namespace mindgate::kube {

// Pauses, behind an interface so that tests let no time pass. Safe from many threads.
class Sleeper {
 public:
  virtual ~Sleeper() = default;
  // False when `stop` was asked to before the time was over.
  virtual bool Sleep(std::chrono::milliseconds time, std::stop_token stop) = 0;
};

class RealSleeper final : public Sleeper {
 public:
  bool Sleep(std::chrono::milliseconds time, std::stop_token stop) override;
};

// How long to wait before the next try: doubling from `first` to `max_wait`, each spread evenly
// over half to one and a half times itself, so that many clients do not come back at once. One
// thread.
class Backoff {
 public:
  struct Options {
    std::chrono::milliseconds first{500};
    std::chrono::milliseconds max_wait{30'000};
  };
  explicit Backoff(uint64_t seed) : Backoff(Options{}, seed) {}
  Backoff(Options options, uint64_t seed) : options_(options), random_(seed) {}

  std::chrono::milliseconds Next();
  void Reset() { failures_ = 0; }  // something worked
  int failures() const { return failures_; }

 private:
  Options options_;
  std::minstd_rand random_;
  int failures_ = 0;
};

}  // namespace mindgate::kube
