#include <gtest/gtest.h>

#include <atomic>
#include <tuple>

#include "watcher/scaling_cluster.h"

// A leader that dies, at any of its calls, and the replica that takes over from it.
namespace mindgate::watcher::scaling {
namespace {

using kube::Answer;
using kube::HttpAnswer;
using kube::HttpCall;
using ::mindgate::testing::Eventually;

// Carries the calls of a process that dies at one of its writes: before it is sent, or when it was
// carried out and the answer is on its way.
class Mortal final : public kube::Transport {
 public:
  Mortal(std::unique_ptr<kube::Transport> real, int writes, bool last_is_carried_out)
      : real_(std::move(real)), left_(writes), last_is_carried_out_(last_is_carried_out) {}

  Answer<HttpAnswer> Send(const HttpCall& call, std::stop_token stop) override {
    if (dead_) return Dead();
    if (call.method == "GET" || --left_ > 0) return real_->Send(call, stop);
    if (dead_.exchange(true)) return Dead();
    if (last_is_carried_out_) std::ignore = real_->Send(call, stop);
    done_ = true;
    return Dead();
  }
  Answer<HttpAnswer> Stream(const HttpCall& call, const Consume& consume,
                            std::stop_token stop) override {
    if (dead_) return Dead();
    return real_->Stream(
        call, [&](std::string_view piece) { return !dead_ && consume(piece); }, stop);
  }

  bool done() const { return done_; }

 private:
  static tl::unexpected<kube::Fault> Dead() {
    return kube::Failed(kube::Reason::kUnreachable, "the process is dead");
  }

  const std::unique_ptr<kube::Transport> real_;
  std::atomic<int> left_;
  const bool last_is_carried_out_;
  std::atomic<bool> dead_ = false;
  std::atomic<bool> done_ = false;
};

// Two gates are opened and five Events written: a death at each of these seven.
class ScalingFailover : public ::testing::TestWithParam<std::tuple<int, bool>> {};

TEST_P(ScalingFailover, NothingIsGrantedTwiceAndTheShapeIsReached) {
  const auto [writes, last_is_carried_out] = GetParam();
  const Names all = {"p0", "p1", "p2", "d0", "d1"};
  Cluster cluster;
  cluster.PutRule(kOneShape);
  for (const std::string& name : all) cluster.Submit(name, name[0] == 'p' ? "g0" : "g1");
  auto mortal = std::make_unique<Mortal>(Replica::OverHttp(cluster), writes, last_is_carried_out);
  const Mortal& outcome = *mortal;
  Replica first(cluster, std::move(mortal));
  Replica second(cluster);
  second.leads = false;
  second.Start();
  first.Start();
  ASSERT_TRUE(Eventually([&] { return outcome.done(); }));
  first.leads = false;
  second.leads = true;
  second.controller.EnqueueAll();
  ASSERT_TRUE(cluster.WaitOpen({"p0", "d0"}, all));
  cluster.SetPhase("p0", "Running");
  cluster.SetPhase("d0", "Running");
  EXPECT_TRUE(Eventually([&] {
    const auto statuses = second.controller.statuses().all();
    return statuses.size() == 1 && statuses[0].reached == 0;
  }));
  EXPECT_EQ(cluster.Open(all), (Names{"p0", "d0"}));
}

std::string NameOfCase(const ::testing::TestParamInfo<std::tuple<int, bool>>& death) {
  return std::to_string(std::get<int>(death.param)) +
         (std::get<bool>(death.param) ? "CarriedOut" : "Lost");
}

INSTANTIATE_TEST_SUITE_P(AtEachWrite, ScalingFailover,
                         ::testing::Combine(::testing::Range(1, 8), ::testing::Bool()), NameOfCase);

}  // namespace
}  // namespace mindgate::watcher::scaling
