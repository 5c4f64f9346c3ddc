#include "schemas/request.h"

#include <array>
#include <utility>

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

}  // namespace mindgate::schemas
