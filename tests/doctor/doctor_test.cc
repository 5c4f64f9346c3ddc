#include "doctor/doctor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "kube/client_fixture.h"
#include "kube/fake_api_server.h"
#include "support/fake_clock.h"

namespace mindgate::doctor {
namespace {

using kube::testing::AccessTo;
using kube::testing::FakeApiServer;
using kube::testing::FakeSleeper;
namespace resources = kube::resources;
using Json = nlohmann::json;

// The end-to-end tests break real installations; here is what a cluster seldom shows.
struct DoctorFixture : ::testing::Test {
  mindgate::testing::FakeClock clock;
  FakeApiServer server{{.clock = &clock}};
  FakeSleeper sleeper;
  std::unique_ptr<kube::Transport> transport =
      kube::MakeTransport(AccessTo(server.url()), "mindgate/test");
  kube::Client client{*transport, sleeper, {.retries = 0}};

  Options options;

  std::vector<std::string> Findings(Status status) {
    std::vector<std::string> texts;
    const Report report = Diagnose(client, options, clock.WallNow());
    for (const Finding& finding : report.findings()) {
      if (finding.status == status) texts.push_back(finding.check + ": " + finding.message);
      const bool wrong = finding.status == Status::kFailed || finding.status == Status::kWarning;
      EXPECT_TRUE(!wrong || !finding.fix.empty()) << finding.message;
    }
    return texts;
  }
};

TEST_F(DoctorFixture, WhereNothingIsInstalled) {
  server.Put(resources::kNamespaces, {{"metadata", {{"name", "default"}}}});
  EXPECT_EQ(
      Findings(Status::kFailed),
      (std::vector<std::string>{
          "registration: there is no MutatingWebhookConfiguration mindgate: nothing is injected",
          "registration: there is no ValidatingWebhookConfiguration mindgate: nothing is "
          "validated"}));
}

TEST_F(DoctorFixture, WhatIsStillOpenIsNamed) {
  server.Put(resources::kNamespaces, {{"metadata", {{"name", "default"}}}});
  const auto webhook = [](const char* name, const char* policy) -> Json {
    return {{"name", name},
            {"failurePolicy", policy},
            {"timeoutSeconds", 3},
            {"clientConfig", {{"url", "https://127.0.0.1:9443/validate"}}}};
  };
  const auto put = [&](const char* policy) {
    server.Put(resources::kValidatingWebhooks,
               {{"metadata",
                 {{"name", "mindgate"},
                  {"annotations", {{"mindgate.io/fail-closed", "pods.example,jobs.example"}}}}},
                {"webhooks",
                 {webhook("pods.example", policy), webhook("jobs.example", policy),
                  webhook("services.example", "Ignore"), webhook("probe.example", "Ignore")}}});
  };
  const std::string open =
      "registration: 2 webhooks of ValidatingWebhookConfiguration mindgate have failurePolicy "
      "Ignore until the API server gets an answer from the webhook: what it cannot check is "
      "admitted";
  put("Ignore");
  EXPECT_THAT(Findings(Status::kWarning), ::testing::Contains(open));
  EXPECT_THAT(
      Findings(Status::kOk),
      ::testing::Contains("registration: ValidatingWebhookConfiguration mindgate has 3 webhooks"));
  put("Fail");
  EXPECT_THAT(Findings(Status::kWarning), ::testing::Not(::testing::Contains(open)));
}

// A rollout that has only begun is as it should be.
TEST_F(DoctorFixture, WhatARolloutPhaseLeavesOutIsNotMissed) {
  server.Put(resources::kNamespaces, {{"metadata", {{"name", "default"}}}});
  const auto put = [&](const char* phase) {
    server.Put(resources::kValidatingWebhooks,
               {{"metadata",
                 {{"name", "mindgate"}, {"annotations", {{"mindgate.io/rollout-phase", phase}}}}},
                {"webhooks",
                 {{{"name", "all.example"},
                   {"failurePolicy", "Ignore"},
                   {"timeoutSeconds", 3},
                   {"namespaceSelector", {{"matchLabels", {{"no", "where"}}}}},
                   {"clientConfig", {{"url", "https://127.0.0.1:9443/validate"}}}}}}});
  };
  const std::string no_mutating =
      "registration: there is no MutatingWebhookConfiguration mindgate: nothing is injected";
  const std::string ignores =
      "registration: ValidatingWebhookConfiguration mindgate has failurePolicy Ignore: invalid "
      "objects are admitted while the webhook is down";
  const std::string unseen =
      "dry-run: an invalid object passed the validating webhook: the webhook was not called, or "
      "the configuration switches the rule off";
  using Texts = std::vector<std::string>;
  const auto of = [&](Status status) {
    Texts texts = Findings(status);
    std::erase_if(texts, [](const std::string& text) {
      return !text.starts_with("registration") && !text.starts_with("dry-run");
    });
    return texts;
  };
  put("observe");
  EXPECT_EQ(of(Status::kFailed), Texts());
  EXPECT_EQ(of(Status::kWarning), Texts());
  put("warn");
  EXPECT_EQ(of(Status::kFailed), Texts{no_mutating});
  EXPECT_EQ(of(Status::kWarning), Texts());
  put("enforce");
  EXPECT_EQ(of(Status::kFailed), (Texts{no_mutating, unseen}));
  EXPECT_EQ(of(Status::kWarning), Texts{ignores});
}

// Replicas follow a change of their ConfigMap when the kubelet has updated it.
TEST_F(DoctorFixture, AnAnswerOfAnEarlierConfigurationIsNoFailure) {
  server.Put(resources::kNamespaces,
             {{"metadata",
               {{"name", "default"}, {"labels", {{"kubernetes.io/metadata.name", "default"}}}}}});
  server.Put(
      resources::kValidatingWebhooks,
      {{"metadata", {{"name", "mindgate"}}},
       {"webhooks",
        {{{"name", "all.example"},
          {"failurePolicy", "Fail"},
          {"namespaceSelector", {{"matchLabels", {{"kubernetes.io/metadata.name", "default"}}}}},
          {"clientConfig",
           {{"service", {{"namespace", "mindgate-system"}, {"name", "webhook"}}}}}}}}});
  server.Put(resources::kServices,
             {{"metadata", {{"namespace", "mindgate-system"}, {"name", "webhook"}}},
              {"spec", {{"selector", {{"app", "webhook"}}}}}});
  server.Put(
      resources::kPods,
      {{"metadata",
        {{"namespace", "mindgate-system"},
         {"name", "webhook-0"},
         {"labels", {{"app", "webhook"}}}}},
       {"spec",
        {{"volumes", {{{"name", "config"}, {"configMap", {{"name", "webhook-config"}}}}}}}}});
  const auto findings = [&](std::chrono::seconds ago, Status status) {
    const std::string created = FormatTime(clock.WallNow() - std::chrono::hours(5));
    const std::string changed = FormatTime(clock.WallNow() - ago);
    server.Put(resources::kConfigMaps, {{"metadata",
                                         {{"namespace", "mindgate-system"},
                                          {"name", "webhook-config"},
                                          {"managedFields",
                                           {{{"manager", "helm"}, {"time", changed}},
                                            {{"manager", "kubectl"}, {"time", created}}}}}},
                                        {"data", {{"mindgate.yaml", ""}}}});
    auto texts = Findings(status);
    std::erase_if(texts, [](const std::string& text) { return !text.starts_with("dry-run"); });
    return texts;
  };
  using Texts = std::vector<std::string>;
  const std::string passed =
      "dry-run: an invalid object passed the validating webhook: the webhook was not called, or "
      "the configuration switches the rule off";
  const std::string since =
      ". The configuration was changed 1m59s ago, and replicas load a change "
      "within 2m";
  EXPECT_EQ(findings(std::chrono::seconds(119), Status::kWarning), Texts{passed + since});
  EXPECT_EQ(findings(std::chrono::seconds(119), Status::kFailed), Texts());
  EXPECT_EQ(findings(std::chrono::seconds(120), Status::kFailed), Texts{passed});
  EXPECT_EQ(findings(std::chrono::seconds(120), Status::kWarning), Texts());
}

TEST_F(DoctorFixture, WhatMayNotBeReadIsSkippedAndNotGood) {
  server.Forbid("*", "*");
  const auto skipped = Findings(Status::kSkipped);
  ASSERT_FALSE(skipped.empty());
  EXPECT_TRUE(skipped.front().starts_with(
      "registration: MutatingWebhookConfiguration mindgate could not be checked: "))
      << skipped.front();
  EXPECT_EQ(Findings(Status::kFailed), std::vector<std::string>());
}

TEST_F(DoctorFixture, AnApiServerThatIsAwayIsAllThatIsReported) {
  server.Stop();
  const Report report = Diagnose(client, {}, clock.WallNow());
  ASSERT_EQ(report.findings().size(), 1);
  EXPECT_EQ(report.findings().front().check, "api-server");
  EXPECT_EQ(report.findings().front().status, Status::kFailed);
}

TEST_F(DoctorFixture, SystemNamespacesMustNotReachUs) {
  for (const char* name : {"default", "kube-system"}) {
    server.Put(resources::kNamespaces, {{"metadata", {{"name", name}}}});
  }
  server.Put(resources::kValidatingWebhooks,
             {{"metadata", {{"name", "mindgate"}}},
              {"webhooks",
               {{{"name", "all.example"},
                 {"failurePolicy", "Ignore"},
                 {"timeoutSeconds", 30},
                 {"clientConfig", {{"url", "https://127.0.0.1:9443/validate"}}}}}}});
  const auto failed = Findings(Status::kFailed);
  EXPECT_NE(std::find(failed.begin(), failed.end(),
                      "selectors: namespace kube-system is not excluded, so the webhook can block "
                      "objects that the cluster itself depends on"),
            failed.end());
  EXPECT_EQ(Findings(Status::kWarning),
            (std::vector<std::string>{
                "registration: all.example waits 30 s for an answer: while the webhook is down, "
                "every call takes that long",
                "registration: ValidatingWebhookConfiguration mindgate has failurePolicy Ignore: "
                "invalid objects are admitted while the webhook is down"}));
}

// What the configuration switches on is what the account is asked for.
struct Permissions : DoctorFixture {
  void PutWatcher(const std::string& config) {
    const Json metadata = {{"namespace", "mindgate-system"}};
    Json pod = {{"metadata", metadata},
                {"spec",
                 {{"serviceAccountName", "watcher"},
                  {"volumes", {{{"name", "config"}, {"configMap", {{"name", "settings"}}}}}}}}};
    pod["metadata"]["name"] = "watcher-0";
    pod["metadata"]["labels"] = {{"app.kubernetes.io/component", "watcher"},
                                 {"app.kubernetes.io/name", "mindgate"}};
    server.Put(resources::kPods, pod);
    Json stored = {{"metadata", metadata}, {"data", {{"mindgate.yaml", config}}}};
    stored["metadata"]["name"] = "settings";
    server.Put(resources::kConfigMaps, stored);
  }
  void AnswerReviews(bool allowed) {
    kube::testing::HttpResponse answer;
    answer.status = 201;
    answer.body = Json{{"kind", "SubjectAccessReview"}, {"status", {{"allowed", allowed}}}}.dump();
    server.AnswerNext(1000, {.method = "POST", .target_part = "subjectaccessreviews"}, answer);
  }
  std::vector<std::string> Of(const std::string& check, Status status) {
    std::vector<std::string> texts = Findings(status);
    std::erase_if(texts, [&](const std::string& text) { return !text.starts_with(check + ": "); });
    return texts;
  }
};

// Of all owners of pods that may disable rescheduling, by group: "get daemonsets, get jobs, ...".
std::string GetOwners() {
  std::set<std::pair<std::string_view, std::string_view>> owners;
  for (const schemas::KindInfo& info : schemas::kKinds) {
    if (info.may_disable_rescheduling && info.kind != schemas::Kind::kPod) {
      owners.emplace(info.group, info.plural);
    }
  }
  std::string all;
  for (const auto& [group, plural] : owners) {
    all += (all.empty() ? "get " : ", get ") + std::string(plural);
  }
  return all;
}

TEST_F(Permissions, AreThoseOfWhatTheConfigurationSwitchesOn) {
  AnswerReviews(false);
  const std::string may_not =
      "permissions: ServiceAccount mindgate-system/watcher may not update leases mindgate-watcher: "
      "it cannot lead, and does nothing";
  const auto account = [](const std::string& rest) {
    return "permissions: ServiceAccount mindgate-system/watcher may not " + rest;
  };
  const std::string follow = account(
      "list pods, watch pods, list configmaps, watch configmaps: it does not see services under "
      "scaling rules and grants nothing");
  const std::string place =
      account("list nodes, watch nodes: NPUs of nodes that are down or cordoned count as room");
  const std::string queued = account(
      "get podgroups, list podgroups, watch podgroups: it does not see AscendJobs and "
      "vcjobs that wait for room without pods, or whose pods lack the labels of their rule");
  const std::string open = account("patch pods: pods behind the gate stay there");
  const std::string report = account("create events: its decisions do not appear as Events");
  const std::string unobserved = "rescheduling: {mode: \"off\"}\n";
  PutWatcher("elasticScaling: {mode: \"off\"}\ngangRepair: false\n" + unobserved);
  EXPECT_EQ(Of("permissions", Status::kFailed), std::vector<std::string>{may_not});
  PutWatcher("gangRepair: false\n" + unobserved);
  EXPECT_EQ(Of("permissions", Status::kFailed),
            (std::vector<std::string>{may_not, follow, queued, place, report}));
  PutWatcher("elasticScaling: {mode: enforce, rebalance: enforce}\n" + unobserved);
  EXPECT_EQ(
      Of("permissions", Status::kFailed),
      (std::vector<std::string>{
          may_not, follow, open,
          account("get pods, delete pods, get namespaces: granted instances without room take the "
                  "room of those that are needed"),
          account(GetOwners() + ": it does not see that such owners opt out"),
          account("create pods/eviction: no instance is given up for one that is needed"), queued,
          place,
          account("list deployments, watch deployments, list replicasets, watch replicasets, "
                  "list pods, watch pods, list podgroups, watch podgroups, patch podgroups: "
                  "a rolling update that waits for its gang waits forever"),
          account("list rolesets, watch rolesets: pods of a RoleSet that was scaled below its "
                  "gang size cannot be replaced"),
          report}));
}

// Those of rescheduling follow its mode, and the fix names the value that grants them.
TEST_F(Permissions, OfReschedulingAreThoseOfItsMode) {
  AnswerReviews(false);
  const std::string see =
      "list pods, watch pods, list configmaps, watch configmaps, list nodes, watch nodes, list "
      "podgroups, watch podgroups: it does not see all faults, or not all pods that they concern, "
      "and restarts nothing";
  const std::string act = "patch pods, delete pods: pods that faults concern stay where they are";
  const std::string read =
      "get pods, get nodes, get namespaces, get podgroups, get leases mindgate-watcher";
  const std::string unsure =
      ": it cannot make sure that a fault is still there and that nobody disabled rescheduling, "
      "and restarts nothing";
  const std::string owners = GetOwners() +
                             ": it cannot know whether such owners disable rescheduling, and does "
                             "not restart their pods";
  const std::string keep =
      "create configmaps, get configmaps mindgate-rescheduling, patch configmaps "
      "mindgate-rescheduling: it cannot keep what the next leader must know, and restarts nothing";
  const std::string isolate = "patch nodes: new pods may be placed on nodes that are unhealthy";
  const std::string ask =
      "get configmaps, patch configmaps: training jobs are not asked to end before their pods are "
      "evicted";
  const std::string records = ", get configmaps job-reschedule-reason";
  const auto by = [](const std::string& what, const std::string& value) {
    return "may not " + what +
           " | `helm upgrade` restores the chart's Roles and bindings, which have this with "
           "config.rescheduling." +
           value;
  };
  struct Case {
    const char* settings;
    std::vector<std::string> want;
  };
  const std::vector<Case> cases = {
      {"mode: \"off\", isolateNodes: true", {}},
      {"mode: observe, isolateNodes: true, gracefulExit: true", {by(see, "mode observe")}},
      {"mode: takeover",
       {by(see, "mode takeover"), by(act, "mode takeover"),
        by(read + records + unsure, "mode takeover"), by(owners, "mode takeover"),
        by(keep, "mode takeover")}},
      {"mode: enforce, isolateNodes: true, gracefulExit: true",
       {by(see, "mode enforce"), by(act, "mode enforce"), by(read + unsure, "mode enforce"),
        by(owners, "mode enforce"), by(keep, "mode enforce"), by(ask, "gracefulExit true"),
        by(isolate, "isolateNodes true")}},
  };
  for (const Case& c : cases) {
    PutWatcher("elasticScaling: {mode: \"off\"}\ngangRepair: false\nrescheduling: {" +
               std::string(c.settings) + "}\n");
    std::vector<std::string> got;
    const Report report = Diagnose(client, options, clock.WallNow());
    for (const Finding& finding : report.findings()) {
      const size_t at = finding.message.find("may not ");
      if (finding.check != "permissions" || finding.fix.find("config.") == std::string::npos) {
        continue;
      }
      got.push_back(finding.message.substr(at) + " | " + finding.fix);
    }
    EXPECT_EQ(got, c.want) << c.settings;
  }
}

TEST_F(Permissions, OfTheAuditAreAskedForWithItsMode) {
  AnswerReviews(false);
  PutWatcher(
      "elasticScaling: {mode: \"off\"}\ngangRepair: false\nrescheduling: {mode: \"off\"}\n"
      "audit: {mode: \"on\"}\nkinds: [{use: kruise}]\n");
  std::vector<std::string> got;
  for (const Finding& finding : Diagnose(client, options, clock.WallNow()).findings()) {
    if (finding.fix.find("config.audit.mode on") == std::string::npos) continue;
    got.push_back(finding.message.substr(finding.message.find("may not ")));
  }
  ASSERT_EQ(got.size(), 2U);
  EXPECT_THAT(got[0],
              ::testing::StartsWith("may not list namespaces, watch namespaces, list ascendjobs, "
                                    "watch ascendjobs, list jobs, "));
  std::string others;  // kinds that mindgate knows, in the order of their rows
  for (int i = static_cast<int>(schemas::Kind::kPodGroup) + 1; i < schemas::kKindCount; ++i) {
    const std::string plural(schemas::InfoOf(static_cast<schemas::Kind>(i)).plural);
    others += ", list " + plural + ", watch " + plural;
  }
  EXPECT_THAT(got[0], ::testing::EndsWith(
                          "list configmaps, list services, list podgroups" + others +
                          ", list clonesets, watch clonesets: workloads that it may not read are "
                          "not audited"));
  EXPECT_EQ(got[1],
            "may not list reports, create reports, patch reports, delete reports, list "
            "policyreports, create policyreports, patch policyreports, delete policyreports: there "
            "are no reports of what it found, only metrics");
}

TEST_F(Permissions, ThatAreThereAreReportedOnce) {
  AnswerReviews(true);
  PutWatcher(
      "elasticScaling: {mode: enforce}\nrescheduling: {mode: enforce, isolateNodes: true}\n");
  EXPECT_EQ(Of("permissions", Status::kOk),
            std::vector<std::string>{
                "permissions: ServiceAccount watcher has the permissions that it needs"});
  EXPECT_EQ(Of("permissions", Status::kFailed), std::vector<std::string>());
}

// What the watcher's account may write beyond its needs, with a webhook's Pod to try it on.
struct Bounds : Permissions {
  Bounds() {
    AnswerReviews(true);
    PutWatcher("");
    const Json service = {{"namespace", "mindgate-system"}, {"name", "webhook"}};
    for (const kube::Resource& resource :
         {resources::kMutatingWebhooks, resources::kValidatingWebhooks}) {
      server.Put(
          resource,
          {{"metadata", {{"name", "mindgate"}}},
           {"webhooks", {{{"name", "all.example"}, {"clientConfig", {{"service", service}}}}}}});
    }
    server.Put(resources::kServices,
               {{"metadata", service}, {"spec", {{"selector", {{"app", "webhook"}}}}}});
    Json pod = {{"metadata", service}};
    pod["metadata"]["labels"] = {{"app", "webhook"}};
    server.Put(resources::kPods, pod);
    options.impersonate = [this](const std::string& user) {
      asked_for = user;
      return std::shared_ptr<kube::Client>(&client, [](kube::Client*) {});
    };
  }
  void Refuse(const kube::testing::When& when, const std::string& message) {
    server.AnswerNext(1, when, kube::testing::StatusAnswer(403, "Forbidden", message));
  }

