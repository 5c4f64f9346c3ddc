// The program itself: flags, the development mode, signals and exit codes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "cli/servers/servers.h"
#include "json/decode.h"
#include "support/cli.h"
#include "support/places.h"
#include "support/process.h"

namespace mindgate::cli {
namespace {

using ::mindgate::testing::Cli;
using ::mindgate::testing::Shell;
using ::testing::HasSubstr;

TEST(Webhook, RefusesOptionsThatContradictEachOther) {
  struct Case {
    std::vector<std::string> arguments;
    std::string err;
  };
  const std::vector<Case> cases = {
      {{"webhook"},
       "error: --cert-dir is required: the API server calls webhooks over HTTPS only\n"
       "hint: give the folder with tls.crt and tls.key (`mindgate certs create` creates one), or "
       "use --dev to try mindgate on this machine\n"},
      {{"webhook", "--cert-dir", "x", "--client-name", "a"},
       "error: --client-name and --client-optional require --client-ca\n"
       "hint: give the file with the CA that signs the API server's client certificate\n"},
      {{"webhook", "--cert-dir", "x", "--drain-time", "1"},
       "error: --drain-time is shorter than --drain-delay\n"
       "hint: --drain-time includes the delay\n"},
      {{"webhook", "--dev", "--listn", ":1"},
       "error: unknown flag \"--listn\"\nhint: did you mean \"--listen\"?\n"},
  };
  for (const Case& c : cases) {
    const auto result = Cli(c.arguments);
    EXPECT_EQ(result.code, 2);
    EXPECT_EQ(result.out, "");
    EXPECT_EQ(result.err, c.err);
  }
  EXPECT_THAT(Cli({"webhook", "--cert-dir", "x", "--log-format", "xml"}).err,
              HasSubstr("--log-format"));
  EXPECT_THAT(Cli({"webhook", "--cert-dir", "x", "--dev"}).err, HasSubstr("--cert-dir"));
}

// `mindgate webhook` on ports that the kernel chooses.
struct RunningWebhook : ::mindgate::testing::Running {
  explicit RunningWebhook(const std::string& arguments)
      : ::mindgate::testing::Running("webhook --listen 127.0.0.1:0 --probe-listen 127.0.0.1:0 " +
                                     arguments) {}
};

TEST(Webhook, DevReportsWhatToTypeAndThatWorks) {
  RunningWebhook webhook("--dev");
  const std::string printed = webhook.ReadUntil("Press Ctrl-C to stop.");
  const size_t begin = printed.find("  curl --cacert");
  ASSERT_NE(begin, std::string::npos) << printed;
  const std::string curl = printed.substr(begin, printed.find("\n\n", begin) - begin);
  const auto answer = json::Decode(Shell(curl + " --silent").out);
  ASSERT_TRUE(answer) << curl;
  EXPECT_EQ(answer->at("response").at("allowed"), true);
  EXPECT_TRUE(answer->at("response").contains("patch"));
  EXPECT_THAT(printed, HasSubstr("    caBundle: LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0t"));

  EXPECT_THAT(printed, HasSubstr("/readyz?verbose'     and /livez"))
      << "a ? outside quotes is a glob";
  const size_t probe = printed.find("http://127.0.0.1:");
  const std::string base = printed.substr(probe, printed.find('/', probe + 8) - probe);
  EXPECT_THAT(Shell("curl --silent " + base + "/readyz?verbose").out, HasSubstr("\nok\n"));
  EXPECT_THAT(Shell("curl --silent " + base + "/metrics").out,
              HasSubstr("mindgate_webhook_requests_total{kind=\"Pod\",operation=\"CREATE\","
                        "outcome=\"admitted\",path=\"/mutate\"} 1"));

  webhook.Signal(SIGTERM);
  EXPECT_EQ(webhook.ExitCode(), 0);
  const size_t folder = printed.find("/ca.crt");
  const size_t start = printed.rfind(' ', folder) + 1;
  EXPECT_FALSE(std::filesystem::exists(printed.substr(start, folder - start)));
}

TEST(Webhook, TakesItsSettingsFromTheEnvironment) {
  const auto result = Shell("MINDGATE_CERT_DIR=x MINDGATE_CLIENT_NAME=a " +
                            std::string(::mindgate::testing::Program()) + " webhook 2>&1");
  EXPECT_EQ(result.code, 2);
  EXPECT_THAT(result.out, HasSubstr("--client-name and --client-optional require --client-ca"));
}

// A second signal ends it at once; its key does not stay behind.
TEST(Webhook, ASecondSignalLeavesNoKey) {
  RunningWebhook webhook("--dev --drain-delay 20");
  const std::string printed = webhook.ReadUntil("Press Ctrl-C to stop.");
  const size_t folder = printed.find("/ca.crt");
  const size_t start = printed.rfind(' ', folder) + 1;
  const std::string path = printed.substr(start, folder - start);
  ASSERT_TRUE(std::filesystem::exists(path + "/tls.key"));
  webhook.Signal(SIGTERM);
  webhook.ReadUntil("drain");
  webhook.Signal(SIGTERM);
  EXPECT_THAT(webhook.ReadUntil("second stop signal"),
              HasSubstr("second stop signal, exiting immediately"));
  EXPECT_EQ(webhook.ExitCode(), 1);
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(Webhook, AConfigurationThatIsNotThereIsReported) {
  const ::mindgate::testing::TempFolder folder;
  RunningWebhook webhook("--dev --config " + folder / "nosuch");
  EXPECT_THAT(webhook.ReadUntil("nosuch"),
              HasSubstr("none was loaded yet; not ready, and reviews are refused until one is"));
}

TEST(Webhook, WithoutCertificatesItWaitsForThem) {
  const ::mindgate::testing::TempFolder folder;
  RunningWebhook webhook("--drain-delay 0 --cert-dir " + folder.path());
  const std::string printed = webhook.ReadUntil("\"serving\"");
  EXPECT_THAT(printed, HasSubstr("tls.crt"));
  webhook.Signal(SIGINT);
  EXPECT_EQ(webhook.ExitCode(), 0);
}

TEST(Webhook, APortThatIsTakenIsNamed) {
  RunningWebhook first("--dev");
  const std::string printed = first.ReadUntil("Press Ctrl-C to stop.");
  const size_t port = printed.find("https://127.0.0.1:") + 18;
  const std::string taken =
      "127.0.0.1:" + printed.substr(port, printed.find_first_not_of("0123456789", port) - port);
  const auto second =
      Shell(::mindgate::testing::Program() + std::string(" webhook --dev --listen ") + taken +
            " --probe-listen 127.0.0.1:0 2>&1");
  EXPECT_EQ(second.code, 2);
  EXPECT_THAT(second.out, HasSubstr("error: "));
  EXPECT_THAT(second.out, HasSubstr(taken));
}

}  // namespace
}  // namespace mindgate::cli
