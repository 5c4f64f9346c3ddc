#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "certs/tls_material.h"

namespace mindgate::certs {

// What is wrong with a certificate, a key, or how they fit together.
struct Problem {
  std::string file;     // "tls.crt"
  std::string message;  // a sentence whose subject is the file or a named certificate in it
  std::string hint;     // what to do
  bool operator==(const Problem&) const = default;
};

using Problems = std::vector<Problem>;

// "tls.key: message (hint); tls.crt: ...", for a log line.
std::string Render(const Problems& problems);

// The texts of a serving pair, as the keys of a Secret of type kubernetes.io/tls name them.
struct ServingFiles {
  std::string chain;      // tls.crt: the leaf, then the certificate that signed it, and so on
  std::string key;        // tls.key
  std::string authority;  // ca.crt; may be empty
  bool operator==(const ServingFiles&) const = default;
};

inline constexpr const char* kChainFile = "tls.crt";
inline constexpr const char* kKeyFile = "tls.key";
inline constexpr const char* kAuthorityFile = "ca.crt";

struct Requirements {
  Time now{};
  std::vector<std::string> names;  // DNS names or IP addresses that the leaf must be for
};

// All that would make clients refuse the pair, or OpenSSL refuse to serve it. Empty: it is good.
Problems CheckServing(const ServingFiles& files, const Requirements& requirements);

// The same for the authorities that sign client certificates.
Problems CheckClientAuthority(std::string_view text, const std::string& file, Time now);

// What can be said about certificates by themselves: keys, signatures and dates of each.
Problems CheckCertificates(const std::vector<CertificatePtr>& certificates, const std::string& file,
                           Time now);

// Whether the leaf is for each of the names; common names do not count.
Problems CheckNames(X509* leaf, const std::string& file, const std::vector<std::string>& names);

}  // namespace mindgate::certs
