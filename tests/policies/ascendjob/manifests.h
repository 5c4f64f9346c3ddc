#pragma once

#include <string>
#include <utility>
#include <vector>

#include "support/ascendjobs.h"
#include "support/rules.h"

// What tests of rules about AscendJobs share: rank tables, and rules of elastic scaling.
namespace mindgate::testing {

// How the message of a rule ends whose violation ascend-operator finds.
inline const std::string kFails = ", so the operator fails the job permanently";

// rings-config-j of namespace ns, a complete one unless said otherwise.
inline std::string RingsConfig(const std::string& labels,
                               const std::string& data = R"({"status":"initializing"})",
                               const std::string& metadata = "") {
  return "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: rings-config-j, namespace: ns, " +
         metadata + "labels: {" + labels + "}}\ndata: {hccl.json: '" + data + "'}\n";
}

inline const std::string kRingsLabels =
    "jobID: s, mx-consumer-cim: 'true', ring-controller.atlas: ascend-910b, "
    "grt-group/deploy-server: '1'";

// ConfigMap <name>/r of namespace ns, its rule on one line of `text` after another.
inline std::string RuleMap(const std::string& text, const std::string& ns = "ns",
                           const std::string& name = "r") {
  std::string out = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: " + name +
                    ", namespace: " + ns + "}\ndata:\n  elastic_scaling.json: |\n    ";
  for (char c : text) out += c == '\n' ? "\n    " : std::string(1, c);
  return out + "\n";
}

inline std::string Group(const std::string& name, const std::string& num,
                         const std::string& servers = "2") {
  return R"({"group_name":")" + name + R"(","group_num":")" + num +
         R"(","server_num_per_group":")" + servers + R"("})";
}

// A rule of one tier a line.
inline std::string Tiers(const std::vector<std::string>& tiers) {
  std::string out = "{\"elastic_scaling_list\":[";
  for (size_t i = 0; i < tiers.size(); ++i) {
    out += (i == 0 ? "\n" : ",\n") + std::string("{\"group_list\":[") + tiers[i] + "]}";
  }
  return out + "]}";
}

inline const std::string kRule = Tiers({Group("group0", "2") + "," + Group("group1", "1"),
                                        Group("group0", "1") + "," + Group("group1", "1")});

// A server instance of two pods under rule r.
inline std::string Server(const std::string& labels) { return PytorchJob("", labels); }

// A case in whose cluster the others are, and nothing else.
inline RuleCase With(const std::string& name, const std::string& object,
                     std::vector<std::string> others, std::vector<std::string> want) {
  RuleCase c{name, object, std::move(want)};
  c.others = std::move(others);
  c.know_cluster = true;
  return c;
}

// A case without a cluster, which the rule says it has skipped.
inline RuleCase Unknown(const std::string& object, const std::string& old_object = "") {
  RuleCase c{"nothing else is known: skipped, visibly", object, {}, old_object};
  c.want_skipped = true;
  return c;
}

}  // namespace mindgate::testing
