#include "schemas/npu.h"

#include <algorithm>
#include <array>
#include <memory>

#include "base/text.h"
#include "schemas/field_view.h"
#include "schemas/names.h"

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

namespace {

using json::Value;

// "4c", "2c.1cpu", "12c.3cpu.32g": digits, then 'c', then anything.
bool IsVnpuSuffix(std::string_view text) {
  size_t digits = 0;
  while (digits < text.size() && text[digits] >= '0' && text[digits] <= '9') ++digits;
  return digits > 0 && digits < text.size() && text[digits] == 'c';
}

constexpr std::array<std::string_view, 5> kResources = {"Ascend910", "Ascend310P", "Ascend310",
                                                        "npu", "npu-core"};
// Not misspelled: variants of one card on servers that mix them, and a device of the same domain.
constexpr std::array<std::string_view, 4> kNoMisspellings = {"Ascend310P-V", "Ascend310P-VPro",
                                                             "Ascend310P-IPro", "dpu"};

// One more than a container may have; what is left out then makes no difference.
constexpr size_t kMaxNpuRequests = 33;

NpuResource KindOfRequest(std::string_view resource, std::span<const NpuResourceRow> of_site) {
  for (const NpuResourceRow& row : of_site) {
    if (row.name != resource) continue;
    return row.served_by == NpuServer::kOther ? NpuResource::kForeign : NpuResource::kWholeCard;
  }
  const NpuResource kind = ClassifyResource(resource);
  if (kind != NpuResource::kOther) return kind;
  if (SignOfResource(resource) != nullptr) return NpuResource::kForeign;
  return NpuResourceMeant(resource) ? NpuResource::kMisspelled : NpuResource::kOther;
}

// Calls visit(entry) for each huawei.com/* entry of the map.
template <typename Visit>
void ForEachEntry(const Value* map, Visit visit) {
  if (map == nullptr) return;
  for (const json::Member& entry : map->MembersFrom(kResourcePrefix)) {
    if (!entry.key.starts_with(kResourcePrefix)) return;
    visit(entry);
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

std::optional<std::string_view> NpuResourceMeant(std::string_view resource) {
  if (!resource.starts_with(kResourcePrefix)) return std::nullopt;
  if (ClassifyResource(resource) != NpuResource::kOther) return std::nullopt;
  if (SignOfResource(resource) != nullptr) return std::nullopt;
  const std::string_view name = resource.substr(kResourcePrefix.size());
  if (std::ranges::find(kNoMisspellings, name) != kNoMisspellings.end()) return std::nullopt;
  return NearestOf(name, kResources);
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

bool HasNpuRequests(const Value* resources) {
  const auto has = [resources](std::string_view key) {
    bool found = false;
    ForEachEntry(json::Find(resources, key), [&found](const json::Member& entry) {
      const NpuResource kind = KindOfRequest(entry.key, {});
      found = found || (kind != NpuResource::kOther && kind != NpuResource::kForeign);
    });
    return found;
  };
  return has("requests") || has("limits");
}

std::string NpuRequest::Path() const {
  std::string path(container);
  path += limit != nullptr ? "/resources/limits" : "/resources/requests";
  AppendToken(resource, path);
  return path;
}

std::span<const NpuRequest> ReadNpuRequests(const Value* resources, std::string_view container,
                                            std::span<const NpuResourceRow> of_site,
                                            json::Arena& arena) {
  const Value* wanted = json::Find(resources, "requests");
  const Value* limits = json::Find(resources, "limits");
  const auto only_limited = [wanted](const json::Member& entry) {
    return wanted == nullptr || wanted->Lookup(entry.key) == nullptr;
  };
  size_t most = 0;
  ForEachEntry(wanted, [&](const json::Member&) { most += most < kMaxNpuRequests ? 1 : 0; });
  ForEachEntry(limits, [&](const json::Member& entry) {
    most += most < kMaxNpuRequests && only_limited(entry) ? 1 : 0;
  });
  if (most == 0) return {};
  NpuRequest* const row = arena.Row<NpuRequest>(most);
  size_t count = 0;
  const auto add = [&](const json::Member& entry, const Value* request, const Value* limit) {
    if (count == most) return;
    const Value* counted = request != nullptr ? request : limit;
    std::construct_at(row + count++, NpuRequest{entry.key, KindOfRequest(entry.key, of_site),
                                                container, request, limit, WholeQuantity(counted)});
  };
  ForEachEntry(wanted, [&](const json::Member& entry) {
    add(entry, &entry.value, limits == nullptr ? nullptr : limits->Lookup(entry.key));
  });
  ForEachEntry(limits, [&](const json::Member& entry) {
    if (count < most && only_limited(entry)) add(entry, nullptr, &entry.value);
  });
  return {row, count};
}

std::span<const NpuRequest> AsForeign(std::span<const NpuRequest> requests, json::Arena& arena) {
  NpuRequest* const row = arena.Row<NpuRequest>(requests.size());
  std::uninitialized_copy(requests.begin(), requests.end(), row);
  for (NpuRequest& npu : std::span(row, requests.size())) {
    if (npu.kind != NpuResource::kOther) npu.kind = NpuResource::kForeign;
  }
  return {row, requests.size()};
}

}  // namespace mindgate::schemas
