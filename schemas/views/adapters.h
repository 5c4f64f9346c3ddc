#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>

#include "schemas/workload.h"

// One adapter for each family of kinds: finds its pod templates and how their pods are grouped.
// Only schemas/workload.cc calls these.
namespace mindgate::schemas::views {

// Reads members with their types checked, and adds templates and groups to the view.
class Builder {
 public:
  explicit Builder(WorkloadView& view) : view_(view) {}

  WorkloadView& view() { return view_; }
  const json::Value& object() const { return *view_.object; }

  // Member `key` of `parent`, which is at `path`. Null pointer when absent or null; a member of
  // another type is recorded as a WrongType and left out.
  const json::Value* Object(const json::Value* parent, std::string_view path, std::string_view key);
  const json::Value* List(const json::Value* parent, std::string_view path, std::string_view key);
  // Whether a list (roles, tasks) or an object (replica specs), each part of which may hold a
  // template, has more of them than are handled; the view then says so.
  bool HasTooMany(const json::Value* parts, std::string_view path, std::string_view key);
  std::optional<int64_t> Int(const json::Value* parent, std::string_view path,
                             std::string_view key);
  // An integer for which the kind's controller or schema takes `by_default` when it is absent.
  // Nothing only when it is there and no integer.
  std::optional<int64_t> Count(const json::Value* parent, std::string_view path,
                               std::string_view key, int64_t by_default);
  std::string_view String(const json::Value* parent, std::string_view path, std::string_view key);
  // A map of strings (labels, annotations, nodeSelector): also checks each value.
  Place StringMap(const json::Value* parent, std::string_view path, std::string_view key);

  // A PodTemplateSpec at `path`: metadata and spec. `pod_template` may be null: then a template
  // without containers is added, since pods are made all the same. The reference holds until the
  // next call.
  PodTemplateView& AddTemplate(std::string name, std::string path, const json::Value* pod_template);

  // Reads containers and init containers (and OME's runner) of the pod spec at `path` into `pod`.
  void ReadPodSpec(PodTemplateView& pod, std::string path, const json::Value* spec);

  // The view holds more than is handled. The first time counts.
  void AddExcess(std::string path, std::string_view what, size_t max);

  // Records one member of the wrong type, once.
  void AddWrongType(std::string path, std::string_view wanted, const json::Value& value);

  // Groups the templates (indexes); sets their pod_group.
  PodGroupView& AddGroup(PodGroupOwner owner, std::string name, std::vector<size_t> templates);

 private:
  const json::Value* Typed(const json::Value* parent, std::string_view path, std::string_view key,
                           bool (*has_type)(const json::Value&), std::string_view wanted);
  void ReadContainers(PodTemplateView& pod, std::string_view path, const json::Value* spec,
                      std::string_view key, ContainerView::Role role);
  void ReadEnv(const Place& env);
  void AddContainer(PodTemplateView& pod, std::string path, const json::Value& container,
                    ContainerView::Role role);

  WorkloadView& view_;
  std::unordered_set<const json::Value*> wrong_;
  size_t containers_ = 0;
};

void ReadNative(Builder& builder);
void ReadVolcanoJob(Builder& builder);
void ReadAscendJob(Builder& builder);
void ReadLeaderWorkerSet(Builder& builder);
void ReadOme(Builder& builder);
void ReadAibrix(Builder& builder);
void ReadInferOperator(Builder& builder);

// A scaling rule (data key elastic_scaling.json) or a rank table (name rings-config-*).
bool IsOurConfigMap(const json::Value& object, std::string_view name);

}  // namespace mindgate::schemas::views
