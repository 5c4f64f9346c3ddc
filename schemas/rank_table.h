#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "json/issues.h"
#include "json/value.h"

// A rank-table ConfigMap: rings-config-<job>, which ascend-operator fills with the job's devices
// and from whose labels and content ClusterD makes the global rank table of a MindIE service
// (mind-cluster: component/ascend-operator/pkg/controllers/v1/jobinfo.go,
// component/clusterd/pkg/domain/epranktable).
namespace mindgate::schemas {

// What hccl.json says about itself. The operator writes "completed".
inline constexpr std::string_view kRankTableInitializing = "initializing";
inline constexpr std::string_view kRankTableCompleted = "completed";

// Of the content: what the API server lets a ConfigMap hold.
inline constexpr size_t kMaxRankTable = 1024 * 1024;

// Views into the ConfigMap; lives no longer than it.
struct RankTable {
  std::string_view job_name;            // what follows the prefix
  const json::Value* job_id = nullptr;  // labels as written, of any type; null pointer when missing
  const json::Value* consumer = nullptr;
  const json::Value* ring_controller = nullptr;
  const json::Value* standalone = nullptr;   // grt-server/deploy-server
  const json::Value* distributed = nullptr;  // grt-group/deploy-server

  const json::Value* content = nullptr;  // data[hccl.json]
  std::optional<json::Issue>
      fault;  // why the content is not a JSON object; placed in the content's text
  std::optional<std::string> status;  // its status, when it is a string

  // True when it belongs to a MindIE service. Training jobs have rank tables without any of these
  // labels.
  bool OfMindie() const {
    return job_id != nullptr || consumer != nullptr || standalone != nullptr ||
           distributed != nullptr;
  }
};

// Nothing when the ConfigMap's name lacks the prefix.
std::optional<RankTable> ReadRankTable(const json::Value& config_map);

}  // namespace mindgate::schemas
