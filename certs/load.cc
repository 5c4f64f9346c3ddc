#include "certs/load.h"

#include <fcntl.h>
#include <openssl/x509_vfy.h>

#include <algorithm>
#include <cerrno>

#include "base/file_descriptor.h"
#include "base/files.h"
#include "certs/inspect.h"

namespace mindgate::certs {
namespace {

// Kubelet removes the old version right after it has swapped ..data: then there is a new one to be
// read. More swaps than this while three small files are read do not happen.
constexpr int kAttempts = 3;

Result<std::string> Read(int at, const std::string& folder, const std::string& name) {
  auto text = ReadRegularFile(at, name, kLargestFile);
  if (text) return text;
  return Fail(text.error().code(), folder + "/" + name + ": " + text.error().message());
}

Result<ServingFiles> ReadFrom(int at, const std::string& folder) {
  auto chain = Read(at, folder, kChainFile);
  if (!chain) return tl::unexpected(std::move(chain).error());
  auto key = Read(at, folder, kKeyFile);
  if (!key) return tl::unexpected(std::move(key).error());
  auto authority = Read(at, folder, kAuthorityFile);
  if (!authority && authority.error().code() != ErrorCode::kNotFound) {
    return tl::unexpected(std::move(authority).error());
  }
  return ServingFiles{*std::move(chain), *std::move(key),
                      authority ? *std::move(authority) : std::string()};
}

FileDescriptor OpenFolder(int at, const std::string& path) {
  return FileDescriptor(::openat(at, path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
}

}  // namespace

Result<ServingFiles> ReadServingFiles(const std::string& folder) {
  for (int attempt = 1;; ++attempt) {
    const FileDescriptor directory = OpenFolder(AT_FDCWD, folder);
    if (!directory.valid()) {
      const int error = errno;
      return Fail(error == ENOENT ? ErrorCode::kNotFound : ErrorCode::kInvalidArgument,
                  "the folder " + folder + " cannot be opened: " + SystemReason(error));
    }
    const FileDescriptor version = OpenFolder(directory.get(), "..data");
    auto files = ReadFrom(version.valid() ? version.get() : directory.get(), folder);
    const bool swapped = !files && version.valid() && files.error().code() == ErrorCode::kNotFound;
    if (!swapped || attempt == kAttempts) return files;
  }
}

Result<std::string> ReadClientAuthority(const std::string& path) {
  return ReadNamedFile(path, kLargestFile);
}

Expiry ExpiryOf(const TlsMaterial& material) {
  Expiry expiry;
  for (const CertificatePtr& certificate : material.chain) {
    const Time end = NotAfter(certificate.get());
    expiry.serving = std::min(expiry.serving.value_or(end), end);
  }
  if (material.client_ca == nullptr) return expiry;
  // A copy taken under the store's lock: handshakes use it at the same time.
  STACK_OF(X509)* authorities = X509_STORE_get1_all_certs(material.client_ca.get());
  for (int i = 0; i < sk_X509_num(authorities); ++i) {
    const Time end = NotAfter(sk_X509_value(authorities, i));
    expiry.client_ca = std::max(expiry.client_ca.value_or(end), end);
  }
  sk_X509_pop_free(authorities, X509_free);
  return expiry;
}

}  // namespace mindgate::certs
