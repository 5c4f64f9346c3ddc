#include "watcher/certificates/controller.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "certs/certificate.h"
#include "kube/client_fixture.h"
#include "kube/fake_api_server.h"
#include "support/fake_clock.h"

namespace mindgate::watcher {
namespace {

using json::Json;
using kube::Reason;
using kube::testing::AccessTo;
using kube::testing::FakeApiServer;
using kube::testing::FakeSleeper;
using kube::testing::StatusAnswer;
using std::chrono::days;
using std::chrono::hours;
namespace resources = kube::resources;

// An installation whose configurations are there and whose Secret is not, as after `helm install`.
struct CertificateManagerFixture : ::testing::Test {
  mindgate::testing::FakeClock clock;  // begins at 2026-01-01T00:00:00Z
  FakeApiServer server{{.clock = &clock}};
  std::vector<std::string> lines;
  log::Logger logger{log::Format::kText, log::Level::kInfo, clock,
                     [this](std::string_view line) { lines.emplace_back(line); }};
  FakeSleeper sleeper;
  std::unique_ptr<kube::Transport> transport =
      kube::MakeTransport(AccessTo(server.url()), "mindgate/test");
  kube::Client client{*transport, sleeper, {.retries = 0}};
  CertificateManager manager{clock, logger, OptionsOf()};
  LeaderClient leader{client, Term(clock.WallNow(), [] { return true; }, {})};

  static CertificateManagerOptions OptionsOf() {
    CertificateManagerOptions options;
    options.ns = "mindgate-system";
    options.webhooks.mutating = {"mindgate"};
    options.webhooks.validating = {"mindgate"};
    return options;
  }

  CertificateManagerFixture() {
    server.Put(resources::kNamespaces, {{"metadata", {{"name", "mindgate-system"}}}});
    PutConfiguration(resources::kMutatingWebhooks);
    PutConfiguration(resources::kValidatingWebhooks);
  }

  void PutConfiguration(const kube::Resource& resource) {
    const auto webhook = [](const std::string& name) -> Json {
      return {{"name", name},
              {"sideEffects", "None"},
              {"admissionReviewVersions", {"v1"}},
              {"clientConfig",
               {{"service", {{"name", "mindgate-webhook"}, {"namespace", "mindgate-system"}}}}}};
    };
    server.Put(resource, {{"metadata", {{"name", "mindgate"}}},
                          {"webhooks", {webhook("pods.example"), webhook("jobs.example")}}});
  }

