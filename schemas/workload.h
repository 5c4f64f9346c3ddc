#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "json/arena.h"
#include "json/value.h"
#include "schemas/field_view.h"
#include "schemas/kinds.h"
#include "schemas/npu.h"
#include "schemas/pod_groups.h"
#include "schemas/raw_objects.h"
#include "schemas/scaling_rule.h"
#include "schemas/site_kinds.h"

// A workload view answers the same questions for every kind: which pod templates an object holds,
// where their labels, annotations, pod spec and containers are, how many pods they make and how
// those pods are grouped into PodGroups. Rules and mutators read views; only what is true of a
// single kind asks for the kind. What many of them ask is worked out once, when the view is made;
// from then on it never changes, and many threads may read it. A view points into the object's tree
// and lives no longer than it; its own texts and rows are in its arena.
namespace mindgate::schemas {

// A member whose type is not what the API says. The API server (or the controller's decoder) will
// refuse it.
struct WrongType {
  std::string_view path;
  std::string_view wanted;  // "string", "integer", "object", "list"
  const json::Value* value = nullptr;
};

// What no real object reaches, and what a decision could not bear: rules look at every pair of
// templates, and a container of two bytes costs two hundred. An object that has more is refused as
// it is, and nothing else is said of it.
inline constexpr size_t kMaxTemplates = 1024;
inline constexpr size_t kMaxContainersOfPod = 256;
inline constexpr size_t kMaxContainers = 4096;  // of all templates
inline constexpr size_t kMaxNpuNames = 32;      // huawei.com/* names that one container requests
inline constexpr size_t kMaxWrongTypes = 1024;

struct Excess {
  std::string_view path;
  std::string_view what;  // "pod templates"
  size_t max = 0;
};

struct ContainerView {
  // kRunner: one that stands beside the list of containers, as in OME and KServe.
  enum class Role { kMain, kInit, kRunner };
  Role role = Role::kMain;
  std::string_view path;
  std::string_view name;  // empty when missing
  const json::Value* value = nullptr;
  FieldView env;
  // Its first entry named ASCEND_VISIBLE_DEVICES; null pointer when there is none.
  const json::Value* visible_devices = nullptr;
  bool env_has_both = false;  // an entry with value and valueFrom
  std::span<const NpuRequest> npus;

  bool RequestsNpus() const;
};

// The whole-card chips that one pod of a template asks for. Init containers do not count: the
// plugin ignores them.
struct PodChips {
  std::string_view resource;            // empty: no whole-card resource
  std::optional<int64_t> count;         // nothing when a count is not a whole number
  const NpuRequest* request = nullptr;  // the first that makes it up
  bool own = true;                      // false: only the OME runtime names it
};

// One of the roles or tasks that an object lists, or the object itself where it is a role (PodSet,
// InstanceSet).
struct PartView {
  std::string_view holder;      // path of the list; of the role's own spec when there is no list
  std::optional<size_t> index;  // in the list; nothing when there is none
  const json::Value* value = nullptr;  // an object

  std::string Path(std::string_view below = {}) const;
  // For messages, `what` being the part's noun: `role "prefill"`, `role 2`.
  std::string Title(std::string_view what) const;
};

// The restartPolicy with which the controller makes the pods of a template.
struct RestartPolicyView {
  Pointer holder;  // of the member
  // Nothing when none is written and the API server has no default for it.
  std::optional<std::string_view> value;
};

// One pod template, or one OME fragment from which OME makes a template.
struct PodTemplateView {
  std::string_view name;  // as its kind calls it: replica type, task, role, "leader", "engine",
                          // "engine.leader"; "" when there is just one
  std::string_view path;  // of the template or fragment
  size_t part = 0;        // which of the roles, tasks or replica specs holds it
  FieldView labels;       // OME leader and worker share their component's
  FieldView annotations;
  // Maps whose entries also reach these pods, nearest first (OME: the runtime's component, then the
  // service's metadata).
  std::span<const FieldView> inherited_labels;
  std::span<const FieldView> inherited_annotations;
  FieldView pod_spec;
  FieldView node_selector;
  std::string_view scheduler;  // spec.schedulerName of the template itself; empty when missing
  // False for an OME component that only tunes a runtime (no runner, containers or scheduler of its
  // own): scheduler and env then belong to the runtime.
  bool has_pod_spec = true;
  // A component on CPUs with its own template (OME router, AIBrix routing role).
  bool router = false;
  std::span<const ContainerView> containers;
  std::optional<int64_t>
      pods;  // in one PodGroup; nothing when the object does not say or says it wrongly
  std::optional<size_t> pod_group;  // index into WorkloadView::pod_groups; nothing when Volcano
                                    // does not group these pods
  // For an OME service, the same template in its runtime, if that is known.
  const PodTemplateView* runtime = nullptr;
  bool own_npus = false;  // a container here requests NPUs
  // The sign that another product than MindCluster hands out the NPUs of these pods: then none of
  // their requests counts. Null pointer: there is none.
  const ForeignSign* foreign = nullptr;
  PodChips chips;  // of the template, else of its runtime
  // vcjob, AscendJob: the job's spec.schedulerName, where its controller gives it to these pods;
  // else empty.
  std::string_view job_scheduler;
  RestartPolicyView restart_policy;
  // What the controller writes into the annotation volcano.sh/task-spec (vcjob, AscendJob).
  std::optional<std::string_view> task;

