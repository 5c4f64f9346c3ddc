#include "admission/config_files.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "admission/mutators/mutator.h"
#include "base/files.h"
#include "base/text.h"
#include "json/issues.h"
#include "policies/engine.h"
#include "schemas/config.h"

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

namespace {

schemas::KnownNames Collect() {
  schemas::KnownNames known;
  for (const policies::Rule* rule : policies::Catalogue()) {
    known.rules.push_back({rule->name, rule->id, rule->summary});
  }
  for (const mutators::Mutator& mutator : mutators::Mutators()) {
    known.mutators.push_back({mutator.name, "", mutator.summary});
  }
  return known;
}

}  // namespace

const schemas::KnownNames& KnownNames() {
  static const schemas::KnownNames known = Collect();
  return known;
}

namespace {

using schemas::Config;

// A ConfigMap holds at most 1 MiB in all.
constexpr size_t kMaxConfig = 1024 * 1024;

// Most configurations name no policies, and need not be read twice for them.
bool MayNamePolicies(const std::string& text) { return text.find("policies") != std::string::npos; }

// Those of ConfigMaps after those of files; none where the configuration does without them.
Result<void> AddConfigMaps(bool wanted, PolicyConfigMaps* config_maps, PolicyTexts& texts) {
  if (!wanted) {
    if (config_maps != nullptr) config_maps->Stop();
    return {};
  }
  if (config_maps == nullptr) {
    return Fail(ErrorCode::kNotFound,
                "policies.configMaps is true, and ConfigMaps cannot be read here");
  }
  auto more = config_maps->Texts();
  if (!more) return tl::unexpected(more.error());
  std::move(more->begin(), more->end(), std::back_inserter(texts));
  return {};
}

// The policies of a faulty configuration are not read: its faults come first.
Result<ConfigTexts> ReadTexts(const std::string& path, const schemas::KnownNames& known,
                              PolicyConfigMaps* config_maps) {
  auto text = ReadNamedFile(path, kMaxConfig);
  if (!text) return tl::unexpected(text.error());
  ConfigTexts texts{*std::move(text), {}};
  schemas::PolicySources sources;
  if (MayNamePolicies(texts.config)) {
    const auto config = schemas::LoadConfig(texts.config, known);
    if (!config) return texts;
    sources = config->policy_sources;
  }
  auto policies = ReadPolicyTexts(sources.files, FolderOf(path));
  if (!policies) return tl::unexpected(policies.error());
  texts.policies = *std::move(policies);
  if (auto added = AddConfigMaps(sources.config_maps, config_maps, texts.policies); !added) {
    return tl::unexpected(added.error());
  }
  return texts;
}

Result<std::shared_ptr<const Config>> ConfigOf(const std::string& path,
                                               const schemas::KnownNames& known,
                                               const ConfigTexts& texts,
                                               const ConfigWarnings& warn) {
  json::Issues warnings;
  auto config = schemas::LoadConfig(texts.config, known, &warnings);
  if (!config) {
    return Fail(ErrorCode::kInvalidArgument,
                std::string(Trim(json::Render(config.error(), path, texts.config))));
  }
  std::string of_policies;
  if (auto set = SetPolicies(texts.policies, *config, &of_policies); !set) {
    return tl::unexpected(set.error());
  }
  const std::string all = json::Render(warnings, path, texts.config) + of_policies;
  if (warn && !all.empty()) warn(std::string(Trim(all)));
  return std::make_shared<const Config>(*std::move(config));
}

}  // namespace

std::unique_ptr<ConfigReloader> MakeConfigReloader(const std::string& path,
                                                   const schemas::KnownNames& known,
                                                   const Clock& clock, Snapshot<Config>& target,
                                                   ConfigReloader::Report report,
                                                   ConfigWarnings warnings,
                                                   PolicyConfigMaps* config_maps) {
  return std::make_unique<ConfigReloader>(
      clock, target, [path, &known, config_maps] { return ReadTexts(path, known, config_maps); },
      [path, &known, warn = std::move(warnings)](const ConfigTexts& texts) {
        return ConfigOf(path, known, texts, warn);
      },
      std::move(report));
}

}  // namespace mindgate::admission
