// `mindgate audit` and `mindgate snapshot --workloads`.
#include "cli/audit/audit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "audit/collections.h"
#include "json/yaml.h"
#include "kube/fake_api_server.h"
#include "schemas/site_kinds.h"
#include "support/bound_policy.h"
#include "support/cli.h"
#include "support/golden.h"
#include "support/installed.h"
#include "support/small_cluster.h"
#include "support/workloads.h"

namespace mindgate::cli {
namespace {

using ::mindgate::testing::BoundPolicy;
using ::mindgate::testing::Cli;
using ::mindgate::testing::ExpectGolden;
using ::mindgate::testing::Json;
using ::mindgate::testing::NpuContainer;
using ::mindgate::testing::PutWatcher;
using ::mindgate::testing::SmallCluster;
using ::mindgate::testing::Workspace;
using schemas::Kind;
using ::testing::HasSubstr;
using ::testing::Not;
namespace resources = kube::resources;

// Two services and a job on two nodes: one service is misspelt, and of the job nobody takes care.
struct AuditOnACluster : ::testing::Test {
  kube::testing::FakeApiServer server;

  void PutWorkload(Kind kind, const std::string& name, const Json& labels) {
    Json object =
        ::mindgate::testing::Workload(kind, {.container = NpuContainer(), .labels = labels});
    object["metadata"]["name"] = name;
    object["metadata"]["namespace"] = SmallCluster::kNs;
    object["metadata"]["managedFields"] = {{{"manager", "kubectl"}}};
    server.Put(audit::ResourceOf(schemas::InfoOf(kind)), object);
  }

  AuditOnACluster() {
    for (const kube::Resource& resource : audit::AllCollections()) {
      const bool custom = resource.group.find('.') != std::string::npos;
      if (custom || resource.group == "batch" || resource.kind == "StatefulSet") {
        server.Register({.resource = resource, .custom = custom});
      }
    }
    const Json force = {{"fault-scheduling", "force"}, {"pod-template-hash", "7d"}};
    PutWorkload(Kind::kDeployment, "chat", {{"fault-scheduling", "force"}});
    PutWorkload(Kind::kStatefulSet, "search", {{"fault-scheduling", "forced"}});
    PutWorkload(Kind::kVolcanoJob, "train", Json::object());
    SmallCluster cluster;
    cluster.Node("n0").Node("n1");
    cluster.Group("pg", "ReplicaSet/chat-7d", 1, force);
    cluster.Pod({"chat-7d-x", "n0", "0-3", "pg", "ReplicaSet/chat-7d", force});
    cluster.Group("train", "Job/train", 1);
    cluster.Pod({"train-0", "n1", "0-7", "train", "Job/train"});
    for (const Json& node : cluster.nodes) server.Put(resources::kNodes, node);
    for (const Json& pod : cluster.pods) server.Put(resources::kPods, pod);
    for (const Json& group : cluster.pod_groups) server.Put(resources::kPodGroups, group);
  }

