#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "json/issues.h"
#include "json/json.h"
#include "json/positions.h"

namespace mindgate::schemas {

// One place where a value breaks its schema.
struct SchemaFault {
  std::string path;  // RFC 6901 pointer; where a missing member belongs
  std::string message;
  std::string hint;
  bool operator==(const SchemaFault&) const = default;
};

// A JSON Schema (draft 7), compiled once. The subset is what describing a configuration file needs:
// type, enum, properties, required, additionalProperties, items, minItems, minimum, maximum and
// minLength, beside the annotations $schema, $id, title, description, default and examples. Any
// other keyword is refused when the schema is compiled, so that none is silently ignored. One fault
// for each mistake, with what to write instead. Validate is safe from many threads.
class JsonSchema {
 public:
  static Result<JsonSchema> Compile(const json::Json& schema);

  JsonSchema(JsonSchema&&) noexcept;
  JsonSchema& operator=(JsonSchema&&) noexcept;
  ~JsonSchema();

  // In the order of the value's own members and items. Depth is bounded by the schema's.
  std::vector<SchemaFault> Validate(const json::Json& value) const;

 private:
  struct Node;
  explicit JsonSchema(std::unique_ptr<const Node> root);
  static Result<std::unique_ptr<const Node>> CompileNode(const json::Json& schema,
                                                         const std::string& path, int depth);
  static void Check(const Node& node, const json::Json& value, const std::string& path,
                    std::vector<SchemaFault>& faults);
  static void CheckMembers(const Node& node, const json::Json& object, const std::string& path,
                           std::vector<SchemaFault>& faults);

  std::unique_ptr<const Node> root_;
};

// A fault as it is shown: with the field path in `root`, the value that was checked, and its place
// in the text. `base` is the pointer of `root` in the document that `positions` describes.
json::Issue ToIssue(const SchemaFault& fault, const json::Json& root,
                    const json::Positions& positions, std::string_view base = "");

}  // namespace mindgate::schemas
