#include "webhook/live_inputs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <mutex>
#include <utility>

#include "support/certificates.h"
#include "support/eventually.h"
#include "support/fake_clock.h"
#include "support/temp_folder.h"

namespace mindgate::webhook {
namespace {

using mindgate::testing::Eventually;
using mindgate::testing::FakeClock;
using mindgate::testing::KeyPem;
using mindgate::testing::kService;
using mindgate::testing::MountedSecret;
using mindgate::testing::NewAuthority;
using mindgate::testing::NewLeaf;
using mindgate::testing::Pem;
using ::testing::HasSubstr;

// Files of a server as a Pod has them: two Secrets and a ConfigMap. Time stands still, so that
// everything happens when the test says so.
struct Pod {
  void WritePair(const certs::Identity& leaf) {
    serving.Update({{"tls.crt", Pem(leaf)}, {"tls.key", KeyPem(leaf)}});
  }
  void WriteClientAuthority(const std::string& text) { clients.Update({{"ca.crt", text}}); }
  void WriteConfig(const std::string& text) { config.Update({{"mindgate.yaml", text}}); }
  LiveFiles Files() const {
    return {config.path() + "/mindgate.yaml",
            {serving.path(), clients.path() + "/ca.crt", {kService}}};
  }
  std::string Logged() {
    const std::lock_guard lock(mutex);
    return std::exchange(lines, "");
  }

  MountedSecret serving;
  MountedSecret clients;
  MountedSecret config;
  FakeClock clock;
  std::mutex mutex;
  std::string lines;
  log::Logger logger{log::Format::kText, log::Level::kInfo, clock, [this](std::string_view line) {
                       const std::lock_guard lock(mutex);
                       lines += line;
                     }};
};

TEST(LiveInputs, LoadAtOnceAndFollowTheirFiles) {
  Pod pod;
  const certs::Identity authority = NewAuthority();
  pod.WritePair(NewLeaf(authority));
  pod.WriteClientAuthority(Pem(authority));
  pod.WriteConfig("scheduler: one\n");
  LiveInputs inputs(pod.Files(), pod.clock, pod.logger);
  ASSERT_NE(inputs.config().Get(), nullptr);
  ASSERT_NE(inputs.tls().Get(), nullptr);
  EXPECT_NE(inputs.tls().Get()->client_ca, nullptr);
  EXPECT_EQ(inputs.config().Get()->scheduler, "one");
  const std::string logged = pod.Logged();
  EXPECT_THAT(logged, HasSubstr(inputs.config().Get()->generation));
  EXPECT_THAT(logged, HasSubstr("serving certificate"));
  EXPECT_THAT(logged, HasSubstr("client CA"));

  const auto first = inputs.tls().Get();
  pod.WritePair(NewLeaf(authority));
  pod.WriteConfig("scheduler: two\n");
  inputs.Reload();
  EXPECT_EQ(inputs.config().Get()->scheduler, "two");
  EXPECT_NE(inputs.tls().Get(), first);
}

TEST(LiveInputs, EachKeepsItsLastGood) {
  Pod pod;
  const certs::Identity authority = NewAuthority();
  pod.WritePair(NewLeaf(authority));
  pod.WriteClientAuthority(Pem(authority));
  pod.WriteConfig("scheduler: one\n");
  LiveInputs inputs(pod.Files(), pod.clock, pod.logger);
  const auto tls = inputs.tls().Get();
  const auto config = inputs.config().Get();
  pod.Logged();

  pod.serving.Update({{"tls.crt", Pem(NewLeaf(authority))}, {"tls.key", "rubbish"}});
  pod.WriteClientAuthority("");
  pod.WriteConfig("scheduler: [\n");
  inputs.Reload();
  EXPECT_EQ(inputs.tls().Get(), tls);
  EXPECT_EQ(inputs.config().Get(), config);
  EXPECT_EQ(inputs.config_status().failures, 1u);
  EXPECT_EQ(inputs.certificate_status().failures, 2u);
  EXPECT_EQ(inputs.certificate_status().error,
            "tls.key: holds no private key (write a private key as PEM (-----BEGIN ...)); " +
                pod.clients.path() + "/ca.crt: is empty (write a certificate as PEM)");
  const std::string logged = pod.Logged();
  EXPECT_THAT(logged, HasSubstr("refused; the last good one stays in use"));
  EXPECT_THAT(logged, HasSubstr("tls.key: holds no private key"));
  EXPECT_THAT(logged, HasSubstr("ca.crt: is empty"));
  EXPECT_THAT(logged, HasSubstr("mindgate.yaml:2:1"));
  inputs.Reload();
  EXPECT_EQ(pod.Logged(), "") << "a failure that lasts is logged once";
}

TEST(LiveInputs, AreEmptyUntilTheirFilesAreThere) {
  Pod pod;
  LiveInputs inputs(pod.Files(), pod.clock, pod.logger);
  EXPECT_EQ(inputs.tls().Get(), nullptr);
  EXPECT_EQ(inputs.config().Get(), nullptr);
  EXPECT_THAT(pod.Logged(), HasSubstr("none was loaded yet"));
  const certs::Identity authority = NewAuthority();
  pod.WritePair(NewLeaf(authority));
  pod.WriteClientAuthority(Pem(authority));
  pod.WriteConfig("");
  inputs.Reload();
  EXPECT_NE(inputs.tls().Get(), nullptr);
  EXPECT_NE(inputs.config().Get(), nullptr);
}

TEST(LiveInputs, WithoutAConfigurationFileTheDefaultsHold) {
  Pod pod;
  pod.WritePair(NewLeaf(NewAuthority()));
  LiveInputs inputs({"", {pod.serving.path(), "", {}}}, pod.clock, pod.logger);
  ASSERT_NE(inputs.config().Get(), nullptr);
  EXPECT_EQ(inputs.config().Get()->generation, "defaults");
  EXPECT_EQ(inputs.config_status().swaps, 1u);
  ASSERT_NE(inputs.tls().Get(), nullptr);
  EXPECT_EQ(inputs.tls().Get()->client_ca, nullptr);
}

TEST(LiveInputs, TheirThreadSeesChangesByItself) {
  Pod pod;
  pod.WritePair(NewLeaf(NewAuthority()));
  pod.WriteConfig("scheduler: one\n");
  LiveFiles files = pod.Files();
  files.tls.client_ca_file.clear();
  LiveInputs inputs(
      files, pod.clock, pod.logger,
      {.folders = {}, .poll_every = std::chrono::hours(1), .quiet = std::chrono::milliseconds(0)});
  const auto pair = inputs.tls().Get();
  pod.WriteConfig("scheduler: two\n");
  EXPECT_TRUE(Eventually([&] { return inputs.config().Get()->scheduler == "two"; }));
  pod.WritePair(NewLeaf(NewAuthority()));
  EXPECT_TRUE(Eventually([&] { return inputs.tls().Get() != pair; }));
}

}  // namespace
}  // namespace mindgate::webhook
