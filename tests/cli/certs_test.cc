#include "cli/certs/certs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "support/certificates.h"
#include "support/cli.h"
#include "support/openssl_tool.h"
#include "support/temp_folder.h"

namespace mindgate::cli {
namespace {

using testing::Cli;
using testing::FilesOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::kNow;
using testing::kService;
using testing::MountedSecret;
using testing::NewAuthority;
using testing::NewLeaf;
using testing::Pem;
using testing::TempFolder;

constexpr std::chrono::days kDay(1);

using Outcome = testing::CliResult;

template <typename Command>
Outcome With(const Command& command, const std::string& input = "") {
  std::istringstream in(input);
  std::ostringstream out;
  std::ostringstream err;
  Streams io{in, out, err};
  const int code = command(io);
  return {code, out.str(), err.str()};
}

Outcome Create(const std::string& folder, Time now = kNow, bool force = false) {
  return With([&](Streams& io) {
    return RunCertsCreate(
        {.folder = folder, .names = {.dns_names = {kService}}, .force = force, .now = now}, io);
  });
}

Outcome Inspect(CertsInspectOptions options, const std::string& input = "") {
  if (options.now == Time{}) options.now = kNow;
  return With([&](Streams& io) { return RunCertsInspect(options, io); }, input);
}

Outcome Rotate(CertsRotateOptions options) {
  return With([&](Streams& io) { return RunCertsRotate(options, io); });
}

unsigned ModeOf(const std::string& path) {
  struct stat status{};
  EXPECT_EQ(::stat(path.c_str(), &status), 0) << path;
  return status.st_mode & 07777;
}

TEST(CertsCreate, WritesWhatTheWebhookServes) {
  const TempFolder folder;
  const std::string path = folder / "new/certs";
  const Outcome made = Create(path);
  EXPECT_EQ(made.code, kExitDone) << made.err;
  EXPECT_EQ(made.out, "wrote ca.crt, ca.key, tls.crt and tls.key in " + path +
                          "\n"
                          "serving certificate: for webhook.mindgate-system.svc, until "
                          "2027-01-01T00:00:00Z\n"
                          "CA: until 2035-12-30T00:00:00Z\n");
  EXPECT_EQ(Inspect({.path = path, .names = {kService}}).code, kExitDone);
}

TEST(CertsCreate, KeysAreForTheirOwnerOnly) {
  const TempFolder folder;
  Create(folder.path());
  EXPECT_EQ(ModeOf(folder / "ca.key"), 0600u);
  EXPECT_EQ(ModeOf(folder / "tls.key"), 0600u);
  EXPECT_EQ(ModeOf(folder / "ca.crt"), 0644u);
  EXPECT_EQ(ModeOf(folder / "tls.crt"), 0644u);
}

TEST(CertsCreate, DoesNotReplaceWhatIsThere) {
  const TempFolder folder;
  folder.Write("ca.key", "precious");
  const Outcome refused = Create(folder.path());
  EXPECT_EQ(refused.code, kExitDenied);
  EXPECT_EQ(
      refused.err,
      "error: " + folder.path() +
          " already contains ca.key\n"
          "hint: `mindgate certs rotate` renews existing certificates, --force overwrites them\n");
  EXPECT_EQ(folder.Read("ca.key"), "precious");
  EXPECT_EQ(Create(folder.path(), kNow, true).code, kExitDone);
}

TEST(CertsCreate, LeavesAMountedSecretAlone) {
  MountedSecret secret;
  secret.Update({{"other", ""}});
  const Outcome refused = Create(secret.path(), kNow, true);
  EXPECT_EQ(refused.code, kExitDenied);
  EXPECT_THAT(refused.err, HasSubstr("is a mounted Secret or ConfigMap"));
}

TEST(CertsCreate, TakesFlags) {
  const TempFolder folder;
  const Outcome made =
      Cli({"certs", "create", "--dir", folder.path(), "--service", "webhook.ns", "--dns",
           "localhost", "--ip", "127.0.0.1", "--ip", "::1", "--days", "9"});
  EXPECT_EQ(made.code, kExitDone) << made.err;
  EXPECT_THAT(made.out, HasSubstr("for webhook, webhook.ns, webhook.ns.svc, "
                                  "webhook.ns.svc.cluster.local, localhost, 127.0.0.1, ::1, "));
}

struct Misuse {
  std::vector<std::string> arguments;
  const char* want;
};

TEST(Certs, RefusesArgumentsThatMakeNoSense) {
  const TempFolder folder;
  const std::string dir = folder / "certs";
  const Misuse table[] = {
      {{"certs"}, "error: A subcommand is required\n"},
      {{"certs", "create"}, "error: --dir is required\n"},
      {{"certs", "create", "--dir", dir},
       "error: a serving certificate needs a DNS name or an IP address\n"
       "hint: for example --service webhook.mindgate-system\n"},
      {{"certs", "create", "--dir", dir, "--dns", "Web Hook"},
       "error: \"Web Hook\" is not a DNS name: lower-case letters, digits, '-' and '.'\n"},
      {{"certs", "create", "--dir", dir, "--ip", "localhost"},
       "error: \"localhost\" is not an IP address\n"},
      {{"certs", "create", "--dir", dir, "--service", "webhook"},
       "error: --service \"webhook\" is not a Service\n"
       "hint: write its name and namespace: --service webhook.mindgate-system\n"},
      {{"certs", "create", "--dir", dir, "--dns", "a", "--days", "0"},
       "error: --days: Value 0 not in range 1 to 36500\n"},
      {{"certs", "inspect"}, "error: PATH is required\n"},
      {{"certs", "inspect", dir, "-o", "yaml"}, "error: --output: \"yaml\" is not supported"},
      {{"certs", "inspect", dir}, "error: "},
      {{"certs", "rotate", "--dir", dir}, "does not contain ca.crt\n"},
      {{"certs", "rotat"}, "did you mean \"rotate\"?"},
  };
  for (const Misuse& misuse : table) {
    SCOPED_TRACE(::testing::PrintToString(misuse.arguments));
    const Outcome outcome = Cli(misuse.arguments);
    EXPECT_EQ(outcome.code, kExitUnusable);
    EXPECT_EQ(outcome.out, "");
    EXPECT_THAT(outcome.err, HasSubstr(misuse.want));
    EXPECT_FALSE(std::filesystem::exists(dir));
  }
}

TEST(CertsInspect, ReportsWhatAFolderHolds) {
  const TempFolder folder;
  Create(folder.path());
  const Outcome reported = Inspect({.path = folder.path(), .names = {kService}});
  EXPECT_EQ(reported.code, kExitDone);
  EXPECT_EQ(reported.err, "");
  EXPECT_THAT(reported.out, ::testing::MatchesRegex(
                                "tls.crt, certificate 1\n"
                                "  subject      CN=webhook.mindgate-system.svc\n"
                                "  issuer       CN=mindgate-ca@1767225600\n"
                                "  names        webhook.mindgate-system.svc\n"
                                "  valid        2025-12-31T23:55:00Z to 2027-01-01T00:00:00Z, 365 "
                                "days left\n"
                                "  key          ECDSA P-256\n"
                                "  signature    ecdsa-with-SHA256\n"
                                "  CA           no\n"
                                "  usages       serverAuth\n"
                                "  fingerprint  SHA-256 [0-9A-F:]*\n\n"
                                "ca.crt, certificate 1\n"
                                "  subject      CN=mindgate-ca@1767225600\n"
                                "  issuer       itself\n"
                                "  valid        2025-12-31T23:55:00Z to 2035-12-30T00:00:00Z, 3650 "
                                "days left\n"
                                "  key          ECDSA P-256\n"
                                "  signature    ecdsa-with-SHA256\n"
                                "  CA           yes\n"
                                "  fingerprint  SHA-256 [0-9A-F:]*\n\n"
                                "no problems found\n"));
}

TEST(CertsInspect, JsonHoldsTheSame) {
  const TempFolder folder;
  Create(folder.path());
  const Outcome reported =
      Inspect({.path = folder.path(), .output = "json", .names = {"other.svc"}});
  EXPECT_EQ(reported.code, kExitDenied);
  EXPECT_EQ(reported.err, "");
  nlohmann::json value = nlohmann::json::parse(reported.out);
  ASSERT_EQ(value["certificates"].size(), 2u);
  nlohmann::json& leaf = value["certificates"][0];
  leaf.erase("serial");
  leaf.erase("fingerprint");
  EXPECT_EQ(leaf, nlohmann::json::parse(R"({
    "file": "tls.crt", "number": 1,
    "subject": "CN=webhook.mindgate-system.svc", "issuer": "CN=mindgate-ca@1767225600",
    "dnsNames": ["webhook.mindgate-system.svc"], "ipAddresses": [],
    "notBefore": "2025-12-31T23:55:00Z", "notAfter": "2027-01-01T00:00:00Z", "daysLeft": 365,
    "key": "ECDSA P-256", "signature": "ecdsa-with-SHA256", "ca": false, "usages": ["serverAuth"]
  })"));
  ASSERT_EQ(value["problems"].size(), 1u);
  EXPECT_EQ(value["problems"][0]["file"], "tls.crt");
  EXPECT_THAT(value["problems"][0]["message"].get<std::string>(),
              HasSubstr("is not for \"other.svc\""));
}

TEST(CertsInspect, FailsWhenSomethingEndsSoon) {
  const TempFolder folder;
  Create(folder.path());
  const Time warn_from = kNow + 335 * kDay;
  EXPECT_EQ(Inspect({.path = folder.path(), .now = warn_from}).code, kExitDone);
  const Outcome warned =
      Inspect({.path = folder.path(), .now = warn_from + std::chrono::seconds(1)});
  EXPECT_EQ(warned.code, kExitDenied);
  EXPECT_EQ(warned.err,
            "error: tls.crt: certificate 1 (\"CN=webhook.mindgate-system.svc\") expires at "
            "2027-01-01T00:00:00Z, within 30 days\n"
            "hint: renew it; `mindgate certs rotate` does so for certificates of mindgate's own "
            "CA\n");
  const Time last = kNow + 365 * kDay - std::chrono::seconds(1);
  EXPECT_EQ(Inspect({.path = folder.path(), .warn_days = 0, .now = last}).code, kExitDone);
  const Outcome ended = Inspect({.path = folder.path(), .warn_days = 0, .now = kNow + 365 * kDay});
  EXPECT_EQ(ended.code, kExitDenied);
  EXPECT_THAT(ended.err, HasSubstr("expired at 2027-01-01T00:00:00Z"));
  EXPECT_THAT(ended.out, HasSubstr(", expired\n"));
}

TEST(CertsInspect, FailsWhenAPairDoesNotFit) {
  const TempFolder folder;
  Create(folder.path());
  const TempFolder other;
  Create(other.path());
  folder.Write("tls.key", other.Read("tls.key"));
  const Outcome reported = Inspect({.path = folder.path()});
  EXPECT_EQ(reported.code, kExitDenied);
  EXPECT_THAT(reported.err,
              HasSubstr("error: tls.key: is not the key of the certificate in tls.crt"));
}

TEST(CertsInspect, ReadsFilesAndStandardInput) {
  const TempFolder folder;
  const certs::Identity authority = NewAuthority();
  const std::string chain = Pem(NewLeaf(authority)) + Pem(authority);
  folder.Write("bundle.pem", chain);
  const Outcome file = Inspect({.path = folder / "bundle.pem", .names = {kService}});
  EXPECT_EQ(file.code, kExitDone) << file.err;
  EXPECT_THAT(file.out, HasSubstr(folder / "bundle.pem" + ", certificate 2\n"));
  const Outcome stdin_outcome = Inspect({.path = "-"}, chain);
  EXPECT_EQ(stdin_outcome.code, kExitDone);
  EXPECT_THAT(stdin_outcome.out, HasSubstr("<stdin>, certificate 1\n"));
}

TEST(CertsInspect, CannotUseWhatHoldsNoCertificate) {
  const TempFolder folder;
  folder.Write("empty", "");
  folder.Write("binary", std::string("\0\xff\x7f", 3));
  folder.Write("half", Pem(NewAuthority()).substr(0, 200));
  for (const char* name : {"empty", "binary", "half", "missing", ""}) {
    SCOPED_TRACE(name);
    const Outcome reported = Inspect({.path = folder / name});
    EXPECT_EQ(reported.code, kExitUnusable);
    EXPECT_EQ(reported.out, "");
    EXPECT_THAT(reported.err,
                HasSubstr("hint: name a folder with tls.crt and tls.key, or a PEM file"));
  }
}

// A subject and names that would move a terminal's cursor.
TEST(CertsInspect, PrintsNothingThatActsOnATerminal) {
  testing::OddRequest request;
  request.common_name = "\x1b[2Jevil \xc2\x9b";  // the second is the same in one character
  request.extensions = {{NID_subject_alt_name, "DER:30:08:82:06:1B:5B:32:4A:FF:61"}};
  const std::string odd = Pem(testing::NewOdd(nullptr, std::move(request)));
  const Outcome reported = Inspect({.path = "-"}, odd);
  EXPECT_THAT(reported.out, HasSubstr("subject      CN=\\1B[2Jevil \\xc2\\x9b\n"));
  EXPECT_THAT(reported.out, HasSubstr("names        \\x1b[2J\\xffa\n"));
  const Outcome as_json = Inspect({.path = "-", .output = "json"}, odd);
  EXPECT_EQ(nlohmann::json::parse(as_json.out)["certificates"][0]["dnsNames"][0],
            "\x1b[2J\xef\xbf\xbd"
            "a");
  EXPECT_EQ(as_json.out.find('\x1b'), std::string::npos);
}

TEST(CertsRotate, DoesNothingBeforeSomethingIsDue) {
  const TempFolder folder;
  Create(folder.path());
  const std::string before = folder.Read("tls.crt");
  const Outcome idle = Rotate({.folder = folder.path(), .now = kNow + kDay});
  EXPECT_EQ(idle.code, kExitDone);
  EXPECT_EQ(idle.out,
            "serving certificate: for webhook.mindgate-system.svc, until 2027-01-01T00:00:00Z\n"
            "CA: until 2035-12-30T00:00:00Z\n"
            "next step due at 2026-09-01T08:00:00Z\n");
  EXPECT_EQ(folder.Read("tls.crt"), before);
}

TEST(CertsRotate, ReplacesTheAuthorityStepByStep) {
  const TempFolder folder;
  Create(folder.path());
  const Outcome planned =
      Rotate({.folder = folder.path(), .authority = true, .dry_run = true, .now = kNow + kDay});
  EXPECT_EQ(planned.out, "would create the next CA, which signs later: requested\n");
  EXPECT_FALSE(std::filesystem::exists(folder / "ca-previous.key"));

  const Outcome introduced =
      Rotate({.folder = folder.path(), .authority = true, .now = kNow + kDay});
  EXPECT_EQ(introduced.code, kExitDone);
  EXPECT_EQ(introduced.out,
            "create the next CA, which signs later: requested\n"
            "ca.crt has changed: publish it as caBundle now\n"
            "serving certificate: for webhook.mindgate-system.svc, until 2027-01-01T00:00:00Z\n"
            "CA: until 2035-12-31T00:00:00Z\n"
            "next step due at 2026-01-02T01:00:00Z\n");
  EXPECT_EQ(ModeOf(folder / "ca-previous.key"), 0600u);

  const Outcome again = Rotate({.folder = folder.path(), .authority = true, .now = kNow + kDay});
  EXPECT_EQ(again.code, kExitDone);
  EXPECT_EQ(again.err, "note: the CA is already being replaced; --ca has no effect\n");

  const Time signs = kNow + kDay + std::chrono::hours(1);
  EXPECT_THAT(Rotate({.folder = folder.path(), .now = signs}).out,
              HasSubstr("renew the serving certificate: clients have had the new CA since"));
  EXPECT_FALSE(std::filesystem::exists(folder / "ca-previous.key")) << "a key nobody needs";
  EXPECT_THAT(Rotate({.folder = folder.path(), .now = signs + kDay}).out,
              HasSubstr("remove the old CA: "));
  EXPECT_EQ(Inspect({.path = folder.path(), .names = {kService}, .now = signs + kDay}).code,
            kExitDone);
}

TEST(CertsRotate, JsonReportsWhatWasDone) {
  const TempFolder folder;
  const Outcome made = With([&](Streams& io) {
    return RunCertsCreate({.folder = folder.path(),
                           .names = {.dns_names = {kService}, .ip_addresses = {"::1"}},
                           .output = "json",
                           .now = kNow},
                          io);
  });
  EXPECT_EQ(made.code, kExitDone) << made.err;
  EXPECT_EQ(nlohmann::json::parse(made.out), nlohmann::json::parse(R"({
    "dryRun": false, "caChanged": true,
    "steps": [{"step": "replace-ca", "reason": "there is no CA"},
              {"step": "renew-serving", "reason": "the new CA must sign it"}],
    "serving": {"dnsNames": ["webhook.mindgate-system.svc"], "ipAddresses": ["::1"],
                "notAfter": "2027-01-01T00:00:00Z"},
    "ca": {"notAfter": "2035-12-30T00:00:00Z"},
    "next": "2026-09-01T08:00:00Z"
  })"));
  CertsRotateOptions rotate = {.folder = folder.path(), .output = "json", .now = kNow};
  nlohmann::json idle = nlohmann::json::parse(Rotate(rotate).out);
  EXPECT_EQ(idle["steps"], nlohmann::json::array());
  EXPECT_EQ(idle["caChanged"], false);
  EXPECT_EQ(idle["next"], "2026-09-01T08:00:00Z");

  rotate.force = rotate.dry_run = true;
  const std::string pair = folder.Read("tls.crt");
  const nlohmann::json planned = nlohmann::json::parse(Rotate(rotate).out);
  EXPECT_EQ(planned["dryRun"], true);
  EXPECT_EQ(planned["steps"],
            nlohmann::json::parse(R"([{"step": "renew-serving", "reason": "requested"}])"));
  EXPECT_EQ(planned["next"], "2026-01-01T00:00:00Z");
  EXPECT_EQ(folder.Read("tls.crt"), pair);

  folder.Write("tls.crt", "");
  EXPECT_EQ(nlohmann::json::parse(Rotate(rotate).out)["serving"], nullptr);
  rotate.dry_run = false;
  const Outcome nameless = Rotate(rotate);
  EXPECT_EQ(nameless.code, kExitUnusable);
  EXPECT_EQ(nameless.out, "");
  EXPECT_EQ(nameless.err,
            "error: a serving certificate needs a DNS name or an IP address\n"
            "hint: for example --service webhook.mindgate-system\n");
}

TEST(CertsRotate, LeavesCertificatesOfAnotherAuthorityAlone) {
  const TempFolder folder;
  Create(folder.path());
  std::filesystem::remove(folder / "ca.key");
  const Outcome refused = Rotate({.folder = folder.path(), .force = true, .now = kNow});
  EXPECT_EQ(refused.code, kExitDenied);
  EXPECT_THAT(refused.err, HasSubstr("another CA issued these certificates"));
}

TEST(Certs, TheOpenSslToolAcceptsWhatIsWritten) {
  if (!testing::HasOpenSslTool()) GTEST_SKIP() << "no openssl command";
  const TempFolder folder;
  const Outcome made = Cli({"certs", "create", "--dir", folder.path(), "--dns", "localhost"});
  ASSERT_EQ(made.code, kExitDone) << made.err;
  EXPECT_EQ(testing::RunOpenSsl("verify -x509_strict -purpose sslserver -verify_hostname "
                                "localhost -CAfile " +
                                folder / "ca.crt" + " " + folder / "tls.crt"),
            folder / "tls.crt" + ": OK\n");
}

TEST(Certs, HelpShowsExamples) {
  for (const char* command : {"create", "inspect", "rotate"}) {
    const Outcome help = Cli({"certs", command, "--help"});
    EXPECT_EQ(help.code, kExitDone);
    EXPECT_THAT(help.out, HasSubstr(std::string("  mindgate certs ") + command + " "));
    EXPECT_THAT(help.out, HasSubstr("[$MINDGATE_CERTS_")) << command;
  }
}

}  // namespace
}  // namespace mindgate::cli
