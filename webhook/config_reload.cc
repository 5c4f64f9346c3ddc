#include "webhook/config_reload.h"

#include "admission/known_names.h"
#include "base/files.h"
#include "base/text.h"
#include "json/issues.h"
#include "schemas/config_load.h"

namespace mindgate::webhook {
namespace {

// A ConfigMap holds at most 1 MiB in all.
constexpr size_t kMaxConfig = 1024 * 1024;

Result<std::shared_ptr<const schemas::Config>> Make(const std::string& path,
                                                    const std::string& text) {
  auto config = schemas::LoadConfig(text, admission::KnownNames());
  if (!config) {
    return Fail(ErrorCode::kInvalidArgument,
                std::string(Trim(json::Render(config.error(), path, text))));
  }
  return std::make_shared<const schemas::Config>(*std::move(config));
}

}  // namespace

std::unique_ptr<ConfigReloader> MakeConfigReloader(const std::string& path, const Clock& clock,
                                                   Snapshot<schemas::Config>& target,
                                                   ConfigReloader::Report report) {
  return std::make_unique<ConfigReloader>(
      clock, target, [path] { return ReadNamedFile(path, kMaxConfig); },
      [path](const std::string& text) { return Make(path, text); }, std::move(report));
}

}  // namespace mindgate::webhook
