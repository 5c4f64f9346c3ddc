#pragma once

#include <iosfwd>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/time.h"
#include "cli/console/paint.h"
#include "cli/console/streams.h"
#include "export/scope.h"

namespace CLI {
class App;
}

namespace mindgate::cli {

// Of `export vap` and `export map`.
struct ExportPolicyOptions {
  std::vector<std::string> rules = {};     // vap: ids or names; empty: all that can be exported
  std::vector<std::string> mutators = {};  // map: names; empty: all that can be exported
  std::string version = "v1beta1";         // map: of admissionregistration.k8s.io
  std::string config_file = {};            // empty: the defaults
  std::vector<std::string> policies{};  // vap: files and folders, beside those of the configuration
  std::string namespace_selector = {};  // as kubectl writes it; empty: every namespace
  std::vector<std::string> excluded_namespaces = {};
  std::vector<std::string> controller_namespaces = {};
  std::vector<std::string> controller_users = {};
  bool list = false;
  ColorMode color = ColorMode::kAuto;
  Time now{};
};

// Prints ValidatingAdmissionPolicies with bindings for the rules that CEL can express and for
// policies of the site's own that a cluster can judge by, as YAML; with `list`, all of both, and
// why some of them are not printed.
int RunExportVap(const ExportPolicyOptions& options, Streams& io);

// Prints MutatingAdmissionPolicies with bindings that write what mutators write, as YAML; with
// `list`, all mutators and why some of them are not printed.
int RunExportMap(const ExportPolicyOptions& options, Streams& io);

// What both commands share. Nothing when the selector cannot be read; `err` says
// why.
std::optional<exported::ExportOptions> ClusterOptions(const ExportPolicyOptions& options,
                                                      std::ostream& err);
void AddClusterOptions(CLI::App& command, ExportPolicyOptions& options);
void PrintDocuments(std::span<const nlohmann::ordered_json> documents, std::ostream& out);
void AddExportMap(CLI::App& parent, Streams& io, int& exit_code);

}  // namespace mindgate::cli
