#pragma once

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "json/yaml.h"
#include "schemas/request.h"

namespace mindgate::testing {

// The single YAML document in `text`; a fault fails the test and gives null.
inline json::Json Yaml(std::string_view text) {
  auto documents = json::DecodeYaml(text);
  if (!documents) {
    ADD_FAILURE() << "bad YAML in test: " << documents.error().message << " at line "
                  << documents.error().at.line;
    return nullptr;
  }
  if (documents->size() != 1) {
    ADD_FAILURE() << "test YAML has " << documents->size() << " documents";
    return nullptr;
  }
  return std::move(documents->front().value);
}

// Other objects of a test, by what identifies them. Complete: what is not here is absent.
class FakeObjects : public schemas::ObjectLookup {
 public:
  explicit FakeObjects(const std::vector<std::string>& yaml, bool complete = true)
      : complete_(complete) {
    for (const std::string& text : yaml)
      objects_.push_back(std::make_unique<json::Json>(Yaml(text)));
  }
  // The items of a list.
  static FakeObjects Of(const json::Json& list) {
    FakeObjects objects(std::vector<std::string>{});
    for (const json::Json& object : list) {
      objects.objects_.push_back(std::make_unique<json::Json>(object));
    }
    return objects;
  }
  // The documents of one file, as `apply` knows them.
  explicit FakeObjects(const std::vector<json::YamlDocument>& documents, bool complete)
      : complete_(complete) {
    for (const json::YamlDocument& document : documents) {
      objects_.push_back(std::make_unique<json::Json>(document.value));
    }
  }

  const json::Json* Find(std::string_view group, std::string_view kind, std::string_view ns,
                         std::string_view name) const override {
    for (const auto& object : objects_) {
      if (Matches(*object, group, kind, ns) &&
          json::FindString(json::Find(*object, "metadata"), "name") == name) {
        return object.get();
      }
    }
    return nullptr;
  }

  bool IsComplete(std::string_view, std::string_view) const override { return complete_; }

  void ForEach(std::string_view group, std::string_view kind, std::string_view ns,
               const std::function<void(const json::Json&)>& visit) const override {
    for (const auto& object : objects_) {
      if (Matches(*object, group, kind, ns)) visit(*object);
    }
  }

 private:
  static bool Matches(const json::Json& object, std::string_view group, std::string_view kind,
                      std::string_view ns) {
    return schemas::GroupOf(json::FindString(object, "apiVersion").value_or("")) == group &&
           json::FindString(object, "kind") == kind &&
           json::FindString(json::Find(object, "metadata"), "namespace").value_or("") == ns;
  }

  std::vector<std::unique_ptr<json::Json>> objects_;
  bool complete_;
};

}  // namespace mindgate::testing
