#include "watcher/probes.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "base/time.h"
#include "http/probe_port.h"

namespace mindgate::watcher {
namespace {

using OrderedJson = nlohmann::ordered_json;
using http::Request;
using http::Response;

// Of an answer of /decisions. The port has 4 MiB for all that it answers (http/probe_port.h), and
// an answer is charged four-fold while it is made.
constexpr size_t kMaxDecisionsText = 512 * 1024;

OrderedJson EntryOf(const DecisionLog::Entry& entry) {
  const DecisionRecord& record = entry.record;
  OrderedJson json = {{"time", FormatTime(entry.time)},
                      {"controller", record.controller},
                      {"namespace", record.ns}};
  for (const auto& [name, value] : record.about) json[name] = value;
  json["decision"] = record.what;
  json["enforced"] = record.enforced;
  json["reason"] = record.reason;
  return json;
}

std::string TextOf(const OrderedJson& json) {
  return json.dump(2, ' ', false, OrderedJson::error_handler_t::replace);
}

// The newest that fit, the oldest of them first.
std::string Decisions(const DecisionLog& decisions, std::optional<std::string_view> ns,
                      size_t limit) {
  const auto entries = decisions.entries();
  std::vector<OrderedJson> newest;
  size_t bytes = 0;
  size_t older = 0;
  for (auto entry = entries.rbegin(); entry != entries.rend(); ++entry) {
    if (ns && entry->record.ns != *ns) continue;
    if (older > 0 || newest.size() == limit) {
      ++older;
      continue;
    }
    OrderedJson json = EntryOf(*entry);
    const std::string text = TextOf(json);
    // Each line is indented by four more.
    bytes += text.size() + 4 * (2 + std::count(text.begin(), text.end(), '\n'));
    if (bytes > kMaxDecisionsText) {
      ++older;
    } else {
      newest.push_back(std::move(json));
    }
  }
  OrderedJson answer = {{"decisions", OrderedJson::array()}};
  for (auto json = newest.rbegin(); json != newest.rend(); ++json) {
    answer["decisions"].push_back(std::move(*json));
  }
  if (older > 0) answer["more"] = "and " + std::to_string(older) + " older";
  return TextOf(answer) + "\n";
}

Response DecisionsResponse(const DecisionLog& decisions, const Request& request) {
  size_t limit = DecisionLog::kMaxEntries;
  if (const auto text = http::QueryValue(request.query(), "limit")) {
    const auto number = ParseGoInt(*text);
    if (!number || *number < 1) {
      return http::PlainText(400, "limit is not a number of decisions; write ?limit=100\n");
    }
    limit = std::min(limit, static_cast<size_t>(*number));
  }
  return http::PlainText(
      200, Decisions(decisions, http::QueryValue(request.query(), "namespace"), limit));
}

std::string ConfigFault(const ProbeSources& sources) {
  return sources.config_fault ? sources.config_fault() : "";
}

// Why a replica is not ready; empty if it is.
std::string Unready(const ProbeSources& sources) {
  if (sources.config != nullptr && sources.config->Get() == nullptr) {
    const std::string fault = ConfigFault(sources);
    return "no valid configuration yet" + (fault.empty() ? "" : ": " + fault);
  }
  for (const Controller* controller : sources.controllers) {
    if (!controller->wanted()) continue;
    if (std::string why = controller->unready(); !why.empty()) return why;
  }
  return "";
}

Response Readiness(const ProbeSources& sources, bool verbose) {
  if (const std::string why = Unready(sources); !why.empty()) {
    return http::PlainText(503, why + "\n");
  }
  std::string text = sources.leading() ? "ok: leading\n" : "ok: standing by\n";
  const std::string fault = verbose ? ConfigFault(sources) : "";
  if (!fault.empty()) {
    text += "the newest configuration is refused, the last valid one stays in use: " + fault + "\n";
  }
  return http::PlainText(200, std::move(text));
}

}  // namespace

std::vector<http::Router::Route> ProbeRoutes(const ProbeSources& sources) {
  std::vector<http::Router::Route> routes = {
      {"/livez", [](const Request&) { return http::PlainText(200, "ok\n"); }},
      {"/readyz", [sources](const Request& request) {
         return Readiness(sources, http::QueryValue(request.query(), "verbose").has_value());
       }}};
  if (sources.metrics) {
    routes.push_back({"/metrics", [metrics = sources.metrics](const Request&) {
                        return http::MetricsText(metrics());
                      }});
  }
  if (sources.decisions != nullptr) {
    routes.push_back({"/decisions", [decisions = sources.decisions](const Request& request) {
                        return DecisionsResponse(*decisions, request);
                      }});
  }
  return routes;
}

}  // namespace mindgate::watcher
