#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "json/pointer.h"

namespace mindgate::json {

// An operation as a test writes it.
struct Written {
  Operation::Kind kind;
  std::string path;
  Json value;
};

inline Patch PatchOf(const std::vector<Written>& written) {
  const auto arena = std::make_shared<Arena>(256);
  std::vector<Operation> operations;
  for (const Written& each : written) {
    operations.push_back({each.kind, arena->Text(each.path), ValueOf(each.value, *arena)});
  }
  return {std::move(operations), arena};
}

}  // namespace mindgate::json
