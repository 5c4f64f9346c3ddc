#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "base/text.h"
#include "certs/certificate.h"
#include "certs/serving_files.h"
#include "doctor/context.h"
#include "json/value.h"

namespace mindgate::doctor {
namespace {

constexpr std::string_view kCertificate = "certificate";
constexpr std::string_view kBundle = "ca-bundle";
// The manager renews at two thirds of a year: so little is left only when it did not.
constexpr std::chrono::days kSoon(14);

// The Secret that a Pod serves from: its volume "certs".
std::string SecretOf(const Json& pod) {
  const Json* volumes = json::FindPath(pod, {"spec", "volumes"});
  if (!json::IsArray(volumes)) return "";
  for (const Json& volume : *volumes) {
    if (json::TextAt(volume, {"name"}) == "certs")
      return json::TextAt(volume, {"secret", "secretName"});
  }
  return "";
}

void CheckServingCertificate(Context& context) {
  std::set<std::string> secrets;
  for (const Json& pod : context.pods) secrets.insert(SecretOf(pod));
  secrets.erase("");
  if (secrets.empty()) return;  // no Pods, which has been said
  const std::string& name = *secrets.begin();
  const auto secret =
      RequireObject(context, kCertificate, kube::resources::kSecrets, context.options.ns, name,
                    "the webhook has no certificate and is not ready",
                    "with certs.mode managed the watcher creates it: see its logs; "
                    "otherwise create it as docs/certificates.md describes");
  if (!secret) return;
  const std::string where = "Secret " + context.options.ns + "/" + name;
  const auto chain = certs::DecodeBase64(json::TextAt(*secret, {"data", "tls.crt"}));
  const auto certificates =
      chain ? certs::ReadCertificates(*chain) : Result<std::vector<certs::CertificatePtr>>();
  if (!certificates || certificates->empty()) {
    context.report.Fail(
        kCertificate, where + " holds no certificate in tls.crt",
        "put the serving certificate there, or delete the Secret if the watcher manages it");
    return;
  }
  context.serving_chain = *chain;
  X509* leaf = certificates->front().get();
  const Time end = certs::NotAfter(leaf);
  const Time begin = certs::NotBefore(leaf);
  if (context.now >= end || context.now < begin) {
    context.report.Fail(kCertificate,
                        "the serving certificate in " + where +
                            (context.now >= end ? " expired at " + FormatTime(end)
                                                : " is not valid before " + FormatTime(begin)) +
                            ": the API server refuses it",
                        "renew it; if the watcher manages it: kubectl -n " + context.options.ns +
                            " annotate secret " + name + " mindgate.io/rotate=serving");
  } else if (end - context.now < kSoon) {
    context.report.Warn(kCertificate,
                        "the serving certificate in " + where + " expires at " + FormatTime(end),
                        "renew it; if the watcher manages it, its logs say why it did not");
  } else {
    context.report.Ok(kCertificate,
                      "the serving certificate in " + where + " is valid until " + FormatTime(end));
  }
  std::set<std::string> names;
  for (const Hook& hook : context.hooks) {
    if (!hook.service.empty()) names.insert(hook.service + "." + hook.service_ns + ".svc");
  }
  const auto problems = certs::CheckNames(leaf, "tls.crt", {names.begin(), names.end()});
  for (const certs::Problem& problem : problems) {
    context.report.Fail(kCertificate, where + ": " + problem.message, problem.hint);
  }
}

// Whether one of the bundle signed the last certificate that is served, or is it.
bool Trusts(const std::vector<certs::CertificatePtr>& bundle,
            const std::vector<certs::CertificatePtr>& chain) {
  X509* last = chain.back().get();
  return std::any_of(bundle.begin(), bundle.end(), [last](const certs::CertificatePtr& authority) {
    return certs::IsSignedBy(last, authority.get()) || X509_cmp(last, authority.get()) == 0;
  });
}

void CheckHookBundle(Context& context, const Hook& hook, std::set<std::string>& reported) {
  const auto fail = [&](const std::string& message, const std::string& fix) {
    // The webhooks of a configuration have the same bundle, and the same fault.
    if (reported.insert(message).second) {
      context.report.Fail(kBundle, hook.name + " and others: " + message, fix);
    }
  };
  const std::string publish =
      "with certs.mode managed the watcher publishes it: see its logs and permissions; otherwise "
      "use cert-manager's CA injector, or certs.caBundle of the chart";
  if (hook.bundle.empty()) {
    return fail(
        "there is no caBundle, so the API server does not trust any certificate of the webhook",
        publish);
  }
  const auto bundle = certs::ReadCertificates(hook.bundle);
  if (!bundle || bundle->empty()) return fail("caBundle holds no certificate", publish);
  const bool all_ended =
      std::all_of(bundle->begin(), bundle->end(), [&](const certs::CertificatePtr& authority) {
        return context.now >= certs::NotAfter(authority.get());
      });
  if (all_ended) return fail("the CA in caBundle has expired", publish);
  const auto chain = certs::ReadCertificates(context.serving_chain);
  if (!chain || chain->empty()) return;
  if (!Trusts(*bundle, *chain)) {
    fail(
        "the CA in caBundle did not sign the served certificate: the API server reports "
        "\"certificate signed by unknown authority\"",
        publish);
  }
}

}  // namespace

void CheckCertificates(Context& context) {
  CheckServingCertificate(context);
  std::set<std::string> reported;
  for (const Hook& hook : context.hooks) CheckHookBundle(context, hook, reported);
  if (reported.empty() && !context.hooks.empty()) {
    context.report.Ok(kBundle, context.serving_chain.empty()
                                   ? "caBundle holds a CA"
                                   : "caBundle holds the CA of the served certificate");
  }
}

}  // namespace mindgate::doctor
