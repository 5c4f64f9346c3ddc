#include "kube/credential_files.h"

#include <optional>
#include <utility>

#include "base/files.h"
#include "base/mutex.h"
#include "base/text.h"

namespace mindgate::kube {
namespace {

constexpr std::chrono::minutes kRereadAfter(1);
constexpr size_t kMaxToken = 64 * 1024;  // servers refuse headers far below this
constexpr size_t kMaxPem = 1024 * 1024;  // all certificates of the web are a quarter of it

Answer<std::string> Read(const std::string& path, size_t limit,
                         std::string (*fault_of)(std::string_view)) {
  auto text = ReadNamedFile(path, limit);
  if (!text) return Failed(Reason::kCredentials, text.error().message());
  const std::string fault = fault_of(*text);
  if (!fault.empty()) return Failed(Reason::kCredentials, path + ": " + fault);
  return *std::move(text);
}

class Source final : public CredentialSource {
 public:
  Source(CredentialFiles files, const Clock& clock)
      : clock_(clock), files_(std::move(files)), read_(clock.Now()) {}

  Answer<Credential> Get() override {
    const MutexLock lock(mutex_);
    const auto now = clock_.Now();
    if (!refused_ && now - read_ < kRereadAfter) return files_.now;
    read_ = now;
    auto read = Reread();
    if (!read && refused_) {
      Fault fault = std::move(read).error();
      fault.message = "the server no longer accepts the credentials, and " + fault.message;
      return tl::unexpected(std::move(fault));
    }
    refused_ = false;
    return files_.now;
  }

  void Refused(const Credential& refused) override {
    const MutexLock lock(mutex_);
    if (refused == files_.now) refused_ = true;  // else they were read again since
  }

 private:
  // Loads what is good; returns the fault of what is not.
  Answer<void> Reread() REQUIRES(mutex_) {
    Answer<void> done;
    if (!files_.token_file.empty()) {
      if (auto token = ReadTokenFile(files_.token_file)) {
        files_.now.token = *std::move(token);
      } else {
        done = tl::unexpected(std::move(token).error());
      }
    }
    if (auto pair = RereadPair(); !pair && done) done = std::move(pair);
    if (!files_.authority_file.empty()) {
      if (auto authority = ReadCertificatesFile(files_.authority_file)) {
        files_.now.authority = *std::move(authority);
      } else if (done) {
        done = tl::unexpected(std::move(authority).error());
      }
    }
    return done;
  }

  Answer<void> RereadPair() REQUIRES(mutex_) {
    if (files_.certificate_file.empty() && files_.key_file.empty()) return {};
    Credential pair = files_.now;
    if (!files_.certificate_file.empty()) {
      auto certificate = ReadCertificatesFile(files_.certificate_file);
      if (!certificate) return tl::unexpected(std::move(certificate).error());
      pair.certificate = *std::move(certificate);
    }
    if (!files_.key_file.empty()) {
      auto key = ReadKeyFile(files_.key_file);
      if (!key) return tl::unexpected(std::move(key).error());
      pair.key = *std::move(key);
    }
    if (!IsPair(pair.certificate, pair.key)) {
      return Failed(Reason::kCredentials,
                    (files_.key_file.empty() ? files_.certificate_file : files_.key_file) +
                        ": the key is not that of the client certificate");
    }
    files_.now = std::move(pair);
    return {};
  }

  const Clock& clock_;
  Mutex mutex_;
  CredentialFiles files_ GUARDED_BY(mutex_);
  Clock::Instant read_ GUARDED_BY(mutex_);   // when the files were read
  bool refused_ GUARDED_BY(mutex_) = false;  // files_.now is
};

}  // namespace

Answer<std::string> ReadTokenFile(const std::string& path) {
  const auto text = ReadNamedFile(path, kMaxToken);
  if (!text) return Failed(Reason::kCredentials, text.error().message());
  const std::string_view token = Trim(*text);
  const std::string fault = token.empty() ? "is empty, but should hold a token" : TokenFault(token);
  if (!fault.empty()) return Failed(Reason::kCredentials, path + ": " + fault);
  return std::string(token);
}

Answer<std::string> ReadCertificatesFile(const std::string& path) {
  return Read(path, kMaxPem, CertificatesFault);
}

Answer<std::string> ReadKeyFile(const std::string& path) { return Read(path, kMaxPem, KeyFault); }

std::shared_ptr<CredentialSource> MakeCredentialSource(CredentialFiles files, const Clock& clock) {
  return std::make_shared<Source>(std::move(files), clock);
}

}  // namespace mindgate::kube
