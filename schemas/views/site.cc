#include <algorithm>

#include "schemas/site_kinds.h"
#include "schemas/views/builder.h"

// Kinds of mindgate.yaml: templates are where it says. What an object leaves out on the way to one
// makes no pods.
namespace mindgate::schemas::views {
namespace {

using json::Value;

// A value and where it is.
struct Spot {
  const Value* value = nullptr;
  std::string_view path;
};

// What the routes of a template start from.
struct Holder {
  Spot spot;
  std::string_view key;  // of a map
  size_t index = 0;      // in a list
};

using Steps = std::span<const FieldRoute::Step>;

class SiteReader {
 public:
  SiteReader(Builder& builder, const SiteKind& site)
      : builder_(builder), view_(builder.view()), site_(site) {}

  void Read() {
    object_ = {&builder_.object(), ""};
    if (site_.names_scheduler) {
      const Value* spec = builder_.Object(object_.value, "", "spec");
      builder_.SetSpec(object_.value, "spec", "/spec");
      job_scheduler_ = builder_.String(spec, "/spec", "schedulerName");
    }
    object_copies_ = Product(object_, site_.copies);
    for (const SiteTemplate& each : site_.templates) ReadTemplates(each);
    if (site_.grouping == SiteGrouping::kWholeObject && !all_.empty()) {
      PodGroupView& group =
          builder_.AddGroup(PodGroupOwner::kSiteGang, builder_.Text({"the ", site_.kind}), all_);
      group.min_member = MinMember(object_);
      group.copies = object_copies_.value_or(1);
    }
  }

 private:
  // Along members alone; no value where one of them is missing.
  Spot Down(Spot from, Steps steps) {
    for (const FieldRoute::Step& step : steps) {
      from = {builder_.Object(from.value, from.path, step.member),
              builder_.Child(from.path, step.member)};
      if (from.value == nullptr) break;
    }
    return from;
  }
  // What holds the last member of a route, which is where it stands even if it is missing.
  Spot ParentOf(Spot from, const FieldRoute& route) {
    const Steps steps(route.steps());
    return Down(from, steps.first(steps.size() - 1));
  }
  std::string_view PathOf(Spot from, const FieldRoute& route) {
    for (const FieldRoute::Step& step : route.steps()) {
      from.path = builder_.Child(from.path, step.member);
    }
    return from.path;
  }

  std::optional<int64_t> Product(Spot from, const SiteCounts& counts) {
    int64_t product = 1;
    for (const auto& [route, by_default] : counts) {
      const Spot parent = ParentOf(from, route);
      const auto count =
          builder_.Count(parent.value, parent.path, route.steps().back().member, by_default);
      if (!count || *count < 0 || __builtin_mul_overflow(product, *count, &product)) {
        return std::nullopt;
      }
    }
    return product;
  }

  std::optional<int64_t> MinMember(Spot from) {
    if (site_.min_member.empty()) return std::nullopt;
    const Spot parent = ParentOf(from, site_.min_member);
    return builder_.Int(parent.value, parent.path, site_.min_member.steps().back().member);
  }

  void ReadTemplates(const SiteTemplate& site) {
    const Steps steps(site.path.steps());
    const auto branch = std::ranges::find_if(
        steps, [](const FieldRoute::Step& step) { return step.each != FieldRoute::Each::kOne; });
    if (branch == steps.end()) return ReadTemplate(site, {object_, {}, 0}, steps);
    const Spot parent = Down(object_, Steps(steps.begin(), branch));
    const Steps rest(branch + 1, steps.end());
    const std::string_view path = builder_.Child(parent.path, branch->member);
    if (branch->each == FieldRoute::Each::kItems) {
      const Value* list = builder_.List(parent.value, parent.path, branch->member);
      if (list == nullptr || builder_.HasTooMany(list, parent.path, branch->member)) return;
      for (size_t i = 0; i < list->size(); ++i) {
        ReadHolder(site, {{&(*list)[i], builder_.Item(path, i)}, {}, i}, rest);
      }
      return;
    }
    const Value* map = builder_.Object(parent.value, parent.path, branch->member);
    if (map == nullptr || builder_.HasTooMany(map, parent.path, branch->member)) return;
    for (const auto& [key, value] : map->members()) {
      ReadHolder(site, {{&value, builder_.Child(path, key)}, key, 0}, rest);
    }
  }

