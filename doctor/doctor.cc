#include "doctor/doctor.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "doctor/context.h"
#include "json/value.h"

namespace mindgate::doctor {

std::string_view StatusName(Status status) {
  switch (status) {
    case Status::kOk:
      return "ok";
    case Status::kWarning:
      return "warning";
    case Status::kFailed:
      return "failed";
    case Status::kSkipped:
      return "skipped";
  }
  return "unknown";
}

bool Report::Has(Status status) const {
  return std::any_of(findings_.begin(), findings_.end(),
                     [status](const Finding& finding) { return finding.status == status; });
}

void SkipFor(Context& context, std::string_view check, const std::string& what,
             const kube::Fault& fault) {
  context.report.Skip(check, what + " could not be checked: " + fault.message,
                      fault.reason == kube::Reason::kForbidden
                          ? "run it as a user who may read it, such as a cluster administrator"
                          : "try again");
}

std::optional<Json> RequireObject(Context& context, std::string_view check,
                                  const kube::Resource& resource, const std::string& ns,
                                  const std::string& name, const std::string& consequence,
                                  const std::string& fix) {
  const std::string what = resource.kind + " " + (ns.empty() ? "" : ns + "/") + name;
  auto object = context.client.Get(resource, ns, name, context.stop);
  if (object) return *std::move(object);
  if (object.error().reason == kube::Reason::kNotFound) {
    context.report.Fail(check, "there is no " + what + ": " + consequence, fix);
  } else {
    SkipFor(context, check, what, object.error());
  }
  return std::nullopt;
}

bool CheckApiServer(Context& context) {
  const auto version = context.client.GetPath("/version", context.stop);
  if (version) {
    context.report.Ok("api-server", "Kubernetes " + json::TextAt(*version, {"gitVersion"}));
    return true;
  }
  const kube::Fault& fault = version.error();
  const std::string fix = [&fault]() -> std::string {
    switch (fault.reason) {
      case kube::Reason::kUnauthorized:
      case kube::Reason::kCredentials:
        return "renew the credentials of this context; `kubectl version` must work first";
      case kube::Reason::kTls:
        return "write the cluster's CA, and a server name that is in its certificate, into the "
               "kubeconfig";
      case kube::Reason::kForbidden:
        return "let this user read /version (ClusterRole system:public-info-viewer)";
      default:
        return "check server, DNS and firewall between here and the API server; `kubectl version` "
               "must work first";
    }
  }();
  context.report.Fail("api-server", fault.message, fix);
  return false;
}

Report Diagnose(kube::Client& client, const Options& options, Time now, std::stop_token stop) {
  Report report;
  Context context{client, options, now, std::move(stop), report};
  if (!CheckApiServer(context)) return report;
  CheckRegistrations(context);
  CheckServing(context);
  CheckCertificates(context);
  CheckSelectors(context);
  CheckPermissions(context);
  CheckBounds(context);
  CheckControllers(context);
  CheckTrustedNamespaces(context);
  CheckWatcher(context);
  CheckGates(context);
  CheckTaints(context);
  CheckScaledJobs(context);
  CheckVersions(context);
  CheckDryRun(context);
  return report;
}

}  // namespace mindgate::doctor
