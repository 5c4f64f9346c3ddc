#pragma once

#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>
#include <vector>

#include "deploy/application.h"
#include "deploy/render.h"
#include "json/issues.h"
#include "schemas/field_types.h"

namespace mindgate::deploy {

using schemas::Field;
using schemas::Type;

// What Kubernetes accepts as names and values (k8s.io/apimachinery: pkg/util/validation).

// Limit of names that become host names, Service names or values of labels.
inline constexpr size_t kMaxLabel = 63;

// RFC 1035 label, as Services and InferenceServices are named: like a DNS-1123 label, with a letter
// in front.
bool IsDns1035Label(std::string_view text);
// Labels separated by dots, at most 253 characters.
bool IsDnsSubdomain(std::string_view text);
// Key of a label or annotation, or the name of an extended resource: "huawei.com/Ascend910".
bool IsQualifiedName(std::string_view text);
bool IsLabelValue(std::string_view text);
// Name of a variable of a container.
bool IsVariableName(std::string_view text);
// "name:tag", "host:5000/name:tag" or "name@sha256:..."; a name alone is none, since the image that
// it means changes from pull to pull.
bool IsPinnedImage(std::string_view text);

// An amount of memory or processors that is not negative: "500m", "1.5", "64Mi".
bool IsAmount(std::string_view text);

// The types of values that the tables of all frameworks share.

// Atlas A3 has the most NPUs: 16 (mindcluster-deploy: src/core/job_manager.py has the same limit).
inline constexpr int64_t kMaxNpus = 16;
// Of ranks in one dimension: more than any model is divided into.
inline constexpr int64_t kMaxSize = 4096;

// A map whose values must be written as strings: a number or a null would reach the cluster as
// something else than what stands in the file.
Type<StringMap> LabelMap();
Type<StringMap> AnnotationMap();
Type<Variables> VariableList();

Type<std::string> Image();         // with a tag or digest
Type<std::string> ResourceName();  // "huawei.com/Ascend910"
Type<std::string> ObjectName();    // a DNS subdomain
Type<std::string> AbsolutePath();
Type<std::string> LabelText();  // what becomes the value of a label
Type<ResourceSettings> ResourcesTable();

Type<std::string> Quantity();  // "500m", "4Gi"
Type<std::vector<Toleration>> TolerationList();
Type<std::vector<VolumeSettings>> VolumeList();

template <typename S>
std::vector<schemas::Key<S>> Joined(std::vector<schemas::Key<S>> keys,
                                    std::vector<schemas::Key<S>> more) {
  for (auto& key : more) keys.push_back(std::move(key));
  return keys;
}

// The keys of PodExtras, in words with '_' or, as AIBrix has them, with capitals. `access` gives
// the extras of an S.
template <typename S, typename Access>
std::vector<schemas::Key<S>> ExtraKeys(Access access, const ExtraNames& names) {
  return {{"tolerations", "Taints of nodes on which the pods may run all the same.",
           [access](S& s) -> auto& { return access(s).tolerations; }, TolerationList()},
          {names.image_pull_secrets, "Names of the Secrets with which images are pulled.",
           [access](S& s) -> auto& { return access(s).image_pull_secrets; },
           schemas::List(ObjectName())},
          {names.priority_class, "PriorityClass of the pods, which must exist.",
           [access](S& s) -> auto& { return access(s).priority_class; }, ObjectName()},
          {"volumes", "Volumes that the container sees besides those that mindgate mounts.",
           [access](S& s) -> auto& { return access(s).volumes; }, VolumeList()}};
}

// Memory and processors of the container of an S.
template <typename S>
schemas::Key<S> ResourcesKey(ResourceSettings S::* resources) {
  return {"resources", "Memory and processors of the container.", resources, ResourcesTable()};
}

// The keys of PodSettings, whose names differ between the formats.
template <typename S>
std::vector<schemas::Key<S>> PodKeys(PodSettings S::* pods, const std::string& node_selector,
                                     const ExtraNames& names = kSnakeNames) {
  std::vector<schemas::Key<S>> keys = {
      {"labels", "Labels of the pods, besides those that mindgate writes.",
       [pods](S& s) -> auto& { return (s.*pods).labels; }, LabelMap()},
      {"annotations", "Annotations of the pods.",
       [pods](S& s) -> auto& { return (s.*pods).annotations; }, AnnotationMap()},
      {node_selector, "Labels that a node must have.",
       [pods](S& s) -> auto& { return (s.*pods).node_selector; }, LabelMap()}};
  return Joined(std::move(keys),
                ExtraKeys<S>([pods](S& s) -> PodExtras& { return (s.*pods).extras; }, names));
}

// Reports a maximum below the minimum.
void CheckReplicas(int64_t min, std::optional<int64_t> max, const Field& field);

// The tables: the whole document of each framework.
const Type<Application>& OmeTable();
const Type<Application>& AibrixTable();
const Type<Application>& MindieTable();

// app_name, app_namespace, framework and patches.
std::vector<schemas::Key<Application>> CommonKeys();

// The configuration of an application, read.
struct Configuration {
  Application application;
  json::Json document;        // as it was written
  json::Positions positions;  // of its values
  json::Issues warnings;      // what is accepted and should be written differently
};

// Reads a configuration file: isvc-config.yaml or stormservice-config.yaml as mindcluster-deploy
// has them, or our own for MindIE Motor; YAML 1.2 with its core schema. `framework:` says which it
// is, else `fallback` (the variable SERVING_FRAMEWORK, empty when it is not set), else the block
// that is there. All faults at once, each with its place.
tl::expected<Configuration, json::Issues> ReadConfiguration(std::string_view text,
                                                            std::string_view fallback = {});

// The same for one document that was decoded already.
tl::expected<Configuration, json::Issues> ReadConfiguration(json::Json document,
                                                            json::Positions positions,
                                                            std::string_view fallback = {});

// The JSON Schema (draft 7) of the configuration of a framework.
schemas::OrderedJson ConfigurationSchema(Framework framework);

}  // namespace mindgate::deploy
