#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "json/issues.h"
#include "json/value.h"
#include "kube/fault.h"

namespace mindgate::kube {

using json::Json;

// All that is wrong with what a user wrote about a cluster, in the order found. Values are never
// part of a complaint unless they are names: they may be secrets.
class ConfigErrors {
 public:
  // "place: what (instead)"; `instead` may be empty.
  void Add(const std::string& place, const std::string& what, const std::string& instead = {});

  bool empty() const { return lines_.empty(); }

  // One line each, at most kMax of them; later ones are counted.
  static constexpr size_t kMax = 20;
  Fault AsFault() const;

 private:
  std::vector<std::string> lines_;
};

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

  std::string PositionText() const;  // "/home/me/.kube/config:7:5"
  std::string Field() const;         // "clusters[0].cluster"

  ConfigNode Member(std::string_view key) const;  // of any type
  ConfigNode Object(std::string_view key, ConfigErrors& errors) const;
  std::string Text(std::string_view key, ConfigErrors& errors) const;
  // The same; complains "FIELD has no KEY (instead)" where there is none, or an empty one.
  std::string RequiredText(std::string_view key, std::string_view instead,
                           ConfigErrors& errors) const;
  bool Flag(std::string_view key, ConfigErrors& errors) const;
  std::vector<ConfigNode> Items(std::string_view key, ConfigErrors& errors) const;

  // Complains "FIELD must be a string, not an integer" unless it `holds`, which it returns.
  bool Must(bool holds, std::string_view be, ConfigErrors& errors) const;

 private:
  ConfigNode(const ConfigFile& file, const Json* value, std::string pointer);

  const ConfigFile* file_;
  const Json* value_;  // of file_; null pointer: missing
  std::string pointer_;
};

// What a member `NAME-data` of a kubeconfig holds in base64, else the file that `NAME` names.
struct Material {
  std::string text;  // empty when there is none, or when it has been complained about
  std::string path;  // absolute; empty when it did not come from a file
  std::string place;
  bool given = false;
};

// One kind of it: how its file is read and what can be wrong with its text.
struct MaterialKind {
  const char* name;
  Answer<std::string> (*read)(const std::string& path);
  std::string (*fault_of)(std::string_view text);
};
extern const MaterialKind kAuthority;
extern const MaterialKind kCertificate;
extern const MaterialKind kKey;

Material ReadMaterial(const ConfigNode& node, const MaterialKind& kind, ConfigErrors& errors);

// The same of a file that the flag `place` names; a path counts from the current folder.
Material ReadMaterialFile(const std::string& place, const std::string& path,
                          const MaterialKind& kind, ConfigErrors& errors);

// A path in a file counts from the folder that the file is in; empty stays empty.
std::string PathFrom(const ConfigFile& file, const std::string& path);

// The URL of an API server as Access has it: scheme in lower case, no slash at its end. Or what is
// wrong with it: a sentence, and what to write instead.
struct ServerUrl {
  std::string text;
  std::string fault;
  std::string fix;
};
ServerUrl ReadServerUrl(std::string_view text);

// Whether its scheme is one that proxies have (client-go: parseProxyURL) and a host follows.
bool IsProxyUrl(std::string_view text);

// "https://10.0.0.1:443"; an IPv6 address in brackets.
std::string UrlOf(const std::string& host, const std::string& port);

}  // namespace mindgate::kube
