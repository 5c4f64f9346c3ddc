#include "admission/policy_files.h"

#include <algorithm>

#include "base/files.h"
#include "base/text.h"
#include "schemas/config_load.h"

namespace mindgate::admission {
namespace {

using policies::SitePolicies;

std::string Under(const std::string& folder, const std::string& path) {
  if (folder.empty() || folder == "." || path.starts_with('/')) return path;
  return folder + (folder.ends_with('/') ? "" : "/") + path;
}

}  // namespace

bool IsPolicyFile(std::string_view name) {
  return name.ends_with(".yaml") || name.ends_with(".yml") || name.ends_with(".json");
}

Result<PolicyTexts> ReadPolicyTexts(const std::vector<std::string>& paths,
                                    const std::string& folder,
                                    const std::vector<std::string>& more) {
  std::vector<std::string> all;
  for (const std::string& path : paths) all.push_back(Under(folder, path));
  all.insert(all.end(), more.begin(), more.end());
  PolicyTexts texts;
  size_t bytes = 0;
  const auto read = [&](const std::string& path, bool found) -> Result<void> {
    auto text = ReadNamedFile(path, SitePolicies::kMostBytes);
    if (!text) return tl::unexpected(text.error());
    bytes += text->size();
    if (bytes > SitePolicies::kMostBytes) {
      return Fail(ErrorCode::kTooLarge, path + ": with it the policies have more than 4 MiB");
    }
    texts.push_back({path, *std::move(text), found});
    return {};
  };
  for (const std::string& path : all) {
    const auto names = FilesIn(path, kMostPolicyFiles);
    if (!names) return tl::unexpected(names.error());
    if (!names->has_value()) {
      if (auto done = read(path, false); !done) return tl::unexpected(done.error());
      continue;
    }
    for (const std::string& name : **names) {
      if (!IsPolicyFile(name)) continue;
      if (auto done = read(Under(path, name), true); !done) return tl::unexpected(done.error());
    }
  }
  return texts;
}

Result<void> SetPolicies(const PolicyTexts& texts, schemas::Config& config, std::string* warnings) {
  if (texts.empty()) return {};
  auto set = SitePolicies::Make(texts, config.kinds);
  if (!set) {
    return Fail(ErrorCode::kInvalidArgument,
                std::string(Trim(policies::RenderFaults(set.error(), texts))));
  }
  if (warnings != nullptr) *warnings = policies::RenderFaults((*set)->warnings(), texts);
  std::string all = config.generation;
  for (const SitePolicies::Text& text : texts) all += text.name + '\n' + text.text + '\n';
  config.generation = schemas::HashText(all);
  config.policies = *std::move(set);
  return {};
}

}  // namespace mindgate::admission
