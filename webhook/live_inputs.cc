#include "webhook/live_inputs.h"

#include <algorithm>

#include "admission/policy_files.h"
#include "base/files.h"

namespace mindgate::webhook {
namespace {

// One line for each swap and each new failure. `detail` tells which one was loaded.
void Log(log::Logger& logger, std::string_view what, const ReloadStatus& status,
         log::Field detail) {
  if (status.error.empty()) {
    logger.Info(status.swaps > 1 ? "reloaded" : "loaded", {{"what", what}, detail});
  } else if (status.swaps == 0) {
    logger.Error("none was loaded yet; not ready, and reviews are refused until one is",
                 {{"what", what}, {"error", status.error}});
  } else {
    logger.Error("refused; the last good one stays in use",
                 {{"what", what}, {"error", status.error}});
  }
}

std::unique_ptr<admission::ConfigReloader> ReloaderOf(const LiveFiles& files, const Clock& clock,
                                                      Snapshot<schemas::Config>& target,
                                                      log::Logger& logger) {
  if (files.config_file.empty()) return nullptr;
  return admission::MakeConfigReloader(
      files.config_file, admission::KnownNames(), clock, target,
      [&target, &logger](const ReloadStatus& status) {
        const auto config = target.Get();
        Log(logger, "configuration", status,
            {"generation", config == nullptr ? std::string_view() : config->generation});
      },
      [&logger](const std::string& warnings) {
        logger.Warning("configuration uses old spellings", {{"warnings", warnings}});
      },
      files.config_maps);
}

}  // namespace

LiveInputs::LiveInputs(const LiveFiles& files, const Clock& clock, log::Logger& logger,
                       DirectoryWatch::Options watch)
    : config_reloader_(ReloaderOf(files, clock, config_, logger)),
      tls_reloader_(files.tls, clock, tls_,
                    [&logger](const char* what, const ReloadStatus& status) {
                      Log(logger, what, status, {"swaps", static_cast<int64_t>(status.swaps)});
                    }) {
  if (config_reloader_ == nullptr) config_.Set(std::make_shared<const schemas::Config>());
  watch.folders = tls_reloader_.FoldersToWatch();
  if (config_reloader_ != nullptr) watch.folders.push_back(FolderOf(files.config_file));
  // Before the first load: what changes after it is seen.
  thread_ = std::make_unique<DirectoryWatchThread>(std::move(watch), clock, [this] { Reload(); });
  Reload();
}

LiveInputs::~LiveInputs() = default;

ReloadStatus LiveInputs::config_status() const {
  if (config_reloader_ != nullptr) return config_reloader_->status();
  ReloadStatus status;
  status.swaps = 1;
  return status;
}

ReloadStatus LiveInputs::certificate_status() const {
  ReloadStatus both = tls_reloader_.serving_status();
  const ReloadStatus clients = tls_reloader_.client_ca_status();
  both.swaps += clients.swaps;
  both.failures += clients.failures;
  if (!both.error.empty() && !clients.error.empty()) both.error += "; ";
  both.error += clients.error;
  both.swapped = std::max(both.swapped, clients.swapped);
  return both;
}

void LiveInputs::Reload() {
  if (config_reloader_ != nullptr) config_reloader_->Reload();
  tls_reloader_.Reload();
}

}  // namespace mindgate::webhook
