#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "admission/config_files.h"
#include "base/files.h"
#include "policies/site/site_policies.h"
#include "support/bound_policy.h"
#include "support/fake_clock.h"
#include "support/temp_folder.h"

namespace mindgate::admission {
namespace {

using mindgate::testing::BoundPolicy;
using mindgate::testing::FakeClock;
using mindgate::testing::MountedSecret;
using mindgate::testing::TempFolder;
using ::testing::HasSubstr;

TEST(ConfigReloader, TakesUpEachGoodVersionOfAMountedConfigMap) {
  MountedSecret config_map;
  config_map.Update({{"mindgate.yaml", "scheduler: one\n"}});
  FakeClock clock;
  Snapshot<schemas::Config> config;
  const auto reloader =
      MakeConfigReloader(config_map.path() + "/mindgate.yaml", KnownNames(), clock, config);
  DirectoryWatch watch({.folders = {config_map.path()}}, clock, [&] { reloader->Reload(); });
  EXPECT_EQ(config.Get(), nullptr) << "not ready before the first good load";
  ASSERT_TRUE(reloader->Reload()) << reloader->status().error;
  const auto first = config.Get();
  EXPECT_EQ(first->scheduler, "one");

  config_map.Update({{"mindgate.yaml", "scheduler: two\n"}});
  watch.Step();
  clock.Advance(std::chrono::milliseconds(100));
  watch.Step();
  EXPECT_EQ(config.Get()->scheduler, "two");
  EXPECT_NE(config.Get()->generation, first->generation);
  EXPECT_EQ(first->scheduler, "one") << "who decides by the old one goes on with it";
}

TEST(ConfigReloader, ReportsOldSpellingsOnceForEachFile) {
  const TempFolder folder;
  const std::string path = folder / "mindgate.yaml";
  folder.Write("mindgate.yaml", "graceOverTime: 900\n");
  const FakeClock clock;
  Snapshot<schemas::Config> config;
  std::vector<std::string> reported;
  const auto reloader =
      MakeConfigReloader(path, KnownNames(), clock, config, {},
                         [&reported](const std::string& text) { reported.push_back(text); });
  const std::string warning = path +
                              ":1:16: warning: 900 has no unit and is read as seconds\n"
                              "graceOverTime: 900\n"
                              "               ^\n"
                              "hint: write 15m";
  EXPECT_TRUE(reloader->Reload());
  EXPECT_FALSE(reloader->Reload());
  EXPECT_THAT(reported, ::testing::ElementsAre(warning));

  folder.Write("mindgate.yaml", "graceOverTime: 900\nschedular: three\n");
  EXPECT_FALSE(reloader->Reload());
  folder.Write("mindgate.yaml", "graceOverTime: 15m\n");
  EXPECT_TRUE(reloader->Reload());
  EXPECT_THAT(reported, ::testing::ElementsAre(warning)) << "nothing to warn about";
}

TEST(ConfigReloader, FollowsThePoliciesThatTheConfigurationNames) {
  const TempFolder folder;
  const std::string path = folder / "mindgate.yaml";
  folder.Write("mindgate.yaml", "policies: {files: [policies]}\n");
  folder.Write("policies/a.yaml", BoundPolicy("p", "true"));
  const FakeClock clock;
  Snapshot<schemas::Config> config;
  const auto reloader = MakeConfigReloader(path, KnownNames(), clock, config);
  ASSERT_TRUE(reloader->Reload()) << reloader->status().error;
  const auto first = config.Get();
  ASSERT_NE(first->policies, nullptr);
  EXPECT_EQ(first->policies->rules().size(), 1u);
  EXPECT_FALSE(reloader->Reload()) << "nothing is new";

  folder.Write("policies/a.yaml", BoundPolicy("p", "objct == 1"));
  EXPECT_FALSE(reloader->Reload());
  EXPECT_EQ(config.Get(), first) << "the last good set";
  EXPECT_THAT(reloader->status().error,
              HasSubstr(folder / "policies/a.yaml:7:31: undeclared reference to 'objct'"));

  folder.Write("policies/a.yaml", BoundPolicy("p", "false"));
  EXPECT_TRUE(reloader->Reload());
  EXPECT_NE(config.Get()->generation, first->generation);
}

// ConfigMaps as a test has them.
struct FakeConfigMaps final : PolicyConfigMaps {
  Result<PolicyTexts> Texts() override {
    ++asked;
    return texts;
  }
  void Stop() override { ++stopped; }

