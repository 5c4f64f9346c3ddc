#include "watcher/frame/disruption_gate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "watcher/rescheduling_cluster.h"

namespace mindgate::watcher {
namespace {

using kube::Json;
using rescheduling::kDeletes;
using rescheduling::kNs;
namespace resources = kube::resources;

// What controllers hold cannot destroy anything.
template <typename Client>
concept Destroys = requires(Client client, kube::DeleteOptions options) {
  client.Delete(resources::kPods, "ns", "pod", options);
} || requires(Client client, kube::DeleteOptions options) {
  client.DeletePod("ns", "pod", options);
} || requires(Client client, kube::DeleteOptions options) { client.Evict("ns", "pod", options); };
static_assert(Destroys<kube::Client>);
static_assert(Destroys<DestructiveClient>);
static_assert(!Destroys<Writer>);
static_assert(!Destroys<LeaderClient>);
static_assert(!std::is_constructible_v<DestructiveClient, Writer, Term>, "only the gate makes one");
static_assert(!std::is_copy_constructible_v<DestructiveClient>);

struct Gated : ::testing::Test {
  Gated()
      : transport(
            kube::MakeTransport(kube::testing::AccessTo(cluster.server.url()), "mindgate/test")),
        client(*transport, sleeper, LeaderClient::kOptions),
        gate(client, cluster.clock, budget,
             {.ns = "mindgate-system", .lease = "mindgate-watcher"}) {
    cluster.PutJob("train", Json::object());
    gate.SetBrake([this] { return brake; });
  }
  Term term() {
    return Term(since, [this] { return holds; }, ended.get_token());
  }
  void Pause() {
    cluster.server.Put(resources::kLeases,
                       {{"metadata",
                         {{"namespace", "mindgate-system"},
                          {"name", "mindgate-watcher"},
                          {"annotations", {{"mindgate.io/pause-rescheduling", "true"}}}}}});
  }
  // Deletes the pods of the job. "" when it may.
  std::string Delete(DisruptionGate::Request request, size_t count = 1) {
    sent = 0;
    const Refusal refusal =
        gate.Send(term(), request, count, [this](DestructiveClient& destructive, size_t i) {
          ++sent;
          const auto answer =
              destructive.DeletePod(kNs, "train-" + std::to_string(i % 4), kube::DeleteOptions());
          if (!answer) last = answer.error().reason;
        });
    return refusal.why;
  }

