#include "offline/evaluate.h"

#include <istream>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string_view>
#include <utility>

#include "admission/config_files.h"
#include "base/files.h"
#include "base/result.h"
#include "base/text.h"
#include "kube/resource.h"
#include "offline/inputs.h"
#include "policies/site/site_policies.h"
#include "schemas/config.h"
#include "schemas/names.h"

namespace mindgate::offline {
namespace {

using json::Json;
using schemas::Operation;

std::optional<RequestOptions> ReadRequestOptions(const InputOptions& options, std::ostream& err) {
  RequestOptions request;
  request.ns = options.ns;
  request.now = options.now;
  if (!options.operation.empty()) {
    request.operation = schemas::OperationNamed(options.operation);
    if (request.operation != Operation::kCreate && request.operation != Operation::kUpdate) {
      PrintError(err, "--operation " + Quote(options.operation) + " is not supported",
                 "write CREATE or UPDATE");
      return std::nullopt;
    }
    if (request.operation == Operation::kCreate && !options.old_file.empty()) {
      PrintError(err, "--old gives the object before an update, but --operation is CREATE",
                 "remove one of them");
      return std::nullopt;
    }
  }
  if (options.namespace_labels.empty()) return request;
  for (std::string_view pair : Split(options.namespace_labels, ',')) {
    const size_t equals = pair.find('=');
    if (equals == std::string_view::npos || equals == 0) {
      PrintError(err, "--namespace-labels contains " + Quote(pair) + ", which is not a label",
                 "write key=value, separated by commas");
      return std::nullopt;
    }
    request.namespace_labels.insert_or_assign(std::string(pair.substr(0, equals)),
                                              std::string(pair.substr(equals + 1)));
  }
  return request;
}

std::vector<std::unique_ptr<Source>> DecodeAll(std::vector<InputText> inputs) {
  std::vector<std::unique_ptr<Source>> sources;
  for (InputText& input : inputs) sources.push_back(Decode(std::move(input)));
  return sources;
}

// The objects of --old; nothing, after printing the faults, if one is invalid.
std::optional<std::vector<const json::Value*>> OldObjects(
    const std::vector<std::unique_ptr<Source>>& sources, std::ostream& err) {
  std::vector<const json::Value*> objects;
  bool fine = true;
  for (const InputObject& object : ObjectsOf(sources)) {
    if (object.fault) {
      const InputText& input = object.source->input;
      err << json::Render(*object.fault, input.name, input.text);
      fine = false;
    } else if (object.object != nullptr) {
      objects.push_back(object.object);
    }
  }
  if (!fine) return std::nullopt;
  return objects;
}

std::string Count(size_t number, const std::string& one, const std::string& several) {
  return std::to_string(number) + " " + (number == 1 ? one : several);
}

// "13 documents that are not Kubernetes objects, 25 templates of Helm charts".
std::string SkippedText(const Skipped& skipped) {
  std::vector<std::string> parts;
  if (skipped.documents > 0) {
    parts.push_back(Count(skipped.documents, "document that is not a Kubernetes object",
                          "documents that are not Kubernetes objects"));
  }
  if (skipped.templates > 0) {
    parts.push_back(
        Count(skipped.templates, "template of a Helm chart", "templates of Helm charts"));
  }
  return Join(parts, ", ");
}

std::string HelmHint(const Skipped& skipped) {
  return "`helm template " + skipped.chart +
         " | mindgate apply -f - -o table` checks the output of the chart";
}

bool IsSelected(const InputObject& input, const Json& selector) {
  const json::Value* object = input.object != nullptr ? input.object : input.old_object;
  if (object == nullptr) return true;
  const json::Value* labels = json::FindPath(object, {"metadata", "labels"});
  const Json tree = labels == nullptr ? Json() : json::TreeOf(*labels);
  return kube::Selects(&selector, &tree);
}

// Reads all inputs; kustomizations come after files.
std::vector<InputText> ReadAll(const InputOptions& options, std::istream& in, Skipped& skipped) {
  auto texts = ReadInputs(options.files, in,
                          {.recursive = options.recursive, .exclude = options.exclude}, &skipped);
  for (const std::string& folder : options.kustomizations) {
    texts.push_back(BuildKustomization(folder));
  }
  return texts;
}

void PrintNoObjects(const InputOptions& options, const Skipped& skipped, std::ostream& err) {
  std::vector<std::string> names = options.files;
  names.insert(names.end(), options.kustomizations.begin(), options.kustomizations.end());
  const std::string where = Join(names, ", ");
  if (!skipped.any()) {
    PrintError(err, "no objects in " + where, "the input is empty or contains only comments");
    return;
  }
  PrintError(
      err, "no objects in " + where + "; skipped " + SkippedText(skipped),
      skipped.templates > 0 ? HelmHint(skipped) : "a Kubernetes object has apiVersion and kind");
}

}  // namespace

void PrintSkipped(const Skipped& skipped, std::ostream& err) {
  if (!skipped.any()) return;
  err << "skipped: " << SkippedText(skipped) << "\n";
  if (skipped.templates > 0) err << "hint: " << HelmHint(skipped) << "\n";
}

std::optional<Json> ReadSelector(const std::string& text, std::ostream& err) {
  if (text.empty()) return Json();
  auto selector = kube::ParseLabelSelector(text);
  if (selector) return *std::move(selector);
  PrintError(err, "--selector " + Quote(text) + ": " + selector.error().message(),
             "for example -l 'app=chat,tier in (web,api),!canary'");
  return std::nullopt;
}

void WarnOfConfigMaps(std::ostream& err) {
  err << "warning: policies.configMaps is true, and ConfigMaps are not read without a cluster: "
         "their policies are left out\n"
         "hint: name their texts under policies.files, too, or evaluate a cluster with `mindgate "
         "audit`\n";
}

bool LoadPolicies(const std::string& config_file, const std::vector<std::string>& more,
                  schemas::Config& config, std::ostream& err, const ConfigMapPolicies& config_maps,
                  const std::optional<admission::PolicyTexts>& stored) {
  using Files = std::vector<std::string>;
  auto texts = admission::ReadPolicyTexts(stored ? Files() : config.policy_sources.files,
                                          FolderOf(config_file), more);
  if (!texts) {
    PrintError(err, "policies: " + texts.error().message(),
               "name files of ValidatingAdmissionPolicies, or folders with them");
    return false;
  }
  if (stored) texts->insert(texts->begin(), stored->begin(), stored->end());
  if (config.policy_sources.config_maps && !config_maps) {
    WarnOfConfigMaps(err);
  } else if (config.policy_sources.config_maps) {
    const auto of_cluster = config_maps();
    if (!of_cluster) {
      PrintError(err, of_cluster.error().message());
      return false;
    }
    texts->insert(texts->end(), of_cluster->begin(), of_cluster->end());
  }
  std::string warnings;
  const auto set = admission::SetPolicies(*texts, config, &warnings);
  err << warnings;
  if (!set) err << set.error().message() << "\n";
  return set.has_value();
}

std::optional<schemas::Config> LoadConfigFile(const std::string& path, std::ostream& err,
                                              const std::vector<std::string>& policies,
                                              const ConfigMapPolicies& config_maps) {
  if (path.empty()) {
    schemas::Config config;
    if (!LoadPolicies(path, policies, config, err)) return std::nullopt;
    return config;
  }
  const auto text = ReadFile(path);
  if (!text) {
    PrintError(err, "configuration " + path + ": " + text.error().message(),
               "create one with `mindgate config defaults > " + path + "`");
    return std::nullopt;
  }
  auto config = schemas::LoadConfig(*text, admission::KnownNames());
  if (!config) {
    err << json::Render(config.error(), path, *text);
    return std::nullopt;
  }
  if (!LoadPolicies(path, policies, *config, err, config_maps)) return std::nullopt;
  return *std::move(config);
}

std::optional<Evaluator> Evaluator::Make(const InputOptions& options,
                                         const admission::Options& admission_options,
                                         std::ostream& err) {
  if (options.files.empty() && options.kustomizations.empty()) {
    PrintError(err, "no input",
               "give files, folders, URLs or - with -f, or a kustomization with -k");
    return std::nullopt;
  }
  Evaluator evaluator(options, admission_options);
  auto selector = ReadSelector(options.selector, err);
  if (!selector) return std::nullopt;
  evaluator.selector_ = *std::move(selector);
  auto request = ReadRequestOptions(options, err);
  if (!request) return std::nullopt;
  evaluator.request_ = *std::move(request);
  auto config = LoadConfigFile(options.config_file, err, options.policies);
  if (!config) return std::nullopt;
  evaluator.config_ = *std::move(config);
  return evaluator;
}

bool Evaluator::DecideAll(const std::vector<const json::Value*>& old_objects,
                          Evaluation& evaluation, std::ostream& err) const {
  const auto inputs = ObjectsOf(evaluation.sources);
  for (const auto& source : evaluation.sources) evaluation.skipped.documents += source->skipped;
  if (inputs.empty()) {
    PrintNoObjects(*options_, evaluation.skipped, err);
    return false;
  }
  const Decider decider(inputs, old_objects, request_, config_, admission_options_);
  for (const InputObject& input : inputs) {
    // Objects that are not selected still resolve references: a service finds its runtime.
    if (!IsSelected(input, selector_)) continue;
    evaluation.decisions.push_back(decider.Decide(input));
  }
  if (!evaluation.decisions.empty()) return true;
  PrintError(err,
             "none of " + Count(inputs.size(), "object", "objects") +
                 " has labels that match --selector " + Quote(options_->selector),
             "the selector matches labels of the objects, not those of their pod templates");
  return false;
}

std::optional<Evaluation> Evaluator::Read(std::istream& in, std::ostream& err) const {
  Evaluation evaluation;
  if (!options_->old_file.empty()) {
    evaluation.old_sources = DecodeAll(ReadInputs({options_->old_file}, in));
  }
  const auto old_objects = OldObjects(evaluation.old_sources, err);
  if (!old_objects) return std::nullopt;
  evaluation.sources = DecodeAll(ReadAll(*options_, in, evaluation.skipped));
  if (!DecideAll(*old_objects, evaluation, err)) return std::nullopt;
  return evaluation;
}

std::optional<Evaluation> Evaluator::Texts(std::vector<InputText> texts, std::ostream& err) const {
  Evaluation evaluation;
  evaluation.sources = DecodeAll(std::move(texts));
  if (!DecideAll({}, evaluation, err)) return std::nullopt;
  return evaluation;
}

std::optional<Evaluation> Evaluate(const InputOptions& options,
                                   const admission::Options& admission_options, std::istream& in,
                                   std::ostream& err) {
  const auto evaluator = Evaluator::Make(options, admission_options, err);
  return evaluator ? evaluator->Read(in, err) : std::nullopt;
}

namespace {

using json::Value;

constexpr std::string_view kNoPolicyKey =
    "none of its keys ends in .yaml, .yml or .json, so it has no policies: name the keys so, or "
    "remove the label ";

template <typename Object>
std::string NamedConfigMap(const Object& object) {
  return "ConfigMap " + json::TextAt(object, {"metadata", "namespace"}) + "/" +
         json::TextAt(object, {"metadata", "name"});
}

std::string NamedKey(const std::string& config_map, std::string_view key) {
  return config_map + ", key " + std::string(key);
}

}  // namespace

kube::Selection PolicyConfigMapsIn(const std::string& ns) {
  kube::Selection selection;
  selection.resource = kube::resources::kConfigMaps;
  selection.ns = ns;
  selection.label_selector = std::string(schemas::kPoliciesLabel) + "=enabled";
  selection.fields = {{"data"}, {"binaryData"}};
  return selection;
}

void PolicyConfigMapSet::Put(const Value& object) {
  const std::string name = NamedConfigMap(object);
  ConfigMap made;
  bool has_keys = false;
  for (const std::string_view member : {"data", "binaryData"}) {
    const Value* keys = json::Find(object, member);
    if (keys == nullptr) continue;
    for (const json::Member& each : keys->members()) {
      has_keys = true;
      if (!admission::IsPolicyFile(each.key)) continue;
      const std::string text_name = NamedKey(name, each.key);
      const auto text = json::AsString(&each.value);
      if (member == "binaryData" || !text) {
        made.faults += text_name + ": this is not a text: store it as UTF-8, under data\n";
        continue;
      }
      made.bytes += text->size();
      made.texts.push_back({text_name, std::string(*text)});
    }
  }
  if (has_keys && made.texts.empty() && made.faults.empty()) {
    made.faults =
        name + ": " + std::string(kNoPolicyKey) + std::string(schemas::kPoliciesLabel) + "\n";
  }
  Erase(json::TextAt(object, {"metadata", "name"}));
  if (bytes_ + made.bytes > kMostBytes) {
    made = {.faults = name + ": with it the policies have more than 16 MiB; 4 MiB are read\n",
            .crowded = true};
  }
  Insert(json::TextAt(object, {"metadata", "name"}), std::move(made));
}

void PolicyConfigMapSet::PutTooLarge(const Value& metadata_only) {
  Insert(json::TextAt(metadata_only, {"metadata", "name"}),
         {.faults = NamedConfigMap(metadata_only) + ": it is too large to be read\n"});
}

void PolicyConfigMapSet::Remove(const Value& object) {
  Erase(json::TextAt(object, {"metadata", "name"}));
}

void PolicyConfigMapSet::Insert(std::string name, ConfigMap config_map) {
  Erase(name);
  bytes_ += config_map.bytes;
  crowded_ += config_map.crowded ? 1 : 0;
  by_name_.emplace(std::move(name), std::move(config_map));
}

void PolicyConfigMapSet::Erase(const std::string& name) {
  const auto found = by_name_.find(name);
  if (found == by_name_.end()) return;
  bytes_ -= found->second.bytes;
  crowded_ -= found->second.crowded ? 1 : 0;
  by_name_.erase(found);
}

Result<admission::PolicyTexts> PolicyConfigMapSet::Texts() const {
  admission::PolicyTexts texts;
  std::string faults;
  for (const auto& [name, config_map] : by_name_) {
    faults += config_map.faults;
    texts.insert(texts.end(), config_map.texts.begin(), config_map.texts.end());
  }
  if (texts.size() > admission::kMostPolicyFiles) {
    faults += "the ConfigMaps with the label " + std::string(schemas::kPoliciesLabel) + " have " +
              std::to_string(texts.size()) + " keys with policies, more than " +
              std::to_string(admission::kMostPolicyFiles) + ": put several policies under one key";
  }
  if (!faults.empty()) {
    return Fail(ErrorCode::kInvalidArgument, std::string(Trim(faults)));
  }
  return texts;
}

kube::Answer<PolicyConfigMapSet> ListPolicyConfigMaps(kube::Client& client, const std::string& ns) {
  const kube::Selection selection = PolicyConfigMapsIn(ns);
  const json::Projection fields = kube::WithIdentity(selection.fields);
  PolicyConfigMapSet set;
  const auto listed = client.ListAll(
      selection.resource, selection.ns, {.label_selector = selection.label_selector}, &fields,
      {.started = [&set] { set = {}; },
       .item = [&set](const Value& object) { set.Put(object); },
       .left_out = [&set](const Value& object, const kube::Fault&) { set.PutTooLarge(object); }});
  if (!listed) return tl::unexpected(listed.error());
  return set;
}

StoredPolicies StoredPoliciesOf(const schemas::Config& config, const Json& stored) {
  StoredPolicies found;
  const Json* data = json::FindPath(stored, {"data"});
  const std::string name = NamedConfigMap(stored);
  for (const std::string& file : config.policy_sources.files) {
    if (data == nullptr || !data->contains(file)) {
      found.elsewhere.push_back(file);
      continue;
    }
    found.texts.push_back({NamedKey(name, file), json::TextAt(*data, {file})});
  }
  return found;
}

std::string PolicyConfigMapsFault(const std::string& ns, const kube::Fault& fault) {
  std::string text = "policies.configMaps is true, and the ConfigMaps of namespace " + ns +
                     " cannot be listed: " + fault.message;
  if (fault.reason == kube::Reason::kForbidden) {
    text += "; allow get, list and watch of configmaps there, as the chart does";
  }
  return text;
}

}  // namespace mindgate::offline
