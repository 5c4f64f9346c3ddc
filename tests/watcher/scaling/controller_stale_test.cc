// Decisions on a watch that is behind what this watcher itself has done.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "json/decode.h"
#include "kube/client_fixture.h"
#include "simulation/api_server.h"
#include "support/fake_clock.h"
#include "support/scaling.h"
#include "watcher/scaling_cluster.h"

namespace mindgate::watcher::scaling {
namespace {

using json::Json;
using simulation::ApiServer;

struct Unheard final : DecisionListener {
  void Report(DecisionRecord) override {}
};

struct ScalingStaleWatch : ::testing::Test {
  mindgate::testing::FakeClock clock;
  ApiServer server{clock};
  kube::testing::FakeSleeper sleeper;
  kube::Client client{server, sleeper, LeaderClient::kOptions};
  log::Logger logger{log::Format::kText, log::Level::kError, clock, [](std::string_view) {}};
  Unheard unheard;
  DisruptionBudget budget;
  DisruptionGate gate{client, clock, budget, {}};
  Reconciler reconciler{client, clock, logger, unheard, gate, [] {
                          schemas::ElasticScaling settings;
                          settings.mode = schemas::EnforcementMode::kEnforce;
                          return settings;
                        }};

  // A pod of an AscendJob of group d.
  void Create(const std::string& job, int index, bool gated) {
    Json pod = Cluster::Pod(job + "-" + std::to_string(index), "d");
    pod["metadata"]["ownerReferences"] = {{{"apiVersion", "mindxdl.gitee.com/v1"},
                                           {"kind", "AscendJob"},
                                           {"name", job},
                                           {"uid", "uid-" + job},
                                           {"controller", true}}};
    if (!gated) pod["spec"].erase("schedulingGates");
    ASSERT_TRUE(server.Create(pod));
  }
  PodPtr See(const std::string& name) const {
    return std::make_shared<const PodState>(
        *PodOf(json::Document(*server.Find({"ns", name})).root()));
  }
  void Decide(std::vector<PodPtr> pods) {
    const Reconciler::Inputs inputs{{std::move(pods), {::mindgate::testing::RuleOf("d=1"), ""}},
                                    {}};
    reconciler.Reconcile({"ns", "rule", "s"}, inputs,
                         Term(clock.WallNow(), [] { return true; }, {}));
  }
  bool IsOpen(const std::string& name) const { return !See(name)->gate; }
};

TEST_F(ScalingStaleWatch, TheRestOfAnInstanceThatWasLetInStaysLetIn) {
  Create("d0", 0, false);
  Create("d0", 1, true);
  Create("d1", 0, true);
  const PodPtr first = See("d0-0");
  const PodPtr rest = See("d0-1");
  const PodPtr other = See("d1-0");
  Decide({first, rest, other});
  ASSERT_TRUE(IsOpen("d0-1"));
  EXPECT_FALSE(IsOpen("d1-0"));
  // The first pod is gone, and the watch does not show yet that the other one has no gate.
  Decide({rest, other});
  EXPECT_FALSE(IsOpen("d1-0")) << "two of d, and the rule wants one";
  Decide({See("d0-1"), other});
  EXPECT_FALSE(IsOpen("d1-0"));
  Decide({other});
  EXPECT_TRUE(IsOpen("d1-0"));
}

}  // namespace
}  // namespace mindgate::watcher::scaling
