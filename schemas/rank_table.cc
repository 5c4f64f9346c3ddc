#include "schemas/rank_table.h"

#include <utility>

#include "json/decode.h"
#include "schemas/names.h"

namespace mindgate::schemas {
namespace {

using json::Value;

constexpr std::string_view kStatus = "status";

void ReadContent(std::string_view text, RankTable& table) {
  const auto fault = [&table](std::string message, bool beyond_limit) {
    table.fault = json::Issue{{1, 1}, "", std::move(message), "", beyond_limit};
  };
  if (text.size() > kMaxRankTable) {
    fault("it has " + std::to_string(text.size()) + " bytes, more than the " +
              std::to_string(kMaxRankTable) + " that a ConfigMap can hold",
          true);
    return;
  }
  // It has an entry for each device of the job, of which nothing is asked here.
  static const json::Projection kept({{std::string(kStatus)}});
  json::Decoder decoder;
  const auto content = decoder.Decode(text, kept);
  if (!content) {
    table.fault = content.error();
    return;
  }
  const Value& root = **content;
  if (!root.is_object()) {
    fault("expected an object, found type " + std::string(json::TypeName(root)), false);
    return;
  }
  if (const auto status = json::FindString(root, kStatus)) table.status = *status;
}

}  // namespace

std::optional<RankTable> ReadRankTable(const Value& config_map) {
  const Value* metadata = json::Find(config_map, "metadata");
  const auto name = json::FindString(metadata, "name").value_or("");
  if (!name.starts_with(kRankTablePrefix)) return std::nullopt;
  RankTable table;
  table.job_name = name.substr(kRankTablePrefix.size());
  const Value* labels = json::Find(metadata, "labels");
  table.job_id = json::Find(labels, kJobId);
  table.consumer = json::Find(labels, kRankTableConsumer);
  table.ring_controller = json::Find(labels, kRingController);
  table.standalone = json::Find(labels, kDeployServerStandalone);
  table.distributed = json::Find(labels, kDeployServerDistributed);
  table.content = json::Find(json::Find(config_map, "data"), kRankTableKey);
  if (const auto text = json::AsString(table.content)) ReadContent(*text, table);
  return table;
}

}  // namespace mindgate::schemas
