#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "json/json.h"
#include "json/positions.h"
#include "kube/config_errors.h"

namespace mindgate::kube {

using json::Json;

// One YAML file that a user wrote.
struct ConfigFile {
  std::string path;  // as the user named it
  Json root;         // null: the file has no content
  json::Positions positions;
};

// A value in such a file, or the place where it is missing. Members of a wrong type are complained
// about and read as if they were missing; so is null. The file must outlive it.
class ConfigNode {
 public:
  explicit ConfigNode(const ConfigFile& file) : ConfigNode(file, &file.root, "") {}

  explicit operator bool() const { return value_ != nullptr; }
  const Json& value() const { return *value_; }  // of what is not missing
  const ConfigFile& file() const { return *file_; }

  std::string Place() const;  // "/home/me/.kube/config:7:5"
  std::string Field() const;  // "clusters[0].cluster"

  ConfigNode Member(std::string_view key) const;  // of any type
  ConfigNode Object(std::string_view key, ConfigErrors& complaints) const;
  std::string Text(std::string_view key, ConfigErrors& complaints) const;
  // The same; complains "FIELD has no KEY (instead)" where there is none, or an empty one.
  std::string RequiredText(std::string_view key, std::string_view instead,
                           ConfigErrors& complaints) const;
  bool Flag(std::string_view key, ConfigErrors& complaints) const;
  std::vector<ConfigNode> Items(std::string_view key, ConfigErrors& complaints) const;

  // Complains "FIELD must be a string, not an integer" unless it `holds`, which it returns.
  bool Must(bool holds, std::string_view be, ConfigErrors& complaints) const;

 private:
  ConfigNode(const ConfigFile& file, const Json* value, std::string pointer);

  const ConfigFile* file_;
  const Json* value_;  // of file_; null pointer: missing
  std::string pointer_;
};

}  // namespace mindgate::kube