  auto Audit(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "audit");
    arguments.insert(arguments.end(), {"--server", server.url()});
    return Cli(arguments);
  }
};

TEST_F(AuditOnACluster, ShowsTheWorstFirst) {
  for (const char* format : {"table", "wide"}) {
    const auto shown = Audit({"-A", "-o", format});
    EXPECT_EQ(shown.code, 1);
    EXPECT_EQ(shown.err, "");
    ExpectGolden(std::string("tests/cli/audit/small.") + format, shown.out);
  }
  EXPECT_EQ(server.Count(), server.Count({.method = "GET"})) << "nothing is written";
}

// All that depends on the moment is the time.
TEST_F(AuditOnACluster, ShowsTheSameToMachines) {
  Json document = Json::parse(Audit({"-A", "-o", "json"}).out);
  EXPECT_NE(document.at("taken"), "");
  document["taken"] = "2026-03-02T12:00:00Z";
  ExpectGolden("tests/cli/audit/small.json", document.dump(2) + "\n");
  for (const char* format : {"sarif", "junit", "html"}) {
    const auto report = Audit({"-A", "-o", format});
    EXPECT_EQ(report.code, 1) << format;
    EXPECT_THAT(report.out, HasSubstr("MG050")) << format;
    EXPECT_THAT(report.out,
                HasSubstr(format == std::string("junit") ? "loss-of-a-card" : "loss-of-a-node"))
        << format;
  }
  EXPECT_EQ(Audit({"-A", "-o", "jsonpath={.summary.denied}"}).out, "1");
}

TEST_F(AuditOnACluster, WritesPolicyReports) {
  const auto printed = Audit({"-A", "-o", "policyreport"});
  EXPECT_EQ(printed.code, 1);
  const auto documents = json::DecodeYaml(printed.out);
  ASSERT_TRUE(documents.has_value());
  ASSERT_EQ(documents->size(), 1u);
  Json report = documents->front().value;
  for (Json& result : report["results"]) result["timestamp"]["seconds"] = 0;
  ExpectGolden("tests/cli/audit/small.policyreport.json", report.dump(2) + "\n");
}

TEST_F(AuditOnACluster, NamesTheKindThatWasMeant) {
  const auto refused = Audit({"deploymnts"});
  EXPECT_EQ(refused.code, 2);
  EXPECT_EQ(refused.err,
            "error: \"deploymnts\" is not a kind that mindgate audits\n"
            "hint: did you mean \"deployments\"? `mindgate kinds` lists all of them\n");
}

TEST_F(AuditOnACluster, KeepsToWhatIsAskedFor) {
  const auto titles = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"-o", "jsonpath={.workloads[*].name}"});
    return Audit(arguments).out;
  };
  EXPECT_EQ(titles({"-A"}), "search train chat");
  EXPECT_EQ(titles({"-n", "infer", "sts"}), "search");
  EXPECT_EQ(titles({"-n", "infer", "deployments,vcjob"}), "train chat");
  EXPECT_EQ(titles({}), "") << "the namespace of the context is default";
}

// With the configuration of a file, and what it says of rules.
TEST_F(AuditOnACluster, UsesAConfiguration) {
  const Workspace folder;
  folder.Write("mindgate.yaml", "rules: {MG050: \"off\"}\n");
  EXPECT_EQ(Audit({"-A", "--config", "mindgate.yaml"}).code, 0);
  folder.Write("bad.yaml", "rulez: {}\n");
  const auto bad = Audit({"-A", "--config", "bad.yaml"});
  EXPECT_EQ(bad.code, 2);
  EXPECT_THAT(bad.err, HasSubstr("bad.yaml:1:1"));
}

// With kinds of the site: as the running mindgate has them, or a file.
struct AuditOfKindsOfTheSite : AuditOnACluster {
  const Workspace folder;

  AuditOfKindsOfTheSite() {
    const schemas::SiteKinds ray(schemas::ShippedKindsNamed("ray"));
    const kube::Resource resource = audit::ResourceOf(*ray.Find("ray.io", "RayCluster"));
    server.Register({.resource = resource, .custom = true});
    const Json forced = {{"labels", {{"fault-scheduling", "forced"}}}};
    const Json spec = {{"containers", Json::array({NpuContainer()})}};
    server.Put(
        resource,
        {{"metadata", {{"name", "train"}, {"namespace", "infer"}, {"uid", "ray-uid"}}},
         {"spec", {{"headGroupSpec", {{"template", {{"metadata", forced}, {"spec", spec}}}}}}}});
    Json pod = {{"metadata", forced}, {"spec", spec}, {"status", {{"phase", "Pending"}}}};
    pod["metadata"]["name"] = "train-head";
    pod["metadata"]["namespace"] = "infer";
    pod["metadata"]["ownerReferences"] = Json::array({{{"apiVersion", "ray.io/v1"},
                                                       {"kind", "RayCluster"},
                                                       {"name", "train"},
                                                       {"uid", "ray-uid"},
                                                       {"controller", true}}});
    server.Put(resources::kPods, pod);
    folder.Write("ray.yaml", "kinds: [{use: ray}]\n");
  }

