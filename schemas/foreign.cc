#include "schemas/foreign.h"

#include <algorithm>

#include "schemas/names.h"
#include "schemas/npu.h"

namespace mindgate::schemas {
namespace {

using Where = ForeignSign::Where;

// HAMi, and Volcano's virtual NPUs, which take its device plugin and its names: HAMi:
// charts/hami/templates/scheduler/device-configmap.yaml; volcano:
// pkg/scheduler/api/devices/ascend/hami, docs/user-guide/how_to_use_vnpu.md. CCE: Huawei Cloud's
// device plugin. DRA: mind-cluster: component/ascend-dynamic-resource-allocation.
constexpr ForeignSign kSigns[] = {
    {Where::kScheduler, "hami-scheduler", "HAMi", ""},
    {Where::kAnnotation, "huawei.com/vnpu-mode", "HAMi", ""},
    {Where::kAmount, "-memory", "HAMi", ""},
    {Where::kAmount, "-core", "HAMi", ""},
    {Where::kResource, "Ascend910A", "HAMi", "Ascend910"},
    {Where::kResource, "Ascend910B", "HAMi", "Ascend910"},
    {Where::kResource, "Ascend910B2", "HAMi", "Ascend910"},
    {Where::kResource, "Ascend910B3", "HAMi", "Ascend910"},
    {Where::kResource, "Ascend910B4", "HAMi", "Ascend910"},
    {Where::kResource, "Ascend910B4-1", "HAMi", "Ascend910"},
    {Where::kResource, "Ascend910C", "HAMi", "Ascend910"},
    {Where::kResource, "ascend-1980", "CCE", "Ascend910"},
    {Where::kResource, "ascend-snt9b", "CCE", "Ascend910"},
    {Where::kResource, "ascend-310", "CCE", "Ascend310"},
    {Where::kClaim, "npu", "DRA", ""},
    {Where::kClaim, "ascend", "DRA", ""},
};

constexpr ForeignSign kOfSite = {Where::kResource, "", "", ""};

}  // namespace

std::span<const ForeignSign> ForeignSigns() { return kSigns; }

const ForeignSign* SignOf(Where where, std::string_view text) {
  const auto* const found = std::ranges::find_if(
      kSigns, [&](const ForeignSign& sign) { return sign.where == where && sign.text == text; });
  return found == std::end(kSigns) ? nullptr : found;
}

const ForeignSign* SignOfSite() { return &kOfSite; }

const ForeignSign* SignOfResource(std::string_view resource) {
  if (ClassifyResource(resource) != NpuResource::kOther) return nullptr;  // npu-core is ours
  if (!resource.starts_with(kResourcePrefix)) return nullptr;
  const std::string_view name = resource.substr(kResourcePrefix.size());
  if (const ForeignSign* sign = SignOf(Where::kResource, name)) return sign;
  for (const ForeignSign& sign : kSigns) {
    if (sign.where != Where::kAmount || !name.ends_with(sign.text)) continue;
    const std::string_view whole = name.substr(0, name.size() - sign.text.size());
    const auto full = resource.substr(0, kResourcePrefix.size() + whole.size());
    if (ClassifyResource(full) == NpuResource::kWholeCard ||
        SignOf(Where::kResource, whole) != nullptr) {
      return &sign;
    }
  }
  return nullptr;
}

}  // namespace mindgate::schemas
