#include "mutators/families.h"

// Requests of NPUs that only limits name. The API server copies limits to requests in Pods alone:
// what a controller keeps as a template stays as it was written. Some controllers read its
// requests: volcano: pkg/controllers/job/job_controller_util.go (CalcPGMinResources), lws:
// pkg/utils/utils.go (CalculatePGMinResources), mind-cluster:
// component/ascend-operator/pkg/controllers/v1/utils.go.
namespace mindgate::mutators {
namespace {

using schemas::NpuRequest;

constexpr std::string_view kReason =
    "controllers count the requests of a template, and nothing copies limits to them before a Pod "
    "is made; of NPUs both must be equal";

}  // namespace

void NpuRequests(const MutationContext& context, Edits& edits) {
  if (schemas::kPods.Has(context.view.kind)) return;  // the API server does it
  for (const schemas::PodTemplateView& pod : context.view.templates) {
    if (!pod.own_npus || !MayEdit(context, pod)) continue;
    for (const schemas::ContainerView& container : pod.containers) {
      for (const NpuRequest& npu : container.npus) {
        if (!npu.IsLimitedOnly()) continue;  // the rest is left to rules
        schemas::Place requests;
        requests.path = {container.path, "/resources/requests"};
        edits.Set(requests, npu.resource, *npu.limit, kReason);
      }
    }
  }
}

}  // namespace mindgate::mutators