  // "RayCluster/train pod;" and what is on standard error. Without a snapshot of the cluster.
  std::string Reported(std::vector<std::string> arguments, const std::string& snapshot = "") const {
    arguments.insert(arguments.begin(), {"audit", "-A"});
    arguments.insert(arguments.end(),
                     {"-o", "jsonpath={range .workloads[*]}{.kind}/{.name} {.framework};{end}"});
    const auto where = snapshot.empty() ? std::vector<std::string>{"--server", server.url()}
                                        : std::vector<std::string>{"--snapshot", snapshot};
    arguments.insert(arguments.end(), where.begin(), where.end());
    const auto result = Cli(arguments);
    return result.out + result.err;
  }
};

TEST_F(AuditOfKindsOfTheSite, TakesTheirNames) {
  const std::string unknown =
      "error: \"rayclusters\" is not a kind that mindgate audits\n"
      "hint: `mindgate kinds` lists all of them\n";
  EXPECT_EQ(Reported({"rayclusters"}), unknown);
  EXPECT_EQ(Reported({"rayclusters", "--config", "ray.yaml"}), "RayCluster/train pod;");
  EXPECT_EQ(Reported({"pods", "--config", "ray.yaml"}), "") << "they were evaluated with it";
  EXPECT_EQ(Reported({"rayclustr", "--config", "ray.yaml"}, ""),
            "error: \"rayclustr\" is not a kind that mindgate audits\n"
            "hint: did you mean \"rayclusters\"? `mindgate kinds` lists all of them\n");
  PutWatcher(server, "kinds: [{use: ray}]\n");
  EXPECT_EQ(Reported({"rayclusters.ray.io,lws"}), "RayCluster/train pod;");
}

TEST_F(AuditOfKindsOfTheSite, ReadsThemFromASnapshot) {
  const auto take = [&](const std::string& file, const std::vector<std::string>& flags) {
    std::vector<std::string> arguments = {"snapshot", "--workloads", "-o",
                                          file,       "--server",    server.url()};
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    EXPECT_EQ(Cli(arguments).code, 0);
  };
  take("without.json", {});
  take("with.json", {"--config", "ray.yaml"});
  EXPECT_EQ(Reported({"rayclusters", "--config", "ray.yaml"}, "with.json"),
            "RayCluster/train pod;");
  EXPECT_EQ(Reported({"pods"}, "with.json"), "RayCluster/train pod;") << "of its pods";
  // The snapshot does not know them: their pods stand for them.
  EXPECT_EQ(Reported({"pods", "--config", "ray.yaml"}, "without.json"), "RayCluster/train pod;");
  EXPECT_EQ(Reported({"rayclusters", "--config", "ray.yaml"}, "without.json"),
            "Warning: not audited: RayCluster.ray.io: the snapshot has none\n");
  PutWatcher(server, "kinds: [{use: ray}]\n");
  take("of-the-cluster.json", {});
  EXPECT_EQ(Reported({"rayclusters", "--config", "ray.yaml"}, "of-the-cluster.json"),
            "RayCluster/train pod;");
  folder.Write("bad.yaml", "kinds: [{use: rai}]\n");
  const auto bad = Cli({"snapshot", "--config", "bad.yaml", "--server", server.url()});
  EXPECT_EQ(bad.code, 2);
  EXPECT_THAT(bad.err, HasSubstr("bad.yaml:1:15"));
}

