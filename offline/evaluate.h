#pragma once

#include <cstddef>
#include <functional>
#include <iosfwd>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "admission/config_files.h"
#include "base/result.h"
#include "base/time.h"
#include "json/value.h"
#include "kube/client.h"
#include "kube/reflector.h"
#include "offline/decide.h"
#include "schemas/config.h"

namespace mindgate::offline {

// The input of `apply` and `explain -f`.
struct InputOptions {
  std::vector<std::string> files;
  std::vector<std::string> kustomizations;  // folders
  std::vector<std::string> exclude;         // globs, of files in folders
  bool recursive = true;
  std::string selector;   // like kubectl's -l
  std::string operation;  // "CREATE", "UPDATE"; empty: UPDATE for objects in --old, else CREATE
  std::string old_file;   // the states before an update
  std::string ns;
  std::string namespace_labels;         // "k=v,..."
  std::string config_file;              // empty: the defaults
  std::vector<std::string> policies{};  // files and folders, beside those of the configuration
  Time now{};
};

// The inputs of one invocation and the decisions about them. Decisions point into the sources.
struct Evaluation {
  std::vector<std::unique_ptr<Source>> sources;
  std::vector<std::unique_ptr<Source>> old_sources;
  std::vector<Decision> decisions;  // about the objects that match the selector
  Skipped skipped;
};

// Reads and decodes the inputs ("-" is `in`), and decides about them. Nothing if the arguments are
// invalid; `err` says why.
std::optional<Evaluation> Evaluate(const InputOptions& options,
                                   const admission::Options& admission_options, std::istream& in,
                                   std::ostream& err);

// Decides about inputs, and again about what became of their texts; the arguments and the
// configuration are read once.
class Evaluator {
 public:
  // Nothing if the arguments are invalid; `err` says why. `options` must outlive it.
  static std::optional<Evaluator> Make(const InputOptions& options,
                                       const admission::Options& admission_options,
                                       std::ostream& err);

  // As Evaluate.
  std::optional<Evaluation> Read(std::istream& in, std::ostream& err) const;
  // About texts alone: without objects before an update.
  std::optional<Evaluation> Texts(std::vector<InputText> texts, std::ostream& err) const;

 private:
  Evaluator(const InputOptions& options, const admission::Options& admission_options)
      : options_(&options), admission_options_(admission_options) {}

  bool DecideAll(const std::vector<const json::Value*>& old_objects, Evaluation& evaluation,
                 std::ostream& err) const;

  const InputOptions* options_;
  admission::Options admission_options_;
  json::Json selector_;
  RequestOptions request_;
  schemas::Config config_;
};

// What -l selects; null: everything. Nothing if the text is not a label selector; `err` says why.
std::optional<json::Json> ReadSelector(const std::string& text, std::ostream& err);

// For a configuration with `policies.configMaps`: their texts. Empty: there is no cluster to read
// them from, which is a warning.
using ConfigMapPolicies = std::function<Result<admission::PolicyTexts>()>;

// The configuration in a file, the defaults for an empty path, with the policies that it names and
// those in `policies` (files and folders). Nothing if it is invalid; `err` says why, and warns of
// policies without effect.
std::optional<schemas::Config> LoadConfigFile(const std::string& path, std::ostream& err,
                                              const std::vector<std::string>& policies = {},
                                              const ConfigMapPolicies& config_maps = {});

// Reads the policies that a configuration names, relative to the folder of its file, and those in
// `more`, into it. `stored`: those that it names, of a configuration that has no folder. False if
// one is faulty; `err` says why, and warns of policies without effect.
bool LoadPolicies(const std::string& config_file, const std::vector<std::string>& more,
                  schemas::Config& config, std::ostream& err,
                  const ConfigMapPolicies& config_maps = {},
                  const std::optional<admission::PolicyTexts>& stored = std::nullopt);

// What commands without a cluster print about a configuration with `policies.configMaps`.
void WarnOfConfigMaps(std::ostream& err);

// Prints how many documents and files in folders were skipped, if any.
void PrintSkipped(const Skipped& skipped, std::ostream& err);

// Policies of a site's own that ConfigMaps of a cluster hold (`policies.configMaps`).

// The ConfigMaps of mindgate's namespace `ns` with the label, and what is read of them.
kube::Selection PolicyConfigMapsIn(const std::string& ns);

// What such ConfigMaps hold: each key that ends in .yaml, .yml or .json is a text, named
// "ConfigMap NS/NAME, key KEY". One thread at a time.
class PolicyConfigMapSet {
 public:
  // What is kept in all. A configuration takes a quarter of it (SitePolicies::kMostBytes), so that
  // one with too much is good again as soon as enough of it was removed.
  static constexpr size_t kMostBytes = size_t{16} * 1024 * 1024;

  // An object of the selection, instead of the one of its name. Of one that is beyond kMostBytes
  // only the fault is kept.
  void Put(const json::Value& object);
  // One of which only the metadata is known, since the rest is too large.
  void PutTooLarge(const json::Value& metadata_only);
  void Remove(const json::Value& object);

  // Whether one is kept without its texts: there may be room for it when others have gone.
  bool is_crowded() const { return crowded_ > 0; }
  // By name and key. The error has all that keeps one of them from being read, a line each.
  Result<admission::PolicyTexts> Texts() const;

 private:
  struct ConfigMap {
    admission::PolicyTexts texts{};
    std::string faults{};  // lines
    size_t bytes = 0;
    bool crowded = false;
  };

  void Insert(std::string name, ConfigMap config_map);
  void Erase(const std::string& name);

  std::map<std::string, ConfigMap> by_name_;
  size_t bytes_ = 0;
  size_t crowded_ = 0;
};

// Those that `ns` has now.
kube::Answer<PolicyConfigMapSet> ListPolicyConfigMaps(kube::Client& client, const std::string& ns);

// What a configuration names under `policies.files`, as far as it stands beside mindgate.yaml in
// its ConfigMap `stored`, where the chart puts it.
struct StoredPolicies {
  admission::PolicyTexts texts;        // named like those of PolicyConfigMapSet
  std::vector<std::string> elsewhere;  // what does not: it is in Pods alone
};
StoredPolicies StoredPoliciesOf(const schemas::Config& config, const json::Json& stored);

// Why they cannot be listed, and what to do about it where that is known.
std::string PolicyConfigMapsFault(const std::string& ns, const kube::Fault& fault);

}  // namespace mindgate::offline
