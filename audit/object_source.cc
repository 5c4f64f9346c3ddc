#include "audit/object_source.h"

#include <algorithm>

namespace mindgate::audit {
namespace {

using json::Member;
using json::Value;

// The API server leaves both out of the items of lists of its own kinds.
Value WithKind(const Value& object, const std::string& api_version, const std::string& kind,
               json::Arena& rows) {
  if (!object.is_object() || json::Find(object, "kind") != nullptr) return object;
  const size_t size = object.size();
  auto* const members = rows.Row<Member>(size + 2);
  size_t count = 0;
  for (const Member& member : object.members()) {
    if (member.key != "apiVersion" && member.key != "kind") members[count++] = member;
  }
  members[count++] = {"apiVersion", Value::OfText(api_version)};
  members[count++] = {"kind", Value::OfText(kind)};
  const std::span all(members, count);
  json::SortMembers(all);
  return Value::OfMembers(all);
}

}  // namespace

kube::Answer<void> LiveObjects::ForEach(const kube::Resource& resource,
                                        const kube::Listing& listing) {
  const std::string api_version = resource.api_version();
  kube::Listing named = listing;
  named.item = [&](const Value& object) {
    rows_.Clear();
    listing.item(WithKind(object, api_version, resource.kind, rows_));
  };
  kube::ListOptions options;
  if (resource == kube::resources::kNamespaces && !ns_.empty()) {
    options.field_selector = "metadata.name=" + ns_;
  }
  const auto listed = client_.ListAll(resource, resource.namespaced ? ns_ : std::string(), options,
                                      nullptr, named, stop_);
  if (!listed) return tl::make_unexpected(listed.error());
  return {};
}

SnapshotObjects::SnapshotObjects(std::span<const Value* const> objects, const std::string& ns) {
  for (const Value* object : objects) {
    const std::string own = json::TextAt(*object, {"metadata", "namespace"});
    if (!ns.empty() && !own.empty() && own != ns) continue;
    const std::string api_version = json::TextAt(*object, {"apiVersion"});
    objects_[{std::string(schemas::GroupOf(api_version)), json::TextAt(*object, {"kind"})}]
        .push_back(object);
  }
}

bool SnapshotObjects::HasAny(const schemas::KindInfo& info) const {
  return objects_.contains({std::string(info.group), std::string(info.name)});
}

kube::Answer<void> SnapshotObjects::ForEach(const kube::Resource& resource,
                                            const kube::Listing& listing) {
  if (listing.started) listing.started();
  const auto found = objects_.find({resource.group, resource.kind});
  if (found == objects_.end()) return {};
  for (const Value* object : found->second) listing.item(*object);
  return {};
}

}  // namespace mindgate::audit
