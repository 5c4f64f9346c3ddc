#include <algorithm>
#include <array>
#include <vector>

#include "base/text.h"
#include "json/pointer.h"
#include "policies/families.h"
#include "policies/text_entries.h"
#include "schemas/names.h"
#include "schemas/workload.h"

namespace mindgate::policies::common {
namespace {

using json::Value;
using schemas::FieldView;
using schemas::PodTemplateView;
using schemas::WorkloadView;

// --- annotations that components write ---

constexpr std::array<std::string_view, 16> kSchedulerOwned = {
    schemas::kAscendReal,
    "huawei.com/kltDev",
    "huawei.com/pod-status",
    schemas::kRankIndex,
    "predicate-time",
    "distributed-job",
    "super-pod-rank",
    "super-pod-id",
    "ascend.kubectl.kubernetes.io/ascend-910-configuration",
    "ascend.kubectl.kubernetes.io/ascend-npu-configuration",
    "inHotSwitchFlow",
    "backupNewPodName",
    "backupSourcePodName",
    "needOperatorOpe",
    schemas::kNeedVolcanoOpe,
    schemas::kPodGroupAnnotation,
};

std::string EffectOf(std::string_view key) {
  if (key == schemas::kPodGroupAnnotation) {
    return " is written by the controller that creates the PodGroup: with it Volcano creates none "
           "for these pods, and they wait for the PodGroup that it names";
  }
  if (schemas::ClassifyResource(key) != schemas::NpuResource::kOther) {
    return " is where the scheduler writes the chips it chose: until then containers would see "
           "chips of other pods";
  }
  return " is written by MindCluster while the pod runs: a value set beforehand is overwritten, or "
         "misleads rescheduling and rank tables";
}

// Whether the pods join a PodGroup of the user's own, which is known here.
bool JoinsOwnPodGroup(const RuleContext& context, const FieldView& annotations) {
  const auto name = json::AsString(annotations.Find(schemas::kPodGroupAnnotation));
  const schemas::ObjectLookup* objects = context.request.objects;
  return name && objects != nullptr &&
         objects->Find("scheduling.volcano.sh", "PodGroup", context.ns(), *name) != nullptr;
}

void CheckOwnedIn(const RuleContext& context, const FieldView& annotations, Findings& findings) {
  const auto report = [&](std::string_view key) {
    std::string fix = "remove the annotation " + std::string(key);
    if (key == schemas::kPodGroupAnnotation) fix += ", or create the PodGroup that it names";
    findings.Violate(annotations.path.Child(key), std::string(key) + EffectOf(key), std::move(fix));
  };
  for (std::string_view key : kSchedulerOwned) {
    if (annotations.Find(key) == nullptr) continue;
    if (key == schemas::kPodGroupAnnotation && JoinsOwnPodGroup(context, annotations)) continue;
    report(key);
  }
  if (annotations.value == nullptr) return;
  for (const auto& [name, value] : annotations.value->MembersFrom(schemas::kResourcePrefix)) {
    if (!name.starts_with(schemas::kResourcePrefix)) break;
    if (schemas::ClassifyResource(name) != schemas::NpuResource::kOther) report(name);
  }
}

// --- keys that only resemble one ---

using Where = schemas::KeyWhere;
using schemas::KeyFact;

// Keys of Volcano that look right and that no component reads.
constexpr std::string_view kDeadQueue = "scheduling.volcano.sh/queue";
constexpr KeyFact kQueueName = {.key = "scheduling.volcano.sh/queue-name",
                                .where = Where::kAnnotation,
                                .place = {},
                                .values = {},
                                .reader = {},
                                .effect = {}};

// What the shares of a chip were called before MindCluster had labels with its domain.
struct OldName {
  std::string_view old;
  std::string_view now;
};
constexpr std::string_view kOldShare = "scheduler-share-";
constexpr std::array<OldName, 3> kOldShares = {{
    {"scheduler-share-aicore-quota", "huawei.com/scheduler.softShareDev.aicoreQuota"},
    {"scheduler-share-hbm-quota", "huawei.com/scheduler.softShareDev.hbmQuota"},
    {"scheduler-share-scheduling-policy", "huawei.com/scheduler.softShareDev.policy"},
}};

bool IsNearScalingDomain(std::string_view prefix) {
  static const schemas::NormalizedKey domain("mindcluster");
  return prefix.size() <= schemas::NormalizedKey::kMax &&
         schemas::NormalizedKey(prefix).Resembles(domain, 1);
}

// A key that is guessed at, with its name in the form in which names are compared.
struct Guessed {
  const KeyFact* fact;
  schemas::NormalizedKey word;
};

std::span<const Guessed> GuessedKeys() {
  static const std::vector<Guessed> guessed = [] {
    std::vector<Guessed> keys;
    for (const KeyFact& fact : schemas::KeyFacts()) {
      if (fact.near.typos < 0) continue;
      keys.push_back({&fact, schemas::NormalizedKey(schemas::SplitOf(fact.key).name)});
    }
    return keys;
  }();
  return guessed;
}

// The known key that was meant; null pointer when none is near, or the key is right as it is.
const KeyFact* MeantBy(std::string_view key, Where where, bool ascend_job) {
  if (key == kDeadQueue) return &kQueueName;
  if (key.starts_with(kOldShare)) {
    for (const OldName& name : kOldShares) {
      if (name.old == key) return schemas::KeyNamed(name.now);
    }
  }
  for (const Guessed& each : GuessedKeys()) {
    if (each.fact->key != key) continue;
    const bool right = each.fact->where == where || (each.fact->near.of_job && !ascend_job);
    return right ? nullptr : each.fact;
  }
  const schemas::SplitKey split = schemas::SplitOf(key);
  if (split.name.size() > schemas::NormalizedKey::kMax) return nullptr;
  // A key of somebody else's domain is theirs.
  const bool ours = schemas::IsMindClusterKey(split);
  const bool of_scaling = !ours && ascend_job && IsNearScalingDomain(split.prefix);
  if (!ours && !of_scaling) return nullptr;
  const schemas::NormalizedKey word(split.name);
  for (const Guessed& each : GuessedKeys()) {
    const schemas::KeyNearMiss& near = each.fact->near;
    if (near.only_moved || near.of_job != of_scaling) continue;
    if (near.needs_prefix && split.prefix.empty()) continue;
    if (word.Resembles(each.word, near.typos)) return each.fact;
  }
  return nullptr;
}

std::string_view NameOf(Where where) { return schemas::KeyWhereName(where); }

void CheckKeysOf(const WorkloadView& view, const FieldView& map, Where where, size_t& budget,
                 Findings& findings) {
  if (map.value == nullptr) return;
  const bool ascend_job = view.framework == schemas::Framework::kAscendJob ||
                          view.framework == schemas::Framework::kMindIE;
  for (const auto& [key, value] : map.value->members()) {
    if (budget == 0) return;
    --budget;
    const KeyFact* meant = MeantBy(key, where, ascend_job);
    if (meant == nullptr) continue;
    // Somebody's own annotation of that name beside the label.
    if (meant->near.only_moved && view.labels.Find(meant->key) != nullptr) continue;
    const bool misplaced = meant->key == key;
    findings.Violate(map.path.Child(key),
                     misplaced ? std::string(key) + " is " +
                                     (where == Where::kLabel ? "a label" : "an annotation") +
                                     " here, but it is read as " +
                                     (meant->where == Where::kLabel ? "a label" : "an annotation") +
                                     ": it has no effect"
                               : "no component reads " + Quote(key) + ", did you mean " +
                                     Quote(meant->key) + "? As it is, it has no effect",
                     misplaced ? "move it to the " + std::string(NameOf(meant->where)) + "s"
                               : "write the " + std::string(NameOf(meant->where)) + " " +
                                     std::string(meant->key));
  }
}

// --- metadata that reaches neither pods nor PodGroup ---

constexpr std::array<std::string_view, 5> kFaultLabels = {
    schemas::kFaultScheduling, schemas::kPodRescheduling, schemas::kFaultRetryTimes,
    schemas::kSubHealthyStrategy, schemas::kProcessRecover};
constexpr std::array<std::string_view, 7> kPlacementAnnotations = {
    schemas::kMinAvailable,   schemas::kRecoverPolicyPath,
    schemas::kSchedulePolicy, schemas::kSpBlock,
    schemas::kSpFit,          schemas::kRaBlock,
    schemas::kAffinityConfig};

// Volcano's pg-controller takes the queue from the pod (volcano:
// pkg/controllers/podgroup/pg_controller_handler.go, buildPodGroupFromPod). LeaderWorkerSets also
// have one on their metadata, and for OME there is ome-volcano-queue.
constexpr schemas::KindSet kQueuedByPod =
    schemas::kPlainSets | schemas::kBatchJobs | schemas::kAibrixWithRoles;
constexpr std::array<std::string_view, 1> kQueueNames = {kQueueName.key};

// Where the kind's pods take these from, as people write field paths.
std::string LivePlaceOf(const WorkloadView& view, Where where) {
  std::string place(view.info().pod_metadata);
  return place.replace(place.find('*'), 1, where == Where::kLabel ? "labels" : "annotations");
}

// "; a copy is in spec.engineConfig.labels and spec.decoderConfig.labels" for what already stands
// where it counts, with the same value; what the pods carry instead when that differs.
std::string Elsewhere(const WorkloadView& view, Where where, std::string_view key,
                      const Value& value) {
  std::vector<std::string> copies;
  for (const PodTemplateView& pod : view.templates) {
    const FieldView& map = where == Where::kLabel ? pod.labels : pod.annotations;
    const Value* carried = map.Find(key);
    if (carried == nullptr) continue;
    const std::string field = json::FieldPath(*view.object, map.path.Text());
    if (*carried != value) {
      const auto text = json::AsString(carried);
      return "; its pods carry " + (text ? Quote(*text) : "another value") + " from " + field;
    }
    if (copies.empty() || copies.back() != field) copies.push_back(field);
    if (copies.size() == 3) break;  // enough to see where it went
  }
  return copies.empty() ? "" : "; a copy is in " + Join(copies, " and ");
}

std::string FixOfDeadEntry(const WorkloadView& view, Where where, std::string_view key) {
  const std::string place = LivePlaceOf(view, where);
  // There it would make the scheduler refuse pods that ask for no super pod.
  if (key == schemas::kSpBlock && schemas::kOmeRuntimes.Has(view.kind)) {
    return "remove it, or move it to the " + place +
           ", whichever run on super pods and have chips that it divides";
  }
  return "move it to " + place;
}

void CheckDeadMap(const WorkloadView& view, const FieldView& map, Where where,
                  std::span<const std::string_view> keys, Findings& findings) {
  for (std::string_view key : keys) {
    const Value* value = map.Find(key);
    if (value == nullptr) continue;
    findings.Violate(map.path.Child(key),
                     std::string(key) + " does not reach any pod from here" +
                         Elsewhere(view, where, key, *value) + ": " +
                         json::FieldPath(*view.object, map.path.Text()) + " of " +
                         std::string(view.info().name) +
                         " are not copied to pods or their PodGroup",
                     FixOfDeadEntry(view, where, key));
  }
}

// The operator decides on retries by the job's own label, the scheduler also by those of the pods.
void CheckRetriesOnTemplateOnly(const WorkloadView& view, Findings& findings) {
  if (view.labels.Find(schemas::kFaultRetryTimes) != nullptr) return;
  for (const PodTemplateView& pod : view.templates) {
    if (pod.labels.Find(schemas::kFaultRetryTimes) == nullptr) continue;
    findings.Violate(pod.labels.path.Child(schemas::kFaultRetryTimes),
                     "fault-retry-times is only on the pod template: ascend-operator reads it on "
                     "the AscendJob and fails the job at the first failed pod",
                     "write fault-retry-times in metadata.labels of the AscendJob");
  }
}

bool MayMisspell(const WorkloadView& view) {
  return view.IsNpuWorkload() || schemas::kOmeKinds.Has(view.kind) ||
         (schemas::kAscendJobs | schemas::kPodGroups).Has(view.kind);
}

void CheckSchedulerOwned(const RuleContext& context, Findings& findings) {
  const WorkloadView& view = context.view;
  // Once a pod is bound it carries them rightly, and so do the pods that an operator makes.
  if (MayBeBound(context)) return;
  const Value* last = nullptr;
  for (const PodTemplateView& pod : view.templates) {
    if (pod.annotations.value == nullptr || pod.annotations.value == last) continue;
    last = pod.annotations.value;
    CheckOwnedIn(context, pod.annotations, findings);
  }
}

void CheckMisspelledKeys(const RuleContext& context, Findings& findings) {
  const WorkloadView& view = context.view;
  if (!MayMisspell(view)) return;
  size_t budget = schemas::kMaxComparedKeys;
  const auto check = [&](std::span<const FieldView* const> maps, const FieldView& own,
                         Where where) {
    for (const FieldView* map : maps) CheckKeysOf(view, *map, where, budget, findings);
    const bool has_own = std::any_of(maps.begin(), maps.end(),
                                     [&](const FieldView* map) { return map->value == own.value; });
    if (!has_own) CheckKeysOf(view, own, where, budget, findings);
  };
  check(view.reaching_labels, view.labels, Where::kLabel);
  check(view.reaching_annotations, view.annotations, Where::kAnnotation);
}

void CheckUnreachable(const RuleContext& context, Findings& findings) {
  const WorkloadView& view = context.view;
  // Controllers copy labels to the metadata of what they make as well as to its template.
  if (view.controller_injected) return;
  for (const schemas::UnreadMetadata& dead_end : schemas::UnreadMetadataOf(view)) {
    CheckDeadMap(view, dead_end.labels, Where::kLabel, kFaultLabels, findings);
    CheckDeadMap(view, dead_end.annotations, Where::kAnnotation, kPlacementAnnotations, findings);
    if (kQueuedByPod.Has(view.kind) && view.RequestsNpus()) {
      CheckDeadMap(view, dead_end.annotations, Where::kAnnotation, kQueueNames, findings);
    }
  }
  if (schemas::kAscendJobs.Has(view.kind)) CheckRetriesOnTemplateOnly(view, findings);
}

constexpr Rule kFaultPlacementRules[] = {
    {.id = "MG066",
     .name = "scheduler-owned-annotations",
     .severity = Severity::kWarning,
     .default_mode = Mode::kWarn,
     .kinds = schemas::kWorkloads,
     .summary = "A pod template carries none of the annotations that the scheduler, the device "
                "plugin or an operator write on running pods.",
     .why = "They say which chips a pod holds, which rank it has and whether it is being moved. A "
            "value set beforehand is overwritten at best; at worst a container starts on chips "
            "that belong to another pod, or rescheduling compares the pod with the wrong cards and "
            "misses the fault.",
     .fix = "Remove the annotation. To pass the chosen chips on, read the annotation with a "
            "fieldRef instead of setting it.",
     .source = "mind-cluster: component/ascend-for-volcano, component/ascend-device-plugin, "
               "component/ascend-operator. volcano: pkg/controllers/podgroup/pg_controller.go for "
               "scheduling.k8s.io/group-name, which a template may set on purpose to join your own "
               "PodGroup: hence a warning.",
     .check = CheckSchedulerOwned},
    {.id = "MG067",
     .name = "misspelled-key",
     .severity = Severity::kWarning,
     .default_mode = Mode::kWarn,
     .kinds = schemas::kScheduled,
     .summary = "Labels and annotations that resemble those of fault handling are spelled "
                "correctly, and labels are not written as annotations or the other way round.",
     .why = "Nothing rejects an unknown label. The setting is simply off, and that shows only when "
            "a card breaks.",
     .fix = "Write the key as the finding says.",
     .source =
         "mind-cluster: component/ascend-common/api/consts.go. mindcluster-deploy's own sample "
         "writes subHeathyStrategy (k8s-deploy-tool/config/stormservice-config.yaml). Only keys "
         "with a strong resemblance are reported, and only on objects that concern NPUs.",
     .check = CheckMisspelledKeys},
    {.id = "MG068",
     .name = "unreachable-fault-settings",
     .severity = Severity::kWarning,
     .default_mode = Mode::kWarn,
     .kinds = schemas::kWorkloads,
     .summary = "Fault labels and scheduling annotations are written where they reach the pods or "
                "their PodGroup.",
     .why =
         "Kubernetes does not copy the metadata of a Deployment, StatefulSet, Job, "
         "LeaderWorkerSet, StormService or OME runtime to any pod, and Volcano makes the PodGroup "
         "without it. The settings are in the manifest, but the scheduler sees none of them. The "
         "same is true of the queue: the pods then go to the default queue and its quota.",
     .fix = "Move them to the pod template; for OME, to labels and annotations of engineConfig and "
            "decoderConfig.",
     .source = "volcano: pkg/controllers/podgroup/pg_controller_handler.go copies volcano.sh "
               "annotations only. ome: pkg/controller/v1beta1/inferenceservice/utils/merging.go. "
               "aibrix: pkg/controller/roleset/utils.go. A sample in MindCluster's documents puts "
               "the labels on the metadata of a ServingRuntime; mindgate copies those to engine "
               "and decoder and keeps the metadata.",
     .check = CheckUnreachable},
};

}  // namespace

Family FaultPlacementRules() { return kFaultPlacementRules; }

}  // namespace mindgate::policies::common
