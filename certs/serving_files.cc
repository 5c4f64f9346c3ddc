#include "certs/serving_files.h"

#include <fcntl.h>
#include <openssl/err.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <cerrno>
#include <memory>

#include "base/files.h"
#include "base/text.h"
#include "base/threads.h"
#include "certs/certificate.h"

namespace mindgate::certs {
namespace {

using StoreContextPtr = std::unique_ptr<X509_STORE_CTX, Deleter<X509_STORE_CTX_free>>;

// The least that OpenSSL serves at its default security level in Debian and that NIST allows:
// RSA 2048, EC P-224.
constexpr int kSecurityBits = 112;
constexpr const char* kRightOrder =
    "write the server's certificate first, after it the one that signed it, and so on";
constexpr const char* kGoodKey = "use ECDSA P-256, or RSA of 2048 bits or more";
constexpr const char* kReplaceBoth = "write certificate and key of one pair, both at once";

// Adds to a list what is wrong in one file.
class Reporter {
 public:
  Reporter(std::string file, Problems& problems) : file_(std::move(file)), problems_(problems) {}
  void operator()(std::string message, std::string hint) const {
    problems_.push_back({file_, std::move(message), std::move(hint)});
  }

 private:
  std::string file_;
  Problems& problems_;
};

// "certificate 2 (\"CN=mindgate\")".
std::string Numbered(const std::vector<CertificatePtr>& certificates, size_t index) {
  return "certificate " + std::to_string(index + 1) + " (" + Title(certificates[index].get()) + ")";
}

// Why the text holds no PEM at all.
void ReportNothing(std::string_view text, const std::string& what, const Reporter& report) {
  if (Trim(text).empty()) {
    report("is empty", "write " + what + " as PEM");
  } else if (text.starts_with('\x30')) {  // an ASN.1 SEQUENCE, which all DER files begin with
    report("holds DER, not PEM",
           "`openssl x509 -inform der` or `openssl pkey -inform der` makes PEM");
  } else {
    report("holds no " + what.substr(what.find(' ') + 1),
           "write " + what + " as PEM (-----BEGIN ...)");
  }
}

std::vector<CertificatePtr> ReadReported(std::string_view text, const Reporter& report) {
  auto certificates = ReadCertificates(text);
  if (!certificates) {
    report(certificates.error().message(), "write the whole file again");
    return {};
  }
  if (certificates->empty()) ReportNothing(text, "a certificate", report);
  return *std::move(certificates);
}

KeyPtr ReadKeyReported(std::string_view text, const Reporter& report) {
  auto key = ReadKey(text);
  if (key) return *std::move(key);
  if (text.find("PRIVATE KEY-----") == std::string_view::npos) {
    ReportNothing(text, "a private key", report);
  } else {
    report(key.error().message(), "write the key as PEM, without a passphrase");
  }
  return nullptr;
}

// Curves that Go, and so the API server, supports. Ed25519 is not a curve in this sense.
bool IsKnownCurve(const std::string& key) {
  return !key.starts_with("ECDSA ") || key == "ECDSA P-256" || key == "ECDSA P-384" ||
         key == "ECDSA P-521";
}

void CheckKeyStrength(X509* certificate, const std::string& title, const Reporter& report) {
  EVP_PKEY* key = X509_get0_pubkey(certificate);
  const std::string name = KeyName(key);
  ERR_clear_error();
  if (key == nullptr || !IsKnownCurve(name)) {
    report(title + " has a key type that API servers do not support: " + name, kGoodKey);
  } else if (EVP_PKEY_get_security_bits(key) < kSecurityBits) {
    report(title + " has a key that is too weak: " + name, kGoodKey);
  }
}

void CheckSignature(X509* certificate, const std::string& title, const Reporter& report) {
  // Nobody verifies the signature of a root: it is trusted because it is there.
  if (IsSignedBy(certificate, certificate)) return;
  int digest = NID_undef;
  X509_get_signature_info(certificate, &digest, nullptr, nullptr, nullptr);
  ERR_clear_error();
  if (digest == NID_sha1 || digest == NID_md5 || digest == NID_md5_sha1) {
    report(title + " is signed with " + OBJ_nid2sn(digest) + ", which API servers refuse",
           "issue it again with SHA-256");
  }
}

void CheckDates(X509* certificate, const std::string& title, Time now, const Reporter& report) {
  const Time from = NotBefore(certificate);
  const Time until = NotAfter(certificate);
  if (now < from) {
    report(title + " is not valid before " + FormatTime(from) + "; it is now " + FormatTime(now),
           "compare the clocks of this machine and of the one that issued it");
  } else if (now >= until) {  // as OpenSSL counts the last second
    report(title + " expired at " + FormatTime(until) + "; it is now " + FormatTime(now),
           "issue a new one");
  }
}

// Each certificate must have been signed by the next.
void CheckLinks(const std::vector<CertificatePtr>& chain, const Reporter& report) {
  for (size_t i = 0; i + 1 < chain.size(); ++i) {
    if (IsSignedBy(chain[i].get(), chain[i + 1].get())) continue;
    for (size_t other = 0; other < chain.size(); ++other) {
      if (other == i || !IsSignedBy(chain[i].get(), chain[other].get())) continue;
      report("the order is wrong: " + Numbered(chain, i) + " was signed by certificate " +
                 std::to_string(other + 1) + " and not by the one after it",
             kRightOrder);
      return;
    }
    report(Numbered(chain, i) + " was not signed by " + Numbered(chain, i + 1), kRightOrder);
    return;
  }
  for (size_t i = 1; i < chain.size(); ++i) {
    if (X509_check_ca(chain[i].get()) != 0) continue;
    report(Numbered(chain, i) + " signed the one before it but is not a CA",
           "issue the chain again with a CA certificate (basicConstraints CA:TRUE)");
  }
}

void CheckPurpose(X509* leaf, const std::string& title, const Reporter& report) {
  if (X509_check_purpose(leaf, X509_PURPOSE_SSL_SERVER, 0) != 1) {
    report(title + " is not for servers: its key usages lack serverAuth or digitalSignature",
           "issue it with extended key usage serverAuth");
  }
  ERR_clear_error();
}

bool IsFor(X509* leaf, const std::string& name) {
  const bool is = X509_check_ip_asc(leaf, name.c_str(), 0) == 1 ||
                  X509_check_host(leaf, name.data(), name.size(),
                                  X509_CHECK_FLAG_NEVER_CHECK_SUBJECT, nullptr) == 1;
  ERR_clear_error();
  return is;
}

// The key must be that of the first certificate.
void CheckPair(const std::vector<CertificatePtr>& chain, EVP_PKEY* key, Problems& problems) {
  if (IsKeyOf(key, chain.front().get())) return;
  for (size_t i = 1; i < chain.size(); ++i) {
    if (!IsKeyOf(key, chain[i].get())) continue;
    Reporter(kChainFile, problems)(
        "the order is wrong: the key in tls.key is that of " + Numbered(chain, i), kRightOrder);
    return;
  }
  Reporter(kKeyFile, problems)(
      "is not the key of the certificate in tls.crt (" + Title(chain.front().get()) + ")",
      kReplaceBoth);
}

// Whether clients that trust ca.crt accept the chain.
void CheckTrust(const std::vector<CertificatePtr>& chain,
                const std::vector<CertificatePtr>& authorities, Time now, const Reporter& report) {
  const StorePtr store(X509_STORE_new());
  for (const CertificatePtr& authority : authorities) {
    X509_STORE_add_cert(store.get(), authority.get());
  }
  const std::unique_ptr<STACK_OF(X509), void (*)(STACK_OF(X509)*)> intermediates(
      sk_X509_new_null(), [](STACK_OF(X509) * stack) { sk_X509_free(stack); });
  for (size_t i = 1; i < chain.size(); ++i) sk_X509_push(intermediates.get(), chain[i].get());
  const StoreContextPtr context(X509_STORE_CTX_new());
  X509_STORE_CTX_init(context.get(), store.get(), chain.front().get(), intermediates.get());
  X509_VERIFY_PARAM* parameters = X509_STORE_CTX_get0_param(context.get());
  X509_VERIFY_PARAM_set_time(parameters, now.time_since_epoch().count());
  X509_VERIFY_PARAM_set_purpose(parameters, X509_PURPOSE_SSL_SERVER);
  // Go takes any certificate of the bundle for a root, an intermediate one too.
  X509_VERIFY_PARAM_set_flags(parameters, X509_V_FLAG_PARTIAL_CHAIN);
  if (X509_verify_cert(context.get()) != 1) {
    report("none of its CAs vouches for the certificate in tls.crt: " +
               std::string(X509_verify_cert_error_string(X509_STORE_CTX_get_error(context.get()))),
           "write the certificate of the CA that signed tls.crt into ca.crt and caBundle");
  }
  ERR_clear_error();
}

}  // namespace

std::string Render(const Problems& problems) {
  std::string text;
  for (const Problem& problem : problems) {
    if (!text.empty()) text += "; ";
    text += problem.file + ": " + problem.message;
    if (!problem.hint.empty()) text += " (" + problem.hint + ")";
  }
  return text;
}

Problems CheckCertificates(const std::vector<CertificatePtr>& certificates, const std::string& file,
                           Time now) {
  Problems problems;
  const Reporter report(file, problems);
  for (size_t i = 0; i < certificates.size(); ++i) {
    const std::string title = Numbered(certificates, i);
    CheckKeyStrength(certificates[i].get(), title, report);
    CheckSignature(certificates[i].get(), title, report);
    CheckDates(certificates[i].get(), title, now, report);
  }
  return problems;
}

Problems CheckNames(X509* leaf, const std::string& file, const std::vector<std::string>& names) {
  Problems problems;
  std::vector<std::string> missing;
  for (const std::string& name : names) {
    if (!IsFor(leaf, name)) missing.push_back(Quote(name));
  }
  if (missing.empty()) return problems;
  std::vector<std::string> held;
  for (const std::string& name : Describe(leaf).Names()) held.push_back(Quote(name));
  const Reporter report(file, problems);
  report(
      "the certificate " + Title(leaf) + " is not for " + Join(missing, ", ") +
          (held.empty() ? "; it has no subject alternative names, and a common name does not "
                          "count"
                        : "; it is for " + Join(held, ", ")),
      "issue it for the names that clients use: the API server asks for <service>.<namespace>.svc");
  return problems;
}

Problems CheckServing(const ServingFiles& files, const Requirements& requirements) {
  Problems problems;
  const Reporter report(kChainFile, problems);
  const auto chain = ReadReported(files.chain, report);
  const KeyPtr key = ReadKeyReported(files.key, Reporter(kKeyFile, problems));
  if (chain.empty()) return problems;
  if (key != nullptr) CheckPair(chain, key.get(), problems);
  CheckLinks(chain, report);
  const auto append = [&problems](Problems more) {
    problems.insert(problems.end(), std::make_move_iterator(more.begin()),
                    std::make_move_iterator(more.end()));
  };
  append(CheckCertificates(chain, kChainFile, requirements.now));
  CheckPurpose(chain.front().get(), Numbered(chain, 0), report);
  append(CheckNames(chain.front().get(), kChainFile, requirements.names));
  if (Trim(files.authority).empty()) return problems;  // cert-manager leaves it empty under ACME
  const Reporter report_authority(kAuthorityFile, problems);
  const auto authorities = ReadReported(files.authority, report_authority);
  // A fault that was named already would only be named again.
  if (problems.empty()) CheckTrust(chain, authorities, requirements.now, report_authority);
  return problems;
}

Problems CheckClientAuthority(std::string_view text, const std::string& file, Time now) {
  Problems problems;
  const Reporter report(file, problems);
  const auto authorities = ReadReported(text, report);
  bool any_valid = authorities.empty();
  for (size_t i = 0; i < authorities.size(); ++i) {
    X509* authority = authorities[i].get();
    const std::string title = Numbered(authorities, i);
    if (X509_check_ca(authority) == 0) {
      report(title + " is not a CA: it cannot vouch for clients",
             "write the certificate that signed the clients' certificates");
    }
    CheckKeyStrength(authority, title, report);
    CheckSignature(authority, title, report);
    any_valid |= NotBefore(authority) <= now && now < NotAfter(authority);
  }
  ERR_clear_error();
  // One that is past its date beside one that is not is how CAs are replaced.
  if (!any_valid) {
    for (size_t i = 0; i < authorities.size(); ++i) {
      CheckDates(authorities[i].get(), Numbered(authorities, i), now, report);
    }
  }
  return problems;
}

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
