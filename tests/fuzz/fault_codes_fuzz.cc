// Any bytes as a text of the ConfigMap with a cluster's own fault codes: no crash, few problems,
// each with a message, and every code has a level and is found.
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "faults/codes.h"
#include "fuzz/require.h"
#include "json/decode.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace mindgate;
  using namespace mindgate::faults;
  using testing::Require;
  if (size == 0) return 0;
  const std::string key(kConfigKeys[data[0] % std::size(kConfigKeys)]);
  json::Json tree;
  tree["data"][key] = std::string(reinterpret_cast<const char*>(data + 1), size - 1);
  const json::Document document(tree);
  std::vector<std::string> problems;
  const FaultTable table = FaultTable::OfCluster(document.root(), problems);
  Require(problems.size() <= 10);
  for (const std::string& problem : problems) Require(!problem.empty());
  Require(!table.codes().empty());
  for (const FaultCode& code : table.codes()) {
    Require(code.level > FaultLevel::kNormal && code.level <= FaultLevel::kSeparate);
    Require(table.Find(code.code, code.source) == &code);
    for (const std::string& sentence : EscalationsOf(code)) Require(!sentence.empty());
  }
  return 0;
}