  void ReadHolder(const SiteTemplate& site, const Holder& holder, Steps rest) {
    const Value& value = *holder.spot.value;
    if (value.is_object()) return ReadTemplate(site, holder, rest);
    if (!value.is_null()) builder_.AddWrongType(holder.spot.path, "object", value);
  }

  void ReadTemplate(const SiteTemplate& site, const Holder& holder, Steps steps) {
    const Spot found = Down(holder.spot, steps);
    if (found.value == nullptr) return;
    if (view_.templates.size() == kMaxTemplates) {
      return builder_.AddExcess(found.path, "pod templates", kMaxTemplates);
    }
    const std::string_view name = NameOf(site, holder);
    PodTemplateView& pod = site.pod_spec ? AddPodSpec(site, holder.spot, found, name)
                                         : builder_.AddTemplate(name, found.path, found.value);
    const size_t index = view_.templates.size() - 1;
    pod.part = index;
    pod.job_scheduler = job_scheduler_;
    if (!site.unknown_pods) pod.pods = Product(holder.spot, site.pods);
    if (!site.restart_policy.empty()) {
      const Spot parent = ParentOf(holder.spot, site.restart_policy);
      const std::string_view member = site.restart_policy.steps().back().member;
      builder_.String(parent.value, parent.path, member);
      pod.restart_policy = {parent.path, json::FindString(parent.value, member)};
    }
    if (site_.passes_metadata_on) {
      pod.inherited_labels = builder_.Row({&view_.labels});
      pod.inherited_annotations = builder_.Row({&view_.annotations});
    }
    all_.push_back(index);
    GroupAlone(site, holder.spot, index);
  }

  // Where the pods of one template have a PodGroup of their own.
  void GroupAlone(const SiteTemplate& site, Spot holder, size_t index) {
    const bool pods = site_.grouping == SiteGrouping::kEachPod;
    if (!pods && site_.grouping != SiteGrouping::kEachTemplate) return;
    const std::string_view name = view_.templates[index].name;
    const std::string_view title =
        name.empty() ? builder_.Text({"the ", site_.kind}) : builder_.Text({"the pods of ", name});
    PodGroupView& group = builder_.AddGroup(
        pods ? PodGroupOwner::kSitePods : PodGroupOwner::kSiteGang, title, {&index, 1});
    group.min_member = pods ? 1 : MinMember(holder);
    const auto copies = Product(holder, site.copies);
    int64_t all = 1;
    if (copies && object_copies_ && !__builtin_mul_overflow(*copies, *object_copies_, &all)) {
      group.copies = all;
    }
  }

  std::string_view NameOf(const SiteTemplate& site, const Holder& holder) {
    std::string_view name = holder.key;
    if (!site.name_from.empty()) {
      const Spot parent = ParentOf(holder.spot, site.name_from);
      name = builder_.NameOr(
          builder_.String(parent.value, parent.path, site.name_from.steps().back().member),
          site.name_from.steps().back().member, holder.index);
    }
    if (name.empty() || site.name.empty()) return name.empty() ? site.name : name;
    return builder_.Text({name, ".", site.name});
  }

  PodTemplateView& AddPodSpec(const SiteTemplate& site, Spot holder, Spot spec,
                              std::string_view name) {
    PodTemplateView& pod = view_.templates.emplace_back();
    pod.name = name;
    pod.path = spec.path;
    pod.pod_spec.path = spec.path;
    pod.node_selector.path = {spec.path, "/nodeSelector"};
    pod.labels = MapAt(holder, site.labels);
    pod.annotations = MapAt(holder, site.annotations);
    builder_.ReadPodSpec(pod, spec.value, site.container);
    return pod;
  }

  FieldView MapAt(Spot from, const FieldRoute& route) {
    return builder_.StringMap(ParentOf(from, route).value, route.steps().back().member,
                              PathOf(from, route));
  }

  Builder& builder_;
  WorkloadView& view_;
  const SiteKind& site_;
  Spot object_;
  std::string_view job_scheduler_;
  std::optional<int64_t> object_copies_;
  std::vector<size_t> all_;
};

}  // namespace

void ReadSite(Builder& builder) { SiteReader(builder, *builder.view().info().site).Read(); }

}  // namespace mindgate::schemas::views
