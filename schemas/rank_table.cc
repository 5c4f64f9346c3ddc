#include "schemas/rank_table.h"

#include <utility>

#include "json/decode.h"
#include "schemas/names.h"

namespace mindgate::schemas {
namespace {

using json::Value;

void ReadContent(std::string_view text, RankTable& table) {
  const auto content = json::Document::Decode(text);
  if (!content) {
    table.fault = content.error();
    return;
  }
  if (!content->root().is_object()) {
    table.fault = json::Issue{
        {1, 1},
        "",
        "expected an object, found type " + std::string(json::TypeName(content->root())),
        ""};
    return;
  }
  if (const auto status = json::FindString(content->root(), "status")) table.status = *status;
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
