#include "schemas/config.h"

#include <utility>

namespace mindgate::schemas {
namespace {

constexpr std::array<std::pair<Mode, std::string_view>, 4> kModes = {{
    {Mode::kOff, "off"},
    {Mode::kAudit, "audit"},
    {Mode::kWarn, "warn"},
    {Mode::kEnforce, "enforce"},
}};

}  // namespace

std::string_view ModeName(Mode mode) { return kModes[static_cast<size_t>(mode)].second; }

Config::Config() {
  for (const FrameworkInfo& info : kFrameworks) {
    profiles[static_cast<size_t>(info.framework)] = {std::string(info.fault_scheduling),
                                                     std::string(info.pod_rescheduling),
                                                     std::string(info.fault_retry_times)};
  }
}

const NamespaceOverride* Config::OverrideFor(std::string_view ns) const {
  for (const NamespaceOverride& candidate : namespaces) {
    if (MatchesPattern(candidate.name, ns)) return &candidate;
  }
  return nullptr;
}

bool MatchesPattern(std::string_view pattern, std::string_view text) {
  if (pattern.ends_with('*')) return text.starts_with(pattern.substr(0, pattern.size() - 1));
  return pattern == text;
}

}  // namespace mindgate::schemas
