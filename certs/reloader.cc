#include "certs/reloader.h"

#include <memory>

#include "base/files.h"
#include "base/mutex.h"
#include "certs/load.h"

namespace mindgate::certs {
namespace {

template <typename T>
Result<std::shared_ptr<const T>> Checked(const T& value, const Problems& problems) {
  if (!problems.empty()) return Fail(ErrorCode::kInvalidArgument, Render(problems));
  return std::make_shared<const T>(value);
}

std::function<void(const ReloadStatus&)> Named(const TlsReloader::Report& report,
                                               const char* what) {
  if (!report) return {};
  return [report, what](const ReloadStatus& status) { report(what, status); };
}

}  // namespace

TlsReloader::TlsReloader(TlsSources sources, const Clock& clock, Snapshot<TlsMaterial>& target,
                         const Report& report)
    : sources_(std::move(sources)),
      target_(target),
      serving_(
          clock, good_serving_, [this] { return ReadServingFiles(sources_.folder); },
          [this, &clock](const ServingFiles& files) {
            return Checked(files, CheckServing(files, {clock.WallNow(), sources_.names}));
          },
          Named(report, "serving certificate")),
      client_ca_(
          clock, good_client_ca_, [this] { return ReadClientAuthority(sources_.client_ca_file); },
          [this, &clock](const std::string& text) {
            return Checked(text,
                           CheckClientAuthority(text, sources_.client_ca_file, clock.WallNow()));
          },
          Named(report, "client CA")) {}

bool TlsReloader::Reload() {
  const MutexLock lock(mutex_);
  const bool wants_client_ca = !sources_.client_ca_file.empty();
  stale_ |= serving_.Reload();
  if (wants_client_ca) stale_ |= client_ca_.Reload();
  if (!stale_) return false;
  const auto serving = good_serving_.Get();
  const auto client_ca = good_client_ca_.Get();
  if (serving == nullptr || (wants_client_ca && client_ca == nullptr)) return false;
  auto material =
      MakeTlsMaterial(serving->chain, serving->key, client_ca == nullptr ? "" : *client_ca);
  // What was checked a moment ago can only fail for want of memory: the last material stays, and
  // the next attempt makes it.
  if (!material) return false;
  target_.Set(*std::move(material));
  stale_ = false;
  return true;
}

std::vector<std::string> TlsReloader::FoldersToWatch() const {
  std::vector<std::string> folders = {sources_.folder};
  if (!sources_.client_ca_file.empty()) folders.push_back(FolderOf(sources_.client_ca_file));
  return folders;
}

}  // namespace mindgate::certs
