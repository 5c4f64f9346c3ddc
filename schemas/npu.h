#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "json/arena.h"
#include "json/value.h"

namespace mindgate::schemas {

// NPUs that another product than MindCluster hands out, and how a pod shows it. mindgate leaves
// such pods alone: what it writes would break them, and what it knows is not true of them.

struct ForeignSign {
  enum class Where : uint8_t {
    kScheduler,   // schedulerName
    kAnnotation,  // of the pod
    kAmount,      // the end of a resource name: a share of the chips of the resource before it
    kResource,    // a resource name, without huawei.com/
    kClaim,       // a word in the names of a resource claim
  };
  Where where;
  std::string_view text;
  std::string_view owner;  // whose it is; empty: the site lists the name in mindgate.yaml
  std::string_view ours;   // of kResource: the name under which MindCluster serves the chips
};

// One row a sign, from the surest to the least sure.
std::span<const ForeignSign> ForeignSigns();

// The sign in the name of a resource; null pointer when nobody else is known to use the name.
const ForeignSign* SignOfResource(std::string_view resource);
// The sign of that kind and text; null pointer when it is none.
const ForeignSign* SignOf(ForeignSign::Where where, std::string_view text);
// The sign of a resource that the site has given away (NpuResourceRow).
const ForeignSign* SignOfSite();

enum class NpuServer : uint8_t { kMindCluster, kOther };

// A resource name that a site serves although MindCluster does not use it.
struct NpuResourceRow {
  std::string name;
  NpuServer served_by = NpuServer::kMindCluster;
  bool operator==(const NpuResourceRow&) const = default;
};

// What a `huawei.com/*` resource name stands for (mind-cluster: component/ascend-common/api).
enum class NpuResource {
  kWholeCard,    // Ascend910, Ascend910 successors under "npu", Ascend310P, Ascend310
  kStaticVnpu,   // Ascend910-4c, Ascend310P-2c.1cpu, ...: a slice made beforehand
  kDynamicVnpu,  // npu-core: the scheduler cuts a slice
  kForeign,      // another product hands it out (schemas/npu.h)
  kMisspelled,   // resembles one of these, but no device plugin offers it
  kOther,        // any other huawei.com/ name: an RDMA device, a variant of a card, not an NPU
};

// By its exact name, so never kMisspelled, and never kForeign.
NpuResource ClassifyResource(std::string_view resource);
// The NPU resource that a name of no such resource resembles, without the prefix.
std::optional<std::string_view> NpuResourceMeant(std::string_view resource);

// One `huawei.com/*` entry of a container's resources.
struct NpuRequest {
  std::string_view resource;
  NpuResource kind = NpuResource::kOther;
  std::string_view container;  // pointer of the container
  const json::Value* request = nullptr;
  const json::Value* limit = nullptr;
  // Of the request, else of the limit; nothing when it is not a whole number.
  std::optional<int64_t> count;

  // Whether it counts as a request for NPUs: not for 0, and not for a device of another kind or
  // another product's.
  bool IsNpu() const {
    return kind != NpuResource::kOther && kind != NpuResource::kForeign && count != int64_t{0};
  }
  // A number of NPUs that limits alone name, which controllers that count requests do not see.
  bool IsLimitedOnly() const {
    return request == nullptr && IsNpu() && count && kind != NpuResource::kMisspelled;
  }
  // Of the entry: in limits when it is there, else in requests. A request may be what mindgate has
  // written.
  std::string Path() const;
};

// The whole number that an entry of resources denotes, written as a number or as text ("8",
// "8000m"); nothing otherwise.
std::optional<int64_t> WholeQuantity(const json::Value* value);

// Every entry of the resources of a container whose name starts with huawei.com/: those of requests
// by name, then those of limits alone. One more than a container may have, at most: what is left
// out then makes no difference. `container` is its pointer, `of_site` the names that
// mindgate.yaml lists.
std::span<const NpuRequest> ReadNpuRequests(const json::Value* resources,
                                            std::string_view container,
                                            std::span<const NpuResourceRow> of_site,
                                            json::Arena& arena);
// The same requests as another product's.
std::span<const NpuRequest> AsForeign(std::span<const NpuRequest> requests, json::Arena& arena);
// Whether one of them is for NPUs.
bool HasNpuRequests(const json::Value* resources);

}  // namespace mindgate::schemas
