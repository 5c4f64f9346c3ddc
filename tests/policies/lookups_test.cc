#include "policies/lookups.h"

#include <gtest/gtest.h>

#include "support/ascendjobs.h"
#include "support/objects.h"

namespace mindgate::testing {
namespace {

using policies::Findings;
using policies::LookUp;
using policies::Reference;

// A Queue q in a cluster of which everything is known, only some objects, or nothing.
TEST(LookUp, DistinguishesAbsentFromUnknown) {
  const std::vector<std::string> queue = {
      "{apiVersion: scheduling.volcano.sh/v1beta1, kind: Queue, metadata: {name: q}}"};
  const FakeObjects all(queue, true);
  const FakeObjects some(queue, false);
  const json::Document object = YamlDocument(PytorchJob());
  const auto view = schemas::BuildView(object.root());
  const schemas::Config config;
  struct Case {
    const schemas::ObjectLookup* objects;
    std::string name;
    bool found, absent;
    std::vector<std::string> skipped;
  };
  for (const Case& c : std::vector<Case>{
           {&all, "q", true, false, {}},
           {&all, "r", false, true, {}},
           {&some, "q", true, false, {}},
           {&some, "r", false, false, {"needs Queue \"r\", which is not known here"}},
           {nullptr, "q", false, false, {"needs Queue \"q\", which is not known here"}},
       }) {
    schemas::AdmissionRequest request;
    request.objects = c.objects;
    Findings findings;
    const Reference got = LookUp({*view, nullptr, request, config}, findings,
                                 "scheduling.volcano.sh", "Queue", "", c.name);
    EXPECT_EQ(got.object != nullptr, c.found) << c.name;
    EXPECT_EQ(got.IsAbsent(), c.absent) << c.name;
    EXPECT_EQ(findings.skipped(), c.skipped) << c.name;
  }
}

TEST(LookUp, NamesTheNamespace) {
  const json::Document object = YamlDocument(PytorchJob());
  const auto view = schemas::BuildView(object.root());
  const schemas::Config config;
  const schemas::AdmissionRequest request;
  Findings findings;
  LookUp({*view, nullptr, request, config}, findings, "", "ConfigMap", "ns", "rule");
  EXPECT_EQ(findings.skipped(),
            std::vector<std::string>{
                "needs ConfigMap \"rule\" of namespace \"ns\", which is not known here"});
}

}  // namespace
}  // namespace mindgate::testing
