#include "schemas/npu.h"

#include <algorithm>

#include "base/quantity.h"
#include "json/pointer.h"
#include "schemas/names.h"

namespace mindgate::schemas {
namespace {

using json::Value;

// "4c", "2c.1cpu", "12c.3cpu.32g": digits, then 'c', then anything.
bool IsVnpuSuffix(std::string_view text) {
  size_t digits = 0;
  while (digits < text.size() && text[digits] >= '0' && text[digits] <= '9') ++digits;
  return digits > 0 && digits < text.size() && text[digits] == 'c';
}

// One more than a container may have; what is left out then makes no difference.
constexpr size_t kMaxNpuRequests = 33;

void Collect(const Value* map, std::string_view path, bool is_request,
             std::vector<NpuRequest>& requests) {
  if (map == nullptr) return;
  for (const json::Member& entry : map->MembersFrom(kResourcePrefix)) {
    if (!entry.key.starts_with(kResourcePrefix)) break;
    auto found =
        std::find_if(requests.begin(), requests.end(),
                     [&entry](const NpuRequest& request) { return request.resource == entry.key; });
    if (found == requests.end()) {
      if (requests.size() == kMaxNpuRequests) return;
      found = requests.insert(requests.end(), NpuRequest{entry.key, json::Child(path, entry.key),
                                                         nullptr, nullptr, std::nullopt});
    }
    (is_request ? found->request : found->limit) = &entry.value;
  }
}

}  // namespace

NpuResource ClassifyResource(std::string_view resource) {
  if (!resource.starts_with(kResourcePrefix)) return NpuResource::kOther;
  resource.remove_prefix(kResourcePrefix.size());
  if (resource == "npu-core") return NpuResource::kDynamicVnpu;
  for (std::string_view card : {"Ascend910", "Ascend310P", "Ascend310", "npu"}) {
    if (resource == card) return NpuResource::kWholeCard;
    if (resource.starts_with(card) && resource.substr(card.size()).starts_with('-') &&
        IsVnpuSuffix(resource.substr(card.size() + 1))) {
      return NpuResource::kStaticVnpu;
    }
  }
  return NpuResource::kOther;
}

std::optional<int64_t> WholeQuantity(const Value* value) {
  if (const auto number = json::AsInt(value)) return number;
  if (const auto text = json::AsString(value)) return ParseWholeQuantity(*text);
  if (value != nullptr && value->type() == Value::Type::kDouble) {
    const double number = value->number();
    const auto whole = static_cast<int64_t>(std::clamp(number, -1e15, 1e15));
    if (static_cast<double>(whole) == number) return whole;
  }
  return std::nullopt;
}

std::vector<NpuRequest> ReadNpuRequests(const Value* resources, std::string_view path) {
  std::vector<NpuRequest> requests;
  if (!json::IsObject(resources)) return requests;
  const Value* wanted = json::Find(*resources, "requests");
  const Value* limits = json::Find(*resources, "limits");
  if (wanted == nullptr && limits == nullptr) return requests;
  Collect(wanted, json::Child(path, "requests"), true, requests);
  Collect(limits, json::Child(path, "limits"), false, requests);
  for (NpuRequest& request : requests) {
    request.count = WholeQuantity(request.request != nullptr ? request.request : request.limit);
  }
  return requests;
}

}  // namespace mindgate::schemas
