#include "deploy/history.h"

#include <gmock/gmock.h>

#include "deploy/cluster_fixture.h"

namespace mindgate::deploy {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct HistoryTest : ClusterTest {
  kube::Answer<int64_t> Keep(const std::string& file, const char* outcome = kDeployed,
                             const std::string& app = "chat") {
    return KeepRevision(
        client, "llm", app,
        {.time = "2026-01-01T00:00:00Z", .by = "alice@a/1", .framework = "ome", .outcome = outcome},
        file, {});
  }
  std::vector<int64_t> Numbers(const std::string& app = "chat") {
    std::vector<int64_t> numbers;
    for (const Revision& each : Value(Revisions(client, "llm", app, {}))) {
      numbers.push_back(each.number);
    }
    return numbers;
  }
  kube::Answer<std::optional<int64_t>> Before() {
    return RevisionBefore(client, "llm", "chat", Value(Revisions(client, "llm", "chat", {})), {});
  }
};

TEST_F(HistoryTest, KeepsTheNewest) {
  for (int i = 1; i <= 13; ++i) EXPECT_EQ(Value(Keep("file " + std::to_string(i))), i);
  EXPECT_THAT(Numbers(), ElementsAre(4, 5, 6, 7, 8, 9, 10, 11, 12, 13));
  EXPECT_EQ(Value(FileOf(client, "llm", "chat", 12, {})), "file 12");
  EXPECT_EQ(FileOf(client, "llm", "chat", 3, {}).error().reason, kube::Reason::kNotFound);
  const Json object = server.Find(kube::resources::kConfigMaps, "llm", "mindgate-deploy.chat.13");
  EXPECT_EQ(object["immutable"], true);
  // They do not belong to the application, which pruning is about.
  EXPECT_THAT(Titles(), IsEmpty());
}

TEST_F(HistoryTest, TheSameFileIsKeptOnce) {
  EXPECT_EQ(Value(Keep("a")), 1);
  EXPECT_EQ(Value(Keep("a")), 1);
  EXPECT_EQ(Value(Keep("b")), 2);
  EXPECT_EQ(Value(Keep("a")), 3);
  EXPECT_THAT(Numbers(), ElementsAre(1, 2, 3));
}

TEST_F(HistoryTest, WhatRollingBackMeans) {
  EXPECT_EQ(Value(Before()), std::nullopt);
  Keep("a");
  EXPECT_EQ(Value(Before()), std::nullopt);
  Keep("b");
  EXPECT_EQ(Value(Before()), 1);
  Keep("c", kNotDeployed);
  EXPECT_EQ(Value(Before()), 2);
  Keep("d", kNotDeployed);
  EXPECT_EQ(Value(Before()), 2);
  // A rollback is a revision of its own, and what failed is not gone back to.
  Keep("b");
  EXPECT_EQ(Value(Before()), 1);
}

TEST_F(HistoryTest, EachApplicationHasItsOwn) {
  Keep("a");
  Keep("b", kDeployed, "chat-2");
  EXPECT_THAT(Numbers("chat-2"), ElementsAre(1));
  // One that somebody copied, and one whose number is none.
  Json copy = server.Find(kube::resources::kConfigMaps, "llm", "mindgate-deploy.chat.1");
  copy["metadata"]["name"] = "copied";
  server.Put(kube::resources::kConfigMaps, copy);
  copy["metadata"]["name"] = "mindgate-deploy.chat.x";
  copy["metadata"]["annotations"]["mindgate.io/revision"] = "x";
  server.Put(kube::resources::kConfigMaps, copy);
  EXPECT_THAT(Numbers(), ElementsAre(1));
  EXPECT_TRUE(ForgetRevisions(client, "llm", "chat", {}));
  EXPECT_THAT(Numbers(), IsEmpty());
  EXPECT_THAT(Numbers("chat-2"), ElementsAre(1));
  EXPECT_TRUE(server.Find(kube::resources::kConfigMaps, "llm", "copied").is_object());
}

TEST_F(HistoryTest, AFileHasABound) {
  EXPECT_THAT(Keep(std::string(kMaxRevisionBytes + 1, 'a')).error().message,
              HasSubstr("the file has 262145 bytes, and a revision at most 262144"));
  EXPECT_TRUE(Keep(std::string(kMaxRevisionBytes, 'a')));
}

// Another run that is not kept away was faster.
TEST_F(HistoryTest, ANumberThatIsTakenIsPassedOver) {
  Keep("a");
  server.Put(kube::resources::kConfigMaps,
             {{"metadata", {{"namespace", "llm"}, {"name", "mindgate-deploy.chat.2"}}}});
  EXPECT_EQ(Value(Keep("b")), 3);
}

}  // namespace
}  // namespace mindgate::deploy
