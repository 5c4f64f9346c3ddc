#include "schemas/resource_list.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "json/value.h"
#include "json/yaml.h"

namespace mindgate::schemas {

using json::Json;

std::string_view FunctionSeverityName(FunctionSeverity severity) {
  switch (severity) {
    case FunctionSeverity::kInfo:
      return "info";
    case FunctionSeverity::kWarning:
      return "warning";
    case FunctionSeverity::kError:
      return "error";
  }
  return "error";
}

tl::expected<ResourceList, std::string> ResourceList::Read(std::string_view text) {
  auto documents = json::DecodeCoreYaml(text);
  if (!documents) {
    return tl::unexpected("line " + std::to_string(documents.error().at.line) + ": " +
                          documents.error().message);
  }
  if (documents->size() != 1 ||
      json::TextAt(documents->front().value, {"kind"}) != "ResourceList") {
    return tl::unexpected(
        std::string("standard input is not a ResourceList (config.kubernetes.io/v1)"));
  }
  ResourceList read;
  read.list_ = std::move(documents->front().value);
  const Json function_config = read.function_config();
  if (!function_config.is_object()) {
    return tl::unexpected("functionConfig of the ResourceList must be an object, not " +
                          WithArticle(json::TypeName(function_config)) +
                          "; write an object of kind Application or Admission");
  }
  const Json items = read.items();
  if (!items.is_array() ||
      !std::all_of(items.begin(), items.end(), [](const Json& item) { return item.is_object(); })) {
    return tl::unexpected(std::string("items of the ResourceList must be a list of objects"));
  }
  return read;
}

void ResourceList::Report(FunctionSeverity severity, std::string message, const std::string& fix,
                          const std::string& where, Json more) {
  const std::string name(FunctionSeverityName(severity));
  if (!fix.empty()) message += "; " + fix;
  lines_.push_back(name + ": " + (where.empty() ? "" : where + ": ") + message);
  more["message"] = std::move(message);
  more["severity"] = name;
  results_.push_back(std::move(more));
  failed_ = failed_ || severity == FunctionSeverity::kError;
}

FunctionAnswer ResourceList::Answer(Json items) && {
  if (!failed_) list_["items"] = std::move(items);
  if (!results_.empty()) list_["results"] = std::move(results_);
  return {.output = json::EncodeYaml(list_), .lines = std::move(lines_), .failed = failed_};
}

Json ReferenceTo(const Json& object) {
  Json reference;
  for (const char* member : {"apiVersion", "kind"}) {
    if (object.contains(member)) reference[member] = object.at(member);
  }
  for (const char* member : {"name", "namespace"}) {
    std::string text = json::TextAt(object, {"metadata", member});
    if (!text.empty()) reference[member] = std::move(text);
  }
  return reference;
}

}  // namespace mindgate::schemas
