#include "watcher/probes.h"

#include <nlohmann/json.hpp>
#include <string>

#include "base/time.h"
#include "http/probe_port.h"

namespace mindgate::watcher {
namespace {

using OrderedJson = nlohmann::ordered_json;
using http::Request;
using http::Response;

std::string Decisions(const scaling::Journal& journal) {
  OrderedJson entries = OrderedJson::array();
  for (const auto& entry : journal.entries()) {
    entries.push_back({{"time", FormatTime(entry.time)},
                       {"namespace", entry.service.ns},
                       {"rule", entry.service.rule},
                       {"jobID", entry.service.job_id},
                       {"instance", entry.instance},
                       {"group", entry.group},
                       {"decision", entry.what},
                       {"enforced", entry.enforced},
                       {"reason", entry.reason}});
  }
  return OrderedJson{{"decisions", std::move(entries)}}.dump(2) + "\n";
}

// Why a replica is not ready; empty if it is.
std::string Unready(const ProbeSources& sources) {
  if (sources.config != nullptr) {
    const auto config = sources.config->Get();
    if (config == nullptr) return "no valid configuration yet";
    if (config->elastic_scaling.mode != schemas::EnforcementMode::kOff &&
        !sources.scaling->synced()) {
      return "the initial list of pods and rules is not complete";
    }
  }
  if (sources.certificates != nullptr && sources.certificates->failing()) {
    return "certificates cannot be managed";
  }
  return "";
}

Response Readiness(const ProbeSources& sources) {
  if (const std::string why = Unready(sources); !why.empty()) {
    return http::PlainText(503, why + "\n");
  }
  return http::PlainText(200, sources.leading() ? "ok: leading\n" : "ok: standing by\n");
}

}  // namespace

std::vector<http::Router::Route> ProbeRoutes(const ProbeSources& sources) {
  std::vector<http::Router::Route> routes = {
      {"/livez", [](const Request&) { return http::PlainText(200, "ok\n"); }},
      {"/readyz", [sources](const Request&) { return Readiness(sources); }}};
  if (sources.metrics != nullptr) {
    routes.push_back({"/metrics", [metrics = sources.metrics](const Request&) {
                        return http::MetricsText(metrics->Render());
                      }});
  }
  if (sources.scaling != nullptr) {
    routes.push_back({"/decisions", [scaling = sources.scaling](const Request&) {
                        return http::PlainText(200, Decisions(scaling->journal()));
                      }});
  }
  return routes;
}

}  // namespace mindgate::watcher
