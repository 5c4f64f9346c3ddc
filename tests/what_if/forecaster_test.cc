// Many questions about one cluster have the answers that single questions have.
#include "what_if/forecaster.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "support/random_cluster.h"
#include "support/reported_forecast.h"
#include "support/small_cluster.h"
#include "what_if/convergence.h"

namespace mindgate::what_if {
namespace {

using ::mindgate::testing::Json;
using ::mindgate::testing::RandomCluster;
using ::mindgate::testing::Reported;
using ::mindgate::testing::SmallCluster;

void Append(std::vector<SingleLoss> more, std::vector<SingleLoss>& losses) {
  std::move(more.begin(), more.end(), std::back_inserter(losses));
}

void ExpectSame(const Forecast& got, Forecast want, const std::string& where) {
  for (InstanceForecast& instance : want.instances) {
    if (!instance.shortage) continue;
    instance.shortage->left_out.clear();
    instance.shortage->unknown.clear();
  }
  EXPECT_EQ(Reported(got), Reported(want)) << where;
  EXPECT_TRUE(got == want) << where;
}

// The same board serves all questions, so that what one leaves behind shows in the next.
TEST(Forecaster, AnswersAsSingleQuestionsDo) {
  size_t stopped = 0;
  size_t asked = 0;
  for (unsigned seed = 0; seed < 50; ++seed) {
    RandomCluster random(seed);
    const ClusterSnapshot snapshot = random.cluster().Snapshot();
    const InitialState initial(snapshot);
    Forecaster forecaster(initial);
    std::vector<SingleLoss> losses = EachNode(initial.inventory);
    for (const Node& node : initial.inventory.nodes) {
      losses.push_back({node.name, DrainOf(node.name)});
    }
    Append(EachValue(initial.inventory, "rack"), losses);
    std::vector<SingleLoss> cards = EachCard(initial.inventory);
    for (int i = 0; i < 4; ++i) {
      losses.push_back(cards[static_cast<size_t>(random.Below(static_cast<int>(cards.size())))]);
    }
    losses.push_back({"nothing"});
    losses.push_back(losses.front());
    for (const SingleLoss& loss : losses) {
      const Forecast want = ForecastOf(snapshot, loss.hypothesis);
      ExpectSame(forecaster.Of(loss.hypothesis), want,
                 "seed " + std::to_string(seed) + ", " + loss.name);
      ++asked;
      stopped += want.fine() ? 0 : 1;
    }
  }
  EXPECT_GT(stopped, asked / 5);
  EXPECT_GT(asked - stopped, asked / 5);
}

// With a service on nodes of its own, each of them full: who loses one has no other.
SmallCluster WithACrowdedService(RandomCluster& random) {
  SmallCluster cluster = random.cluster();
  const int prefill = random.Below(3) + 1;
  const int decode = random.Below(3) + 1;
  cluster.Rule("crowded", {{{"p", prefill}, {"d", decode}}, {{"p", 1}, {"d", 1}}});
  for (int i = 0; i < prefill + decode; ++i) {
    const std::string group = i < prefill ? "p" : "d";
    const std::string name = "crowded-" + group + std::to_string(i);
    const std::string owner = "AscendJob/" + name;
    const Json labels = {{"fault-scheduling", "force"},
                         {"jobID", "crowded"},
                         {"mind-cluster/scaling-rule", "crowded"},
                         {"mind-cluster/group-name", group}};
    const std::string node = "full-" + std::to_string(i);
    cluster.Node(node, {{"metadata", {{"labels", {{"rack", "full"}}}}}});
    cluster.Group(name, owner, 1, labels);
    cluster.Pod({name, node, "0-7", name, owner, labels});
    if (random.OneIn(2)) {
      cluster.pods.back()["metadata"]["creationTimestamp"] = "2026-03-01T09:00:00Z";
    }
  }
  return cluster;
}

// Instances that are given up for others free room within their service only.
TEST(Forecaster, AnswersAlsoWhereTheWatcherGivesInstancesUp) {
  size_t given_up = 0;
  for (unsigned seed = 300; seed < 330; ++seed) {
    RandomCluster random(seed);
    ClusterSnapshot snapshot = WithACrowdedService(random).Snapshot();
    snapshot.watcher.rebalances = true;
    const InitialState initial(snapshot);
    Forecaster forecaster(initial);
    std::vector<SingleLoss> losses = EachNode(initial.inventory);
    Append(EachValue(initial.inventory, "rack"), losses);
    for (const SingleLoss& loss : losses) {
      const Forecast want = ForecastOf(snapshot, loss.hypothesis);
      ExpectSame(forecaster.Of(loss.hypothesis), want,
                 "seed " + std::to_string(seed) + ", " + loss.name);
      given_up += Reported(want).find("givenUp") != std::string::npos ? 1 : 0;
    }
  }
  EXPECT_GT(given_up, 5u);
}

// Two losses at once, codes and drains.
TEST(Forecaster, AnswersAnyQuestion) {
  for (unsigned seed = 100; seed < 120; ++seed) {
    RandomCluster random(seed);
    const ClusterSnapshot snapshot = random.cluster().Snapshot();
    const InitialState initial(snapshot);
    Forecaster forecaster(initial);
    const Question questions[] = {
        {.nodes = {"n0", "n1"}},
        {.cards = {"n0/0"}, .drains = {"rack=r0"}},
        {.faults = {"80E18005@n0/1", "2C000031@n1"}},
        {.faults = {"0000001D@n0"}},
        {.faults = {"[0x00f103b6,155908,na,na]@n2"}},
        {.nodes = {"n2"}, .faults = {"220001001@n0"}, .drains = {"rack in (r0,r1)"}},
    };
    for (const Question& question : questions) {
      const auto hypothesis = ReadQuestion(question, snapshot, initial.inventory);
      ASSERT_TRUE(hypothesis) << hypothesis.error().front().what;
      ExpectSame(forecaster.Of(*hypothesis), ForecastOf(snapshot, *hypothesis),
                 "seed " + std::to_string(seed));
    }
  }
}

// What is supposed in any case stays so, and does not count as stopped by a loss.
TEST(Forecaster, AsksInAdditionToWhatIsSupposed) {
  for (unsigned seed = 200; seed < 220; ++seed) {
    RandomCluster random(seed);
    const ClusterSnapshot snapshot = random.cluster().Snapshot();
    const InitialState initial(snapshot);
    const Question bases[] = {
        {.nodes = {"n0"}}, {.cards = {"n1/0"}, .drains = {"n2"}}, {.faults = {"2C000031@n1"}}};
    for (const Question& question : bases) {
      const auto base = ReadQuestion(question, snapshot, initial.inventory);
      ASSERT_TRUE(base) << base.error().front().what;
      const Settled before = Settle(initial, *base);
      Forecaster forecaster(initial, *base);
      for (const SingleLoss& loss : EachNode(initial.inventory)) {
        ExpectSame(forecaster.Of(loss.hypothesis),
                   Compare(before, Settle(initial, Together(*base, loss.hypothesis))),
                   "seed " + std::to_string(seed) + ", " + loss.name);
      }
    }
  }
}

}  // namespace
}  // namespace mindgate::what_if
