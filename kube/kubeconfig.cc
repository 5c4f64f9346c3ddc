#include "kube/kubeconfig.h"

#include <utility>

#include "base/files.h"
#include "base/text.h"
#include "json/limits.h"
#include "json/yaml.h"

namespace mindgate::kube {
namespace {

// Null if the file does not exist or is invalid; the latter adds a complaint.
std::unique_ptr<ConfigFile> ReadConfigFile(const std::string& path, ConfigErrors& complaints) {
  const auto text = ReadFile(path, json::Limits().bytes);
  if (!text) {
    if (text.error().code() != ErrorCode::kNotFound) complaints.Add(path, text.error().message());
    return nullptr;
  }
  auto documents = json::DecodeYaml(*text);
  if (!documents) {
    const json::Issue& issue = documents.error();
    complaints.Add(json::PlaceText(path, issue.at), issue.message, issue.hint);
    return nullptr;
  }
  auto file = std::make_unique<ConfigFile>();
  file->path = path;
  if (!documents->empty()) {  // like kubectl, reads only the first
    file->root = std::move(documents->front().value);
    file->positions = std::move(documents->front().positions);
  }
  return file;
}

bool IsKubeconfig(const ConfigNode& root, ConfigErrors& complaints) {
  if (!root.Must(root.value().is_object(), "an object with clusters, users and contexts",
                 complaints)) {
    return false;
  }
  const std::string kind = root.Text("kind", complaints);
  const std::string version = root.Text("apiVersion", complaints);
  if ((kind.empty() || kind == "Config") && (version.empty() || version == "v1")) return true;
  complaints.Add(root.Place(),
                 "is " + Quote(version) + ", kind " + Quote(kind) + ", which is not a kubeconfig",
                 "a kubeconfig has apiVersion: v1 and kind: Config");
  return false;
}

// Adds the entries of a list such as `clusters`: each has a name and its content under `member`.
void AddEntries(const ConfigNode& root, std::string_view list, std::string_view member,
                Kubeconfig::Entries& entries, ConfigErrors& complaints) {
  std::map<std::string, std::string> here;  // position by name
  for (const ConfigNode& item : root.Items(list, complaints)) {
    if (!item || !item.Must(item.value().is_object(), "an object", complaints)) continue;
    const std::string name = item.RequiredText("name", "", complaints);
    if (name.empty()) continue;
    if (const auto [first, added] = here.emplace(name, item.Place()); !added) {
      complaints.Add(item.Place(),
                     item.Field() + " has the name " + Quote(name) + ", which is already used at " +
                         first->second,
                     "remove or rename one of them");
      continue;
    }
    entries.emplace(name, item.Object(member, complaints));
  }
}

}  // namespace

std::string Kubeconfig::Names() const {
  std::string names;
  for (size_t i = 0; i < files.size(); ++i) {
    if (i > 0) names += i + 1 == files.size() ? " and " : ", ";
    names += files[i]->path;
  }
  return names;
}

Kubeconfig LoadKubeconfig(const std::vector<std::string>& paths, ConfigErrors& complaints) {
  Kubeconfig config;
  for (const std::string& path : paths) {
    auto file = ReadConfigFile(path, complaints);
    if (file == nullptr) continue;
    const ConfigNode root(*file);
    if (root && IsKubeconfig(root, complaints)) {
      AddEntries(root, "clusters", "cluster", config.clusters, complaints);
      AddEntries(root, "users", "user", config.users, complaints);
      AddEntries(root, "contexts", "context", config.contexts, complaints);
      if (config.current_context.empty()) {
        config.current_context = root.Text("current-context", complaints);
        config.current_context_place = root.Member("current-context").Place();
      }
    }
    config.files.push_back(std::move(file));
  }
  return config;
}

}  // namespace mindgate::kube
