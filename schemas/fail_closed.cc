#include "schemas/fail_closed.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/text.h"
#include "json/value.h"

namespace mindgate::schemas {

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