  std::string asked_for;
};

// A Pod of the webhook follows what its variables switch on.
TEST_F(Bounds, OfNamespacesAreAskedForWhereTheWebhookFollowsThem) {
  const auto asks = [this](const char* value) {
    Json pod = {{"metadata",
                 {{"namespace", "mindgate-system"},
                  {"name", "webhook"},
                  {"labels", {{"app", "webhook"}}}}}};
    pod["spec"]["serviceAccountName"] = "hook";
    pod["spec"]["containers"] = Json::array(
        {{{"name", "webhook"},
          {"env", Json::array({{{"name", "MINDGATE_LOOKUP_NAMESPACES"}, {"value", value}}})}}});
    server.Put(resources::kPods, pod);
    Of("permissions", Status::kOk);
    std::vector<std::string> verbs;
    for (const auto& request :
         server.Requests({.method = "POST", .target_part = "subjectaccessreviews"})) {
      const Json spec = Json::parse(request.body).at("spec");
      if (spec.at("user") != "system:serviceaccount:mindgate-system:hook") continue;
      const Json& asked = spec.at("resourceAttributes");
      EXPECT_EQ(asked.at("resource"), "namespaces");
      verbs.push_back(asked.at("verb"));
    }
    return verbs;
  };
  EXPECT_EQ(asks("false"), std::vector<std::string>());
  EXPECT_EQ(asks("true"), (std::vector<std::string>{"list", "watch"}));
}

TEST_F(Bounds, ThatAreMissingAreNamedWithWhatTheyAllow) {
  const auto may = [](const std::string& rest) {
    return "watcher-bounds: ServiceAccount watcher may " + rest;
  };
  EXPECT_EQ(Of("watcher-bounds", Status::kWarning),
            (std::vector<std::string>{
                may("create a Secret for the token of any ServiceAccount of its namespace: whoever "
                    "has its token gets the rights of those"),
                may("change MutatingWebhookConfiguration mindgate: its token can send every object "
                    "of the cluster elsewhere"),
                may("change ValidatingWebhookConfiguration mindgate: its token can send every "
                    "object of the cluster elsewhere"),
                may("change Pod mindgate-system/webhook: any Pod can be changed with its token"),
                may("delete Pods that are under no scaling rule: any workload can be stopped with "
                    "its token")}));
  EXPECT_EQ(asked_for, "system:serviceaccount:mindgate-system:watcher");
  EXPECT_FALSE(server.Find(resources::kPods, "mindgate-system", "webhook").is_null())
      << "nothing may happen but dry runs";
  EXPECT_EQ(server.size(resources::kSecrets), 0);
}

TEST_F(Bounds, HoldWhenEverythingIsRefused) {
  const std::string refused = "the watcher may not";
  Refuse({"POST", "/secrets"}, refused);
  Refuse({"PATCH", "/mutatingwebhookconfigurations"}, refused);
  Refuse({"PATCH", "/validatingwebhookconfigurations"}, refused);
  Refuse({"PATCH", "/pods"}, refused);
  Refuse({"DELETE", "/pods"}, refused);
  EXPECT_EQ(Of("watcher-bounds", Status::kOk),
            std::vector<std::string>{
                "watcher-bounds: ServiceAccount watcher may write no more than the watcher needs"});
}

TEST_F(Bounds, AreNotKnownToWhoMayNotImpersonate) {
  const std::string refused =
      "serviceaccounts \"watcher\" is forbidden: User \"me\" cannot impersonate resource "
      "\"serviceaccounts\" in API group \"\" in the namespace \"mindgate-system\"";
  Refuse({"POST", "/secrets"}, refused);
  const auto skipped = Of("watcher-bounds", Status::kSkipped);
  ASSERT_EQ(skipped.size(), 1);
  EXPECT_NE(skipped[0].find(refused), std::string::npos) << skipped[0];
}

// Who works like an operator, and whether it counts as a controller.
struct Controllers : Permissions {
  Controllers() {
    PutWebhooks(
        "!('ownerReferences' in object.metadata) || !has(request.userInfo.username) ||\n"
        "!(request.userInfo.username in [\"system:kube-controller-manager\","
        "\"system:serviceaccount:ops:lws\"] ||\n"
        "  [\"kube-system\",\"lws-system\"].exists(trusted,\n"
        "    request.userInfo.username.startsWith('system:serviceaccount:' + trusted + ':'))) || ");
  }
  void PutWebhooks(const char* condition) {
    server.Put(resources::kMutatingWebhooks,
               {{"metadata", {{"name", "mindgate"}}},
                {"webhooks",
                 {{{"name", "all.example"},
                   {"matchConditions",
                    {{{"name", "not-made-by-an-admitted-object"}, {"expression", condition}}}}}}}});
  }
  // An account of namespace `ns` with a ClusterRole of its own.
  void PutAccount(const std::string& ns, const std::string& name, const Json& rules) {
    server.Put(resources::kClusterRoles,
               {{"metadata", {{"name", ns + "-" + name}}}, {"rules", rules}});
    server.Put(resources::kClusterRoleBindings,
               {{"metadata", {{"name", ns + "-" + name}}},
                {"roleRef", {{"kind", "ClusterRole"}, {"name", ns + "-" + name}}},
                {"subjects", {{{"kind", "ServiceAccount"}, {"namespace", ns}, {"name", name}}}}});
  }
  static Json Rule(const char* group, const char* resource, const char* verb) {
    return {{"apiGroups", {group}}, {"resources", {resource}}, {"verbs", {verb}}};
  }
  static Json OfLws() {
    return {Rule("leaderworkerset.x-k8s.io", "leaderworkersets/status", "update"),
            Rule("apps", "statefulsets", "create")};
  }

