#include "schemas/site_kinds.h"

#include <algorithm>

#include "base/text.h"

namespace mindgate::schemas {
namespace {

// "spec.headGroupSpec.template.metadata.* or spec.workerGroupSpecs[].template.metadata.*".
std::string PodMetadataOf(const SiteKind& kind) {
  std::vector<std::string> places;
  for (const SiteTemplate& each : kind.templates) {
    std::string place = each.path.Text() + ".metadata.*";
    if (each.pod_spec) {
      // Up to the holder, which the routes of the labels start from.
      const std::string path = each.path.Text();
      const size_t holder = path.find_last_of("]}");
      place = holder == std::string::npos ? "" : path.substr(0, holder + 1) + ".";
      place += each.labels.Text();
    }
    if (std::ranges::find(places, place) == places.end()) places.push_back(std::move(place));
  }
  return Join(places, " or ");
}

KindInfo InfoOf(const SiteKind& kind, std::string_view pod_metadata) {
  KindInfo info = kAnySiteKind;
  info.group = kind.group;
  info.version = kind.version;
  info.name = kind.kind;
  info.plural = kind.plural;
  info.framework = kind.framework;
  info.template_frozen = kind.template_frozen;
  info.serves = kind.serves;
  info.pod_metadata = pod_metadata;
  if (!kind.passes_metadata_on) info.unread_metadata = {"/metadata"};
  for (const std::string& made : kind.makes) {
    const auto [group, name] = GroupAndKind(made);
    if (const KindInfo* built_in = FindKind(group, name)) {
      info.makes = info.makes | KindSet{built_in->kind};
    }
  }
  info.site = &kind;
  return info;
}

}  // namespace

SiteKinds::SiteKinds(std::vector<SiteKind> kinds) {
  if (kinds.empty()) return;
  auto rows = std::make_shared<std::vector<Row>>();
  rows->reserve(kinds.size());
  for (SiteKind& kind : kinds) {
    std::string pod_metadata = PodMetadataOf(kind);
    Row& row = rows->emplace_back(Row{std::move(kind), std::move(pod_metadata)});
    row.info = InfoOf(row.kind, row.pod_metadata);
  }
  rows_ = std::move(rows);
}

const KindInfo* SiteKinds::Find(std::string_view group, std::string_view kind) const {
  if (empty()) return nullptr;
  const auto found = std::ranges::find_if(
      *rows_, [&](const Row& row) { return row.kind.kind == kind && row.kind.group == group; });
  return found == rows_->end() ? nullptr : &found->info;
}

bool SiteKinds::operator==(const SiteKinds& other) const {
  if (rows_ == other.rows_) return true;
  if (size() != other.size()) return false;
  return std::ranges::equal(*rows_, *other.rows_, {}, &Row::kind, &Row::kind);
}

const KindInfo* FindKind(std::string_view group, std::string_view kind, const SiteKinds& site) {
  const KindInfo* const built_in = FindKind(group, kind);
  return built_in != nullptr ? built_in : site.Find(group, kind);
}

const KindInfo* FindKind(const json::Value& object, const SiteKinds& site) {
  const auto api_version = json::FindString(object, "apiVersion");
  const auto kind = json::FindString(object, "kind");
  return api_version && kind ? FindKind(GroupOf(*api_version), *kind, site) : nullptr;
}

bool Makes(const KindInfo& owner, const KindInfo& made) {
  if (made.site == nullptr) return owner.makes.Has(made.kind);
  return owner.site != nullptr &&
         std::ranges::find(owner.site->makes, made.site->TypeName()) != owner.site->makes.end();
}

bool Makes(std::string_view owner_group, std::string_view owner_kind, const KindInfo& made,
           const SiteKinds& site) {
  const KindInfo* const owner = FindKind(owner_group, owner_kind, site);
  return owner != nullptr && Makes(*owner, made);
}

std::pair<std::string_view, std::string_view> GroupAndKind(std::string_view type_name) {
  const size_t dot = type_name.find('.');
  if (dot == std::string_view::npos) return {"", type_name};
  return {type_name.substr(dot + 1), type_name.substr(0, dot)};
}

}  // namespace mindgate::schemas
