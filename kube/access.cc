#include "kube/access.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "base/files.h"
#include "base/text.h"
#include "base/threads.h"
#include "certs/certificate.h"
#include "kube/config.h"
#include "kube/kubeconfig.h"
#include "kube/subprocess.h"

namespace mindgate::kube {
namespace {

// Candidate kubeconfig files in order of precedence, and where they are configured.
struct Places {
  std::vector<std::string> paths;
  std::string source;
};

Places PlacesOf(const AccessFlags& flags) {
  if (!flags.kubeconfig.empty()) return {{flags.kubeconfig}, "--kubeconfig"};
  if (const std::string list = Environment("KUBECONFIG"); !list.empty()) {
    Places places{{}, "KUBECONFIG"};
    for (const std::string_view path : Split(list, ':')) {
      const bool seen =
          std::find(places.paths.begin(), places.paths.end(), path) != places.paths.end();
      if (!path.empty() && !seen) places.paths.emplace_back(path);
    }
    return places;
  }
  const std::string home = Environment("HOME");
  if (home.empty()) return {{}, "HOME"};
  return {{home + "/.kube/config"}, ""};
}

// "--kubeconfig: there is no file a", "there is no file /home/me/.kube/config".
std::string NoFile(const Places& places) {
  if (places.paths.empty()) return places.source + " does not name a kubeconfig";
  return (places.source.empty() ? "" : places.source + ": ") + "there is no file " +
         Join(places.paths, ", nor ");
}

// Applies flags to in-cluster access.
Answer<Access> WithFlags(Access access, const AccessFlags& flags, const Clock& clock) {
  ConfigErrors errors;
  if (!flags.default_namespace.empty()) {
    NamespaceFault("--namespace", flags.default_namespace, errors);
    access.default_namespace = flags.default_namespace;
  }
  ApplyTrust(flags, access, errors);
  if (!flags.token.empty() || !flags.client_certificate.empty() || !flags.client_key.empty()) {
    access.credentials = ReadUser(std::nullopt, flags, access, std::nullopt, clock, errors);
  }
  ApplyFlags(flags, access, errors);
  if (!errors.empty()) return tl::unexpected(errors.AsFault());
  return access;
}

}  // namespace

Answer<Access> FindAccess(const AccessFlags& flags, const Clock& clock) {
  const Places places = PlacesOf(flags);
  ConfigErrors errors;
  const Kubeconfig config = LoadKubeconfig(places.paths, errors);
  if (!errors.empty()) return tl::unexpected(errors.AsFault());
  if (!config.files.empty()) return ChooseAccess(config, flags, clock);

  const bool asks_for_one = !flags.kubeconfig.empty() || !flags.context.empty() ||
                            !flags.cluster.empty() || !flags.user.empty();
  if (asks_for_one) {
    return Failed(Reason::kCredentials, NoFile(places));
  }
  if (!flags.server.empty()) return ChooseAccess(config, flags, clock);
  if (Environment("KUBERNETES_SERVICE_HOST").empty()) {
    return Failed(Reason::kCredentials, NoFile(places) +
                                            ", and this is not a pod: KUBERNETES_SERVICE_HOST is "
                                            "not set (give a kubeconfig: --kubeconfig FILE)");
  }
  auto access = InClusterAccess(clock);
  if (!access) return access;
  return WithFlags(*std::move(access), flags, clock);
}

std::optional<std::chrono::milliseconds> ParseRequestTimeout(std::string_view text) {
  using std::chrono::milliseconds;
  constexpr milliseconds kMax = std::chrono::hours(24 * 365);
  if (text.empty()) return std::nullopt;
  milliseconds total(0);
  for (bool first = true; !text.empty(); first = false) {
    const size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
    const auto number = ParseGoInt(text.substr(0, digits));
    if (digits == 0 || digits > 9 || !number) return std::nullopt;
    text.remove_prefix(digits);
    const size_t letters = std::min(text.find_first_of("0123456789"), text.size());
    const std::string_view unit = text.substr(0, letters);
    text.remove_prefix(letters);
    if (unit == "ms") {
      total += milliseconds(*number);
    } else if (unit == "s" || (unit.empty() && first)) {
      total += std::chrono::seconds(*number);
    } else if (unit == "m") {
      total += std::chrono::minutes(*number);
    } else if (unit == "h") {
      total += std::min<milliseconds>(kMax, std::chrono::hours(*number));
    } else {
      return std::nullopt;
    }
  }
  return total.count() == 0 ? kMax : std::min(total, kMax);
}

void NamespaceFault(const std::string& place, const std::string& name, ConfigErrors& errors) {
  if (IsDns1123Label(name)) return;
  errors.Add(place, Quote(name) + " is not a valid namespace name",
             "use at most 63 lower-case letters, digits and '-'");
}

void ApplyTrust(const AccessFlags& flags, Access& access, ConfigErrors& errors) {
  if (flags.insecure && !flags.certificate_authority.empty()) {
    errors.Add("--insecure-skip-tls-verify",
               "cannot be combined with a certificate authority, which it would ignore",
               "remove --insecure-skip-tls-verify or --certificate-authority");
  }
  if (!flags.certificate_authority.empty()) {
    access.authority =
        ReadMaterialFile("--certificate-authority", flags.certificate_authority, kAuthority, errors)
            .text;
    access.insecure = false;
  } else if (flags.insecure) {
    access.authority.clear();
    access.insecure = true;
  }
  if (!flags.tls_server_name.empty()) access.tls_server_name = flags.tls_server_name;
}

std::string HeaderFault(const std::string& value) {
  const bool bad = std::any_of(value.begin(), value.end(), [](char c) {
    return static_cast<unsigned char>(c) < ' ' || c == 0x7f;
  });
  return bad ? "contains a control character, which names cannot have" : "";
}

void ApplyFlags(const AccessFlags& flags, Access& access, ConfigErrors& errors) {
  const Impersonation& as = flags.impersonation;
  const auto check = [&errors](const char* flag, const std::string& value) {
    if (const std::string fault = HeaderFault(value); !fault.empty()) errors.Add(flag, fault);
  };
  check("--as", as.user);
  check("--as-uid", as.uid);
  for (const std::string& group : as.groups) check("--as-group", group);
  if (!as.user.empty()) access.impersonation.user = as.user;
  if (!as.uid.empty()) access.impersonation.uid = as.uid;
  if (!as.groups.empty()) access.impersonation.groups = as.groups;
  if (access.impersonation.user.empty() && as != Impersonation()) {
    errors.Add("--as-group and --as-uid", "have no effect without a user to impersonate",
               "add --as USER");
  }
  if (flags.request_timeout.empty()) return;
  access.request_timeout = ParseRequestTimeout(flags.request_timeout);
  if (!access.request_timeout) {
    errors.Add("--request-timeout", Quote(flags.request_timeout) + " is not a duration",
               "write 30s, 2m or 1h; 0 means no timeout");
  }
}

namespace {

constexpr size_t kMaxNamespaceFile = 1024;  // of a namespace: 63 and a line end

}  // namespace

Answer<Access> InClusterAccess(const Clock& clock, const std::string& folder) {
  const std::string host = Environment("KUBERNETES_SERVICE_HOST");
  const std::string port = Environment("KUBERNETES_SERVICE_PORT");
  ConfigErrors errors;
  Access access;
  if (host.empty() || port.empty()) {
    errors.Add("",
               "KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not both set, as "
               "they are in every pod",
               "outside a cluster, name a kubeconfig: --kubeconfig FILE");
  } else {
    ServerUrl url = ReadServerUrl(UrlOf(host, port));
    if (!url.fault.empty()) {
      errors.Add("KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT", url.fault);
    }
    access.server = std::move(url.text);
  }

  CredentialFiles files;
  files.token_file = folder + "/token";
  if (auto token = ReadTokenFile(files.token_file)) {
    files.now.token = *std::move(token);
  } else {
    errors.Add("", std::move(token).error().message,
               "the pod needs automountServiceAccountToken, or a projected volume there");
  }
  files.authority_file = folder + "/ca.crt";
  if (auto authority = ReadCertificatesFile(files.authority_file)) {
    files.now.authority = *std::move(authority);
  } else {
    errors.Add("", std::move(authority).error().message,
               "it comes with the token, or from the ConfigMap kube-root-ca.crt");
  }
  if (!errors.empty()) return tl::unexpected(errors.AsFault());

  // Without a namespace it is "default"; a projected volume need not have one.
  if (const auto name = ReadNamedFile(folder + "/namespace", kMaxNamespaceFile);
      name && IsDns1123Label(Trim(*name))) {
    access.default_namespace = Trim(*name);
  }
  access.origin = "the service account of this pod (" + folder + ")";
  access.credentials = MakeCredentialSource(std::move(files), clock);
  return access;
}

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

std::string CertificatesFault(std::string_view pem) {
  const auto certificates = certs::ReadCertificates(pem);
  if (!certificates) return certificates.error().message();
  return certificates->empty() ? "no certificate in the PEM text" : "";
}

std::string KeyFault(std::string_view pem) {
  const auto key = certs::ReadKey(pem);
  return key ? "" : key.error().message();
}

bool IsPair(std::string_view certificate, std::string_view key) {
  const auto certificates = certs::ReadCertificates(certificate);
  const auto its_key = certs::ReadKey(key);
  return certificates && !certificates->empty() && its_key &&
         certs::IsKeyOf(its_key->get(), certificates->front().get());
}

std::string TokenFault(std::string_view token) {
  const auto bad = std::find_if(token.begin(), token.end(), [](char c) {
    return static_cast<unsigned char>(c) <= ' ' || c == 0x7f;
  });
  if (bad == token.end()) return "";
  return "a space or a control character at byte " + std::to_string(bad - token.begin() + 1) +
         ", which a token cannot contain";
}

namespace {

constexpr const char* kBundles[] = {
    "/etc/ssl/certs/ca-certificates.crt",                 // Debian, Ubuntu, images of mindgate
    "/etc/pki/tls/certs/ca-bundle.crt",                   // openEuler, Kylin, Fedora
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",  // the same, where the link is missing
    "/etc/ssl/ca-bundle.pem",                             // openSUSE
    "/etc/ssl/cert.pem",                                  // Alpine
};

}  // namespace

std::string SystemAuthoritiesBelow(const std::string& root) {
  for (const char* place : kBundles) {
    std::error_code unreadable;
    if (std::filesystem::is_regular_file(root + place, unreadable)) return root + place;
  }
  return "";
}

const std::string& SystemAuthorities() {
  static const std::string found = SystemAuthoritiesBelow("");
  return found;
}

}  // namespace mindgate::kube
