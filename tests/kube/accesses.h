#pragma once

#include <string>
#include <utility>
#include <vector>

#include "kube/access.h"
#include "support/certificates.h"

namespace mindgate::kube::testing {

// Certificates that tests put into kubeconfigs; texts that tests compare have their names instead.
struct TestMaterial {
  std::string ca, certificate, key, other_key;
};

inline const TestMaterial& SharedMaterial() {
  static const TestMaterial material = [] {
    const auto authority = mindgate::testing::NewAuthority();
    const auto leaf = mindgate::testing::NewLeaf(authority, [](certs::LeafRequest& request) {
      request.usage = certs::LeafRequest::Usage::kClient;
    });
    return TestMaterial{mindgate::testing::Pem(authority), mindgate::testing::Pem(leaf),
                        mindgate::testing::KeyPem(leaf), mindgate::testing::KeyPem(authority)};
  }();
  return material;
}

inline std::string Replaced(std::string text, const std::string& what, const std::string& with) {
  for (size_t at = 0; !what.empty() && (at = text.find(what, at)) != std::string::npos;
       at += with.size()) {
    text.replace(at, what.size(), with);
  }
  return text;
}

inline std::string Named(std::string text) {
  for (const auto& [pem, name] : std::vector<std::pair<std::string, std::string>>{
           {SharedMaterial().ca, "<ca>"},
           {SharedMaterial().certificate, "<certificate>"},
           {SharedMaterial().key, "<key>"},
           {SharedMaterial().other_key, "<other key>"}}) {
    text = Replaced(std::move(text), pem, name);
  }
  return text;
}

inline std::string Show(const Answer<Credential>& credential) {
  if (!credential) {
    return std::string(ReasonName(credential.error().reason)) + ": " + credential.error().message;
  }
  std::string text;
  if (!credential->token.empty()) text += " token=" + credential->token;
  if (!credential->certificate.empty()) text += " certificate=" + credential->certificate;
  if (!credential->key.empty()) text += " key=" + credential->key;
  if (!credential->authority.empty()) text += " trusts=" + credential->authority;
  return Named(text.empty() ? "nothing" : text.substr(1));
}

// All that an access says, what is empty left out; or the whole fault.
inline std::string Show(const Answer<Access>& access) {
  if (!access) {
    return std::string(ReasonName(access.error().reason)) + ": " + access.error().message;
  }
  std::string text = "server=" + access->server;
  if (!access->authority.empty()) text += " authority=" + access->authority;
  if (!access->tls_server_name.empty()) text += " tls=" + access->tls_server_name;
  if (!access->proxy.empty()) text += " proxy=" + access->proxy;
  if (access->insecure) text += " insecure";
  const Impersonation& as = access->impersonation;
  if (!as.user.empty()) text += " as=" + as.user;
  if (!as.uid.empty()) text += " uid=" + as.uid;
  for (const std::string& group : as.groups) text += " group=" + group;
  for (const auto& [key, values] : as.extra) {
    for (const std::string& value : values) text += " " + key + "=" + value;
  }
  text += " namespace=" + access->default_namespace + "\nfrom " + access->origin + "\nshows ";
  return Named(text) + Show(access->credentials->Get());
}

}  // namespace mindgate::kube::testing
