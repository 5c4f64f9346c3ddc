#pragma once

#include <array>
#include <initializer_list>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_set>

#include "schemas/workload.h"

namespace mindgate::schemas::views {

// What the adapters share: an adapter finds the pod templates of its kinds and how their pods are
// grouped. schemas/kinds.h names the adapter of each kind.

// Reads members with their types checked, and adds templates and groups to the view.
class Builder {
 public:
  Builder(WorkloadView& view, const ViewOptions& options) : view_(view), options_(options) {}

  const ViewOptions& options() const { return options_; }
  // The object concerns nobody here, whatever its kind: it has no view.
  void Decline() { declined_ = true; }
  bool declined() const { return declined_; }

  WorkloadView& view() { return view_; }
  const json::Value& object() const { return *view_.object; }

  // Member `key` of `parent`, which is at `path`. Null pointer when absent or null; a member of
  // another type is recorded as a WrongType and left out.
  const json::Value* Object(const json::Value* parent, const Pointer& path, std::string_view key);
  const json::Value* List(const json::Value* parent, const Pointer& path, std::string_view key);
  // Member `key` of `parent`, at `path` with it, is the view's `spec`, whatever its type.
  void SetSpec(const json::Value* parent, std::string_view key, std::string_view path);
  // Makes the objects of the list at `path` the parts of the view.
  void AddParts(const json::Value& list, std::string_view path);
  // The object at `path` is its only part.
  void AddOnlyPart(const json::Value* value, std::string_view path);
  // Whether a list (roles, tasks) or an object (replica specs), each part of which may hold a
  // template, has more of them than are handled; the view then says so. Else there is room for
  // all of them.
  bool HasTooMany(const json::Value* parts, const Pointer& path, std::string_view key);
  std::optional<int64_t> Int(const json::Value* parent, const Pointer& path, std::string_view key);
  // An integer for which the kind's controller or schema takes `by_default` when it is absent.
  // Nothing only when it is there and no integer.
  std::optional<int64_t> Count(const json::Value* parent, const Pointer& path, std::string_view key,
                               int64_t by_default);
  std::string_view String(const json::Value* parent, const Pointer& path, std::string_view key);
  // A map of strings (labels, annotations, nodeSelector), which is `key` of `parent`, at `path`:
  // also checks each value.
  FieldView StringMap(const json::Value* parent, std::string_view key, const Pointer& path);

  // A PodTemplateSpec at `path`: metadata and spec. `pod_template` may be null: then a template
  // without containers is added, since pods are made all the same. The reference holds until the
  // next call.
  PodTemplateView& AddTemplate(std::string_view name, std::string_view path,
                               const json::Value* pod_template);

  // Reads the pod spec, whose path the template has already, with its containers and init
  // containers. `runner` is a member that is a container of its own; empty: there is none.
  void ReadPodSpec(PodTemplateView& pod, const json::Value* spec, std::string_view runner = {});

  // The view holds more than is handled. The first time counts.
  void AddExcess(std::string_view path, std::string_view what, size_t max);

  // Records one value of the wrong type, once.
  void AddWrongType(const Pointer& path, std::string_view wanted, const json::Value& value);

  // Groups the templates (indexes); sets their pod_group.
  PodGroupView& AddGroup(PodGroupOwner owner, std::string_view name,
                         std::span<const size_t> templates);

  // Texts in the view's arena.
  std::string_view Text(std::initializer_list<std::string_view> parts);
  std::string_view Child(std::string_view path, std::string_view key);
  // "PATH/INDEX" and what is below that.
  std::string_view Item(std::string_view path, size_t index, std::string_view below = {});
  // The name, or "role 3" for one without.
  std::string_view NameOr(std::string_view name, std::string_view what, size_t index);
  // A row of places, for what a template inherits.
  std::span<const FieldView> Row(std::initializer_list<const FieldView*> places);

 private:
  const json::Value* Typed(const json::Value* parent, const Pointer& path, std::string_view key,
                           bool (*has_type)(const json::Value&), std::string_view wanted);
  // The same of member `key` of what is at `path`.
  void AddWrongMember(const Pointer& path, std::string_view key, std::string_view wanted,
                      const json::Value& value);
  void ReadContainers(PodTemplateView& pod, const Pointer& path, const json::Value* spec,
                      std::string_view key, ContainerView::Role role);
  void ReadEnv(ContainerView& container);
  // Whether no further wrong type is recorded. Then not even its path is built: it would cost more
  // than the member, of which there may be any number.
  bool IsFull() const { return view_.excess && view_.wrong_types.size() == kMaxWrongTypes; }
  void AddContainer(PodTemplateView& pod, std::string_view path, const json::Value& container,
                    ContainerView::Role role);

  // Whose NPUs a template asks for, when they are not MindCluster's; its requests then count no
  // more.
  const ForeignSign* SignIn(const PodTemplateView& pod) const;
  bool IsOfSite(std::string_view resource) const;
  void LeaveNpusToOthers(PodTemplateView& pod);

  WorkloadView& view_;
  const ViewOptions& options_;
  bool declined_ = false;
  std::unordered_set<const json::Value*> wrong_;
  size_t containers_ = 0;
  std::span<ContainerView> row_;  // of the template that is read
};

// For AddGroup: the only template.
inline constexpr std::array<size_t, 1> kFirst = {0};

}  // namespace mindgate::schemas::views
