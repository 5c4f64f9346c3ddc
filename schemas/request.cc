#include "schemas/request.h"

#include <array>
#include <utility>

#include "schemas/workload.h"

namespace mindgate::schemas {
namespace {

constexpr std::array<std::pair<Operation, std::string_view>, 4> kOperations = {{
    {Operation::kCreate, "CREATE"},
    {Operation::kUpdate, "UPDATE"},
    {Operation::kDelete, "DELETE"},
    {Operation::kConnect, "CONNECT"},
}};

}  // namespace

std::string_view OperationName(Operation operation) {
  return kOperations[static_cast<size_t>(operation)].second;
}

std::optional<Operation> OperationNamed(std::string_view name) {
  for (const auto& [operation, known] : kOperations) {
    if (known == name) return operation;
  }
  return std::nullopt;
}

const json::Value* FindRuntime(const json::Value& inference_service, const ObjectLookup& objects,
                               std::string_view ns) {
  const auto reference = RuntimeOf(inference_service);
  if (!reference) return nullptr;
  const auto find = [&](Kind kind, std::string_view in) {
    const KindInfo& info = InfoOf(kind);
    return objects.Find(info.group, info.name, in, reference->name);
  };
  const json::Value* runtime = reference->namespaced() ? nullptr : find(reference->kind, "");
  return runtime != nullptr ? runtime : find(Kind::kServingRuntime, ns);
}

namespace {

using json::Value;

std::string TextOf(const Value* object, std::string_view key) {
  return std::string(json::FindString(object, key).value_or(""));
}

}  // namespace

KnownObjects::KnownObjects(const std::vector<Known>& objects, std::string default_namespace)
    : default_namespace_(std::move(default_namespace)) {
  for (const Known& known : objects) {
    const Value& object = *known.object;
    const Value* metadata = json::Find(object, "metadata");
    Entry entry{std::string(GroupOf(TextOf(&object, "apiVersion"))), TextOf(&object, "kind"),
                TextOf(metadata, "namespace"), known};
    std::string name = TextOf(metadata, "name");
    names_[{entry.group, entry.kind, entry.ns}].insert(name);
    entries_.emplace(std::move(name), std::move(entry));
  }
}

bool KnownObjects::Matches(const Entry& entry, std::string_view group, std::string_view kind,
                           std::string_view ns) const {
  return entry.group == group && entry.kind == kind &&
         (entry.ns == ns || (entry.ns.empty() && ns == default_namespace_));
}

const Value* KnownObjects::Lookup::Find(std::string_view group, std::string_view kind,
                                        std::string_view ns, std::string_view name) const {
  const Value* found = nullptr;
  const auto [begin, end] = all_.entries_.equal_range(name);
  for (auto entry = begin; entry != end; ++entry) {
    if (!all_.Matches(entry->second, group, kind, ns)) continue;
    found = entry->second.known.object;
    if (near_ != nullptr && entry->second.known.source == near_) break;
  }
  return found;
}

void KnownObjects::Lookup::ForEachNamed(std::string_view group, std::string_view kind,
                                        std::string_view name,
                                        const std::function<void(const Value&)>& visit) const {
  const auto [begin, end] = all_.entries_.equal_range(name);
  for (auto entry = begin; entry != end; ++entry) {
    if (entry->second.group == group && entry->second.kind == kind) {
      visit(*entry->second.known.object);
    }
  }
}

void KnownObjects::Lookup::ForEach(std::string_view group, std::string_view kind,
                                   std::string_view ns,
                                   const std::function<void(const Value&)>& visit) const {
  const auto names_in = [&](std::string_view in) -> const Names* {
    const auto found = all_.names_.find(std::tuple(group, kind, in));
    return found == all_.names_.end() ? nullptr : &found->second;
  };
  Names names;
  if (const Names* own = names_in(ns)) names = *own;
  const Names* unset = ns == all_.default_namespace_ && !ns.empty() ? names_in("") : nullptr;
  if (unset != nullptr) names.insert(unset->begin(), unset->end());
  for (const std::string& name : names) {
    if (const Value* object = Find(group, kind, ns, name)) visit(*object);
  }
}

}  // namespace mindgate::schemas