  rescheduling::Cluster cluster;
  std::unique_ptr<kube::Transport> transport;
  kube::RealSleeper sleeper;
  kube::Client client;
  DisruptionBudget budget;
  DisruptionGate gate;
  Refusal brake{};
  Time since{};
  bool holds = true;
  std::stop_source ended;
  std::atomic<int> sent = 0;
  std::optional<kube::Reason> last;
};

DisruptionGate::Request Begins(int64_t per_minute) {
  return {.ns = kNs,
          .share = DisruptionGate::Share{.setting = "restartsPerMinute", .per_minute = per_minute}};
}

TEST_F(Gated, EachQuestionKeepsItShut) {
  EXPECT_EQ(Delete(Begins(30)), "");
  EXPECT_EQ(cluster.server.Count(kDeletes), 1U);

  brake.why = "too many nodes are faulty";
  EXPECT_EQ(Delete(Begins(30)), "too many nodes are faulty");
  brake = {};
  DisruptionGate::Request changed = Begins(30);
  changed.still_so = [](LeaderClient&) { return Refusal{.why = "it has changed"}; };
  EXPECT_EQ(Delete(changed), "it has changed");
  EXPECT_EQ(Delete(Begins(0)),
            "the share of namespace serving in restartsPerMinute (0) is used up");
  holds = false;
  EXPECT_EQ(Delete(Begins(30)), "this replica no longer leads");
  holds = true;
  Pause();
  EXPECT_EQ(Delete(Begins(30)),
            "Lease mindgate-system/mindgate-watcher has the annotation "
            "mindgate.io/pause-rescheduling");
  EXPECT_EQ(sent, 0);
  EXPECT_EQ(cluster.server.Count(kDeletes), 1U);
}

// What the replica before took of it nobody knows.
TEST_F(Gated, AShareThatIsNotInheritedIsNotTakenInTheFirstMinute) {
  since = cluster.clock.WallNow();
  DisruptionGate::Request inherits = Begins(30);
  inherits.share->inherited = true;
  EXPECT_EQ(Delete(inherits), "");
  const std::string expected =
      "this replica has led for less than a minute, and does not know what the one before took of "
      "restartsPerMinute";
  EXPECT_EQ(Delete(Begins(30)), expected);
  const Refusal asked = gate.Ask(term(), Begins(30));
  EXPECT_EQ(asked.why, expected);
  ASSERT_TRUE(asked.again);
  EXPECT_LE(*asked.again, cluster.clock.Now() + std::chrono::minutes(1));
  cluster.clock.Advance(std::chrono::minutes(1));
  EXPECT_EQ(Delete(Begins(30)), "");
}

// The API server may be slow: what stops everything may come while it is asked.
TEST_F(Gated, TheBrakeIsAskedAfterTheSlowQuestions) {
  DisruptionGate::Request request = Begins(30);
  request.still_so = [this](LeaderClient&) -> Refusal {
    brake.why = "too many nodes are faulty";
    return {};
  };
  EXPECT_EQ(Delete(request), "too many nodes are faulty");
  EXPECT_EQ(cluster.server.Count(kDeletes), 0U);
  brake = {};
  request.still_so = [this](LeaderClient&) -> Refusal {
    Pause();
    return {};
  };
  EXPECT_NE(Delete(request), "");
  cluster.server.Remove(resources::kLeases, "mindgate-system", "mindgate-watcher");
  request.still_so = [this](LeaderClient&) -> Refusal {
    holds = false;
    return {};
  };
  EXPECT_EQ(Delete(request), "this replica no longer leads");
  EXPECT_EQ(cluster.server.Count(kDeletes), 0U);
  EXPECT_EQ(budget.Ask(kNs, 1, cluster.clock.Now()), std::nullopt) << "nothing was taken";
}

// Reports that the fault is gone release the brake. Whoever asked the brake before them would be
// stopped, and whoever asks after them must not restart what they call healthy.
TEST_F(Gated, ABrakeThatRecoveryReleasesLetsNothingThrough) {
  bool reported = true;
  brake.why = "too many nodes are faulty";
  DisruptionGate::Request request = Begins(30);
  request.still_reported = [&]() -> Refusal {
    return reported ? Refusal() : Refusal{.why = "it is healthy again"};
  };
  EXPECT_EQ(Delete(request), "too many nodes are faulty");
  brake = {};
  request.still_so = [&](LeaderClient&) -> Refusal {
    reported = false;
    return {};
  };
  EXPECT_EQ(Delete(request), "it is healthy again");
  EXPECT_EQ(cluster.server.Count(kDeletes), 0U);
  EXPECT_EQ(budget.Ask(kNs, 1, cluster.clock.Now()), std::nullopt) << "nothing was taken";
}

// What is begun goes on: half a gang is of no use to anyone.
TEST_F(Gated, TheFaultIsAskedForBeforeTheFirstCallOnly) {
  size_t asked = 0;
  DisruptionGate::Request request = Begins(30);
  request.still_reported = [&]() -> Refusal {
    return ++asked == 1 ? Refusal() : Refusal{.why = "it is healthy again"};
  };
  EXPECT_EQ(Delete(request, 3 * DisruptionGate::kBatch), "");
  EXPECT_EQ(asked, 1U);
}

TEST_F(Gated, EachBatchIsAskedAgain) {
  size_t asked = 0;
  DisruptionGate::Request request = Begins(1);
  request.still_so = [&](LeaderClient&) -> Refusal {
    return ++asked <= 2 ? Refusal() : Refusal{.why = "it has changed"};
  };
  EXPECT_EQ(Delete(request, 3 * DisruptionGate::kBatch), "it has changed");
  EXPECT_EQ(asked, 3U);
  EXPECT_EQ(sent, static_cast<int>(2 * DisruptionGate::kBatch)) << "the budget was asked once";
}

TEST_F(Gated, WhatRunsBeforeTheFirstCallRunsOnceAndOnlyIfItIsSent) {
  int runs = 0;
  DisruptionGate::Request request = Begins(30);
  request.before_first = [&] { ++runs; };
  brake.why = "no";
  Delete(request, 3 * DisruptionGate::kBatch);
  EXPECT_EQ(runs, 0);
  brake = {};
  Delete(request, 3 * DisruptionGate::kBatch);
  EXPECT_EQ(runs, 1);
}

// A namespace with a lock that the other one does not have.
std::string OtherThan(const std::string& ns) {
  const auto lock = [](const std::string& name) {
    return std::hash<std::string>()(name) % DisruptionGate::kNamespaceLocks;
  };
  int number = 0;
  while (lock("ns-" + std::to_string(number)) == lock(ns)) ++number;
  return "ns-" + std::to_string(number);
}

TEST_F(Gated, NamespacesDoNotWaitForEachOther) {
  DisruptionGate::Request slow{.ns = kNs};
  slow.still_so = [&](LeaderClient&) {
    const DisruptionGate::Request other{.ns = OtherThan(kNs)};
    std::jthread thread([&] { EXPECT_EQ(Delete(other), ""); });
    thread.join();
    return Refusal{.why = "the other one was sent meanwhile"};
  };
  EXPECT_EQ(Delete(slow), "the other one was sent meanwhile");
}

TEST_F(Gated, OneNamespaceIsDisruptedByOneAtATime) {
  std::atomic<int> inside = 0;
  std::atomic<int> most = 0;
  const auto disrupt = [&] {
    DisruptionGate::Request request{.ns = kNs};
    request.still_so = [&](LeaderClient&) {
      most = std::max<int>(most, ++inside);
      std::this_thread::yield();
      return Refusal();
    };
    gate.Send(term(), request, 1, [&](DestructiveClient&, size_t) {
      std::this_thread::yield();
      --inside;
    });
  };
  std::vector<std::jthread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < 20; ++round) disrupt();
    });
  }
  threads.clear();
  EXPECT_EQ(most, 1);
}

TEST_F(Gated, NodesAreChangedThroughItOnly) {
  cluster.PutNode("n1", true);
  LeaderClient leader(client, term());
  const Json patch = {{{"op", "add"}, {"path", "/metadata/labels"}, {"value", Json::object()}}};
  const auto refused = leader.Patch(resources::kNodes, "", "n1", patch);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().reason, kube::Reason::kForbidden);
  EXPECT_FALSE(leader.MergePatch(resources::kNodes, "", "n1", Json::object()));
  EXPECT_FALSE(leader.Update(resources::kNodes, "", "n1", Json::object(), {}));
  EXPECT_FALSE(leader.Apply(resources::kNodes, "", "n1", Json::object(), true, {}));
  EXPECT_EQ(cluster.server.Count({.method = "PATCH"}), 0U);
  // A taint that is in nobody's interest any more goes whatever holds others back.
  brake.why = "too many nodes are faulty";
  EXPECT_TRUE(gate.ReleaseNode(term(), "n1", patch));
  EXPECT_EQ(cluster.server.Count({.method = "PATCH"}), 1U);
}

}  // namespace
}  // namespace mindgate::watcher
