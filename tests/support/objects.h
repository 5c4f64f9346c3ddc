#pragma once

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "json/decode.h"
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

// The same as the engine reads it.
inline json::Document YamlDocument(std::string_view text) { return json::Document(Yaml(text)); }

// Other objects of a test, by what identifies them. Complete: what is not here is absent.
class FakeObjects : public schemas::ObjectLookup {
 public:
  explicit FakeObjects(const std::vector<std::string>& yaml, bool complete = true)
      : complete_(complete) {
    for (const std::string& text : yaml)
      objects_.push_back(std::make_unique<json::Document>(Yaml(text)));
  }
  // The items of a list.
  static FakeObjects Of(const json::Json& list) {
    FakeObjects objects(std::vector<std::string>{});
    for (const json::Json& object : list) {
      objects.objects_.push_back(std::make_unique<json::Document>(object));
    }
    return objects;
  }
  // The documents of one file, as `apply` knows them.
  explicit FakeObjects(const std::vector<json::YamlDocument>& documents, bool complete)
      : complete_(complete) {
    for (const json::YamlDocument& document : documents) {
      objects_.push_back(std::make_unique<json::Document>(document.value));
    }
  }

  const json::Value* Find(std::string_view group, std::string_view kind, std::string_view ns,
                          std::string_view name) const override {
    for (const auto& object : objects_) {
      const json::Value& value = object->root();
      if (Matches(value, group, kind, ns) &&
          json::FindString(json::Find(value, "metadata"), "name") == name) {
        return &value;
      }
    }
    return nullptr;
  }

  bool IsComplete(std::string_view, std::string_view) const override { return complete_; }

  void ForEachNamed(std::string_view group, std::string_view kind, std::string_view name,
                    const std::function<void(const json::Value&)>& visit) const override {
    for (const auto& object : objects_) {
      const json::Value& value = object->root();
      const json::Value* metadata = json::Find(value, "metadata");
      const auto ns = json::FindString(metadata, "namespace").value_or("");
      if (Matches(value, group, kind, ns) && json::FindString(metadata, "name") == name) {
        visit(value);
      }
    }
  }

  void ForEach(std::string_view group, std::string_view kind, std::string_view ns,
               const std::function<void(const json::Value&)>& visit) const override {
    for (const auto& object : objects_) {
      if (Matches(object->root(), group, kind, ns)) visit(object->root());
    }
  }

 private:
  static bool Matches(const json::Value& object, std::string_view group, std::string_view kind,
                      std::string_view ns) {
    return schemas::GroupOf(json::FindString(object, "apiVersion").value_or("")) == group &&
           json::FindString(object, "kind") == kind &&
           json::FindString(json::Find(object, "metadata"), "namespace").value_or("") == ns;
  }

  std::vector<std::unique_ptr<json::Document>> objects_;
  bool complete_;
};

}  // namespace mindgate::testing
