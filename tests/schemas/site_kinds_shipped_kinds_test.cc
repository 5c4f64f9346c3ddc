#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/text.h"
#include "schemas/site_kinds.h"

namespace mindgate::schemas {
namespace {

// "ray: RayCluster.ray.io/v1 (2 templates), ...".
std::string LineOf(const ShippedKinds& shipped) {
  std::vector<std::string> kinds;
  for (const SiteKind& kind : ShippedKindsNamed(shipped.name)) {
    kinds.push_back(kind.TypeName() + "/" + kind.version + " (" +
                    Counted(static_cast<int64_t>(kind.templates.size()), "template") + ")");
  }
  return std::string(shipped.name) + ": " + Join(kinds, ", ");
}

TEST(ShippedKinds, AreSoundRows) {
  std::vector<std::string> lines;
  for (const ShippedKinds& shipped : AllShippedKinds()) lines.push_back(LineOf(shipped));
  EXPECT_EQ(lines,
            (std::vector<std::string>{
                "ray: RayCluster.ray.io/v1 (2 templates), RayJob.ray.io/v1 (2 templates), "
                "RayService.ray.io/v1 (2 templates)",
                "kubeflow: PyTorchJob.kubeflow.org/v1 (1 template), TFJob.kubeflow.org/v1 (1 "
                "template), MPIJob.kubeflow.org/v1 (1 template), XGBoostJob.kubeflow.org/v1 (1 "
                "template), PaddleJob.kubeflow.org/v1 (1 template), JAXJob.kubeflow.org/v1 (1 "
                "template)",
                "jobset: JobSet.jobset.x-k8s.io/v1alpha2 (1 template)",
                "kthena: ModelServing.workload.serving.volcano.sh/v1alpha1 (2 templates)",
                "kserve: InferenceService.serving.kserve.io/v1beta1 (2 templates), "
                "LLMInferenceService.serving.kserve.io/v1alpha1 (4 templates)",
                "kruise: CloneSet.apps.kruise.io/v1alpha1 (1 template)"}));
  EXPECT_TRUE(ShippedKindsNamed("slurm").empty());
}

}  // namespace
}  // namespace mindgate::schemas
