#include <algorithm>

#include "base/text.h"
#include "kube/config_material.h"
#include "kube/kubeconfig.h"

namespace mindgate::kube {

void NamespaceFault(const std::string& place, const std::string& name, ConfigErrors& complaints) {
  if (IsDns1123Label(name)) return;
  complaints.Add(place, Quote(name) + " is not a valid namespace name",
                 "use at most 63 lower-case letters, digits and '-'");
}

void ApplyTrust(const AccessFlags& flags, Access& access, ConfigErrors& complaints) {
  if (flags.insecure && !flags.certificate_authority.empty()) {
    complaints.Add("--insecure-skip-tls-verify",
                   "cannot be combined with a certificate authority, which it would ignore",
                   "remove --insecure-skip-tls-verify or --certificate-authority");
  }
  if (!flags.certificate_authority.empty()) {
    access.authority = ReadMaterialFile("--certificate-authority", flags.certificate_authority,
                                        kAuthority, complaints)
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

void ApplyFlags(const AccessFlags& flags, Access& access, ConfigErrors& complaints) {
  const Impersonation& as = flags.impersonation;
  const auto check = [&complaints](const char* flag, const std::string& value) {
    if (const std::string fault = HeaderFault(value); !fault.empty()) complaints.Add(flag, fault);
  };
  check("--as", as.user);
  check("--as-uid", as.uid);
  for (const std::string& group : as.groups) check("--as-group", group);
  if (!as.user.empty()) access.impersonation.user = as.user;
  if (!as.uid.empty()) access.impersonation.uid = as.uid;
  if (!as.groups.empty()) access.impersonation.groups = as.groups;
  if (access.impersonation.user.empty() && as != Impersonation()) {
    complaints.Add("--as-group and --as-uid", "have no effect without a user to impersonate",
                   "add --as USER");
  }
  if (flags.request_timeout.empty()) return;
  access.request_timeout = ParseRequestTimeout(flags.request_timeout);
  if (!access.request_timeout) {
    complaints.Add("--request-timeout", Quote(flags.request_timeout) + " is not a duration",
                   "write 30s, 2m or 1h; 0 means no timeout");
  }
}

}  // namespace mindgate::kube
