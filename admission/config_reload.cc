#include "admission/config_reload.h"

#include <utility>

#include "base/files.h"
#include "base/text.h"
#include "json/issues.h"
#include "schemas/config_load.h"

namespace mindgate::admission {
namespace {

using schemas::Config;
using schemas::KnownNames;

// A ConfigMap holds at most 1 MiB in all.
constexpr size_t kMaxConfig = 1024 * 1024;

// Most configurations name no policies, and need not be read twice for them.
bool MayNamePolicies(const std::string& text) { return text.find("policies") != std::string::npos; }

// The policies of a faulty configuration are not read: its faults come first.
Result<ConfigTexts> ReadTexts(const std::string& path, const KnownNames& known) {
  auto text = ReadNamedFile(path, kMaxConfig);
  if (!text) return tl::unexpected(text.error());
  ConfigTexts texts{*std::move(text), {}};
  if (!MayNamePolicies(texts.config)) return texts;
  const auto config = schemas::LoadConfig(texts.config, known);
  if (!config) return texts;
  auto policies = ReadPolicyTexts(config->policy_sources.files, FolderOf(path));
  if (!policies) return tl::unexpected(policies.error());
  texts.policies = *std::move(policies);
  return texts;
}

Result<std::shared_ptr<const Config>> ConfigOf(const std::string& path, const KnownNames& known,
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

std::unique_ptr<ConfigReloader> MakeConfigReloader(const std::string& path, const KnownNames& known,
                                                   const Clock& clock, Snapshot<Config>& target,
                                                   ConfigReloader::Report report,
                                                   ConfigWarnings warnings) {
  return std::make_unique<ConfigReloader>(
      clock, target, [path, &known] { return ReadTexts(path, known); },
      [path, &known, warn = std::move(warnings)](const ConfigTexts& texts) {
        return ConfigOf(path, known, texts, warn);
      },
      std::move(report));
}

}  // namespace mindgate::admission
