#include "schemas/config_reload.h"

#include <utility>

#include "base/files.h"
#include "base/text.h"
#include "json/issues.h"
#include "schemas/config_load.h"

namespace mindgate::schemas {
namespace {

// A ConfigMap holds at most 1 MiB in all.
constexpr size_t kMaxConfig = 1024 * 1024;

Result<std::shared_ptr<const Config>> ConfigOf(const std::string& path, const KnownNames& known,
                                               const std::string& text,
                                               const ConfigWarnings& warn) {
  json::Issues warnings;
  auto config = LoadConfig(text, known, &warnings);
  if (!config) {
    return Fail(ErrorCode::kInvalidArgument,
                std::string(Trim(json::Render(config.error(), path, text))));
  }
  if (warn && !warnings.empty()) warn(std::string(Trim(json::Render(warnings, path, text))));
  return std::make_shared<const Config>(*std::move(config));
}

}  // namespace

std::unique_ptr<ConfigReloader> MakeConfigReloader(const std::string& path, const KnownNames& known,
                                                   const Clock& clock, Snapshot<Config>& target,
                                                   ConfigReloader::Report report,
                                                   ConfigWarnings warnings) {
  return std::make_unique<ConfigReloader>(
      clock, target, [path] { return ReadNamedFile(path, kMaxConfig); },
      [path, &known, warn = std::move(warnings)](const std::string& text) {
        return ConfigOf(path, known, text, warn);
      },
      std::move(report));
}

}  // namespace mindgate::schemas
