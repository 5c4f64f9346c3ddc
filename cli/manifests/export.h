#pragma once

#include <string>
#include <vector>

#include "base/time.h"
#include "cli/console/paint.h"
#include "cli/console/streams.h"

namespace mindgate::cli {

struct ExportVapOptions {
  std::vector<std::string> rules = {};  // ids or names; empty: all that can be exported
  std::string config_file = {};         // empty: the defaults
  std::string namespace_selector = {};  // as kubectl writes it; empty: every namespace
  std::vector<std::string> excluded_namespaces = {};
  std::vector<std::string> controller_namespaces = {};
  std::vector<std::string> controller_users = {};
  bool list = false;
  ColorMode color = ColorMode::kAuto;
  Time now{};
};

// Prints ValidatingAdmissionPolicies with bindings for the rules that CEL can express, as YAML;
// with `list`, all rules and why some of them have no policy.
int RunExportVap(const ExportVapOptions& options, Streams& io);

}  // namespace mindgate::cli