  const std::vector<std::string> all_count{
      "controllers: every operator that makes Pods or workloads counts as a controller"};
};

// All ServiceAccounts of a namespace count, whoever created it.
TEST_F(Controllers, ANamespaceWithoutAnOperatorIsNamed) {
  const auto without = [](const std::string& namespaces) {
    return std::vector<std::string>{
        "controllers: no ServiceAccount of these namespaces has a ClusterRole, so no operator is "
        "installed there, but all of their ServiceAccounts count as controllers: " +
        namespaces};
  };
  PutWebhooks(
      "!(request.userInfo.username in [] || [\"kube-system\",\"lws-system\",\"ome\"].exists(");
  EXPECT_EQ(Of("controllers", Status::kWarning), without("lws-system, ome"));
  PutAccount("ome", "manager", {});
  EXPECT_EQ(Of("controllers", Status::kWarning), without("lws-system"));
  PutAccount("lws-system", "lws", OfLws());
  EXPECT_EQ(Of("controllers", Status::kWarning), std::vector<std::string>());
}

TEST_F(Controllers, ThatCountByNamespaceOrNameAreFine) {
  PutAccount("lws-system", "lws", OfLws());
  PutAccount("ops", "lws", OfLws());
  EXPECT_EQ(Of("controllers", Status::kOk), all_count);
  EXPECT_EQ(Of("controllers", Status::kWarning), std::vector<std::string>());
}

TEST_F(Controllers, ThatDoNotCountAreNamedWithTheirKinds) {
  PutAccount("lws-system", "lws", OfLws());
  PutAccount("lws", "manager", OfLws());
  PutAccount("ai", "aibrix",
             {Rule("orchestration.aibrix.ai", "*", "*"), Rule("", "pods", "create")});
  const auto account = [](const std::string& name, const std::string& kinds) {
    return "controllers: ServiceAccount " + name + " has the permissions of the operator of " +
           kinds +
           ", but does not count as a controller: what it makes is sent to the webhook, denied if "
           "it breaks an enforced rule, and refused while the webhook is down";
  };
  EXPECT_EQ(Of("controllers", Status::kWarning),
            (std::vector<std::string>{
                account("ai/aibrix",
                        "stormservices.orchestration.aibrix.ai, rolesets.orchestration.aibrix.ai, "
                        "podsets.orchestration.aibrix.ai"),
                account("lws/manager", "leaderworkersets.leaderworkerset.x-k8s.io")}));
  EXPECT_EQ(Of("controllers", Status::kOk), std::vector<std::string>());
}

TEST_F(Controllers, OfKindsOfTheSiteAreNamedWhereTheConfigurationIsKnown) {
  PutAccount("lws-system", "lws", OfLws());
  PutAccount("kruise", "manager",
             {Rule("apps.kruise.io", "clonesets/status", "update"), Rule("", "pods", "create")});
  EXPECT_EQ(Of("controllers", Status::kWarning), std::vector<std::string>());
  PutWatcher("kinds: [{use: kruise}]\n");
  const auto warned = Of("controllers", Status::kWarning);
  ASSERT_EQ(warned.size(), 1);
  EXPECT_THAT(warned[0], ::testing::StartsWith(
                             "controllers: ServiceAccount kruise/manager has the permissions of "
                             "the operator of clonesets.apps.kruise.io, but "));
}

TEST_F(Controllers, WhoOnlyReadsSchedulesOrAdministersIsNotAnOperator) {
  PutAccount("lws-system", "lws", OfLws());
  PutAccount("a", "reader",
             {Rule("leaderworkerset.x-k8s.io", "leaderworkersets/status", "get"),
              Rule("apps", "statefulsets", "create")});
  PutAccount("b", "scheduler",
             {Rule("batch.volcano.sh", "jobs/status", "update"), Rule("", "pods", "patch")});
  PutAccount("c", "admin", {Rule("*", "*", "*")});
  PutAccount("d", "jobs", {Rule("batch", "jobs/status", "update"), Rule("", "pods", "create")});
  EXPECT_EQ(Of("controllers", Status::kOk), all_count);
}

TEST_F(Controllers, ThatCannotBeKnownAreSkipped) {
  server.Forbid("list", "clusterrolebindings");
  const auto skipped = Of("controllers", Status::kSkipped);
  ASSERT_EQ(skipped.size(), 1);
  EXPECT_TRUE(skipped[0].starts_with("controllers: ClusterRoleBindings could not be checked: "))
      << skipped[0];
  PutWebhooks("!('ownerReferences' in object.metadata)");
  EXPECT_EQ(
      Of("controllers", Status::kSkipped),
      std::vector<std::string>{"controllers: the webhooks do not say who counts as a controller"});
}

// Whoever may create namespaces can create one that is listed and does not exist.
TEST_F(Permissions, TrustedNamespacesThatDoNotExistAreNamed) {
  const auto missing = [](const std::string& namespaces, const std::string& consequence) {
    return "trusted-namespaces: these namespaces are trusted by their names and do not exist: " +
           namespaces + ". Whoever may create namespaces can create one, and then " + consequence;
  };
  const std::string owned =
      "what its ServiceAccounts make with an owner reference is not sent to the webhook";
  const std::string unsent = "its objects are not sent to the webhook";
  const std::string reports =
      "its ConfigMaps can report faults, and have the pods of others deleted";
  const Json excluded = {{"key", "kubernetes.io/metadata.name"},
                         {"operator", "NotIn"},
                         {"values", {"kube-system", "lws-system", "legacy"}}};
  const Json other = {{"key", "mindgate.io/inject"}, {"operator", "NotIn"}, {"values", {"no"}}};
  server.Put(resources::kMutatingWebhooks,
             {{"metadata", {{"name", "mindgate"}}},
              {"webhooks",
               {{{"name", "all.example"},
                 {"namespaceSelector", {{"matchExpressions", {excluded, other}}}},
                 {"matchConditions",
                  {{{"name", "not-made-by-an-admitted-object"},
                    {"expression",
                     "!(request.userInfo.username in [] || "
                     "[\"kube-system\",\"lws-system\"].exists("}}}}}}}});
  const auto exists = [&](const char* ns) {
    server.Put(resources::kNamespaces, {{"metadata", {{"name", ns}}}});
  };
  exists("kube-system");
  PutWatcher("rescheduling: {publicFaults: {namespaces: [kube-system, ccae]}}\n");
  EXPECT_EQ(
      Of("trusted-namespaces", Status::kWarning),
      (std::vector<std::string>{missing("lws-system", owned), missing("legacy, lws-system", unsent),
                                missing("ccae, mindx-dl", reports)}));
  PutWatcher("rescheduling: {mode: \"off\"}\n");
  exists("lws-system");
  EXPECT_EQ(Of("trusted-namespaces", Status::kWarning),
            std::vector<std::string>{missing("legacy", unsent)});
  exists("legacy");
  EXPECT_EQ(Of("trusted-namespaces", Status::kOk),
            std::vector<std::string>{
                "trusted-namespaces: every namespace that is trusted by its name exists"});
  server.Forbid("list", "namespaces");
  EXPECT_EQ(Of("trusted-namespaces", Status::kSkipped).size(), 1U);
}

// Webhook and watcher read the ConfigMaps of their namespace where the configuration has the key.
TEST_F(Permissions, OfPoliciesInConfigMapsAreThoseOfBothPrograms) {
  AnswerReviews(false);
  const std::string off =
      "elasticScaling: {mode: \"off\"}\ngangRepair: false\n"
      "rescheduling: {mode: \"off\"}\n";
  const std::string missing =
      " may not list configmaps, watch configmaps: it cannot read policies, and loads no "
      "configuration once it restarts";
  PutWatcher(off + "policies: {configMaps: true}\n");
  EXPECT_EQ(Of("permissions", Status::kFailed),
            (std::vector<std::string>{
                "permissions: ServiceAccount mindgate-system/watcher may not update leases "
                "mindgate-watcher: it cannot lead, and does nothing",
                "permissions: ServiceAccount mindgate-system/watcher" + missing}));
  const auto asked = server.Requests({.method = "POST", .target_part = "subjectaccessreviews"});
  const Json last = Json::parse(asked.back().body).at("spec").at("resourceAttributes");
  EXPECT_EQ(last, (Json{{"group", ""},
                        {"resource", "configmaps"},
                        {"verb", "watch"},
                        {"namespace", "mindgate-system"}}));
}

// What is wrong with them is asked of whoever knows policies.
TEST_F(Permissions, FaultsOfPoliciesInConfigMapsAreReported) {
  AnswerReviews(true);
  kube::Answer<std::string> faults = std::string();
  options.policy_faults = [&](kube::Client&, const schemas::Config& config, const Json& stored) {
    EXPECT_NE(config.policy_sources.config_maps, config.policy_sources.files.size() == 1);
    EXPECT_EQ(stored.at("metadata").at("name"), "settings");
    return faults;
  };
  PutWatcher("policies: {configMaps: false}\n");
  EXPECT_EQ(Of("policies", Status::kOk), std::vector<std::string>());
  PutWatcher("policies: {configMaps: true}\n");
  EXPECT_EQ(Of("policies", Status::kOk),
            std::vector<std::string>{"policies: the policies in ConfigMaps can be loaded"});
  PutWatcher("policies: {files: [a.yaml]}\n");
  EXPECT_EQ(Of("policies", Status::kOk),
            std::vector<std::string>{"policies: the policies in ConfigMaps can be loaded"});
  PutWatcher("policies: {configMaps: true}\n");
  faults = "ConfigMap mindgate-system/site, key a.yaml:3:5: unknown key\nspek: {}\n    ^";
  EXPECT_EQ(Of("policies", Status::kFailed),
            std::vector<std::string>{"policies: ConfigMap mindgate-system/site, key a.yaml:3:5: "
                                     "unknown key; Pods keep using what they loaded before"});
  faults = kube::Failed(kube::Reason::kForbidden, "configmaps is forbidden");
  EXPECT_EQ(Of("policies", Status::kSkipped),
            std::vector<std::string>{"policies: ConfigMaps with policies could not be checked: "
                                     "configmaps is forbidden"});
}

TEST_F(Permissions, AConfigurationThatIsRefusedIsNamed) {
  AnswerReviews(true);
  PutWatcher("elasticScaling: {mode: enforced}\n");
  const auto failed = Of("configuration", Status::kFailed);
  ASSERT_EQ(failed.size(), 1U);
  EXPECT_TRUE(
      failed[0].starts_with("configuration: ConfigMap mindgate-system/settings is refused: "))
      << failed[0];
}

// Pods that wait behind the gate of elastic scaling, and who opens it.
struct Gates : Permissions {
  void PutGated(const std::string& name, const Json& labels) {
    server.Put(resources::kPods,
               {{"metadata", {{"namespace", "serving"}, {"name", name}, {"labels", labels}}},
                {"spec", {{"schedulingGates", {{{"name", "mindgate.io/elastic-scaling"}}}}}},
                {"status", {{"phase", "Pending"}}}});
  }
  void PutService(int pods) {
    for (int i = 0; i < pods; ++i) {
      PutGated("p" + std::to_string(i), {{"mind-cluster/scaling-rule", "rule"},
                                         {"jobID", "chat"},
                                         {"mind-cluster/group-name", "g0"}});
    }
  }
  void SetUp() override { AnswerReviews(true); }
};

TEST_F(Gates, AreOpenedByAWatcherThatEnforces) {
  PutWatcher("elasticScaling: {mode: enforce}\n");
  EXPECT_EQ(Of("gates", Status::kOk),
            std::vector<std::string>{"gates: no pod waits behind a gate"});
  PutService(2);
  EXPECT_EQ(Of("gates", Status::kOk),
            std::vector<std::string>{"gates: 2 pods (serving/p0, serving/p1) wait behind the gate "
                                     "mindgate.io/elastic-scaling; `mindgate status` shows why"});
}

TEST_F(Gates, AreOpenedByNoOtherComponent) {
  PutService(5);
  const std::vector<std::string> nobody = {
      "gates: 5 pods (serving/p0, serving/p1, serving/p2 and 2 more) wait behind the gate "
      "mindgate.io/elastic-scaling, and no watcher is in mode enforce: nothing opens it"};
  EXPECT_EQ(Of("gates", Status::kFailed), nobody) << "without a watcher";
  PutWatcher("elasticScaling: {mode: observe}\n");
  EXPECT_EQ(Of("gates", Status::kFailed), nobody);
}

TEST_F(Gates, OfWhichNotAllIsKnown) {
  PutService(1);
  PutWatcher("elasticScaling: {mode: enforced}\n");
  EXPECT_EQ(Of("gates", Status::kSkipped),
            std::vector<std::string>{
                "gates: pod serving/p0 waits behind the gate mindgate.io/elastic-scaling, and it "
                "is unknown whether a watcher opens it"});
}

// Taints of faulty nodes, and who removes them.
struct Taints : Permissions {
  void PutNode(const std::string& name, const char* key, const char* effect = "NoSchedule") {
    server.Put(resources::kNodes, {{"metadata", {{"name", name}}},
                                   {"spec", {{"taints", {{{"key", key}, {"effect", effect}}}}}}});
  }
  std::vector<std::string> Reported(Status status) { return Of("taints", status); }
  void SetUp() override { AnswerReviews(true); }
};

constexpr const char* kIsolates = "rescheduling: {mode: takeover, isolateNodes: true}\n";

TEST_F(Taints, ThatAreNotOursAreIgnored) {
  PutNode("n1", "maintenance");
  PutNode("n2", "mindgate.io/faulty", "NoExecute");
  EXPECT_EQ(
      Reported(Status::kOk),
      std::vector<std::string>{"taints: no node has the taint mindgate.io/faulty:NoSchedule"});
}

TEST_F(Taints, AreRemovedByAWatcherThatIsolates) {
  PutWatcher(kIsolates);
  PutNode("n1", "mindgate.io/faulty");
  EXPECT_EQ(Reported(Status::kOk),
            std::vector<std::string>{"taints: node n1 has the taint mindgate.io/faulty:NoSchedule; "
                                     "the watcher removes it from those that are healthy again"});
}

TEST_F(Taints, AreRemovedByNoOtherComponent) {
  for (const char* name : {"n1", "n2", "n3", "n4"}) PutNode(name, "mindgate.io/faulty");
  const std::vector<std::string> nobody = {
      "taints: 4 nodes (n1, n2, n3 and 1 more) have the taint mindgate.io/faulty:NoSchedule, and "
      "no watcher isolates nodes: nothing removes it, and new pods go elsewhere"};
  EXPECT_EQ(Reported(Status::kFailed), nobody) << "without a watcher";
  for (const char* settings :
       {"mode: takeover", "mode: enforce, isolateNodes: false", "mode: observe, isolateNodes: true",
        "isolateNodes: true", "mode: \"off\", isolateNodes: true"}) {
    PutWatcher("rescheduling: {" + std::string(settings) + "}\n");
    EXPECT_EQ(Reported(Status::kFailed), nobody) << settings;
  }
}

TEST_F(Taints, OfWhichNotAllIsKnown) {
  PutNode("n1", "mindgate.io/faulty");
  PutWatcher("rescheduling: {mode: enforced}\n");
  EXPECT_EQ(Reported(Status::kSkipped),
            std::vector<std::string>{"taints: node n1 has the taint mindgate.io/faulty:NoSchedule, "
                                     "and it is unknown whether a watcher removes it"});
  server.Forbid("list", "nodes");
  const auto skipped = Reported(Status::kSkipped);
  ASSERT_EQ(skipped.size(), 1U);
  EXPECT_TRUE(skipped[0].starts_with("taints: Taints of nodes could not be checked: "))
      << skipped[0];
}

TEST_F(Gates, OfPodsThatNoWatcherLooksAt) {
  PutWatcher("elasticScaling: {mode: enforce}\n");
  PutGated("p0", {{"mind-cluster/scaling-rule", "rule"}, {"mind-cluster/group-name", "g0"}});
  EXPECT_EQ(Of("gates", Status::kFailed),
            std::vector<std::string>{
                "gates: pod serving/p0 waits behind the gate mindgate.io/elastic-scaling without "
                "all of the labels mind-cluster/scaling-rule, jobID and mind-cluster/group-name, "
                "and the watcher ignores a pod that lacks one of them"});
}

// AscendJobs under a scaling rule.
struct ScaledJobs : Permissions {
  const kube::Resource kAscendJobs{"mindxdl.gitee.com", "v1", "ascendjobs", "AscendJob", true};
  const Json kLabels = {
      {"mind-cluster/scaling-rule", "rule"}, {"jobID", "chat"}, {"mind-cluster/group-name", "g0"}};

