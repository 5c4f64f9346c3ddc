#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "doctor/doctor.h"
#include "schemas/config.h"

// What the ServiceAccounts must be allowed for what the configuration switches on, as the chart
// grants it (charts/mindgate/templates/watcher-rbac.yaml and rbac.yaml).
namespace mindgate::doctor {

struct Right {
  std::string_view group;
  std::string_view resource;  // "pods", "pods/eviction"
  const char* verb;
  std::string ns;    // empty: in all namespaces, or the kind has none
  std::string name;  // empty: of any name
};

// Rights for one purpose, and what happens without them.
struct Need {
  std::vector<Right> rights;
  std::string consequence;
  std::string value{};  // of the chart, that grants them: "config.rescheduling.mode enforce"
};

Need LeadingNeeds(const Options& options);
Need CertificateNeeds(const Options& options);
Need LookupNeeds();
// Of whoever reads policies from ConfigMaps: webhook and watcher.
Need PolicyNeeds(const Options& options);
// What the configuration switches on. Its kinds outlive the result.
std::vector<Need> NeedsOf(const schemas::Config& config, const Options& options);

// Whether it restarts jobs, and does not only tell of it.
bool Reschedules(const schemas::Config& config);

}  // namespace mindgate::doctor
