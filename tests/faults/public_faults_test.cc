#include "faults/public_faults.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

// Which public faults are true, by all that messages said.
namespace mindgate::faults {
namespace {

using Names = std::set<std::string>;

PublicFault Occurs(const std::string& id, const std::string& node, int64_t device = 0) {
  return {.node = node, .id = id, .devices = {device}, .code = "220001001"};
}
PublicFault Recovers(const std::string& id, const std::string& node) {
  return {.node = node, .id = id, .recovered = true};
}

// "n0: a0 b3; n1: a0", each with its device.
std::string Known(const PublicFaultStore& memory) {
  std::string text;
  for (const std::string& node : memory.nodes()) {
    text += (text.empty() ? "" : "; ") + node + ":";
    for (const PublicFault& fault : memory.Of(node)) {
      text += " " + fault.id + std::to_string(fault.devices.front());
    }
  }
  return text;
}

TEST(PublicFaultStore, FollowsMessagesAsClusterDDoes) {
  PublicFaultStore memory;
  const struct {
    const char* what;
    const char* config_map;
    std::vector<PublicFault> reported;
    Names changed;
    const char* known;
  } steps[] = {
      {"a fault of two nodes",
       "m",
       {Occurs("a", "n0"), Occurs("a", "n1")},
       {"n0", "n1"},
       "n0: a0; n1: a0"},
      {"the same again", "m", {Occurs("a", "n0"), Occurs("a", "n1")}, {}, "n0: a0; n1: a0"},
      {"another message about another fault",
       "m",
       {Occurs("b", "n0", 3)},
       {"n0"},
       "n0: a0 b3; n1: a0"},
      {"the first message about a fault counts",
       "m",
       {Occurs("b", "n0", 5)},
       {},
       "n0: a0 b3; n1: a0"},
      {"it recovers on one of the nodes, by a message elsewhere",
       "other",
       {Recovers("a", "n0")},
       {"n0"},
       "n0: b3; n1: a0"},
      {"no source reported it",
       "other",
       {Recovers("c", "n0"), Recovers("a", "n7")},
       {},
       "n0: b3; n1: a0"},
      {"both in one message, in its order",
       "m",
       {Recovers("b", "n0"), Occurs("b", "n0", 5), Occurs("d", "n2"), Recovers("d", "n2")},
       {"n0", "n2"},
       "n0: b5; n1: a0"},
  };
  for (const auto& step : steps) {
    EXPECT_EQ(memory.Put(step.config_map, step.reported), step.changed) << step.what;
    EXPECT_EQ(Known(memory), step.known) << step.what;
  }
  EXPECT_EQ(memory.Forget("other"), Names());
  EXPECT_EQ(memory.Forget("m"), (Names{"n0", "n1"}));
  EXPECT_EQ(Known(memory), "");
  EXPECT_EQ(memory.faults(), 0U);
  EXPECT_EQ(memory.bytes(), 0U);
}

TEST(PublicFaultStore, AFaultOfTwoMessagesLastsAsLongAsOneOfThem) {
  PublicFaultStore memory;
  memory.Put("m", {Occurs("a", "n0")});
  memory.Put("w", {Occurs("a", "n0")});
  EXPECT_EQ(memory.Forget("m"), Names());
  EXPECT_EQ(Known(memory), "n0: a0");
  EXPECT_EQ(memory.Forget("w"), Names{"n0"});
  memory.Put("m", {Occurs("a", "n0")});
  memory.Put("w", {Occurs("a", "n0")});
  EXPECT_EQ(memory.Put("w", {Recovers("a", "n0")}), Names{"n0"});
  EXPECT_EQ(memory.bytes(), 0U);
}

TEST(PublicFaultStore, ForgetsWhatWasReplaced) {
  PublicFaultStore memory;
  memory.Put("m", {Occurs("a", "n0"), Occurs("b", "n1")});
  memory.Put("m", {Occurs("b", "n1"), Occurs("c", "n2")});
  EXPECT_EQ(memory.ForgetReplaced(), Names{"n0"});
  EXPECT_EQ(Known(memory), "n1: b0; n2: c0");
  EXPECT_EQ(memory.ForgetReplaced(), Names());
}

TEST(PublicFaultStore, IsBounded) {
  PublicFaultStore memory;
  std::vector<PublicFault> many;
  for (size_t i = 0; i < PublicFaultStore::kMaxFaults + 10; ++i) {
    many.push_back(Occurs("f", "n" + std::to_string(i)));
  }
  memory.Put("m", many);
  EXPECT_LE(memory.faults(), PublicFaultStore::kMaxFaults);
  EXPECT_LE(memory.bytes(), PublicFaultStore::kMaxBytes);
  EXPECT_EQ(memory.faults() + memory.left_out(), many.size());
  EXPECT_GT(memory.faults(), 20'000U);
  // Those that recover make room.
  memory.Put("m", {Recovers("f", "n0"), Occurs("g", "n0")});
  EXPECT_EQ(Known(memory).substr(0, 7), "n0: g0;");
  // Also of one fault that many ConfigMaps report.
  for (size_t i = 0; memory.left_out() < many.size() && i < 100; ++i) {
    memory.Put("w" + std::to_string(i), many);
  }
  EXPECT_LE(memory.bytes(), PublicFaultStore::kMaxBytes);
  for (size_t i = 0; i < 100; ++i) memory.Forget("w" + std::to_string(i));
  memory.Forget("m");
  EXPECT_EQ(memory.bytes(), 0U);
}

}  // namespace
}  // namespace mindgate::faults
