#include "policies/site/evaluating.h"
#include "policies/site/evaluation.h"

namespace mindgate::policies::site {
namespace {

TEST(ReadFieldMessage, Table) {
  struct Case {
    std::string message;
    std::string path;
    std::string text;
  };
  const std::vector<Case> cases = {
      {"spec.replicas: too few", "/spec/replicas", "too few"},
      {"spec.template.spec.containers[0].image: bad", "/spec/template/spec/containers/0/image",
       "bad"},
      {"spec.template.spec.containers[0].resources.limits[huawei.com/Ascend910]: bad",
       "/spec/template/spec/containers/0/resources/limits/huawei.com~1Ascend910", "bad"},
      {"metadata.labels.team: missing", "/metadata/labels/team", "missing"},
      {"metadata.labels[example.com/team]: missing", "/metadata/labels/example.com~1team",
       "missing"},
      {"metadata.none.deep: missing", "", "metadata.none.deep: missing"},
      {"spec.template.spec.containers[7].image: bad", "",
       "spec.template.spec.containers[7].image: bad"},
      {"error: bad", "", "error: bad"},
      {"the field spec.replicas: bad", "", "the field spec.replicas: bad"},
      {"spec.[x: bad", "", "spec.[x: bad"},
      {": bad", "", ": bad"},
      {"nothing at all", "", "nothing at all"},
  };
  const json::Document object = testing::YamlDocument(testing::kEvaluatedDeployment);
  for (const Case& c : cases) {
    const FieldMessage read = ReadFieldMessage(object.root(), c.message);
    EXPECT_EQ(read.path, c.path) << c.message;
    EXPECT_EQ(read.text, c.text) << c.message;
  }
}

}  // namespace
}  // namespace mindgate::policies::site
