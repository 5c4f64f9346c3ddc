#pragma once

#include <string>
#include <vector>

#include "cli/console/output.h"
#include "cli/console/paint.h"
#include "cli/console/streams.h"
#include "kube/access.h"
#include "kube/wait.h"
#include "why/facts.h"
#include "why/reasons.h"

namespace mindgate::cli {

struct WhyOptions {
  kube::AccessFlags cluster = {};
  std::vector<std::string> object = {};  // "deployment/chat", "deployment", "chat", or a pod
  bool wait = false;                     // until it runs or has ended
  OutputFormat output = "text";
  ColorMode color = ColorMode::kAuto;
};

// Says why a workload, a pod or a PodGroup is as it is, and what to do. Returns kExitDone when it
// runs or has ended, else kExitDenied; kExitNotFound when there is no such object, kExitUnusable
// when the cluster or the arguments cannot be used. `pauses`: between two readings; null: real
// ones.
int RunWhy(const WhyOptions& options, Streams& io, kube::Sleeper* pauses = nullptr);

// One screen, and the same as JSON (cli/status/why_print.cc).
void PrintWhy(const why::Facts& facts, const why::Answer& answer, const Paint& paint, size_t width,
              std::ostream& out);
nlohmann::ordered_json WhyJson(const why::Facts& facts, const why::Answer& answer);

}  // namespace mindgate::cli
