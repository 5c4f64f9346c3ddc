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

}  // namespace mindgate::schemas