  Json Secret() { return server.Find(resources::kSecrets, "mindgate-system", "mindgate-tls"); }
  std::string Content(const std::string& name) {
    return certs::DecodeBase64(Secret().at("data").at(name).get<std::string>()).value();
  }
  // Of each webhook of both configurations, decoded; "" where there is none.
  std::vector<std::string> Bundles() {
    std::vector<std::string> bundles;
    for (const auto& resource : {resources::kMutatingWebhooks, resources::kValidatingWebhooks}) {
      const Json found = server.Find(resource, "", "mindgate");
      for (const Json& webhook : found.at("webhooks")) {
        bundles.push_back(
            certs::DecodeBase64(webhook.at("clientConfig").value("caBundle", "")).value());
      }
    }
    return bundles;
  }
  static size_t Certificates(const std::string& pem) {
    return certs::ReadCertificates(pem).value().size();
  }
  size_t Writes() {
    return server.Count({.method = "POST"}) + server.Count({.method = "PUT"}) +
           server.Count({.method = "PATCH"});
  }
  Time Reconciled() {
    const auto next = manager.Reconcile(leader);
    EXPECT_TRUE(next) << next.error().message;
    return next.value_or(Time());
  }
  void Annotate(const std::string& value) {
    Json secret = Secret();
    secret["metadata"]["annotations"][kRotateAnnotation] = value;
    server.Put(resources::kSecrets, secret);
  }
};

TEST_F(CertificateManagerFixture, TheFirstStartMakesTheSecretAndPublishesItsCa) {
  Reconciled();
  const Json secret = Secret();
  EXPECT_EQ(secret.at("type"), "kubernetes.io/tls");
  EXPECT_EQ(secret.at("metadata").at("labels"),
            Json({{"app.kubernetes.io/managed-by", "mindgate"}}));
  std::vector<std::string> keys;
  for (const auto& [key, value] : secret.at("data").items()) keys.push_back(key);
  EXPECT_EQ(keys, (std::vector<std::string>{"ca.crt", "ca.key", "tls.crt", "tls.key"}));
  EXPECT_EQ(Bundles(), std::vector<std::string>(4, Content("ca.crt")));
  const auto leaf = certs::ReadCertificates(Content("tls.crt"));
  EXPECT_EQ(certs::Describe(leaf->front().get()).dns_names,
            (std::vector<std::string>{"mindgate-webhook", "mindgate-webhook.mindgate-system",
                                      "mindgate-webhook.mindgate-system.svc",
                                      "mindgate-webhook.mindgate-system.svc.cluster.local"}));
}

// Else the first rotation could not drop the CA of the installation for an hour.
TEST_F(CertificateManagerFixture, AFirstSecretHasNoCaOfBeforeToTrust) {
  Reconciled();
  EXPECT_EQ(Secret().at("metadata").value("annotations", Json::object()), Json::object());
}

TEST_F(CertificateManagerFixture, OwnsTheCaBundlesAndOneOwnerReference) {
  Reconciled();
  const Json found = server.Find(resources::kMutatingWebhooks, "", "mindgate");
  for (const Json& entry : found.at("metadata").at("managedFields")) {
    if (entry.at("manager") != kBundleFieldManager) continue;
    EXPECT_EQ(entry.at("operation"), "Apply");
    EXPECT_EQ(entry.at("fieldsV1").size(), 2) << entry.at("fieldsV1");
    EXPECT_EQ(entry.at("fieldsV1").at("f:metadata").size(), 1) << entry.at("fieldsV1");
    EXPECT_EQ(entry.at("fieldsV1").at("f:metadata").at("f:ownerReferences").size(), 1);
    for (const auto& [key, fields] : entry.at("fieldsV1").at("f:webhooks").items()) {
      EXPECT_EQ(fields.at("f:clientConfig"), Json({{"f:caBundle", Json::object()}})) << key;
    }
  }
  EXPECT_EQ(found.at("webhooks")[0].at("sideEffects"), "None");
}

TEST_F(CertificateManagerFixture, ConfigurationsGoWithTheNamespace) {
  server.Put(resources::kNamespaces,
             {{"metadata", {{"name", "mindgate-system"}, {"uid", "uid-of-the-namespace"}}}});
  Reconciled();
  const Json owner = {{{"apiVersion", "v1"},
                       {"kind", "Namespace"},
                       {"name", "mindgate-system"},
                       {"uid", "uid-of-the-namespace"},
                       {"blockOwnerDeletion", false}}};
  for (const auto& resource : {resources::kMutatingWebhooks, resources::kValidatingWebhooks}) {
    EXPECT_EQ(server.Find(resource, "", "mindgate").at("metadata").at("ownerReferences"), owner);
  }

  // An installation whose CA was published before it had owners, and one that lost it.
  for (const auto& resource : {resources::kMutatingWebhooks, resources::kValidatingWebhooks}) {
    Json configuration = server.Find(resource, "", "mindgate");
    configuration["metadata"].erase("ownerReferences");
    server.Put(resource, configuration);
  }
  Reconciled();
  EXPECT_EQ(server.Find(resources::kMutatingWebhooks, "", "mindgate")
                .at("metadata")
                .value("ownerReferences", Json()),
            owner);
  EXPECT_EQ(Bundles(), std::vector<std::string>(4, Content("ca.crt")));
}

TEST_F(CertificateManagerFixture, OwnersOfOthersStay) {
  Json configuration = server.Find(resources::kMutatingWebhooks, "", "mindgate");
  const Json other = {
      {"apiVersion", "v1"}, {"kind", "Node"}, {"name", "n"}, {"uid", "uid-of-another"}};
  configuration["metadata"]["ownerReferences"] = Json::array({other});
  server.Put(resources::kMutatingWebhooks, configuration);
  Reconciled();
  const Json owners = server.Find(resources::kMutatingWebhooks, "", "mindgate")
                          .at("metadata")
                          .at("ownerReferences");
  EXPECT_EQ(owners.size(), 2);
  EXPECT_EQ(owners.at(0), other);
}

// Rights of an older chart: the CA is more important.
TEST_F(CertificateManagerFixture, WithoutTheRightToReadTheNamespaceTheCaIsPublishedAllTheSame) {
  server.Forbid("get", "namespaces");
  Reconciled();
  Reconciled();
  EXPECT_EQ(Bundles(), std::vector<std::string>(4, Content("ca.crt")));
  EXPECT_FALSE(server.Find(resources::kMutatingWebhooks, "", "mindgate")
                   .at("metadata")
                   .contains("ownerReferences"));
  EXPECT_EQ(std::count_if(lines.begin(), lines.end(),
                          [](const std::string& line) {
                            return line.find("cannot set an owner") != std::string::npos;
                          }),
            1)
      << "said once";
}

TEST_F(CertificateManagerFixture, ASecondLookWritesNothing) {
  Reconciled();
  server.ForgetRequests();
  Reconciled();
  EXPECT_EQ(Writes(), 0);
  EXPECT_EQ(server.Requests().size(), 3) << "the Secret and both configurations";
}

TEST_F(CertificateManagerFixture, AConfigurationThatCameLaterOrLostItsCaGetsIt) {
  server.Remove(resources::kMutatingWebhooks, "", "mindgate");
  Reconciled();
  PutConfiguration(resources::kMutatingWebhooks);
  PutConfiguration(resources::kValidatingWebhooks);  // as an upgrade that forgets it
  Reconciled();
  EXPECT_EQ(Bundles(), std::vector<std::string>(4, Content("ca.crt")));
}

TEST_F(CertificateManagerFixture, TheCertificateIsRenewedAtTwoThirdsOfItsLife) {
  const Time next = Reconciled();
  const std::string first = Content("tls.crt");
  clock.Advance(next - clock.WallNow() - hours(1));
  Reconciled();
  EXPECT_EQ(Content("tls.crt"), first);
  clock.Advance(hours(2));
  Reconciled();
  EXPECT_NE(Content("tls.crt"), first);
  EXPECT_EQ(Bundles(), std::vector<std::string>(4, Content("ca.crt"))) << "the CA stays";
}

TEST_F(CertificateManagerFixture, ACaIsReplacedInStepsThatEveryClientCanFollow) {
  Reconciled();
  const std::string old_ca = Content("ca.crt");
  const std::string old_leaf = Content("tls.crt");
  Annotate("ca");
  Reconciled();
  EXPECT_EQ(Certificates(Bundles().front()), 2) << "published beside the old one";
  EXPECT_NE(Bundles().front().find(old_ca), std::string::npos);
  EXPECT_EQ(Content("tls.crt"), old_leaf) << "which signs on";
  EXPECT_FALSE(
      Secret().at("metadata").value("annotations", Json::object()).contains(kRotateAnnotation));

  clock.Advance(hours(1));
  Reconciled();
  EXPECT_NE(Content("tls.crt"), old_leaf) << "every client has had time to learn of it";
  EXPECT_EQ(Certificates(Bundles().front()), 2);

  clock.Advance(days(1));
  Reconciled();
  EXPECT_EQ(Certificates(Bundles().front()), 1);
  EXPECT_EQ(Bundles().front().find(old_ca), std::string::npos);
}

TEST_F(CertificateManagerFixture, NothingIsRenewedWhileTheCaCannotBePublished) {
  Reconciled();
  Annotate("ca");
  Reconciled();
  PutConfiguration(resources::kValidatingWebhooks);  // its CA is gone
  server.Forbid("patch", "validatingwebhookconfigurations");
  clock.Advance(days(2));
  const std::string leaf = Content("tls.crt");
  const auto next = manager.Reconcile(leader);
  ASSERT_FALSE(next);
  EXPECT_EQ(next.error().reason, Reason::kForbidden);
  EXPECT_NE(next.error().message.find("grant it with a Role"), std::string::npos);
  EXPECT_EQ(Content("tls.crt"), leaf) << "a CA that nobody trusts must not sign";

  server.AllowAll();
  Reconciled();
  EXPECT_NE(Content("tls.crt"), leaf);
}

TEST_F(CertificateManagerFixture, ALostSecretCostsNoTrust) {
  Reconciled();
  const std::string old_ca = Content("ca.crt");
  server.Remove(resources::kSecrets, "mindgate-system", "mindgate-tls");
  Reconciled();
  const std::string new_ca = Content("ca.crt");
  EXPECT_NE(new_ca, old_ca);
  EXPECT_EQ(Bundles(), std::vector<std::string>(4, new_ca + old_ca))
      << "servers hold the old certificate until kubelet has brought them the new one";
  server.ForgetRequests();
  Reconciled();
  EXPECT_EQ(Writes(), 0) << "and that is where it stays";
  clock.Advance(hours(1));
  Reconciled();
  EXPECT_EQ(Bundles(), std::vector<std::string>(4, new_ca));
  EXPECT_EQ(Secret().at("metadata").value("annotations", Json::object()), Json::object());
}

// Who made the new Secret need not lead for the hour that follows.
TEST_F(CertificateManagerFixture, ANewLeaderKeepsTheTrustInTheCaOfALostSecret) {
  Reconciled();
  const std::string old_ca = Content("ca.crt");
  server.Remove(resources::kSecrets, "mindgate-system", "mindgate-tls");
  Reconciled();
  const std::string new_ca = Content("ca.crt");
  EXPECT_EQ(Secret().at("metadata").at("annotations").at(kTrustOthersAnnotation),
            "2026-01-01T01:00:00Z");
  CertificateManager other(clock, logger, OptionsOf());
  clock.Advance(std::chrono::minutes(59));
  const auto next = other.Reconcile(leader);
  ASSERT_TRUE(next);
  EXPECT_EQ(FormatTime(*next), "2026-01-01T01:00:00Z");
  EXPECT_EQ(Bundles(), std::vector<std::string>(4, new_ca + old_ca));
  clock.Advance(std::chrono::minutes(1));
  ASSERT_TRUE(other.Reconcile(leader));
  EXPECT_EQ(Bundles(), std::vector<std::string>(4, new_ca));
}

// Whoever may annotate the Secret must not keep an old CA alive with it.
TEST_F(CertificateManagerFixture, ATrustThatIsNotATimeIsRemoved) {
  Reconciled();
  Json secret = Secret();
  secret["metadata"]["annotations"][kTrustOthersAnnotation] = "always";
  server.Put(resources::kSecrets, secret);
  Reconciled();
  EXPECT_EQ(Bundles(), std::vector<std::string>(4, Content("ca.crt")));
  EXPECT_EQ(Secret().at("metadata").at("annotations"), Json::object());
}

TEST_F(CertificateManagerFixture, ServingIsRenewedWhenAsked) {
  Reconciled();
  const std::string leaf = Content("tls.crt");
  Annotate("serving");
  Reconciled();
  EXPECT_NE(Content("tls.crt"), leaf);
  EXPECT_FALSE(
      Secret().at("metadata").value("annotations", Json::object()).contains(kRotateAnnotation));
}

TEST_F(CertificateManagerFixture, AnUnknownWishIsLogged) {
  Reconciled();
  Annotate("everything");
  Reconciled();
  EXPECT_NE(lines.back().find("unknown value"), std::string::npos) << lines.back();
}

TEST_F(CertificateManagerFixture, ASecondWriterLosesAndLeavesWhatIsThere) {
  Reconciled();
  Annotate("serving");
  const std::string leaf = Content("tls.crt");
  server.AnswerNext(1, {.method = "PUT"}, StatusAnswer(409, "Conflict", "modified"));
  const auto next = manager.Reconcile(leader);
  ASSERT_FALSE(next);
  EXPECT_EQ(next.error().reason, Reason::kConflict);
  EXPECT_EQ(Content("tls.crt"), leaf);
  Reconciled();
  EXPECT_NE(Content("tls.crt"), leaf);
}

TEST_F(CertificateManagerFixture, AForeignCaIsLeftForAPersonToDecide) {
  Reconciled();
  Json secret = Secret();
  secret["data"].erase("ca.key");
  server.Put(resources::kSecrets, secret);
  server.ForgetRequests();
  const auto next = manager.Reconcile(leader);
  ASSERT_FALSE(next);
  EXPECT_EQ(next.error().reason, Reason::kInvalid);
  EXPECT_NE(next.error().message.find("delete it to create a new CA"), std::string::npos);
  EXPECT_EQ(Writes(), 0);
}

TEST_F(CertificateManagerFixture, OtherDataOfTheSecretStays) {
  Reconciled();
  Json secret = Secret();
  secret["data"]["note"] = "a2VlcA==";
  server.Put(resources::kSecrets, secret);
  Annotate("serving");
  Reconciled();
  EXPECT_EQ(Secret().at("data").at("note"), "a2VlcA==");
}

TEST_F(CertificateManagerFixture, AnApiServerThatIsAwayIsAFaultAndNothingElse) {
  server.Stop();
  const auto next = manager.Reconcile(leader);
  ASSERT_FALSE(next);
  EXPECT_EQ(next.error().reason, Reason::kUnreachable);
}

}  // namespace
}  // namespace mindgate::watcher
