#include "schemas/versions.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "support/golden.h"

namespace mindgate::schemas {
namespace {

TEST(Versions, AreRead) {
  struct Case {
    std::string_view text;
    std::optional<Version> want;
  };
  const Case cases[] = {
      {"1.10", Version{1, 10, 0}},
      {"v1.12.2", Version{1, 12, 2}},
      {"v1.9.0-v7.3.0", Version{1, 9, 0}},
      {"v1.34.4+k3s1", Version{1, 34, 4}},
      {"v0.7.0-rc.3", Version{0, 7, 0}},
      {"26.1.0", Version{26, 1, 0}},
      {"", std::nullopt},
      {"v", std::nullopt},
      {"1", std::nullopt},
      {"latest", std::nullopt},
      {"1.x", std::nullopt},
      {"1.", std::nullopt},
      {"1.2.3.4", std::nullopt},
      {"1.-2", std::nullopt},
      {"+1.2", std::nullopt},
      {"1.99999999999", std::nullopt},
  };
  for (const Case& c : cases) EXPECT_EQ(ReadVersion(c.text), c.want) << c.text;
}

TEST(Versions, AreInTheTagsOfImages) {
  struct Case {
    std::string_view image;
    std::optional<Component> component;
    std::optional<Version> version;
  };
  const Case cases[] = {
      {"volcanosh/vc-scheduler:v1.12.2", Component::kVolcano, Version{1, 12, 2}},
      {"registry:5000/a/vc-controller-manager:v1.9.0-v26.1.0", Component::kVolcano,
       Version{1, 9, 0}},
      {"registry.k8s.io/lws/lws:v0.7.0@sha256:ab", Component::kLeaderWorkerSet, Version{0, 7, 0}},
      {"ghcr.io/moirai-internal/ome-manager:v0.1.4", Component::kOme, Version{0, 1, 4}},
      {"aibrix/controller-manager:v0.6.0", Component::kAibrix, Version{0, 6, 0}},
      {"ascend-operator:v26.1.0", Component::kMindCluster, Version{26, 1, 0}},
      {"infer-operator:latest", Component::kInferOperator, std::nullopt},
      {"registry:5000/infer-operator", Component::kInferOperator, std::nullopt},
      {"my-vc-scheduler:v1.0.0", std::nullopt, Version{1, 0, 0}},
      {"other/controller-manager:v1.0.0", std::nullopt, Version{1, 0, 0}},
      {"", std::nullopt, std::nullopt},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(ComponentOfImage(c.image), c.component) << c.image;
    EXPECT_EQ(VersionOfImage(c.image), c.version) << c.image;
  }
}

TEST(Versions, AnswerNoToBothQuestionsWhileUnknown) {
  Versions versions;
  EXPECT_FALSE(versions.IsBefore(Component::kVolcano, {1, 11}));
  EXPECT_FALSE(versions.IsFrom(Component::kVolcano, {1, 11}));
  versions.Set(Component::kVolcano, {1, 10, 9});
  EXPECT_TRUE(versions.IsBefore(Component::kVolcano, {1, 11}));
  EXPECT_FALSE(versions.IsFrom(Component::kVolcano, {1, 11}));
  versions.Set(Component::kVolcano, {1, 11, 0});
  EXPECT_FALSE(versions.IsBefore(Component::kVolcano, {1, 11}));
  EXPECT_TRUE(versions.IsFrom(Component::kVolcano, {1, 11}));
  EXPECT_FALSE(versions.Of(Component::kOme));
}

TEST(Components, HaveKeysOfTheirOwnInTheOrderOfTheirEnumerators) {
  std::set<std::string_view> keys;
  for (size_t i = 0; i < kComponentCount; ++i) {
    EXPECT_EQ(static_cast<size_t>(kComponents[i].component), i);
    EXPECT_TRUE(keys.insert(kComponents[i].key).second) << kComponents[i].key;
  }
}

TEST(Components, AreInTheDocument) {
  const std::string document = testing::ReadSource("docs/versions.md");
  std::string table = "| component | key | read against | run with |\n|---|---|---|---|\n";
  for (const ComponentInfo& info : kComponents) {
    table += "| " + std::string(info.name) + " | `" + std::string(info.key) + "` | " +
             std::string(info.read) + " | " + (info.run.empty() ? "-" : std::string(info.run)) +
             " |\n";
  }
  EXPECT_NE(document.find(table + "\n"), std::string::npos)
      << "docs/versions.md needs this table:\n"
      << table;
}

}  // namespace
}  // namespace mindgate::schemas
