#pragma once

#include <string>

// AscendJobs for rule tests, as short as they can be and valid unless said otherwise.
namespace mindgate::testing {

// What every replica type needs: a container named ascend with an image.
inline const std::string kTemplateOfJob =
    "template: {spec: {containers: [{name: ascend, image: i}]}}";

// AscendJob ns/j. `labels` and `spec` are the inside of YAML flow maps.
inline std::string AscendJob(const std::string& labels, const std::string& spec,
                             const std::string& annotations = "") {
  return "apiVersion: mindxdl.gitee.com/v1\nkind: AscendJob\n"
         "metadata: {name: j, namespace: ns, labels: {" +
         labels + "}, annotations: {" + annotations + "}}\nspec: {" + spec + "}\n";
}

// One of the framework pytorch with a Master and one Worker; `more` joins the spec.
inline std::string PytorchJob(const std::string& more = "", const std::string& labels = "") {
  return AscendJob("framework: pytorch" + (labels.empty() ? "" : ", " + labels),
                   "replicaSpecs: {Master: {" + kTemplateOfJob + "}, Worker: {" + kTemplateOfJob +
                       "}}" + (more.empty() ? "" : ", " + more));
}

// For the spec; `types` is the inside of a YAML flow map.
inline std::string Specs(const std::string& types) { return "replicaSpecs: {" + types + "}"; }

}  // namespace mindgate::testing
