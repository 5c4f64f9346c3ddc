#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

// NPUs that another product than MindCluster hands out, and how a pod shows it. mindgate leaves
// such pods alone: what it writes would break them, and what it knows is not true of them.
namespace mindgate::schemas {

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

}  // namespace mindgate::schemas