  Result<PolicyTexts> texts = PolicyTexts();
  int asked = 0;
  int stopped = 0;
};

TEST(ConfigReloader, FollowsPoliciesInConfigMaps) {
  const TempFolder folder;
  const std::string path = folder / "mindgate.yaml";
  folder.Write("mindgate.yaml", "policies: {configMaps: true}\n");
  const std::string name = "ConfigMap mindgate-system/site, key a.yaml";
  const FakeClock clock;
  Snapshot<schemas::Config> config;
  FakeConfigMaps config_maps;
  const auto reloader = MakeConfigReloader(path, KnownNames(), clock, config, {}, {}, &config_maps);
  config_maps.texts = Fail(ErrorCode::kNotFound, "they cannot be listed");
  EXPECT_FALSE(reloader->Reload());
  EXPECT_EQ(config.Get(), nullptr) << "not ready before they are known";
  EXPECT_EQ(reloader->status().error, "they cannot be listed");

  config_maps.texts = PolicyTexts();
  ASSERT_TRUE(reloader->Reload()) << reloader->status().error;
  EXPECT_EQ(config.Get()->policies, nullptr);
  config_maps.texts = PolicyTexts{{name, BoundPolicy("p", "true")}};
  ASSERT_TRUE(reloader->Reload()) << reloader->status().error;
  const auto good = config.Get();
  ASSERT_NE(good->policies, nullptr);
  EXPECT_EQ(good->policies->rules().size(), 1u);
  EXPECT_FALSE(reloader->Reload()) << "nothing is new";

  config_maps.texts = PolicyTexts{{name, BoundPolicy("p", "objct == 1")}};
  EXPECT_FALSE(reloader->Reload());
  EXPECT_THAT(reloader->status().error, HasSubstr(name + ":7:31: undeclared reference to 'objct'"));
  config_maps.texts = Fail(ErrorCode::kNotFound, "they cannot be listed");
  EXPECT_FALSE(reloader->Reload());
  EXPECT_EQ(config.Get(), good) << "the last good set";

  config_maps.texts = PolicyTexts();
  EXPECT_TRUE(reloader->Reload());
  EXPECT_EQ(config.Get()->policies, nullptr) << "they were removed";
}

TEST(ConfigReloader, PoliciesOfFilesAndOfConfigMapsAreOneSet) {
  const TempFolder folder;
  folder.Write("mindgate.yaml", "policies: {files: [a.yaml], configMaps: true}\n");
  folder.Write("a.yaml", BoundPolicy("p", "true"));
  const FakeClock clock;
  Snapshot<schemas::Config> config;
  FakeConfigMaps config_maps;
  config_maps.texts =
      PolicyTexts{{"ConfigMap mindgate-system/site, key a.yaml", BoundPolicy("p", "true")}};
  const auto reloader = MakeConfigReloader(folder / "mindgate.yaml", KnownNames(), clock, config,
                                           {}, {}, &config_maps);
  EXPECT_FALSE(reloader->Reload());
  EXPECT_THAT(
      reloader->status().error,
      HasSubstr("ConfigMap mindgate-system/site, key a.yaml:3:18: policy \"p\" is also in " +
                (folder / "a.yaml") + ":3"));
}

TEST(ConfigReloader, AsksForConfigMapsOnlyWhileTheConfigurationReadsThem) {
  const TempFolder folder;
  const FakeClock clock;
  Snapshot<schemas::Config> config;
  FakeConfigMaps config_maps;
  const auto reloader = MakeConfigReloader(folder / "mindgate.yaml", KnownNames(), clock, config,
                                           {}, {}, &config_maps);
  const struct {
    const char* text;
    int asked;
    int stopped;
  } steps[] = {
      {"scheduler: volcano\n", 0, 1},
      {"policies: {files: []}\n", 0, 1},
      {"policies: {configMaps: true}\n", 1, 0},
      {"policies: {configMaps: yes please}\n", 0, 0},  // a fault: what is followed stays
      {"policies: {configMaps: false}\n", 0, 1},
      {"policies:\n", 0, 1},
  };
  for (const auto& step : steps) {
    SCOPED_TRACE(step.text);
    config_maps.asked = config_maps.stopped = 0;
    folder.Write("mindgate.yaml", step.text);
    reloader->Reload();
    EXPECT_EQ(config_maps.asked, step.asked);
    EXPECT_EQ(config_maps.stopped, step.stopped);
  }
}

TEST(ConfigReloader, WhoCannotReadConfigMapsRefusesAConfigurationThatDoes) {
  const TempFolder folder;
  folder.Write("mindgate.yaml", "policies: {configMaps: true}\n");
  const FakeClock clock;
  Snapshot<schemas::Config> config;
  const auto reloader = MakeConfigReloader(folder / "mindgate.yaml", KnownNames(), clock, config);
  EXPECT_FALSE(reloader->Reload());
  EXPECT_EQ(reloader->status().error,
            "policies.configMaps is true, and ConfigMaps cannot be read here");
}

TEST(ConfigReloader, KeepsTheLastGoodAndShowsTheFault) {
  const TempFolder folder;
  const std::string path = folder / "mindgate.yaml";
  folder.Write("mindgate.yaml", "scheduler: one\n");
  const FakeClock clock;
  Snapshot<schemas::Config> config;
  const auto reloader = MakeConfigReloader(path, KnownNames(), clock, config);
  ASSERT_TRUE(reloader->Reload());
  const auto good = config.Get();

  folder.Write("mindgate.yaml", "scheduler: two\nschedular: three\n");
  EXPECT_FALSE(reloader->Reload());
  EXPECT_EQ(config.Get(), good);
  EXPECT_EQ(reloader->status().failures, 1u);
  EXPECT_EQ(reloader->status().error, path +
                                          ":2:12: unknown key \"schedular\"\n"
                                          "schedular: three\n"
                                          "           ^\n"
                                          "hint: did you mean \"scheduler\"?");

  std::filesystem::remove(path);
  EXPECT_FALSE(reloader->Reload());
  EXPECT_EQ(config.Get(), good);
  EXPECT_EQ(reloader->status().error, path + ": no such file");

  folder.Write("mindgate.yaml", std::string(1024 * 1024 + 1, '#'));
  EXPECT_FALSE(reloader->Reload());
  EXPECT_THAT(reloader->status().error, HasSubstr("is larger than 1048576 bytes"));
}

}  // namespace
}  // namespace mindgate::admission
