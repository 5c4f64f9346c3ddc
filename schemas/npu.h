#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "json/value.h"

namespace mindgate::schemas {

// What a `huawei.com/*` resource name stands for (mind-cluster: component/ascend-common/api).
enum class NpuResource {
  kWholeCard,    // Ascend910, Ascend910 successors under "npu", Ascend310P, Ascend310
  kStaticVnpu,   // Ascend910-4c, Ascend310P-2c.1cpu, ...: a slice made beforehand
  kDynamicVnpu,  // npu-core: the scheduler cuts a slice
  kOther,        // any other huawei.com/ name, such as a network device
};

NpuResource ClassifyResource(std::string_view resource);

// One `huawei.com/*` entry of a container's resources.
struct NpuRequest {
  std::string_view resource;
  std::string path;  // pointer of the entry: in requests when it is there, else in limits
  const json::Value* request = nullptr;
  const json::Value* limit = nullptr;
  std::optional<int64_t>
      count;  // of the request, else of the limit; nothing when it is not a whole number
};

// The whole number that an entry of resources denotes, written as a number or as text ("8",
// "8000m"); nothing otherwise.
std::optional<int64_t> WholeQuantity(const json::Value* value);

// Every entry of `resources` whose name starts with huawei.com/, by name. `path` is the pointer of
// `resources`.
std::vector<NpuRequest> ReadNpuRequests(const json::Value* resources, std::string_view path);

}  // namespace mindgate::schemas