  // Whole cards, virtual NPUs or a misspelling of their names, its runtime's included; other
  // huawei.com/* devices do not count.
  bool RequestsNpus() const { return own_npus || (runtime != nullptr && runtime->RequestsNpus()); }
  // The effective value among own and inherited maps; nothing when absent or not a string.
  std::optional<std::string_view> Label(std::string_view key) const;
  std::optional<std::string_view> Annotation(std::string_view key) const;
  // The scheduler of these pods as the object (template, else job or runtime) says; empty when
  // missing.
  std::string_view SchedulerName() const;
};

// Pods that the scheduler treats as one job.
struct PodGroupView {
  PodGroupOwner owner;
  std::string_view name;              // for people: "one PodSet of role prefill"
  std::span<const size_t> templates;  // indexes into WorkloadView::templates
  // AscendJob, vcjob, InstanceSet: the PodGroup copies the object's own metadata at creation.
  std::optional<FieldView> labels;
  std::optional<FieldView> annotations;
  std::optional<int64_t> min_member;  // nothing when it depends on what the object does not show
  int64_t copies = 1;                 // of a kind of mindgate.yaml: such PodGroups of one object
  bool npus = false;                  // a template requests NPUs, its runtime's included
  // Of all maps whose entries the group or its pods carry.
  KeyFilter label_keys;
  KeyFilter annotation_keys;

  const PodGroupFacts& facts() const { return FactsOf(owner); }
};

// One place in a PodGroup that carries a label or annotation.
struct LabelOccurrence {
  const FieldView* map = nullptr;  // of the view, which outlives it
  std::string_view key;
  const json::Value* value = nullptr;
  // It is in the runtime of an InferenceService, and the path is in that object.
  bool in_runtime = false;

  std::string Path() const;  // pointer of the entry
};

struct WorkloadView;

// Every place of a group (its PodGroup's metadata first, then templates, each map once) that
// carries a key, found one after the other: for a range-based for. Lives no longer than the view.
class LabelOccurrences {
 public:
  enum class Maps { kLabels, kAnnotations };

  LabelOccurrences(const WorkloadView& view, const PodGroupView& group, Maps maps,
                   std::string_view key);

  class Iterator {
   public:
    explicit Iterator(const LabelOccurrences& all) : all_(all) { Advance(); }
    const LabelOccurrence& operator*() const { return found_; }
    Iterator& operator++() {
      Advance();
      return *this;
    }
    bool operator==(std::default_sentinel_t) const { return found_.value == nullptr; }

   private:
    void Advance();

    const LabelOccurrences& all_;
    size_t next_ = 0;  // 0 is the PodGroup's metadata, then come the templates
    LabelOccurrence found_;
  };
  Iterator begin() const { return Iterator(*this); }
  std::default_sentinel_t end() const { return {}; }

 private:
  LabelOccurrence OfGroup() const;
  LabelOccurrence OfTemplate(size_t index) const;

  const WorkloadView& view_;
  const PodGroupView& group_;
  const Maps maps_;
  const std::string_view key_;
  const size_t count_;  // of places to look at
};

struct OwnerView {
  std::string_view group;
  std::string_view kind;
  std::string_view name;
};

struct WorkloadView {
  std::unique_ptr<json::Arena> arena;
  const json::Value* object = nullptr;
  Kind kind = Kind::kPod;
  const KindInfo* site_kind = nullptr;  // its row, of a kind of mindgate.yaml
  Framework framework = Framework::kPod;
  std::string_view name;  // may be empty (generateName)
  std::string_view ns;  // of the object; empty for cluster scope or when only the request knows it
  FieldView labels;     // metadata.labels
  FieldView annotations;                // metadata.annotations
  std::optional<OwnerView> controller;  // the owner reference with controller: true
  bool controller_injected = false;     // that owner's kind makes this one: Makes
  bool being_deleted = false;
  // The spec that lists roles, tasks or replica specs and has what they share: /spec, or the one
  // below the template of a set or CronJob. Other kinds have none.
  FieldView spec;
  bool is_set = false;  // StormService, InferServiceSet: spec.replicas copies of what it describes
  std::span<const PartView> parts;  // roles, tasks
  std::vector<PodTemplateView> templates;
  std::vector<PodGroupView> pod_groups;
  std::vector<WrongType> wrong_types;
  std::optional<Excess> excess;  // then templates and groups are left out
  // Of a ConfigMap that holds one, read once.
  std::optional<ScalingRuleReading> scaling_rule;
  std::optional<RankTable> rank_table;
  std::shared_ptr<const WorkloadView> runtime;  // of an InferenceService, when it is known
  bool npus = false;                            // a template requests NPUs
  // The label and annotation maps of this object that reach its pods or PodGroups, each once;
  // metadata that reaches neither is not among them.
  std::span<const FieldView* const> reaching_labels;
  std::span<const FieldView* const> reaching_annotations;
  // Of all maps whose entries pods or PodGroups carry, a runtime's included.
  KeyFilter label_keys;
  KeyFilter annotation_keys;

