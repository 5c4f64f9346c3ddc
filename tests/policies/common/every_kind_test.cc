#include <gtest/gtest.h>

#include "json/decode.h"
#include "policies/engine.h"
#include "support/workloads.h"

// Rules about pods say the same of every kind that makes them.
namespace mindgate::testing {
namespace {

using json::Json;
using schemas::Kind;

// How often the rule reports a new object.
size_t CountFindings(std::string_view rule, const Json& tree) {
  const json::Document object(tree);
  schemas::AdmissionRequest request;
  request.object = &object.root();
  const auto view = schemas::BuildView(object.root());
  const schemas::Config config;
  size_t count = 0;
  for (const auto& finding : policies::Evaluate({*view, nullptr, request, config}).findings) {
    count += finding.rule->id == rule && !finding.error ? 1 : 0;
  }
  return count;
}

// Beside each main container.
void AddContainer(Json& value, const Json& container) {
  if (!value.is_structured()) return;
  for (auto& member : value) AddContainer(member, container);
  if (!value.is_object()) return;
  if (value.contains("containers") || value.contains("runner")) {
    value["containers"].push_back(container);
  }
}

struct KindCase {
  std::string name;
  std::string_view rule;
  TemplateParts parts;
  bool inject = true;             // false: mindgate.io/inject: disabled
  schemas::KindSet silent = {};   // kinds of which the rule says nothing
  std::optional<Json> more = {};  // one more container
  size_t times = 1;
};

TEST(EveryKind, HearsTheSameOfItsPods) {
  Json second = NpuContainer();
  second["name"] = "second";
  Json bare = NpuContainer();
  bare["resources"] = {{"limits", {{"Ascend910", 8}}}};
  Json privileged = NpuContainer();
  privileged["securityContext"]["privileged"] = true;
  Json without_chips = CpuContainer();
  without_chips["securityContext"]["privileged"] = true;
  const Json host = {
      {"volumes", Json::array({{{"name", "model"}, {"hostPath", {{"path", "/mnt"}}}}})}};
  const schemas::KindSet service = {Kind::kInferenceService};  // its runtime may say it
  const std::vector<KindCase> cases = {
      {"a second NPU container", "MG005", {.container = NpuContainer()}, true, {}, second},
      {"a sidecar on CPUs", "MG005", {.container = NpuContainer()}, true, {}, CpuContainer(), 0},
      {"an init container",
       "MG006",
       {.container = NpuContainer(), .pod_fields = {{"initContainers", Json::array({second})}}}},
      {"a resource without its domain", "MG007", {.container = bare}},
      {"nodeName", "MG008", {.container = NpuContainer(), .pod_fields = {{"nodeName", "n1"}}}},
      {"nodeName on CPUs",
       "MG008",
       {.container = CpuContainer(), .pod_fields = {{"nodeName", "n1"}}},
       true,
       {},
       {},
       0},
      {"a misspelled scheduler",
       "MG004",
       {.container = NpuContainer(), .pod_fields = {{"schedulerName", "Volcano"}}}},
      {"no scheduler, which injection adds",
       "MG105",
       {.container = NpuContainer()},
       true,
       {},
       {},
       0},
      {"no scheduler without injection",
       "MG105",
       {.container = NpuContainer()},
       false,
       service | schemas::kAscendJobs},
      {"no variable without injection",
       "MG009",
       {.container = NpuContainer(), .pod_fields = {{"schedulerName", "volcano"}}},
       false,
       service},
      {"a key that no node has",
       "MG164",
       {.container = NpuContainer(), .pod_fields = {{"nodeSelector", {{"host_arch", "x"}}}}}},
      {"an unknown switch affinity",
       "MG065",
       {.container = NpuContainer(), .labels = {{"tor-affinity", "x"}}}},
      {"a product that does not exist",
       "MG048",
       {.container = NpuContainer(), .labels = {{"ring-controller.atlas", "Ascend-910"}}}},
      {"another word for a label",
       "MG067",
       {.container = NpuContainer(), .labels = {{"pod-reschedule", "on"}}}},
      {"a privileged container", "MG173", {.container = privileged}},
      {"a privileged sidecar",
       "MG173",
       {.container = NpuContainer()},
       true,
       {},
       Json{{"name", "sidecar"}, {"securityContext", {{"privileged", true}}}}},
      {"a privileged container on CPUs", "MG173", {.container = without_chips}, true, {}, {}, 0},
      {"the whole /mnt", "MG174", {.container = NpuContainer(), .pod_fields = host}},
      {"the whole /mnt on CPUs",
       "MG174",
       {.container = CpuContainer(), .pod_fields = host},
       true,
       {},
       {},
       0},
  };
  for (const KindCase& c : cases) {
    for (const Kind kind : KindsWithTemplates()) {
      Json object = Workload(kind, c.parts);
      if (c.more) AddContainer(object, *c.more);
      if (!c.inject) object["metadata"]["labels"]["mindgate.io/inject"] = "disabled";
      EXPECT_EQ(CountFindings(c.rule, object), c.silent.Has(kind) ? 0 : c.times)
          << c.rule << ": " << c.name << ": " << schemas::InfoOf(kind).group << " "
          << schemas::KindName(kind) << "\n"
          << object.dump();
    }
  }
}

}  // namespace
}  // namespace mindgate::testing
