#include "schemas/raw_objects.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "base/text.h"
#include "json/decode.h"
#include "json/pointer.h"
#include "json/value.h"
#include "schemas/names.h"
#include "schemas/npu.h"

namespace mindgate::schemas {

std::string ObjectName(const json::Value& object) {
  const json::Value* metadata = json::Find(object, "metadata");
  std::string name(json::FindString(metadata, "name").value_or(""));
  if (!name.empty()) return name;
  name = json::FindString(metadata, "generateName").value_or("");
  return name.empty() ? name : name + std::string(kGeneratedSuffix);
}

const json::Value* ControllerOf(const json::Value* metadata) {
  const json::Value* owners = json::Find(metadata, "ownerReferences");
  if (!json::IsArray(owners)) return nullptr;
  for (const json::Value& owner : *owners) {
    if (json::AsBool(json::Find(owner, "controller")).value_or(false)) return &owner;
  }
  return nullptr;
}

std::optional<size_t> IndexOfScalingGate(const json::Value* gates) {
  for (size_t i = 0; json::IsArray(gates) && i < gates->size(); ++i) {
    if (json::FindString((*gates)[i], "name") == kScalingGate) return i;
  }
  return std::nullopt;
}

std::optional<size_t> PlaceOfFaultyTaint(const json::Value* taints) {
  for (size_t i = 0; json::IsArray(taints) && i < taints->size(); ++i) {
    const json::Value& taint = (*taints)[i];
    if (json::FindString(taint, "key") == kFaultyNode &&
        json::FindString(taint, "effect") == kFaultyTaintEffect) {
      return i;
    }
  }
  return std::nullopt;
}

namespace {

using json::Value;

bool IsStructured(const Value& value) { return value.is_object() || value.is_array(); }

bool AsksForNpus(const Value& containers) {
  return json::IsArray(&containers) &&
         std::any_of(containers.begin(), containers.end(), [](const Value& container) {
           return HasNpuRequests(json::Find(container, "resources"));
         });
}

}  // namespace

std::optional<std::string> FindNpuPods(const Value& object) {
  std::vector<std::pair<std::string, const Value*>> left = {{"", &object}};
  for (size_t visited = 0; !left.empty() && visited < kMaxMembers; ++visited) {
    const auto [path, value] = std::move(left.back());
    left.pop_back();
    if (value->is_object()) {
      const Value* containers = json::Find(*value, "containers");
      if (containers != nullptr && AsksForNpus(*containers)) return path;
      const auto members = value->members();
      for (auto member = members.rbegin(); member != members.rend(); ++member) {
        if (IsStructured(member->value)) {
          left.emplace_back(json::Child(path, member->key), &member->value);
        }
      }
    } else if (value->is_array()) {
      for (size_t i = value->size(); i > 0; --i) {
        const Value& item = (*value)[i - 1];
        if (IsStructured(item)) left.emplace_back(path + "/" + std::to_string(i - 1), &item);
      }
    }
  }
  return std::nullopt;
}

namespace {

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

std::vector<std::string> OpenWebhooks(const json::Json& configuration) {
  const std::string listed = json::TextAt(configuration, {"metadata", "annotations", kFailClosed});
  const auto names = Split(listed, ',');
  std::vector<std::string> open;
  const json::Json* webhooks = json::Find(configuration, "webhooks");
  if (!json::IsArray(webhooks)) return open;
  for (const json::Json& webhook : *webhooks) {
    std::string name = json::TextAt(webhook, {"name"});
    const bool ignores = json::TextAt(webhook, {"failurePolicy"}) == "Ignore";
    if (ignores && std::ranges::count(names, name) > 0) open.push_back(std::move(name));
  }
  return open;
}

}  // namespace mindgate::schemas
