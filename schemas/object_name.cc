#include "schemas/object_name.h"

namespace mindgate::schemas {

std::string ObjectName(const json::Value& object) {
  const json::Value* metadata = json::Find(object, "metadata");
  std::string name(json::FindString(metadata, "name").value_or(""));
  if (!name.empty()) return name;
  name = json::FindString(metadata, "generateName").value_or("");
  return name.empty() ? name : name + std::string(kGeneratedSuffix);
}

}  // namespace mindgate::schemas