// `policies.configMaps`, of the running mindgate and of a file.
TEST_F(AuditOnACluster, EvaluatesByPoliciesInConfigMaps) {
  const auto put_policy = [&](const std::string& expression) {
    server.Put(resources::kConfigMaps,
               {{"metadata",
                 {{"namespace", "mindgate-system"},
                  {"name", "site"},
                  {"labels", {{"mindgate.io/policies", "enabled"}}}}},
                {"data", {{"a.yaml", BoundPolicy("of-the-site", expression)}}}});
  };
  put_policy("object.metadata.name != 'chat'");
  const Workspace folder;
  folder.Write("mindgate.yaml", "policies: {configMaps: true}\n");
  const std::vector<std::string> with_file = {"-A", "-o", "json", "--config", "mindgate.yaml"};
  const auto of_file = Audit(with_file);
  EXPECT_EQ(of_file.err, "");
  EXPECT_THAT(of_file.out, HasSubstr("policy/of-the-site"));
  EXPECT_THAT(Audit({"-A", "-o", "json"}).out, Not(HasSubstr("policy/of-the-site")))
      << "no configuration asks for it";
  PutWatcher(server, "policies: {configMaps: true}\n");
  EXPECT_THAT(Audit({"-A", "-o", "json"}).out, HasSubstr("policy/of-the-site"));

  put_policy("objct == 1");
  const auto faulty = Audit(with_file);
  EXPECT_EQ(faulty.code, 2);
  EXPECT_THAT(faulty.err,
              HasSubstr("ConfigMap mindgate-system/site, key a.yaml:7:31: undeclared reference"));
  server.Forbid("list", "configmaps");
  const auto forbidden = Audit(with_file);
  EXPECT_EQ(forbidden.code, 2);
  EXPECT_THAT(forbidden.err, HasSubstr("error: policies.configMaps is true, and the ConfigMaps of "
                                       "namespace mindgate-system cannot be listed: "));
}

// The chart puts files of policies beside mindgate.yaml.
TEST_F(AuditOnACluster, EvaluatesByThePoliciesOfTheRunningMindgate) {
  const auto audit = [&](const std::string& config, const Json& beside) {
    PutWatcher(server, config, beside);
    return Audit({"-A", "-o", "json"});
  };
  const std::string config = "policies: {files: [a.yaml, more/b.yaml]}\n";
  const auto found =
      audit(config, {{"a.yaml", BoundPolicy("of-the-chart", "object.metadata.name != 'chat'")}});
  EXPECT_THAT(found.out, HasSubstr("policy/of-the-chart"));
  EXPECT_EQ(found.err,
            "Warning: not audited: policies in more/b.yaml: they are not in the ConfigMap of "
            "mindgate\n");
  const auto faulty = audit(config, {{"a.yaml", BoundPolicy("of-the-chart", "objct == 1")}});
  EXPECT_EQ(faulty.code, 2);
  EXPECT_THAT(faulty.err, HasSubstr("ConfigMap mindgate-system/"));
  EXPECT_THAT(faulty.err, HasSubstr(", key a.yaml:7:31: undeclared reference"));
}

TEST_F(AuditOnACluster, ReportsTheSameOfASnapshot) {
  const Workspace folder;
  const auto taken = Cli({"snapshot", "--workloads", "-o", "s.json", "--server", server.url()});
  EXPECT_EQ(taken.code, 0) << taken.err;
  EXPECT_EQ(Cli({"audit", "-A", "--snapshot", "s.json"}).out, Audit({"-A"}).out);
  EXPECT_THAT(offline::ReadFile("s.json").value_or(""), Not(HasSubstr("managedFields")));
  EXPECT_EQ(Cli({"what-if", "--node", "n0", "--snapshot", "s.json"}).out,
            Cli({"what-if", "--node", "n0", "--server", server.url()}).out);
  const auto plain = Cli({"snapshot", "-o", "plain.json", "--server", server.url()});
  EXPECT_EQ(plain.code, 0);
  const auto refused = Cli({"audit", "-A", "--snapshot", "plain.json"});
  EXPECT_EQ(refused.code, 2);
  EXPECT_EQ(refused.err,
            "error: snapshot plain.json has no workloads\n"
            "hint: take it with `mindgate snapshot --workloads -o FILE`\n");
}

