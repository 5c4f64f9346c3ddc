// Whatever stands in tls.crt, tls.key and ca.crt, checks end, and what passes them can be served.
#include <openssl/err.h>

#include <cstdlib>
#include <string_view>

#include "certs/authority.h"
#include "certs/certificate.h"
#include "certs/serving_files.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace mindgate;
  const std::string text(reinterpret_cast<const char*>(data), size);
  const Time now = std::chrono::sys_days(std::chrono::year(2027) / 1 / 1);
  // One text for all files: a PEM reader takes what is for it. The seed is valid at `now`.
  const certs::ServingFiles files{text, text, text};
  const bool good = certs::CheckServing(files, {now, {"webhook.mindgate-system.svc"}}).empty();
  const bool good_authority = certs::CheckClientAuthority(text, "ca.crt", now).empty();
  const auto material = certs::MakeTlsMaterial(text, text, good_authority ? text : "");
  if (good && !material) std::abort();
  if (const auto certificates = certs::ReadCertificates(text)) {
    for (const auto& certificate : *certificates) certs::Describe(certificate.get());
  }
  if (auto state = certs::ReadState({{certs::kAuthorityFile, text},
                                     {certs::kAuthorityKeyFile, text},
                                     {certs::kChainFile, text},
                                     {certs::kKeyFile, text}})) {
    certs::MakePlan(*state, {}, now);
  }
  // A later TLS call of this thread would stumble over what is left there.
  if (ERR_peek_error() != 0) std::abort();
  return 0;
}
