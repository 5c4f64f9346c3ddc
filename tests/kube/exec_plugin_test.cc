#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <thread>

#include "accesses.h"
#include "kube/kubeconfig.h"
#include "support/environment.h"
#include "support/fake_clock.h"
#include "support/temp_folder.h"

namespace mindgate::kube {
namespace {

using ::mindgate::testing::ChangedEnvironment;
using ::mindgate::testing::FakeClock;
using ::mindgate::testing::TempFolder;
using ::mindgate::testing::Variables;
using testing::SharedMaterial;
using testing::Show;
using testing::TestMaterial;

constexpr const char* kV1 = "client.authentication.k8s.io/v1";

std::string ExecCredential(const nlohmann::json& status) {
  return nlohmann::json{{"apiVersion", kV1}, {"kind", "ExecCredential"}, {"status", status}}.dump();
}

// A plugin that notes each of its runs and prints what the file "answer" holds.
struct ExecFixture : ::testing::Test {
  TempFolder folder;
  FakeClock clock;  // begins at 2026-01-01T00:00:00Z
  std::string script = "echo run >> \"$DIR/runs\"; cat \"$DIR/answer\"";
  std::string install_hint;

  void Answer(const std::string& text) { folder.Write("answer", text); }
  void AnswerToken(const std::string& token, const std::string& end = "") {
    nlohmann::json status = {{"token", token}};
    if (!end.empty()) status["expirationTimestamp"] = end;
    Answer(ExecCredential(status));
  }

  ExecPlugin Plugin() {
    folder.Write("plugin", "#!/bin/sh\n" + script + "\n");
    ::chmod((folder / "plugin").c_str(), 0755);
    return {.command = folder / "plugin",
            .arguments = {},
            .environment = {{"DIR", folder.path()}},
            .api_version = kV1,
            .info = "{}",
            .install_hint = install_hint,
            .place = "config:7:5"};
  }
  std::shared_ptr<CredentialSource> Source() { return MakeExecSource(Plugin(), clock); }