// Who has rights in one namespace alone gets an audit of it.
TEST_F(AuditOnACluster, NamesWhatItMayNotRead) {
  for (const char* resource : {"nodes", "namespaces", "jobs", "pods"})
    server.Forbid("list", resource);
  const auto shown = Audit({"-n", "infer", "-o", "jsonpath={.workloads[*].name}"});
  EXPECT_EQ(shown.code, 1);
  EXPECT_EQ(shown.out, "search chat");
  EXPECT_THAT(shown.err,
              HasSubstr("Warning: not audited: what the death of a card or a node does: "));
  EXPECT_THAT(shown.err, HasSubstr("Warning: not audited: jobs.batch: "));
  EXPECT_THAT(shown.err, HasSubstr("Warning: not audited: namespaces: "));
}

TEST(AuditCommand, ReportsWhatIsWrongWithItsArguments) {
  const struct {
    std::vector<std::string> arguments;
    const char* want;
  } cases[] = {
      {{"-l", "a in b"},
       "error: --selector \"a in b\": \"a in b\" is not the key of a label: write key=value\n"
       "hint: for example -l 'app=chat,tier in (web,api),!canary'\n"},
      {{"--snapshot", "none.json"},
       "error: snapshot none.json: no such file\n"
       "hint: create one with `mindgate snapshot -o none.json`\n"},
  };
  for (const auto& each : cases) {
    std::vector<std::string> arguments = {"audit"};
    arguments.insert(arguments.end(), each.arguments.begin(), each.arguments.end());
    const auto refused = Cli(arguments);
    EXPECT_EQ(refused.code, 2);
    EXPECT_EQ(refused.out, "");
    EXPECT_EQ(refused.err, each.want);
  }
  const auto unreachable = Cli({"audit", "-A", "--server", "http://127.0.0.1:1"});
  EXPECT_EQ(unreachable.code, 2);
  EXPECT_THAT(unreachable.err, HasSubstr("error: the cluster cannot be read: "));
}

// No report is larger than an object may be.
TEST(PolicyReports, AreSplit) {
  audit::Audit audit;
  for (size_t i = 0; i < kMaxResults + 1; ++i) {
    audit::Workload& workload = audit.workloads.emplace_back();
    workload.api_version = "apps/v1";
    workload.kind = "Deployment";
    workload.ns = "infer";
    workload.name = "chat-" + std::to_string(i);
    offline::ReportedFinding& finding = workload.evaluated.findings.emplace_back();
    finding.id = "internal-error";
    finding.message = "broken";
  }
  audit::Workload& cluster_scoped = audit.workloads.emplace_back();
  cluster_scoped.kind = "ClusterServingRuntime";
  cluster_scoped.name = "llama";
  std::ostringstream out;
  PrintPolicyReports(audit, out);
  const auto documents = json::DecodeYaml(out.str());
  ASSERT_TRUE(documents.has_value());
  std::vector<std::string> got;
  for (const json::YamlDocument& document : *documents) {
    const Json& report = document.value;
    got.push_back(
        report["kind"].get<std::string>() + " " + report["metadata"].value("namespace", "") + "/" +
        report["metadata"]["name"].get<std::string>() + " " +
        std::to_string(report["results"].size()) + " " + report["summary"]["error"].dump());
  }
  EXPECT_EQ(got, (std::vector<std::string>{"ClusterPolicyReport /mindgate-audit 0 0",
                                           "PolicyReport infer/mindgate-audit 500 500",
                                           "PolicyReport infer/mindgate-audit-2 1 1"}));
}

}  // namespace
}  // namespace mindgate::cli
