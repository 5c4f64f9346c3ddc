#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "schemas/config.h"
#include "schemas/request.h"
#include "schemas/workload.h"

namespace mindgate::schemas {

// What the NPU plugin of volcano-scheduler reads from one PodGroup and its pods: labels and node
// selectors of all pods merged, annotations of the PodGroup or else of one arbitrary pod, chips
// summed per pod (mind-cluster: component/ascend-for-volcano/plugin/job.go). Nothing here allocates
// until text is asked for.

// One entry of a label, annotation or selector map, found but not yet spelled out. Lives as long as
// the view.
struct Entry {
  const json::Value* value = nullptr;  // null pointer: no such entry
  const Pointer* map = nullptr;
  std::string_view key;

  explicit operator bool() const { return value != nullptr; }
  std::optional<std::string_view> Text() const { return json::AsString(value); }
  std::string Path() const;  // where it is, or where it belongs when it comes from an OME runtime
};

Entry LabelEntry(const PodTemplateView& pod, std::string_view key);
Entry AnnotationEntry(const PodTemplateView& pod, std::string_view key);
// Of spec.nodeSelector. OME merges the runtime's selectors below the service's own.
Entry SelectorEntry(const WorkloadView& view, const PodTemplateView& pod, std::string_view key);

// A label or selector merged over all pods of a group: values that differ ignoring case are joined
// with '|', and the result matches nothing that the plugin compares it with.
struct Merged {
  Entry first;
  Entry other;  // a second value, when there is one

  explicit operator bool() const { return static_cast<bool>(first); }
  bool joined() const { return static_cast<bool>(other); }
  // The value when there is just one and it is a string.
  std::optional<std::string_view> Text() const { return joined() ? std::nullopt : first.Text(); }
  std::string Joined() const;  // as the plugin sees it: "a|b"
};

Merged GroupLabel(const WorkloadView& view, const PodGroupView& group, std::string_view key);
Merged GroupSelector(const WorkloadView& view, const PodGroupView& group, std::string_view key);

// An annotation as the plugin sees it. `agreed` is false when the PodGroup has none and its
// templates differ: then it depends on which pod the plugin picks.
struct GroupAnnotation {
  Entry entry;
  bool agreed = true;
};

GroupAnnotation ReadGroupAnnotation(const WorkloadView& view, const PodGroupView& group,
                                    std::string_view key);
// Where that annotation belongs: the PodGroup's source when the object holds it, else the first
// template.
std::string GroupAnnotationPath(const WorkloadView& view, const PodGroupView& group,
                                std::string_view key);

// Where to point for the chips of a template.
std::string ChipsPath(const PodTemplateView& pod, const PodChips& chips);

// How far the object alone shows what the plugin will see.
enum class Visibility {
  kAll,      // the group's labels, annotations and pods are what this object says
  kPresent,  // what is here counts, but more may come from elsewhere (an OME runtime, an
             // accelerator class)
  kPartial,  // what is here may be overridden or is one pod of many
};

Visibility VisibilityOf(const WorkloadView& view, const PodGroupView& group);

// Who places pods: the scheduler that they name once mindgate has written what it writes.

// Why its owner declines injection, as a clause for people: by the label of the object, by its
// namespace or in the configuration. Empty when it does not, or `opted_in` overrides the namespace.
std::string_view WhyInjectionIsDeclined(const WorkloadView& view, const AdmissionRequest& request,
                                        const Config& config, bool opted_in);

// Nobody completes this object: its label, its namespace or the configuration declines injection,
// or switches off the mutator of that name. The label of the object comes first.
bool IsInjectionOff(const WorkloadView& view, const AdmissionRequest& request, const Config& config,
                    std::string_view mutator);

// Volcano's name as it should be, when that was meant by a name that nearly is; nothing for names
// with something behind it, such as "volcano-2", which may be another instance.
std::optional<std::string_view> MeantScheduler(std::string_view scheduler, const Config& config);

// Whether the pods go to the default scheduler, and injection does not change that. An AscendJob's
// own controller names Volcano for its pods, and a component without a pod spec of its own leaves
// the name to its runtime.
bool IsLeftToDefault(const WorkloadView& view, const PodTemplateView& pod,
                     const AdmissionRequest& request, const Config& config);

// Whether Volcano places these pods: true for it under its own or the configured name or a
// misspelling of either, and for an unset scheduler where injection fills it in.
bool IsPlacedByVolcano(const WorkloadView& view, const PodTemplateView& pod,
                       const AdmissionRequest& request, const Config& config);

}  // namespace mindgate::schemas
