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

std::string Decisions(const DecisionLog& decisions) {
  OrderedJson entries = OrderedJson::array();
  for (const auto& [time, record] : decisions.entries()) {
    OrderedJson entry = {
        {"time", FormatTime(time)}, {"controller", record.controller}, {"namespace", record.ns}};
    for (const auto& [name, value] : record.about) entry[name] = value;
    entry["decision"] = record.what;
    entry["enforced"] = record.enforced;
    entry["reason"] = record.reason;
    entries.push_back(std::move(entry));
  }
  return OrderedJson{{"decisions", std::move(entries)}}.dump(2) + "\n";
}

// Why a replica is not ready; empty if it is.
std::string Unready(const ProbeSources& sources) {
  if (sources.config != nullptr && sources.config->Get() == nullptr) {
    return "no valid configuration yet";
  }
  for (const Controller* controller : sources.controllers) {
    if (!controller->wanted()) continue;
    if (std::string why = controller->unready(); !why.empty()) return why;
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
  if (sources.metrics) {
    routes.push_back({"/metrics", [metrics = sources.metrics](const Request&) {
                        return http::MetricsText(metrics());
                      }});
  }
  if (sources.decisions != nullptr) {
    routes.push_back({"/decisions", [decisions = sources.decisions](const Request&) {
                        return http::PlainText(200, Decisions(*decisions));
                      }});
  }
  return routes;
}

}  // namespace mindgate::watcher
