#include <gtest/gtest.h>

#include <atomic>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <thread>

#include "base/threads.h"
#include "support/eventually.h"
#include "watcher/frame/informers.h"
#include "watcher/frame_fixture.h"

namespace mindgate::watcher {
namespace {

using json::Json;
using mindgate::testing::Eventually;
namespace resources = kube::resources;

TEST_F(FrameTest, NodesOnWhichNothingCanBePlaced) {
  const auto put = [&](const std::string& name, const Json& spec, const char* ready) {
    server.Put(resources::kNodes, {{"metadata", {{"name", name}}},
                                   {"spec", spec},
                                   {"status",
                                    {{"conditions",
                                      {{{"type", "MemoryPressure"}, {"status", "False"}},
                                       {{"type", "Ready"}, {"status", ready}}}}}}});
  };
  put("fine", Json::object(), "True");
  put("cordoned", {{"unschedulable", true}}, "True");
  put("dead", Json::object(), "Unknown");
  std::atomic<int> changes = 0;
  NodeInformer nodes(client, sleeper, clock, {.changed = [&] { ++changes; }});
  std::jthread run([&](const std::stop_token& stop) { nodes.Run(stop); });
  const auto unusable = [&](const std::set<std::string, std::less<>>& want) {
    return Eventually([&] { return nodes.unusable() == want; });
  };
  EXPECT_TRUE(unusable({"cordoned", "dead"}));
  EXPECT_TRUE(Eventually([&] { return changes == 2; }));
  put("dead", Json::object(), "True");
  EXPECT_TRUE(unusable({"cordoned"}));
  EXPECT_TRUE(Eventually([&] { return changes == 3; }));
}

// NPUs of all names count, and neither parts of them nor what a Node says beyond any server.
TEST_F(FrameTest, NodesHaveNpus) {
  const auto put = [&](const std::string& name, const Json& spec, const Json& allocatable,
                       const Json& capacity) {
    server.Put(resources::kNodes,
               {{"metadata", {{"name", name}}},
                {"spec", spec},
                {"status", {{"allocatable", allocatable}, {"capacity", capacity}}}});
  };
  put("fine", Json::object(), {{"huawei.com/Ascend910", "6"}, {"cpu", "192"}},
      {{"huawei.com/Ascend910", "8"}, {"cpu", "192"}});
  put("cordoned", {{"unschedulable", true}}, {{"huawei.com/npu", "8"}}, {{"huawei.com/npu", "8"}});
  put("isolated", {{"taints", {{{"key", "mindgate.io/faulty"}, {"effect", "NoSchedule"}}}}},
      {{"huawei.com/Ascend310P", "4"}}, {{"huawei.com/Ascend310P", "4"}});
  put("odd", Json::object(),
      {{"huawei.com/Ascend910-2c", "8"}, {"huawei.com/Ascend910", "99999999999"}},
      {{"huawei.com/Ascend910", "-1"}});
  NodeInformer nodes(client, sleeper, clock, {.npus = true});
  std::jthread run([&](const std::stop_token& stop) { nodes.Run(stop); });
  const auto seen = [&] {
    std::set<std::string> all;
    nodes.ForEach([&](const std::string& node, bool usable, const NodeInformer::Npus& npus) {
      all.insert(node + (usable ? " " : " closed ") + std::to_string(npus.allocatable) + "/" +
                 std::to_string(npus.capacity));
    });
    return all;
  };
  EXPECT_TRUE(Eventually([&] {
    return seen() == std::set<std::string>{"fine 6/8", "cordoned closed 8/8", "isolated closed 4/4",
                                           "odd 4096/0"};
  })) << ::testing::PrintToString(seen());
}

// A serial number is of one node: of none while two say that they have it.
TEST_F(FrameTest, NodesAreFoundByTheirSerialNumber) {
  const auto put = [&](const std::string& name, const Json& labels, const Json& annotations) {
    server.Put(resources::kNodes,
               {{"metadata", {{"name", name}, {"labels", labels}, {"annotations", annotations}}}});
  };
  const auto label = [](const std::string& serial) {
    return Json{{"huawei.com/npu.server.serial-number", serial}};
  };
  const Json old = {{"product-serial-number", "210-old"}};
  put("n0", label("210-a"), old);
  put("n1", Json::object(), old);
  put("n2", label(std::string(kMaxSerialNumber + 1, '2')), Json::object());
  Mutex mutex;
  std::set<std::string> changed;
  NodeInformer nodes(client, sleeper, clock,
                     {.serials = true, .serials_changed = [&](const std::set<std::string>& names) {
                        const MutexLock lock(mutex);
                        changed.insert(names.begin(), names.end());
                      }});
  NodeInformer without(client, sleeper, clock, {});
  std::jthread run([&](const std::stop_token& stop) { nodes.Run(stop); });
  std::jthread run_without([&](const std::stop_token& stop) { without.Run(stop); });
  const auto reported = [&](const std::set<std::string>& want) {
    return Eventually([&] {
      const MutexLock lock(mutex);
      if (changed != want) return false;
      changed.clear();
      return true;
    });
  };
  ASSERT_TRUE(reported({"n0", "n1"}));
  EXPECT_EQ(nodes.NodeOf("210-a"), "n0");
  EXPECT_EQ(nodes.SerialOf("n0"), "210-a");
  EXPECT_EQ(nodes.NodeOf("210-old"), "n1") << "where there is no label";
  EXPECT_EQ(nodes.SerialOf("n2"), "");
  EXPECT_EQ(nodes.NodeOf("210-b"), "");
  put("n2", label("210-a"), Json::object());
  ASSERT_TRUE(reported({"n0", "n2"}));
  EXPECT_EQ(nodes.NodeOf("210-a"), "");
  EXPECT_EQ(nodes.SerialOf("n0"), "");
  server.Remove(resources::kNodes, "", "n0");
  ASSERT_TRUE(reported({"n0", "n2"}));
  EXPECT_EQ(nodes.NodeOf("210-a"), "n2");
  ASSERT_TRUE(Eventually([&] { return without.synced(); }));
  EXPECT_EQ(without.SerialOf("n2"), "") << "nobody asked for it";
}

// What is read is not what a change throws away meanwhile (a use after free, once).
TEST_F(FrameTest, NodesAreAskedWhileTheyChange) {
  const auto put = [&](bool ready) {
    server.Put(resources::kNodes,
               {{"metadata", {{"name", "n0"}}},
                {"status",
                 {{"conditions", {{{"type", "Ready"}, {"status", ready ? "True" : "False"}}}}}}});
  };
  put(true);
  std::atomic<int> changes = 0;
  NodeInformer nodes(client, sleeper, clock, {.changed = [&] { ++changes; }});
  std::jthread run([&](const std::stop_token& stop) { nodes.Run(stop); });
  std::jthread ask([&](const std::stop_token& stop) {
    while (!stop.stop_requested()) (void)nodes.IsReady("n0");
  });
  ASSERT_TRUE(Eventually([&] { return nodes.IsReady("n0"); }));
  ASSERT_TRUE(server.WaitForWatches(1));
  for (int i = 0; i < 100; ++i) put(i % 2 == 1);
  put(false);
  EXPECT_TRUE(Eventually([&] { return !nodes.IsReady("n0") && changes >= 100; }));
}

}  // namespace
}  // namespace mindgate::watcher
