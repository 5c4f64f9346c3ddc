#include <algorithm>
#include <array>
#include <utility>

#include "base/text.h"
#include "schemas/config_table.h"
#include "schemas/site_kinds.h"

namespace mindgate::schemas {
namespace {

using json::Child;

// What an item of `kinds` is read into: the rows of `use`, or one row.
struct KindEntry {
  std::vector<SiteKind> shipped;
  SiteKind kind;
};

// No object has more pods; a product of two stays inside int64.
constexpr int64_t kMaxCount = 1'000'000;

Type<FieldRoute> Route(bool may_branch) {
  return Parsed<FieldRoute>(
      NonEmptyText(), [may_branch](const std::string& text, const Field& field) {
        auto route = FieldRoute::Read(text, may_branch);
        if (!route) {
          field.Fault(std::move(route.error()),
                      may_branch ? "write members with dots between them, such as "
                                   "spec.workerGroupSpecs[].template"
                                 : "write members with dots between them, such as spec.replicas");
          return FieldRoute();
        }
        return *std::move(route);
      });
}

Type<SiteCounts> Counts() {
  using Written = std::map<std::string, int64_t, std::less<>>;
  auto type =
      Parsed<SiteCounts>(Map(Whole(0, kMaxCount)), [](const Written& written, const Field& field) {
        SiteCounts counts;
        for (const auto& [text, by_default] : written) {
          auto route = FieldRoute::Read(text, false);
          if (route) {
            counts.emplace_back(*std::move(route), by_default);
          } else {
            field.reading.Fault(Child(field.path, text), std::move(route.error()),
                                "write members with dots between them, such as spec.replicas");
          }
        }
        return counts;
      });
  return type;
}

// A text of which `is_sound` says whether the API server takes it.
Type<std::string> Name(bool (*is_sound)(std::string_view), std::string_view what,
                       std::string_view hint) {
  return Parsed<std::string>(NonEmptyText(), [=](std::string text, const Field& field) {
    if (!is_sound(text)) {
      field.Fault(Quote(text) + " is not " + std::string(what), std::string(hint));
    }
    return text;
  });
}

bool IsGroup(std::string_view text) {
  constexpr size_t kMaxDomain = 253;
  const auto labels = Split(text, '.');
  return labels.size() > 1 && text.size() <= kMaxDomain &&
         std::ranges::all_of(labels, IsDns1123Label);
}

bool IsVersion(std::string_view text) {
  return text.starts_with('v') && text.size() > 1 && IsDigit(text[1]) && IsDns1123Label(text);
}

// "RayCluster": in CamelCase, as the API server wants of a CRD (its lower case is a DNS label).
bool IsKindName(std::string_view text) {
  return !text.empty() && text.front() >= 'A' && text.front() <= 'Z' &&
         IsDns1123Label(ToLower(text));
}

// "Pod", "Job.batch".
bool IsTypeName(std::string_view text) {
  const auto [group, kind] = GroupAndKind(text);
  // The groups of Kubernetes itself have no domain: "batch".
  return IsKindName(kind) &&
         (group.empty() ? text.find('.') == std::string_view::npos
                        : std::ranges::all_of(Split(group, '.'), IsDns1123Label));
}

Type<Framework> ProfileName() {
  std::vector<std::pair<std::string, Framework>> names;
  for (const FrameworkInfo& info : kFrameworks) names.emplace_back(info.name, info.framework);
  return Choice<Framework>(names);
}

void CheckTemplate(SiteTemplate& site, const Field& field) {
  const auto fault = [&](std::string_view key, std::string what, std::string hint) {
    field.reading.Fault(Child(field.path, key), std::move(what), std::move(hint));
  };
  const bool has_labels = !site.labels.empty() || !site.annotations.empty();
  if (site.pod_spec && (site.labels.empty() || site.annotations.empty())) {
    fault("podSpec", "a pod spec has no metadata: labels or annotations are missing",
          "add labels: and annotations:, where those of its pods are");
  }
  if (!site.pod_spec && (has_labels || !site.container.empty())) {
    fault(site.container.empty() ? (site.labels.empty() ? "annotations" : "labels") : "container",
          "a pod template has its own metadata and containers: this is for podSpec: true alone",
          "remove it, or add podSpec: true");
  }
  const auto branches = [](const FieldRoute& path, FieldRoute::Each each) {
    return std::ranges::find(path.steps(), each, &FieldRoute::Step::each) != path.steps().end();
  };
  if (!site.name_from.empty() && !site.path.empty() &&
      !branches(site.path, FieldRoute::Each::kItems)) {
    fault("nameFrom", "only items of a list have a member that names them",
          "write name: instead; in a map the key is the name");
  }
  if (site.unknown_pods && !site.pods.empty()) {
    fault("pods", "has no effect: unknownPods is true", "remove one of them");
  }
}

Type<SiteTemplate> TemplateTable() {
  return Object<SiteTemplate>(
      {{"path",
        "Where the pod template is, such as spec.workerGroupSpecs[].template: [] stands for each "
        "item of a list, {} for each value of a map. All other paths below start at that item or "
        "value, and without one at the object.",
        &SiteTemplate::path, Route(true), kRequired},
       {"podSpec",
        "True when a pod spec is there and no template: then labels and annotations say where "
        "those "
        "of its pods are.",
        &SiteTemplate::pod_spec, Boolean()},
       {"labels", "With podSpec: where the labels of the pods are.", &SiteTemplate::labels,
        Route(false)},
       {"annotations", "With podSpec: where their annotations are.", &SiteTemplate::annotations,
        Route(false)},
       {"container",
        "With podSpec: a member of it that is a container of its own, beside the list of them.",
        &SiteTemplate::container, NonEmptyText()},
       {"name",
        "What the template is called. Several templates of one item need one each, which "
        "distinguishes "
        "them.",
        &SiteTemplate::name, NonEmptyText()},
       {"nameFrom", "The member of an item that names it. In a map the key does.",
        &SiteTemplate::name_from, Route(false)},
       {"pods",
        "How many pods of the template are in one PodGroup: the product of these members, each "
        "with "
        "the number that an absent one stands for, such as {replicas: 1, numOfHosts: 1}. The "
        "default "
        "is 1.",
        &SiteTemplate::pods, Counts()},
       {"unknownPods", "True when the object does not show how many pods there are.",
        &SiteTemplate::unknown_pods, Boolean()},
       {"copies", "How many such PodGroups there are, in the form of pods. The default is 1.",
        &SiteTemplate::copies, Counts()},
       {"restartPolicy", "The member with which the operator overwrites restartPolicy of the pods.",
        &SiteTemplate::restart_policy, Route(false)}},
      CheckTemplate);
}

// Templates that have the name or the path of an earlier one.
void CheckNames(const SiteKind& kind, const Field& field) {
  const json::Json* list = json::Find(field.value, "templates");
  if (!json::IsArray(list)) return;
  for (size_t i = 0; i < kind.templates.size(); ++i) {
    const SiteTemplate& late = kind.templates[i];
    const auto end = kind.templates.begin() + static_cast<std::ptrdiff_t>(i);
    const std::string path = Child(Child(field.path, "templates"), i);
    if (late.path.empty()) continue;  // a fault already
    if (std::any_of(kind.templates.begin(), end,
                    [&](const SiteTemplate& other) { return other.path == late.path; })) {
      field.reading.Fault(Child(path, "path"), Quote(late.path.Text()) + " is there twice",
                          "remove one of the two");
    } else if (late.name_from.empty() &&
               std::any_of(kind.templates.begin(), end, [&](const SiteTemplate& other) {
                 return other.name_from.empty() && other.name == late.name;
               })) {
      field.reading.Fault(Child(path, "name"),
                          late.name.empty() ? "another template has no name either"
                                            : "another template has the name " + Quote(late.name),
                          "write a name of its own");
    }
  }
}

void CheckKind(SiteKind& kind, const Field& field) {
  const auto fault = [&](std::string_view key, std::string what, std::string hint) {
    field.reading.Fault(Child(field.path, key), std::move(what), std::move(hint));
  };
  const json::Json* templates = json::Find(field.value, "templates");
  if (json::IsArray(templates) && templates->size() > kMaxSiteTemplates) {
    fault("templates", "there are more than " + std::to_string(kMaxSiteTemplates) + " templates",
          "one path with [] or {} stands for all items of a list or map");
  }
  if (!kind.group.empty() && FindKind(kind.group, kind.kind) != nullptr) {
    fault("kind", kind.TypeName() + " is built in, and cannot be described here", "remove it");
  }
  if (!kind.min_member.empty() && kind.grouping != SiteGrouping::kWholeObject &&
      kind.grouping != SiteGrouping::kEachTemplate) {
    fault("minMember", "has no effect without podGroup: object or template",
          "remove it, or write podGroup:");
  }
  CheckNames(kind, field);
}

std::vector<Key<KindEntry>> KindKeys() {
  const auto of = [](auto SiteKind::* member) {
    return [member](KindEntry& entry) -> auto& { return entry.kind.*member; };
  };
  return {
      {"group", "The API group, such as ray.io.", of(&SiteKind::group),
       Name(IsGroup, "an API group with a domain",
            "write the part of apiVersion before the slash")},
      {"version", "The version that the webhook is registered for, such as v1.",
       of(&SiteKind::version),
       Name(IsVersion, "a version of an API", "write the part of apiVersion behind the slash")},
      {"kind", "The kind, such as RayCluster.", of(&SiteKind::kind),
       Name(IsKindName, "the name of a kind", "write it as in manifests, such as RayCluster")},
      {"plural", "The resource, such as rayclusters.", of(&SiteKind::plural),
       Name(IsDns1123Label, "the name of a resource",
            "write it as kubectl api-resources does, such as rayclusters")},
      {"framework", "The key of profiles that has the injected defaults. The default is pod.",
       of(&SiteKind::framework), ProfileName()},
      {"serves", "True when its pods run until they are deleted.", of(&SiteKind::serves),
       Boolean()},
      {"templateFrozen", "True when the pod templates cannot change after creation.",
       of(&SiteKind::template_frozen), Boolean()},
      {"passesMetadataOn",
       "True when the pods also get the labels and annotations of the object itself.",
       of(&SiteKind::passes_metadata_on), Boolean()},
      {"namesScheduler",
       "True when the operator gives spec.schedulerName of the object to all of its pods.",
       of(&SiteKind::names_scheduler), Boolean()},
      {"makes",
       "The kinds whose objects its operator makes, such as Pod or Job.batch: they are injected "
       "with their owner, and not again. The default is Pod.",
       [](KindEntry& entry) -> std::vector<std::string>& { return entry.kind.makes; },
       Parsed<std::vector<std::string>>(
           List(Name(IsTypeName, "the name of a kind with its group",
                     "write Pod, or a kind and its group, such as Job.batch"),
                1),
           [](std::vector<std::string> names, const Field&) { return names; })},
      {"templates", "Where its pod templates are.", of(&SiteKind::templates),
       List(TemplateTable(), 1)},
      {"podGroup",
       "How Volcano groups the pods. object: all pods of the object work together in one PodGroup. "
       "template: those of each template do. pods: each pod works alone, as those of a Deployment. "
       "none: they are in no PodGroup. The default is none.",
       of(&SiteKind::grouping),
       Choice<SiteGrouping>({{"object", SiteGrouping::kWholeObject},
                             {"template", SiteGrouping::kEachTemplate},
                             {"pods", SiteGrouping::kEachPod},
                             {"none", SiteGrouping::kUngrouped}})},
      {"minMember",
       "Where minMember of the PodGroup is: from the object with podGroup object, as other paths "
       "of "
       "a template with podGroup template. Without it it is taken as unknown.",
       of(&SiteKind::min_member), Route(false)},
      {"copies",
       "How many such groups of pods one object has, such as {spec.replicas: 1}. The default is 1.",
       of(&SiteKind::copies), Counts()},
  };
}

constexpr std::array<std::string_view, 5> kNeeded = {"group", "version", "kind", "plural",
                                                     "templates"};

void CheckRow(KindEntry& entry, const Field& field) {
  for (std::string_view key : kNeeded) {
    if (json::Find(field.value, key) != nullptr) continue;
    field.reading.Fault(Child(field.path, key), Quote(key) + " is missing",
                        "add " + std::string(key) + ":");
  }
  CheckKind(entry.kind, field);
}

void CheckEntry(KindEntry& entry, const Field& field) {
  if (json::Find(field.value, "use") == nullptr) return CheckRow(entry, field);
  for (const auto& [key, value] : field.value.items()) {
    if (key == "use") continue;
    field.reading.Fault(Child(field.path, key), Quote(key) + " has no effect beside use",
                        "write a row of its own");
  }
}

Type<KindEntry> EntryTable() {
  std::vector<std::pair<std::string, std::string>> names;
  for (const ShippedKinds& shipped : AllShippedKinds()) {
    names.emplace_back(shipped.name, shipped.name);
  }
  std::vector<Key<KindEntry>> keys = {Key<KindEntry>::Calling(
      "use",
      "The kinds of one operator, which mindgate describes itself. An item with this key has no "
      "other.",
      Choice<std::string>(names), [](KindEntry& entry, const std::string& name, const Field&) {
        entry.shipped = ShippedKindsNamed(name);
      })};
  for (Key<KindEntry>& key : KindKeys()) keys.push_back(std::move(key));
  return Object<KindEntry>(std::move(keys), CheckEntry);
}

// Faults that only all rows together show.
void CheckTogether(const std::vector<std::pair<SiteKind, size_t>>& rows, const Field& field) {
  for (auto late = rows.begin(); late != rows.end(); ++late) {
    const std::string path = Child(field.path, late->second);
    if (late->first.kind.empty() || late->first.group.empty()) continue;  // a fault already
    const auto same = std::find_if(rows.begin(), late, [&](const auto& row) {
      return row.first.kind == late->first.kind && row.first.group == late->first.group;
    });
    if (same != late) {
      field.reading.Fault(path,
                          late->first.TypeName() + " is described by item " +
                              std::to_string(same->second) + " already",
                          "keep one of the two");
    }
    for (size_t i = 0; i < late->first.makes.size(); ++i) {
      const auto made = GroupAndKind(late->first.makes[i]);
      const bool known = FindKind(made.first, made.second) != nullptr ||
                         std::ranges::any_of(rows, [&](const auto& row) {
                           return row.first.group == made.first && row.first.kind == made.second;
                         });
      if (known || made.second.empty()) continue;
      field.reading.Fault(Child(Child(path, "makes"), i),
                          Quote(late->first.makes[i]) + " is neither built in nor described here",
                          "describe it as well, or remove it");
    }
  }
}

}  // namespace

Type<SiteKind> SiteKindTable() {
  return Parsed<SiteKind>(Object<KindEntry>(KindKeys(), CheckRow),
                          [](KindEntry entry, const Field&) { return std::move(entry.kind); });
}

Type<SiteKinds> SiteKindsTable() {
  return Parsed<SiteKinds>(
             List(EntryTable()),
             [](std::vector<KindEntry> entries, const Field& field) {
               std::vector<std::pair<SiteKind, size_t>> rows;
               for (size_t i = 0; i < entries.size(); ++i) {
                 for (SiteKind& kind : entries[i].shipped) rows.emplace_back(std::move(kind), i);
                 if (entries[i].shipped.empty()) rows.emplace_back(std::move(entries[i].kind), i);
               }
               CheckTogether(rows, field);
               if (rows.size() > kMaxSiteKinds) {
                 field.Fault("there are more than " + std::to_string(kMaxSiteKinds) + " kinds",
                             "keep those whose objects request NPUs");
               }
               std::vector<SiteKind> kinds;
               for (auto& row : rows) kinds.push_back(std::move(row.first));
               return SiteKinds(std::move(kinds));
             })
      .OrNull();
}

}  // namespace mindgate::schemas
