#include <gtest/gtest.h>

#include "policies/infer_operator/manifests.h"
#include "support/rules.h"

namespace mindgate::testing {
namespace {

// "services: [a NodePort service of these ports]"
std::string NodePorts(const std::string& ports) {
  return "services: [{name: web, spec: {type: NodePort, ports: [" + ports + "]}}]";
}

TEST(InferNodePort, Table) {
  ExpectFindings(
      "MG150",
      {
          {"missing and 0",
           Set("", Roles("{name: p, " + NodePorts("{port: 80}, {port: 81, nodePort: 0}") + "}")),
           {"spec.template.roles[0].services[0].spec.ports[0].nodePort: a port of NodePort service "
            "\"web\" has no nodePort: infer-operator refuses the role",
            "spec.template.roles[0].services[0].spec.ports[1].nodePort: a port of NodePort service "
            "\"web\" has no nodePort: infer-operator refuses the role"}},
          {"written", InstanceSet("", NodePorts("{port: 80, nodePort: 30000}")), {}},
          RefusedBefore(
              {"another type",
               Service(Roles("{name: p, services: [{spec: {ports: [{port: 80}]}}, 3, {spec: 4}]}")),
               {}}),
          RefusedBefore(
              {"ports of the wrong type",
               Service(Roles("{name: p, services: [{spec: {type: NodePort, ports: 3}}]}")),
               {}}),
      });
}

TEST(InferNodePortClash, Table) {
  const auto two = [](const std::string& first, const std::string& second) {
    return Roles("{name: p, " + NodePorts("{port: 80, nodePort: " + first + "}") + "}, {name: d, " +
                 NodePorts("{port: 80, nodePort: " + second + "}") + "}");
  };
  ExpectFindings(
      "MG151",
      {
          {"service 1 wants the port of service 0",
           Set("replicas: 2", two("30001", "30000")),
           {"spec.template.roles[0].services[0].spec.ports[0].nodePort: nodePort 30001 collides "
            "with 30000 of another service: service i of the 2 uses nodePort + i, and Kubernetes "
            "refuses the second"}},
          {"far enough apart", Set("replicas: 2", two("30000", "30002")), {}},
          {"the same port twice",
           Service(two("30000", "30000")),
           {"spec.roles[1].services[0].spec.ports[0].nodePort: nodePort 30000 collides with 30000 "
            "of another service, and Kubernetes refuses the second"}},
          {"one service may be next to another", Service(two("30000", "30001")), {}},
          {"protocols do not collide",
           Service(Roles("{name: p, " +
                         NodePorts("{port: 80, nodePort: 30000}, {port: 80, "
                                   "protocol: UDP, nodePort: 30000}") +
                         "}")),
           {}},
      });
}

TEST(InferNodePortRange, Table) {
  const auto with = [](const std::string& replicas, const std::string& port) {
    return Set("replicas: " + replicas,
               Roles("{name: p, " + NodePorts("{port: 80, nodePort: " + port + "}") + "}"));
  };
  const std::string path = "spec.template.roles[0].services[0].spec.ports[0].nodePort: ";
  ExpectFindings("MG152", {
                              {"the last replica leaves the range",
                               with("3", "32766"),
                               {path + "the service uses nodePorts 32766 to 32768, outside "
                                       "Kubernetes' default range 30000 to 32767"}},
                              {"below",
                               with("1", "8080"),
                               {path + "the service uses nodePorts 8080 to 8080, outside "
                                       "Kubernetes' default range 30000 to 32767"}},
                              {"just inside", with("2", "32766"), {}},
                          });
}

TEST(InferNodePortName, Table) {
  const std::string roles = Roles("{name: p, " + NodePorts("{port: 80, nodePort: 30000}") + "}");
  const std::string message =
      " does not end in a number, which infer-operator adds to each nodePort: it creates no "
      "instance";
  ExpectFindings(
      "MG153", {
                   {"a plain name", Service(roles, "chat"), {"metadata.name: \"chat\"" + message}},
                   {"a word at the end",
                    Service(roles, "chat-main"),
                    {"metadata.name: \"chat-main\"" + message}},
                   {"a number", Service(roles, "chat-0"), {}},
                   {"without NodePort", Service(Roles("{name: p}"), "chat"), {}},
                   {"an InstanceSet has it from its label",
                    InstanceSet("infer.huawei.com/inferservice-name: chat",
                                NodePorts("{port: 80, nodePort: 30000}")),
                    {"metadata.labels[infer.huawei.com/inferservice-name]: \"chat\"" + message}},
               });
}

}  // namespace
}  // namespace mindgate::testing
