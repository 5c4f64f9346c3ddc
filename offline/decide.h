#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "admission/admit.h"
#include "base/time.h"
#include "json/issues.h"
#include "offline/documents.h"
#include "policies/engine.h"
#include "schemas/config.h"
#include "schemas/request.h"
#include "schemas/workload.h"

namespace mindgate::offline {

// The text of the number, true or false at `path` as its author wrote it: 1.10, 0755, on. Nothing
// when it is not found, as in what was injected.
std::optional<std::string> AsWritten(const Source& source, Document& document,
                                     const std::string& path, const json::Value& value);

// The place in `text` of what is at `within` of a literal block scalar ("key: |") that begins at
// `at`; nothing when no such block begins there: the lines of a quoted or folded scalar are not
// those of its value.
std::optional<json::Position> InsideBlock(std::string_view text, json::Position at,
                                          json::Position within);

// One input object and the decision about it.
struct Decision {
  InputObject input;
  schemas::Operation operation = schemas::Operation::kCreate;
  std::string api_version;
  std::string kind;
  std::string ns;
  std::string name;
  // kError without findings if the input has a fault.
  admission::Verdict verdict;
  // Of an object whose kind mindgate does not handle: where it holds pods that ask for NPUs, all
  // the same. Empty: it holds none.
  std::string npu_pods;

  // After mutation; null if there is no object.
  const json::Value* ObjectAfter() const;
  // In the user's file; 0 if unknown.
  json::Position PositionOf(std::string_view path) const;
  // The same of what a finding is about: inside a literal block of YAML the line of the fault.
  json::Position PositionOf(const policies::Finding& finding) const;
  // The line of the object: that of its document, of the item for an item of a List; 0 if unknown.
  int Line() const;
  // "Deployment default/llama".
  std::string Title() const;
  // What a user should know of `npu_pods`; empty when there are none.
  std::string Note() const;
};

// Request attributes that manifests do not contain: from flags, or of a cluster.
struct RequestOptions {
  using Labels = std::map<std::string, std::string, std::less<>>;

  std::optional<schemas::Operation> operation;
  std::string ns;           // empty: "default", as in kubectl
  Labels namespace_labels;  // of every namespace that is not among those below
  std::map<std::string, Labels, std::less<>> labels_by_namespace{};
  Time now{};
};

// Mutates objects, then validates the results. References between the objects are resolved.
class Decider {
 public:
  // Keeps references to `config` and to the data behind `inputs`. `old_objects` are the objects
  // before
  // an update, matched by kind, namespace and name.
  Decider(const std::vector<InputObject>& inputs,
          const std::vector<const json::Value*>& old_objects, RequestOptions request,
          const schemas::Config& config, const admission::Options& options);

  // `input` need not be one of `inputs`.
  Decision Decide(const InputObject& input) const;

  // The view of an object in that namespace, with the runtime that it names; without texts.
  std::optional<schemas::WorkloadView> ViewOf(const json::Value& object,
                                              const std::string& ns) const;

 private:
  RequestOptions request_;
  const schemas::Config& config_;
  admission::Options options_;
  std::vector<std::shared_ptr<const json::Document>> stored_;  // runtimes after mutation
  schemas::KnownObjects known_;
  schemas::KnownObjects before_;
};

}  // namespace mindgate::offline
