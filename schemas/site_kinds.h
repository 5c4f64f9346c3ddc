#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>
#include <vector>

#include "json/value.h"
#include "schemas/kinds.h"

namespace mindgate::schemas {

// Where values are in the objects of a kind, as people write field paths. The routes of a kind of
// mindgate.yaml say where its pod templates are.

// "spec.workerGroupSpecs[].template": members, from an object down. `[]` behind one stands for each
// item of its list, `{}` for each value of its map. Immutable once read.
class FieldRoute {
 public:
  enum class Each : uint8_t { kOne, kItems, kValues };
  struct Step {
    std::string member;
    Each each = Each::kOne;
    bool operator==(const Step&) const = default;
  };
  // No API nests pod templates deeper than ten members. One list or map is enough for all of them;
  // of more, an object of a few bytes could have any number of templates.
  static constexpr size_t kMaxSteps = 16;
  static constexpr size_t kMaxEach = 1;

  FieldRoute() = default;
  // The route, or what is wrong with the text: one sentence without a full stop. `may_branch`:
  // whether it may have `[]` or `{}`.
  static tl::expected<FieldRoute, std::string> Read(std::string_view text, bool may_branch);

  bool empty() const { return steps_.empty(); }
  const std::vector<Step>& steps() const { return steps_; }
  std::string Text() const;
  bool operator==(const FieldRoute&) const = default;

 private:
  std::vector<Step> steps_;
};

// The kinds of a site's own: what mindgate.yaml says under `kinds`, in the place of a row of kKinds
// and an adapter. What a row can say follows what the operators of Ray, Kubeflow, JobSet, kthena,
// KServe and OpenKruise do (schemas/site_kinds.cc names the source of each fact):
// - A template is a PodTemplateSpec, or a pod spec whose labels and annotations stand beside it
//   (KServe), with one container of its own (KServe's `model`).
// - Templates are at one place, in a list or in a map; its item says how many pods there are, as
//   the product of some members (Ray: replicas and numOfHosts).
// - The pods of an object, or of one template, share a PodGroup, several objects of which there may
//   be (kthena: one for each serving group; JobSet: one for each Job).
// - A member beside the template decides the restart policy (Kubeflow), and a member of the object
//   the scheduler (kthena).
// Cluster-scoped kinds are not among them: those that hold templates make no pods by themselves.

// How pods of a kind are grouped, which decides what may be injected into them.
enum class SiteGrouping : uint8_t {
  kUngrouped,     // not by Volcano
  kEachPod,       // each works alone; whatever PodGroup they share has minMember 1
  kWholeObject,   // all pods of the object work together and share a PodGroup
  kEachTemplate,  // those of one template do
};

// The product of these members, each with the number that an absent one stands for.
using SiteCounts = std::vector<std::pair<FieldRoute, int64_t>>;

// Where one pod template is. Its holder is the item of the list, or the value of the map, in its
// path; else the object. All other routes start there.
struct SiteTemplate {
  FieldRoute path;
  bool pod_spec = false;   // a pod spec, and no PodTemplateSpec
  FieldRoute labels;       // of a pod spec
  FieldRoute annotations;  // of a pod spec
  std::string container;   // a member of the pod spec that is a container of its own; may be empty
  std::string name;        // behind that of its holder, if there is one
  FieldRoute name_from;    // of a holder in a list; in a map its key is its name
  bool unknown_pods = false;  // the object does not show how many there are
  SiteCounts pods;            // in one PodGroup; empty: one
  SiteCounts copies;          // PodGroups of the template
  FieldRoute restart_policy;
  bool operator==(const SiteTemplate&) const = default;
};

struct SiteKind {
  std::string group;  // never empty
  std::string version;
  std::string kind;
  std::string plural;
  Framework framework = Framework::kPod;
  bool serves = false;
  bool template_frozen = false;
  bool passes_metadata_on = false;  // its pods get the labels and annotations of the object
  bool names_scheduler = false;     // spec.schedulerName is the scheduler of all its pods
  std::vector<std::string> makes = {"Pod"};  // "Job.batch": what its controller makes
  std::vector<SiteTemplate> templates;
  SiteGrouping grouping = SiteGrouping::kUngrouped;
  FieldRoute min_member;  // of the PodGroup; empty: the object does not show it
  SiteCounts copies;      // of the object's PodGroups
  bool operator==(const SiteKind&) const = default;

  std::string TypeName() const { return kind + "." + group; }  // "RayCluster.ray.io"
};

// Real clusters have a dozen. A look-up costs one comparison for each.
inline constexpr size_t kMaxSiteKinds = 64;
inline constexpr size_t kMaxSiteTemplates = 16;

// The kinds of one mindgate.yaml, with the row of each as built-in kinds have one. Immutable;
// copies share the rows, to which views of objects point: they live as long as one copy. Safe from
// many threads.
class SiteKinds {
 public:
  SiteKinds() = default;  // none
  explicit SiteKinds(std::vector<SiteKind> kinds);

  bool empty() const { return rows_ == nullptr; }
  size_t size() const { return empty() ? 0 : rows_->size(); }
  // The row of the kind at `index`.
  const KindInfo& info(size_t index) const { return (*rows_)[index].info; }
  const KindInfo* Find(std::string_view group, std::string_view kind) const;

  bool operator==(const SiteKinds& other) const;

 private:
  struct Row {
    SiteKind kind;
    std::string pod_metadata;
    KindInfo info{};
  };
  std::shared_ptr<const std::vector<Row>> rows_;
};

// The row of that group and kind, built in or of the site; null pointer when it is not ours.
const KindInfo* FindKind(std::string_view group, std::string_view kind, const SiteKinds& site);
const KindInfo* FindKind(const json::Value& object, const SiteKinds& site);

// Whether the controller of the owner's kind makes objects of `made`, which were then evaluated and
// injected with the owner. No other owner reference shows that.
bool Makes(std::string_view owner_group, std::string_view owner_kind, const KindInfo& made,
           const SiteKinds& site);
bool Makes(const KindInfo& owner, const KindInfo& made);
// The kind as "Job.batch" or "Pod" names it.
std::pair<std::string_view, std::string_view> GroupAndKind(std::string_view type_name);

// Kinds of well-known operators, in the form of mindgate.yaml: `kinds: [{use: ray}]` switches those
// of one operator on.

struct ShippedKinds {
  std::string_view name;     // "ray"
  std::string_view project;  // "KubeRay 1.0 and later", for people
  std::string_view rows;     // YAML: a list of kinds, as under `kinds`
};

std::span<const ShippedKinds> AllShippedKinds();
// The rows of that name, in their order; empty when there are none.
std::vector<SiteKind> ShippedKindsNamed(std::string_view name);

// The rows of built-in kinds and of those of a site, for whoever goes through all of them.

// The built-in ones, then those of the site, which live as long as a copy of `site`.
inline std::vector<const KindInfo*> AllKinds(const SiteKinds& site) {
  std::vector<const KindInfo*> all;
  for (const KindInfo& info : kKinds) all.push_back(&info);
  for (size_t i = 0; i < site.size(); ++i) all.push_back(&site.info(i));
  return all;
}

// Those of a site of whose rows `keep` is true, with rows of their own.
template <typename Keep>
SiteKinds Only(const SiteKinds& site, Keep keep) {
  std::vector<SiteKind> kept;
  for (size_t i = 0; i < site.size(); ++i) {
    if (keep(site.info(i))) kept.push_back(*site.info(i).site);
  }
  return SiteKinds(std::move(kept));
}

}  // namespace mindgate::schemas