  long Runs() {
    const std::string text = folder.Read("runs");
    return std::count(text.begin(), text.end(), '\n');
  }
  std::string Blamed(const std::string& what) {
    return "Credentials: config:7:5: exec plugin \"" + folder.path() + "/plugin\": " + what;
  }
  // The fault of the first call to a plugin that does this.
  std::string FaultOf(const std::string& does) {
    script = does;
    return Show(Source()->Get());
  }
  std::string FaultOfAnswer(const std::string& text) {
    Answer(text);
    return FaultOf("cat \"$DIR/answer\"");
  }
};

TEST_F(ExecFixture, IsRunOnceAndKept) {
  AnswerToken("first");
  const auto source = Source();
  EXPECT_EQ(Runs(), 0) << "only when it is needed";
  EXPECT_EQ(Show(source->Get()), "token=first");
  AnswerToken("second");
  clock.Advance(std::chrono::hours(1000));
  EXPECT_EQ(Show(source->Get()), "token=first");
  EXPECT_EQ(Runs(), 1);
}

TEST_F(ExecFixture, IsRunAgainShortlyBeforeItsCredentialsEnd) {
  AnswerToken("first", "2026-01-01T09:00:00.25+08:00");  // in an hour
  const auto source = Source();
  EXPECT_EQ(Show(source->Get()), "token=first");
  AnswerToken("second", "2026-01-01T02:00:00Z");
  clock.Advance(std::chrono::seconds(3589));
  EXPECT_EQ(Show(source->Get()), "token=first");
  clock.Advance(std::chrono::seconds(1));
  EXPECT_EQ(Show(source->Get()), "token=second");
  EXPECT_EQ(Runs(), 2);
}

TEST_F(ExecFixture, IsRunAgainAfterARefusal) {
  AnswerToken("first");
  const auto source = Source();
  EXPECT_EQ(Show(source->Get()), "token=first");
  AnswerToken("second");
  clock.Advance(std::chrono::seconds(5));
  source->Refused({"one that somebody had long ago", "", ""});
  EXPECT_EQ(Show(source->Get()), "token=first");
  source->Refused({"first", "", ""});
  EXPECT_EQ(Show(source->Get()), "token=second");
  EXPECT_EQ(Runs(), 2);
}

TEST_F(ExecFixture, AServerThatRefusesEverythingDoesNotRunItAgainAndAgain) {
  AnswerToken("bad");
  const auto source = Source();
  EXPECT_EQ(Show(source->Get()), "token=bad");
  for (int i = 0; i < 100; ++i) {
    source->Refused({"bad", "", ""});
    EXPECT_EQ(Show(source->Get()),
              Blamed("the server refuses the credentials that it has just printed"));
  }
  EXPECT_EQ(Runs(), 1);
  clock.Advance(std::chrono::seconds(5));
  AnswerToken("good");
  EXPECT_EQ(Show(source->Get()), "token=good");
  EXPECT_EQ(Runs(), 2);
}

TEST_F(ExecFixture, AFailureIsReportedAgainFor5Seconds) {
  script = "echo run >> \"$DIR/runs\"; exit 7";
  const auto source = Source();
  for (int i = 0; i < 100; ++i) EXPECT_EQ(Show(source->Get()), Blamed("exit code 7"));
  clock.Advance(std::chrono::milliseconds(4999));
  EXPECT_EQ(Show(source->Get()), Blamed("exit code 7"));
  EXPECT_EQ(Runs(), 1);
  clock.Advance(std::chrono::milliseconds(1));
  EXPECT_EQ(Show(source->Get()), Blamed("exit code 7"));
  EXPECT_EQ(Runs(), 2);
}

TEST_F(ExecFixture, AFailedRenewalMattersWhenTheOldOnesHaveEnded) {
  AnswerToken("first", "2026-01-01T01:00:00Z");
  const auto source = Source();
  EXPECT_EQ(Show(source->Get()), "token=first");
  Answer("");
  clock.Advance(std::chrono::seconds(3595));
  EXPECT_EQ(Show(source->Get()), "token=first");
  EXPECT_EQ(Runs(), 2) << "it was tried";
  clock.Advance(std::chrono::seconds(5));
  EXPECT_EQ(Show(source->Get()), Blamed("printed nothing, but should print an ExecCredential"));
}

TEST_F(ExecFixture, OursMayBeTheWrongClock) {
  AnswerToken("ended", "2025-12-31T00:00:00Z");
  const auto source = Source();
  for (int i = 0; i < 100; ++i) EXPECT_EQ(Show(source->Get()), "token=ended");
  EXPECT_EQ(Runs(), 1);
  clock.Advance(std::chrono::seconds(5));
  EXPECT_EQ(Show(source->Get()), "token=ended");
  EXPECT_EQ(Runs(), 2);
}

TEST_F(ExecFixture, ManyThreadsWaitForOneRun) {
  AnswerToken("one");
  const auto source = Source();
  std::vector<std::jthread> threads;
  std::vector<std::string> shown(8);
  for (std::string& text : shown) {
    threads.emplace_back([&source, &text] { text = Show(source->Get()); });
  }
  threads.clear();
  EXPECT_EQ(shown, std::vector<std::string>(8, "token=one"));
  EXPECT_EQ(Runs(), 1);
}

TEST_F(ExecFixture, GetsItsArgumentsAndItsEnvironment) {
  const ChangedEnvironment ours(Variables{
      {"COLOUR", "blue"}, {"SHAPE", "round"}, {"KUBERNETES_EXEC_INFO", "that of somebody else"}});
  script =
      "env | grep -E '^(COLOUR|SHAPE|KUBERNETES_EXEC_INFO)=' | sort > \"$DIR/env\"; "
      "printf '[%s]' \"$@\" > \"$DIR/args\"; exit 1";
  ExecPlugin plugin = Plugin();
  plugin.arguments = {"get-token", "--name", "a b"};
  plugin.environment.emplace_back("COLOUR", "green = best");
  plugin.info = "{\"kind\":\"ExecCredential\"}";
  EXPECT_EQ(Show(MakeExecSource(plugin, clock)->Get()), Blamed("exit code 1"));
  EXPECT_EQ(folder.Read("env"),
            "COLOUR=green = best\nKUBERNETES_EXEC_INFO={\"kind\":\"ExecCredential\"}\n"
            "SHAPE=round\n");
  EXPECT_EQ(folder.Read("args"), "[get-token][--name][a b]");
}

TEST_F(ExecFixture, GivesCertificates) {
  const TestMaterial& m = SharedMaterial();
  Answer(ExecCredential({{"clientCertificateData", m.certificate}, {"clientKeyData", m.key}}));
  EXPECT_EQ(Show(Source()->Get()), "certificate=<certificate> key=<key>");
  Answer(ExecCredential(
      {{"token", "t"}, {"clientCertificateData", m.certificate}, {"clientKeyData", m.key}}));
  EXPECT_EQ(Show(Source()->Get()), "token=t certificate=<certificate> key=<key>");
}

TEST_F(ExecFixture, ReportsHowItFailed) {
  EXPECT_EQ(FaultOf("echo 'no session: run login' >&2; exit 255"),
            Blamed("exit code 255: no session: run login"));
  EXPECT_EQ(FaultOf("printf 'one\\ntwo \\033[31mred\\r\\n\\377\\n' >&2; exit 1"),
            Blamed("exit code 1: one\ntwo \\x1b[31mred\\x0d\n\\xff"))
      << "nothing that acts on a terminal";
  EXPECT_EQ(FaultOf("head -c 5000 /dev/zero | tr '\\0' x >&2; exit 1"),
            Blamed("exit code 1: " + std::string(1024, 'x')));
  EXPECT_EQ(FaultOf("kill -11 $$"), Blamed("ended by signal 11"));
  EXPECT_EQ(FaultOf("cat /dev/zero"),
            Blamed("wrote more than 1048576 bytes to standard output and was killed"));
  script = "sleep 600";
  ExecPlugin slow = Plugin();
  slow.deadline = std::chrono::milliseconds(50);
  EXPECT_EQ(Show(MakeExecSource(slow, clock)->Get()),
            Blamed("did not end within 50 ms and was killed"));
}

TEST_F(ExecFixture, AMissingCommandComesWithItsInstallHint) {
  ExecPlugin plugin = Plugin();
  plugin.command = "kubelogin-of-nobody";
  EXPECT_EQ(Show(MakeExecSource(plugin, clock)->Get()),
            "Credentials: config:7:5: exec plugin \"kubelogin-of-nobody\": no such program "
            "(install it, or write its full path in exec.command)");
  plugin.install_hint = "\n  brew install kubelogin\033[0m\n";
  EXPECT_EQ(Show(MakeExecSource(plugin, clock)->Get()),
            "Credentials: config:7:5: exec plugin \"kubelogin-of-nobody\": no such program (brew "
            "install kubelogin\\x1b[0m)");
}

TEST_F(ExecFixture, RefusesWhatIsNoCredential) {
  const TestMaterial& m = SharedMaterial();
  const std::string half = m.certificate.substr(0, m.certificate.size() / 2);
  const std::string cases[][2] = {
      {"", "printed nothing, but should print an ExecCredential"},
      {"{\"token\": \"secret", "printed invalid JSON, at line 1, column 11"},
      {"secret", "printed invalid JSON, at line 1, column 1"},
      {"[]",
       "printed kind \"\" of \"\", but the configuration says ExecCredential of "
       "\"client.authentication.k8s.io/v1\""},
      {R"({"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1beta1",
           "status":{"token":"secret"}})",
       "printed kind \"ExecCredential\" of \"client.authentication.k8s.io/v1beta1\", but the "
       "configuration says ExecCredential of \"client.authentication.k8s.io/v1\""},
      {R"({"kind":"Status","apiVersion":"v1"})",
       "printed kind \"Status\" of \"v1\", but the configuration says ExecCredential of "
       "\"client.authentication.k8s.io/v1\""},
      {ExecCredential(nullptr), "printed an ExecCredential without a status"},
      {ExecCredential("secret"), "printed an ExecCredential without a status"},
      {ExecCredential(nlohmann::json::object()),
       "printed neither a token nor a client certificate with its key"},
      {ExecCredential({{"token", 5}}), "printed a status.token that is not a string"},
      {ExecCredential({{"token", "sec\nret"}}),
       "printed a bad token: a space or a control character at byte 4, which a token cannot "
       "contain"},
      {ExecCredential({{"clientKeyData", m.key}}), "printed a client key without its certificate"},
      {ExecCredential({{"clientCertificateData", m.certificate}, {"token", "secret"}}),
       "printed a client certificate without its key"},
      {ExecCredential({{"clientCertificateData", half}, {"clientKeyData", m.key}}),
       "printed a bad clientCertificateData: certificate 1 is cut off or is not PEM"},
      {ExecCredential({{"clientCertificateData", m.certificate}, {"clientKeyData", "secret"}}),
       "printed a bad clientKeyData: no private key in the PEM text"},
      {ExecCredential({{"clientCertificateData", m.certificate}, {"clientKeyData", m.other_key}}),
       "printed a client key that does not match the client certificate"},
      {ExecCredential({{"token", "secret"}, {"expirationTimestamp", "tomorrow"}}),
       "printed a status.expirationTimestamp that is not a time such as 2026-12-31T12:00:00Z"},
      {ExecCredential({{"token", "secret"}, {"expirationTimestamp", 5}}),
       "printed a status.expirationTimestamp that is not a time such as 2026-12-31T12:00:00Z"},
  };
  for (const auto& [answer, want] : cases) {
    EXPECT_EQ(FaultOfAnswer(answer), Blamed(want)) << answer;
    EXPECT_EQ(want.find("secret"), std::string::npos);
  }
}

}  // namespace
}  // namespace mindgate::kube