  void PutJob(const std::string& name, const Json& template_labels, const Json& labels,
              const Json& conditions = Json::array()) {
    server.Put(kAscendJobs,
               {{"metadata", {{"namespace", "serving"}, {"name", name}, {"labels", labels}}},
                {"spec",
                 {{"replicaSpecs",
                   {{"Master", {{"template", {{"metadata", {{"labels", template_labels}}}}}}}}}}},
                {"status", {{"conditions", conditions}}}});
  }
  void PutPodOf(const std::string& job, Json labels, const std::string& phase = "Running") {
    labels["training.kubeflow.org/job-name"] = job;
    server.Put(resources::kPods, {{"metadata",
                                   {{"namespace", "serving"},
                                    {"name", job + "-master-0"},
                                    {"labels", labels},
                                    {"ownerReferences",
                                     {{{"apiVersion", "mindxdl.gitee.com/v1"},
                                       {"kind", "AscendJob"},
                                       {"name", job},
                                       {"uid", job},
                                       {"controller", true}}}}}},
                                  {"status", {{"phase", phase}}}});
  }
  static std::string Unseen(const std::string& jobs) {
    return "scaled-jobs: " + jobs +
           " under a scaling rule: pods or their template lack the labels "
           "mind-cluster/scaling-rule, jobID or mind-cluster/group-name of the job, which was "
           "admitted without mindgate. Their pods have no gate, so nothing holds them back, and "
           "the "
           "watcher counts a job only by the phase of its PodGroup where no pod has the labels";
  }
  void SetUp() override {
    AnswerReviews(true);
    server.Register({.resource = kAscendJobs, .custom = true});
  }
};

TEST_F(ScaledJobs, WhoseLabelsAreOnTheirPodsAreFine) {
  PutJob("p0", kLabels, kLabels);
  PutPodOf("p0", kLabels);
  PutJob("training", Json::object(), Json::object());
  PutPodOf("training", Json::object());
  PutJob("over", Json::object(), kLabels, {{{"type", "Succeeded"}, {"status", "True"}}});
  EXPECT_EQ(Of("scaled-jobs", Status::kOk),
            std::vector<std::string>{
                "scaled-jobs: every AscendJob under a scaling rule has its labels on its pods"});
  // What the job has not cannot be on its pods: scaling-labels reports that.
  PutJob("partly", {{"mind-cluster/scaling-rule", "rule"}},
         {{"mind-cluster/scaling-rule", "rule"}});
  EXPECT_EQ(Of("scaled-jobs", Status::kWarning), std::vector<std::string>());
}

TEST_F(ScaledJobs, WhosePodsTheWatcherDoesNotSeeAreNamed) {
  PutJob("p0", Json::object(), kLabels);
  EXPECT_EQ(Of("scaled-jobs", Status::kWarning),
            std::vector<std::string>{Unseen("AscendJob serving/p0")})
      << "its pods will have none";
  PutJob("p0", kLabels, kLabels);
  PutPodOf("p0", {{"mind-cluster/scaling-rule", "rule"}, {"mind-cluster/group-name", "g0"}});
  EXPECT_EQ(Of("scaled-jobs", Status::kWarning),
            std::vector<std::string>{Unseen("AscendJob serving/p0")})
      << "a pod from before the job was applied again";
  PutPodOf("p0", Json::object(), "Failed");
  EXPECT_EQ(Of("scaled-jobs", Status::kWarning), std::vector<std::string>()) << "it has ended";
  for (const char* name : {"d0", "d1", "d2", "d3", "d4"}) PutJob(name, Json::object(), kLabels);
  EXPECT_EQ(Of("scaled-jobs", Status::kWarning),
            std::vector<std::string>{
                Unseen("5 AscendJobs (serving/d0, serving/d1, serving/d2 and 2 more)")});
}

TEST_F(ScaledJobs, ThatMayNotBeReadAreSkipped) {
  server.Forbid("list", "ascendjobs");
  EXPECT_EQ(Of("scaled-jobs", Status::kSkipped).size(), 1u);
}

TEST_F(Gates, AndNoAscendJobsOfAClusterWithoutThem) {
  EXPECT_EQ(Of("scaled-jobs", Status::kOk),
            std::vector<std::string>{"scaled-jobs: the cluster has no AscendJobs"});
}

// What the controllers' images say.
struct VersionsOfCluster : Permissions {
  void PutController(const std::string& name, const std::string& image, const Json& args = {}) {
    server.Put(
        resources::kDeployments,
        {{"metadata", {{"namespace", "kube-system"}, {"name", name}}},
         {"spec",
          {{"template",
            {{"spec", {{"containers", {{{"name", name}, {"image", image}, {"args", args}}}}}}}}}}});
  }
  void SetUp() override { AnswerReviews(true); }
};

TEST_F(VersionsOfCluster, AreWrittenAsTheConfigurationHasThem) {
  PutController("other", "nginx:1.27.0");
  PutController("volcano", "volcanosh/vc-controller-manager:v1.12.2");
  PutController("scheduler", "volcanosh/vc-scheduler:v1.11.0-v7.3.0");
  PutController("lws", "registry.k8s.io/lws/lws:v0.7.0");
  PutController("ome", "ome-manager:latest");
  const auto ok = Of("versions", Status::kOk);
  ASSERT_EQ(ok.size(), 1u);
  EXPECT_THAT(ok[0],
              ::testing::EndsWith(
                  "Volcano 1.11.0, LeaderWorkerSet 0.7.0; as `versions` of mindgate.yaml: {"
                  "kubernetes: \"1.34.4\", volcano: \"1.11.0\", leaderworkerset: \"0.7.0\"}"));
  EXPECT_EQ(Of("versions", Status::kWarning), std::vector<std::string>());
}

TEST_F(VersionsOfCluster, ThatTheConfigurationHasWrongAreNamed) {
  PutWatcher("versions: {volcano: '1.9'}\n");
  PutController("volcano", "volcanosh/vc-controller-manager:v1.12.2");
  EXPECT_EQ(Of("versions", Status::kWarning),
            std::vector<std::string>{"versions: versions.volcano is 1.9.0 in mindgate.yaml, but "
                                     "Volcano 1.12.2 runs: rules evaluate for the wrong version"});
  PutWatcher("versions: {volcano: '1.12.0'}\n");
  EXPECT_EQ(Of("versions", Status::kWarning), std::vector<std::string>());
}

TEST_F(VersionsOfCluster, TooOldForGatesAreNamed) {
  PutController("volcano", "volcanosh/vc-controller-manager:v1.9.0");
  EXPECT_EQ(Of("versions", Status::kWarning),
            std::vector<std::string>{
                "versions: Volcano 1.9.0 knows no scheduling gates, which it does from 1.10 on: do "
                "not set elasticScaling.mode to enforce"});
}

TEST_F(VersionsOfCluster, AnOperatorWithoutGangsIsNamed) {
  PutController("ascend-operator-manager", "ascend-operator:v26.1.0",
                {"/usr/local/bin/ascend-operator -enableGangScheduling=true -isCompress=false"});
  EXPECT_EQ(Of("ascend-operator", Status::kWarning), std::vector<std::string>());
  PutController("ascend-operator-manager", "ascend-operator:v26.1.0",
                {"--enableGangScheduling=false"});
  EXPECT_EQ(
      Of("ascend-operator", Status::kWarning),
      std::vector<std::string>{
          "ascend-operator: ascend-operator runs with enableGangScheduling=false: it makes no "
          "PodGroups, so that its elastic scaling counts no instance and no gang starts as a "
          "whole"});
}

TEST_F(DoctorFixture, NobodyLeads) {
  server.Put(resources::kNamespaces, {{"metadata", {{"name", "default"}}}});
  server.Put(resources::kLeases,
             {{"metadata", {{"name", "mindgate-watcher"}, {"namespace", "mindgate-system"}}}});
  EXPECT_EQ(Findings(Status::kFailed).back(),
            "watcher: no watcher leads: Lease mindgate-system/mindgate-watcher was last renewed at "
            "an unknown "
            "time, so pods that wait behind gates stay there, no gang is repaired, and with "
            "certs.mode managed certificates are not renewed and no CA is published");
}

TEST_F(Permissions, ALeaderThatLeftAMomentAgoIsNoFault) {
  server.Put(resources::kNamespaces, {{"metadata", {{"name", "default"}}}});
  const std::string left = FormatTime(clock.WallNow() - std::chrono::seconds(5));
  server.Put(resources::kLeases,
             {{"metadata", {{"name", "mindgate-watcher"}, {"namespace", "mindgate-system"}}},
              {"spec", {{"holderIdentity", ""}, {"renewTime", left}}}});
  EXPECT_EQ(Of("watcher", Status::kFailed), std::vector<std::string>());
  EXPECT_EQ(Of("watcher", Status::kWarning),
            std::vector<std::string>{
                "watcher: the last leader released Lease mindgate-system/mindgate-watcher at " +
                left + ", as in a restart or a rollout: another watcher takes it within a minute"});
  clock.Advance(std::chrono::minutes(3));
  EXPECT_EQ(Of("watcher", Status::kFailed).size(), 1);
}

}  // namespace
}  // namespace mindgate::doctor
