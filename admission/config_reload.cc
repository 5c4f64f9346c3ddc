#include "admission/config_reload.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/files.h"
#include "base/text.h"
#include "json/issues.h"
#include "schemas/config_load.h"

namespace mindgate::admission {
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