  const KindInfo& info() const { return site_kind != nullptr ? *site_kind : InfoOf(kind); }
  // The template of that role, task or replica spec; null pointer when it has none.
  const PodTemplateView* TemplateOf(size_t part) const;
  bool RequestsNpus() const { return npus; }
  // An InferenceService: what it leaves out, a runtime may say.
  bool UsesRuntime() const { return kInferenceServices.Has(kind); }
  bool LacksRuntime() const { return UsesRuntime() && runtime == nullptr; }
  // A pod that a controller made.
  bool IsOwnedPod() const { return kPods.Has(kind) && controller.has_value(); }
  // Requests NPUs, names an OME runtime that does, or says so with mindgate.io/inject: enabled.
  bool IsNpuWorkload() const;
  std::optional<std::string_view> Label(std::string_view key) const;  // of the object itself
  std::optional<std::string_view> Annotation(std::string_view key) const;

  // The places of the group that carry the key.
  LabelOccurrences GroupLabels(const PodGroupView& group, std::string_view key) const {
    return {*this, group, LabelOccurrences::Maps::kLabels, key};
  }
  LabelOccurrences GroupAnnotations(const PodGroupView& group, std::string_view key) const {
    return {*this, group, LabelOccurrences::Maps::kAnnotations, key};
  }
};

struct ViewOptions {
  bool read_texts = true;  // false, for those who evaluate nothing: no scaling rule, no rank table
  // Volcano's name beside its own: config.scheduler.
  std::string_view scheduler = "volcano";
  // Names of NPU resources of the site: config.npu_resources.
  std::span<const NpuResourceRow> npu_resources = {};
  // The kinds of the site: config.kinds, a copy of which outlives the view.
  SiteKinds kinds = {};
};

// Builds the view of one object. Nothing when its kind is neither ours nor the site's, or it is a
// ConfigMap that holds neither a scaling rule nor a rank table. `runtime` is the view of the
// runtime that an InferenceService names, when known; it must outlive nothing: the view shares it.
// Null, missing and wrongly typed members become `wrong_types` or are left out; no input makes it
// fail.
std::optional<WorkloadView> BuildView(const json::Value& object,
                                      std::shared_ptr<const WorkloadView> runtime = nullptr,
                                      const ViewOptions& options = {});

// The runtime an InferenceService names: spec.runtime.{name,kind}; kind defaults to
// ClusterServingRuntime.
struct RuntimeReference {
  Kind kind;
  std::string_view name;

  bool namespaced() const { return kind == Kind::kServingRuntime; }
};
std::optional<RuntimeReference> RuntimeOf(const json::Value& inference_service);

// True when `scheduler` counts as unset: missing, or what the API server writes into built-in
// kinds.
inline bool IsDefaultScheduler(const KindInfo& kind, std::string_view scheduler) {
  return scheduler.empty() || (kind.built_in && scheduler == "default-scheduler");
}

// Environment variables of containers, also where OME merges a service's container over its
// runtime's.

// The first entry of an env list with that name; null pointer when there is none.
const json::Value* FindEnv(const json::Value* env, std::string_view name);

// The container of `pod` with the same role and name; null pointer when there is none. A runner
// has no name that counts.
const ContainerView* SameContainer(const PodTemplateView& pod, const ContainerView& container);
// The container of the runtime that this one is merged over; null pointer when there is none or it
// is not known.
const ContainerView* RuntimeTwin(const PodTemplateView& pod, const ContainerView& container);

// Labels and annotations that stand side by side and reach neither pods nor a PodGroup.
struct UnreadMetadata {
  FieldView labels;
  FieldView annotations;
  // Of the one template that they are written for; nothing when they are for all of the object.
  std::optional<size_t> pod_template{};
};

// All of the object, those for all of it first.
std::vector<UnreadMetadata> UnreadMetadataOf(const WorkloadView& view);

}  // namespace mindgate::schemas
