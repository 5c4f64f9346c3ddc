// Several replicas, whose clocks and connections are bad, never lead at once.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <random>
#include <thread>

#include "kube/election.h"
#include "lease_server.h"
#include "support/fake_clock.h"

namespace mindgate::kube {
namespace {

using ::mindgate::testing::FakeClock;
using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::FakeTransport;
using testing::LeaseServer;
using testing::TimedPauser;

constexpr size_t kReplicas = 3;

// Lets one of several threads run at a time, in the order in which they wanted to go on, and moves
// the time to then.
class Turns {
 public:
  explicit Turns(FakeClock& clock) : clock_(clock) {}

  // Who is awake goes on after this.
  void Sleep(size_t who, milliseconds time) {
    std::unique_lock lock(mutex_);
    wake_[who] = clock_.Now() + time;
    PassOn();
    changed_.wait(lock, [&] { return awake_ == who; });
  }
  // The first turn of a thread; nobody runs before all have begun.
  void Begin(size_t who) {
    std::unique_lock lock(mutex_);
    wake_[who] = clock_.Now();
    if (++begun_ == kReplicas) PassOn();
    changed_.wait(lock, [&] { return awake_ == who; });
  }
  void End(size_t who) {
    const std::lock_guard lock(mutex_);
    wake_[who] = Clock::Instant::max();
    PassOn();
  }

 private:
  void PassOn() {
    const auto next = std::min_element(wake_.begin(), wake_.end());
    if (*next == Clock::Instant::max()) return;
    clock_.Advance(std::chrono::ceil<milliseconds>(
        std::max(*next - clock_.Now(), Clock::Instant::duration::zero())));
    awake_ = static_cast<size_t>(next - wake_.begin());
    changed_.notify_all();
  }

  FakeClock& clock_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::array<Clock::Instant, kReplicas> wake_{};
  size_t begun_ = 0;
  size_t awake_ = kReplicas;  // nobody
};

// One that began elsewhere, runs at another speed and is set to another time.
class OddClock final : public Clock {
 public:
  OddClock(const Clock& real, double speed, seconds ahead)
      : real_(real), speed_(speed), ahead_(ahead) {}
  Instant Now() const override {
    return Instant(std::chrono::duration_cast<Instant::duration>(real_.Now().time_since_epoch() *
                                                                 speed_)) +
           ahead_;
  }
  Time WallNow() const override { return real_.WallNow() + ahead_; }

 private:
  const Clock& real_;
  const double speed_;
  const seconds ahead_;
};

struct World {
  FakeClock clock;
  Turns turns{clock};
  LeaseServer server;
  std::minstd_rand random;
  std::stop_source stop;
  Clock::Instant calm{};  // from then on nothing is disturbed
  Clock::Instant end{};
  std::function<void()> watch;  // at each turn

  explicit World(unsigned seed) : random(seed) {
    calm = clock.Now() + std::chrono::minutes(60);
    end = calm + seconds(150);
  }
  int Random(int below) { return std::uniform_int_distribution(0, below - 1)(random); }
  bool is_calm() const { return clock.Now() >= calm; }
};

class Replica {
 public:
  Replica(World& world, size_t number)
      : world_(world),
        number_(number),
        // 40 s of the slowest are fewer than 60 s of the fastest.
        clock_(world.clock, 0.85 + 0.01 * world.Random(31), seconds(world.Random(100'000))),
        transport_([this](const HttpCall& call, std::stop_token) { return Call(call); }),
        sleeper_([this](milliseconds time) { Sleep(time); }),
        client_(transport_, sleeper_, {.retries = 0}),
        elector_(client_, sleeper_, clock_,
                 {.ns = "ns", .name = "watcher", .identity = "replica-" + std::to_string(number)},
                 number) {}

  void Run() {
    world_.turns.Begin(number_);
    elector_.Run(world_.stop.get_token(), [this](bool leading) {
      EXPECT_EQ(elector_.leading(), leading);
      changes_ += leading ? 1 : 0;
    });
    world_.turns.End(number_);
  }
  bool leading() const { return elector_.leading(); }
  int changes() const { return changes_; }

 private:
  void Sleep(milliseconds time) {
    if (world_.clock.Now() >= world_.end) world_.stop.request_stop();
    world_.turns.Sleep(number_, time);
    world_.watch();
  }

  Answer<HttpAnswer> Call(const HttpCall& call) {
    const auto lost = [] { return Failed(Reason::kUnreachable, "lost"); };
    if (world_.is_calm()) return world_.server.Serve(call);
    if (world_.clock.Now() >= cut_until_ && world_.Random(20) == 0) {
      cut_until_ = world_.clock.Now() + seconds(world_.Random(200));
    }
    Sleep(milliseconds(world_.Random(world_.Random(5) == 0 ? 25'000 : 100)));
    if (world_.clock.Now() < cut_until_ || world_.Random(10) == 0) return lost();
    const HttpAnswer answer = world_.server.Serve(call);
    Sleep(milliseconds(world_.Random(world_.Random(5) == 0 ? 25'000 : 100)));
    if (world_.Random(10) == 0) return lost();
    return answer;
  }

  World& world_;
  const size_t number_;
  const OddClock clock_;
  FakeTransport transport_;
  TimedPauser sleeper_;
  Client client_;
  Elector elector_;
  Clock::Instant cut_until_{};
  int changes_ = 0;
};

TEST(ElectionRace, NeverTwoLeadersAndOneInTheEnd) {
  int changes = 0;
  for (unsigned seed = 1; seed <= 50; ++seed) {
    World world(seed);
    std::vector<std::unique_ptr<Replica>> replicas;
    for (size_t i = 0; i < kReplicas; ++i) {
      replicas.push_back(std::make_unique<Replica>(world, i));
    }
    int together = 0;
    bool led_in_the_end = false;
    world.watch = [&] {
      const auto leaders = std::count_if(replicas.begin(), replicas.end(),
                                         [](const auto& replica) { return replica->leading(); });
      if (leaders > 1) ++together;
      if (world.is_calm() && leaders == 1) led_in_the_end = true;
    };
    {
      std::vector<std::jthread> threads;
      for (const auto& replica : replicas) threads.emplace_back([&replica] { replica->Run(); });
    }
    for (const auto& replica : replicas) changes += replica->changes();
    ASSERT_EQ(together, 0) << "seed " << seed;
    ASSERT_TRUE(led_in_the_end) << "seed " << seed;
  }
  EXPECT_GT(changes, 200) << "the disturbances should make the Lease change hands";
}

}  // namespace
}  // namespace mindgate::kube
