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
  const auto profile = [this](Framework framework) -> Profile& {
    return profiles[static_cast<size_t>(framework)];
  };
  profile(Framework::kMindIE).fault_retry_times = "100000000";
  profile(Framework::kOme) = {"force", "on", "3"};
  profile(Framework::kAibrix) = {"force", "on", "10"};
  for (Framework framework : {Framework::kDeployment, Framework::kStatefulSet, Framework::kJob,
                              Framework::kLeaderWorkerSet, Framework::kPod}) {
    profile(framework).pod_rescheduling = "on";
  }
  // infer-operator recovers whole instances, in the order of their priorities.
  profile(Framework::kInferOperator).fault_scheduling = "external-force";
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
