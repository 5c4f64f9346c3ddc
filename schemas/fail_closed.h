#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "json/json.h"

// How webhooks come to fail closed: what the chart registers, the watcher changes and doctor
// reports.
namespace mindgate::schemas {

// Annotation on a webhook configuration of mindgate: the names of its webhooks, separated by
// commas, that are registered with failurePolicy Ignore and become Fail once they answer. The chart
// sets it (charts/mindgate/templates/_registrations.tpl).
inline constexpr std::string_view kFailClosed = "mindgate.io/fail-closed";
// Webhooks whose names begin so deny a dry run of the watcher, which shows that they answer.
inline constexpr std::string_view kProbeWebhook = "probe.";
// The ConfigMap of that dry run; it never exists.
inline constexpr std::string_view kProbeConfigMap = "mindgate-probe";

// Names of the webhooks of a configuration that are to fail closed and do not yet.
std::vector<std::string> OpenWebhooks(const json::Json& configuration);

}  // namespace mindgate::schemas
