#include "schemas/config_reload.h"

#include "base/files.h"
#include "base/text.h"
#include "json/issues.h"
#include "schemas/config_load.h"

namespace mindgate::schemas {
namespace {

// A ConfigMap holds at most 1 MiB in all.
constexpr size_t kMaxConfig = 1024 * 1024;

Result<std::shared_ptr<const Config>> ConfigOf(const std::string& path, const KnownNames& known,
                                               const std::string& text) {
  auto config = LoadConfig(text, known);
  if (!config) {
    return Fail(ErrorCode::kInvalidArgument,
                std::string(Trim(json::Render(config.error(), path, text))));
  }
  return std::make_shared<const Config>(*std::move(config));
}

}  // namespace

std::unique_ptr<ConfigReloader> MakeConfigReloader(const std::string& path, const KnownNames& known,
                                                   const Clock& clock, Snapshot<Config>& target,
                                                   ConfigReloader::Report report) {
  return std::make_unique<ConfigReloader>(
      clock, target, [path] { return ReadNamedFile(path, kMaxConfig); },
      [path, &known](const std::string& text) { return ConfigOf(path, known, text); },
      std::move(report));
}

}  // namespace mindgate::schemas
