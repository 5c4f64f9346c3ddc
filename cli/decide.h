#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "admission/admit.h"
#include "base/time.h"
#include "cli/documents.h"
#include "schemas/config.h"
#include "schemas/request.h"

namespace mindgate::cli {

// One input object and what was decided about it.
struct Decision {
  InputObject input;
  schemas::Operation operation = schemas::Operation::kCreate;
  std::string api_version;
  std::string kind;
  std::string ns;
  std::string name;
  // kError without findings when the input has a fault.
  admission::Verdict verdict;

  // After mutation; null pointer when there is none.
  const json::Json* ObjectAfter() const;
  // In the user's file; 0 when unknown.
  json::Position Place(std::string_view path) const;
  // "Deployment default/llama".
  std::string Title() const;
};

// What the user said about requests that objects in files do not say themselves.
struct RequestOptions {
  std::optional<schemas::Operation> operation;
  std::string ns;  // empty: "default", as kubectl has it
  std::map<std::string, std::string, std::less<>> namespace_labels;
  Time now{};
};

// Takes objects through admission. They resolve references among themselves.
class Decider {
 public:
  // Refers to `config` and to what `inputs` point to. `old_objects` are states before an update,
  // matched by kind, namespace and name.
  Decider(const std::vector<InputObject>& inputs, const std::vector<const json::Json*>& old_objects,
          RequestOptions request, const schemas::Config& config, const admission::Options& options);

  // `input` need not be one of `inputs`.
  Decision Decide(const InputObject& input) const;

 private:
  RequestOptions request_;
  const schemas::Config& config_;
  admission::Options options_;
  std::vector<std::shared_ptr<const json::Json>> stored_;  // runtimes as admission leaves them
  KnownObjects known_;
  KnownObjects before_;
};

// The namespace an object without one is in: empty for kinds of cluster scope and kinds we do not
// know.
std::string EffectiveNamespace(const json::Json& object, const std::string& default_namespace);

// kExitUnusable when an input has a fault, else kExitDenied when something was denied or failed.
int ExitCode(const std::vector<Decision>& decisions);

}  // namespace mindgate::cli
