#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "schemas/raw_objects.h"
#include "support/objects.h"

namespace mindgate::schemas {
namespace {

using testing::YamlDocument;

TEST(RankTable, MindieServer) {
  const json::Document object = YamlDocument(R"(
metadata:
  name: rings-config-mindie-server-0
  labels: {jobID: a, mx-consumer-cim: "true", ring-controller.atlas: ascend-910b, grt-group/deploy-server: "1"}
data: {hccl.json: '{"status":"initializing"}'}
)");
  const auto table = ReadRankTable(object.root());
  ASSERT_TRUE(table);
  EXPECT_EQ(table->job_name, "mindie-server-0");
  EXPECT_EQ(json::AsString(table->job_id), "a");
  EXPECT_EQ(json::AsString(table->consumer), "true");
  EXPECT_EQ(json::AsString(table->ring_controller), "ascend-910b");
  EXPECT_EQ(json::AsString(table->distributed), "1");
  EXPECT_EQ(table->standalone, nullptr);
  EXPECT_TRUE(table->OfMindie());
  EXPECT_EQ(table->status, kRankTableInitializing);
  EXPECT_FALSE(table->fault);
}

TEST(RankTable, TrainingJobIsNotMindie) {
  const json::Document object = YamlDocument(R"(
metadata: {name: rings-config-x, labels: {ring-controller.atlas: ascend-910b}}
data: {hccl.json: '{"status":"completed"}'}
)");
  const auto table = ReadRankTable(object.root());
  ASSERT_TRUE(table);
  EXPECT_FALSE(table->OfMindie());
  EXPECT_EQ(table->status, kRankTableCompleted);
}

TEST(RankTable, Content) {
  struct Case {
    std::string data, status, fault;
  };
  for (const Case& c : std::vector<Case>{
           {"data: {}", "none", "none"},
           {"data: {hccl.json: ''}", "none", "1:1 expected a JSON value, but the text is empty"},
           {"data: {hccl.json: '[1]'}", "none", "1:1 expected an object, found type list"},
           {"data: {hccl.json: '{}'}", "none", "none"},
           {"data: {hccl.json: '{\"status\": 1}'}", "none", "none"},
           {"data: {hccl.json: \"{\\n \\\"status\\\": initializing}\"}", "none",
            "2:12 expected a value, found \"i\""},
           {"data: {hccl.json: {status: initializing}}", "none", "none"},
       }) {
    SCOPED_TRACE(c.data);
    const json::Document object = YamlDocument("metadata: {name: rings-config-x}\n" + c.data);
    const auto table = ReadRankTable(object.root());
    ASSERT_TRUE(table);
    EXPECT_EQ(table->status.value_or("none"), c.status);
    EXPECT_EQ(table->fault
                  ? std::to_string(table->fault->at.line) + ":" +
                        std::to_string(table->fault->at.column) + " " + table->fault->message
                  : "none",
              c.fault);
  }
}

TEST(RankTable, OtherConfigMaps) {
  for (const char* text : {"metadata: {name: scaling-rule}", "metadata: {name: Rings-config-x}",
                           "metadata: {name: 3}", "metadata: []", "{}", "x"}) {
    EXPECT_FALSE(ReadRankTable(YamlDocument(text).root())) << text;
  }
}

}  // namespace
}  // namespace mindgate::schemas
