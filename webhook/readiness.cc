#include <string>

#include "base/text.h"
#include "certs/load.h"
#include "webhook/server.h"

namespace mindgate::webhook {
namespace {

// The newest attempt to load something: "", or what is wrong with it. One line, or with `all` as
// many as it has, set off from those of the next check.
std::string Fault(const ReloadStatus& status, bool all) {
  if (status.error.empty()) return "";
  std::string text = "; refused: ";
  for (const char c : Trim(status.error)) {
    if (c == '\n' && !all) break;
    text += c;
    if (c == '\n') text += "    ";
  }
  return text;
}

}  // namespace

http::Response Readiness(const ServerInputs& inputs, const std::string& hangs, bool draining,
                         bool verbose) {
  const auto config = inputs.config.Get();
  const auto tls = inputs.tls.Get();
  const bool ready = config != nullptr && tls != nullptr && hangs.empty() && !draining;
  std::string text;
  if (verbose || !ready) {
    const auto check = [&text](bool good, std::string_view name, const std::string& detail) {
      text += good ? "[+]" : "[-]";
      text += name;
      text += good ? " ok" : " failed";
      text += (detail.empty() ? "" : ": ") + detail + "\n";
    };
    check(config != nullptr, "configuration",
          (config == nullptr ? "none loaded yet" : "generation " + config->generation) +
              Fault(inputs.config_status(), verbose));
    check(
        tls != nullptr, "certificate",
        (tls == nullptr ? "none loaded yet"
                        : "expires " + FormatTime(certs::ExpiryOf(*tls).serving.value_or(Time()))) +
            Fault(inputs.certificate_status(), verbose));
    // Never a reason to be not ready: without it, decisions rest on what objects say themselves.
    if (const std::string objects = inputs.objects_status(); !objects.empty()) {
      text += "[ ]lookups " + objects + "\n";
    }
    check(hangs.empty(), "decisions", hangs);
    check(!draining, "serving", draining ? "shutting down" : "");
  }
  text += ready ? "ok\n" : "not ready\n";
  return http::PlainText(ready ? 200 : 503, std::move(text));
}

int64_t CertificateExpiry(const certs::TlsMaterial* material) {
  if (material == nullptr) return 0;
  const auto end = certs::ExpiryOf(*material).serving;
  return end ? end->time_since_epoch().count() : 0;
}

}  // namespace mindgate::webhook
