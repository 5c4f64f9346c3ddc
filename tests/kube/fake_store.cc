#include "kube/fake_store.h"

#include <sys/eventfd.h>

#include <algorithm>
#include <optional>

#include "base/text.h"
#include "json/value.h"

namespace mindgate::kube::testing {
namespace {

constexpr const char* kExpiredContinue =
    "The provided continue parameter is too old to display a consistent list result. You can start "
    "a new list without the continue parameter.";
constexpr const char* kExpiredList = "The resourceVersion for the provided list is too old.";

constexpr const char* kMetadataVersion = "meta.k8s.io/v1";

std::string Line(const Subscription& subscription, const char* type, const Json& object) {
  return Json{{"type", type},
              {"object", subscription.metadata_only ? FakeStore::MetadataOf(object) : object}}
             .dump() +
         "\n";
}

Json WithVersion(Json object, int64_t version) {
  object["metadata"]["resourceVersion"] = std::to_string(version);
  return object;
}

// As the real one's, opaque to clients; with bytes that a query must encode.
std::string ContinueToken(int64_t version, const std::string& after) {
  return "v=" + std::to_string(version) + "&after=" + after + "+";
}

std::optional<std::pair<int64_t, std::string>> ReadContinueToken(const std::string& token) {
  const size_t at = token.find("&after=");
  if (!token.starts_with("v=") || at == std::string::npos || !token.ends_with('+')) {
    return std::nullopt;
  }
  const auto version = ParseGoInt(std::string_view(token).substr(2, at - 2));
  if (!version) return std::nullopt;
  return std::pair(*version, token.substr(at + 7, token.size() - at - 8));
}

std::string Parameter(const std::map<std::string, std::string>& query, const std::string& name) {
  const auto found = query.find(name);
  return found == query.end() ? "" : found->second;
}

Refusal BadListOptions(const std::string& field, const std::string& why) {
  return Invalid("meta.k8s.io", "ListOptions", "",
                 {{"FieldValueForbidden", "Forbidden: " + why, field}});
}

}  // namespace

FakeStore::Key FakeStore::KeyOf(const Resource& resource, const std::string& ns,
                                const std::string& name) {
  return {resource.group, resource.plural, ns + "/" + name};
}

bool FakeStore::Holds(const Scope& scope, const Key& key) {
  const auto& [group, plural, place] = key;
  return group == scope.resource.group && plural == scope.resource.plural &&
         (scope.ns.empty() || place.starts_with(scope.ns + "/"));
}

FakeStore::ObjectPtr FakeStore::Get(const Resource& resource, const std::string& ns,
                                    const std::string& name) const {
  const auto found = objects_.find(KeyOf(resource, ns, name));
  return found == objects_.end() ? nullptr : found->second;
}

FakeStore::ObjectPtr FakeStore::Put(const Resource& resource, const std::string& ns,
                                    const std::string& name, Json object) {
  const Key key = KeyOf(resource, ns, name);
  ObjectPtr& place = objects_[key];
  ++version_;
  auto after = std::make_shared<const Json>(WithVersion(std::move(object), version_));
  const ObjectPtr before = std::exchange(place, after);
  Record({version_, key, before, after, nullptr});
  return after;
}

FakeStore::ObjectPtr FakeStore::Remove(const Resource& resource, const std::string& ns,
                                       const std::string& name) {
  const auto found = objects_.find(KeyOf(resource, ns, name));
  if (found == objects_.end()) return nullptr;
  ++version_;
  const ObjectPtr before = found->second;
  auto last = std::make_shared<const Json>(WithVersion(*before, version_));
  Record({version_, found->first, before, nullptr, last});
  objects_.erase(found);
  return last;
}

void FakeStore::RemoveNamespace(const std::string& ns) {
  std::vector<std::pair<Resource, std::string>> doomed;
  for (const auto& [key, object] : objects_) {
    const auto& [group, plural, place] = key;
    if (!place.starts_with(ns + "/")) continue;
    doomed.push_back({{group, "", plural, "", true}, place.substr(ns.size() + 1)});
  }
  for (const auto& [resource, name] : doomed) Remove(resource, ns, name);
}

void FakeStore::Record(Change change) {
  for (const auto& subscription : subscriptions_) {
    std::string line = LineFor(*subscription, change);
    if (line.empty()) continue;
    subscription->lines.push_back(std::move(line));
    Wake(*subscription);
  }
  history_.push_back(std::move(change));
}

// What a watch says of the change, if anything: to it, what begins to match its selectors is added,
// and what ceases to is deleted.
std::string FakeStore::LineFor(const Subscription& subscription, const Change& change) {
  const Scope& scope = subscription.scope;
  if (change.version <= subscription.after || !Holds(scope, change.key)) return "";
  const bool before = change.before != nullptr && scope.selectors.Matches(*change.before);
  const bool after = change.after != nullptr && scope.selectors.Matches(*change.after);
  if (!before && !after) return "";
  if (!before) return Line(subscription, "ADDED", *change.after);
  if (after) return Line(subscription, "MODIFIED", *change.after);
  if (change.last != nullptr) return Line(subscription, "DELETED", *change.last);
  return Line(subscription, "DELETED", WithVersion(*change.before, change.version));
}

// The objects of `scope`'s resource and namespace as they were at `version`: those of now, with
// every change since taken back.
Outcome<FakeStore::Objects> FakeStore::StateAt(int64_t version, const Scope& scope) const {
  if (version > version_) return Refuse(TooLargeResourceVersion(version, version_));
  if (version < compacted_) return Refuse(Expired(kExpiredList));
  Objects state;
  const std::string first = scope.ns.empty() ? "" : scope.ns + "/";
  for (auto at = objects_.lower_bound({scope.resource.group, scope.resource.plural, first});
       at != objects_.end() && Holds(scope, at->first); ++at) {
    state.insert(state.end(), *at);
  }
  for (auto change = history_.rbegin(); change != history_.rend() && change->version > version;
       ++change) {
    if (!Holds(scope, change->key)) continue;
    if (change->before == nullptr) {
      state.erase(change->key);
    } else {
      state[change->key] = change->before;
    }
  }
  return state;
}

Outcome<Json> FakeStore::ListAt(int64_t version, const std::string& after, int64_t limit,
                                const Scope& scope, const FakeResource& how) const {
  const auto state = StateAt(version, scope);
  if (!state) return Refuse(state.error());
  Json items = Json::array();
  Json metadata = {{"resourceVersion", std::to_string(version)}};
  int64_t remaining = 0;
  std::string last;
  for (const auto& [key, object] : *state) {
    const std::string& place = std::get<2>(key);
    if (!after.empty() && place <= after) continue;
    if (!scope.selectors.Matches(*object)) continue;
    if (limit > 0 && static_cast<int64_t>(items.size()) == limit) {
      ++remaining;
      continue;
    }
    last = place;
    Json item = *object;
    if (!how.custom) {
      // Go leaves these out of the items of its own types.
      item.erase("kind");
      item.erase("apiVersion");
    }
    items.push_back(std::move(item));
  }
  if (remaining > 0) {
    metadata["continue"] = ContinueToken(version, last);
    if (scope.selectors.empty()) metadata["remainingItemCount"] = remaining;
  }
  return Json{{"kind", scope.resource.kind + "List"},
              {"apiVersion", scope.resource.api_version()},
              {"metadata", metadata},
              {"items", items}};
}

Json FakeStore::MetadataOf(const Json& object) {
  return {{"kind", "PartialObjectMetadata"},
          {"apiVersion", kMetadataVersion},
          {"metadata", object.at("metadata")}};
}

Json FakeStore::MetadataOfList(Json list) {
  for (Json& item : list.at("items")) item = MetadataOf(item);
  list["kind"] = "PartialObjectMetadataList";
  list["apiVersion"] = kMetadataVersion;
  return list;
}

Outcome<Json> FakeStore::List(const Scope& scope, const FakeResource& how,
                              const std::map<std::string, std::string>& query) const {
  const std::string asked = Parameter(query, "resourceVersion");
  const std::string match = Parameter(query, "resourceVersionMatch");
  const std::string token = Parameter(query, "continue");
  const int64_t limit = ParseGoInt(Parameter(query, "limit")).value_or(0);
  if (!match.empty() && asked.empty()) {
    return Refuse(
        BadListOptions("resourceVersionMatch",
                       "resourceVersionMatch is forbidden unless resourceVersion is provided"));
  }
  if (!match.empty() && !token.empty()) {
    return Refuse(BadListOptions("resourceVersionMatch",
                                 "resourceVersionMatch is forbidden when continue is provided"));
  }
  if (match == "Exact" && asked == "0") {
    return Refuse(
        BadListOptions("resourceVersionMatch",
                       "resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\""));
  }
  if (!token.empty()) {
    if (!asked.empty() && asked != "0") {
      return Refuse(BadRequest("specifying resource version is not allowed when using continue"));
    }
    const auto read = ReadContinueToken(token);
    if (!read) return Refuse(BadRequest("continue key is not valid"));
    if (read->first < compacted_) return Refuse(Expired(kExpiredContinue));
    return ListAt(read->first, read->second, limit, scope, how);
  }
  if (asked.empty()) return ListAt(version_, "", limit, scope, how);
  // "0": whatever the cache holds, and that in one page.
  if (asked == "0") return ListAt(version_, "", 0, scope, how);
  const auto version = ParseGoInt(asked);
  if (!version || *version < 0) {
    return Refuse(BadRequest("invalid resource version \"" + asked + "\""));
  }
  if (*version > version_) return Refuse(TooLargeResourceVersion(*version, version_));
  const bool exact = match == "Exact" || (match.empty() && limit > 0);
  return ListAt(exact ? *version : version_, "", limit, scope, how);
}

Outcome<void> FakeStore::Subscribe(const std::shared_ptr<Subscription>& subscription,
                                   const std::string& resource_version) {
  const Scope& scope = subscription->scope;
  const auto from = resource_version.empty() ? 0 : ParseGoInt(resource_version);
  if (!from || *from < 0) {
    return Refuse(StatusOf(500, "",
                           "resourceVersion: Invalid value: \"" + resource_version +
                               "\": strconv.ParseUint: invalid syntax"));
  }
  subscription->after = *from;
  if (*from == 0) {
    const auto state = StateAt(version_, scope);
    for (const auto& [_, object] : *state) {
      if (scope.selectors.Matches(*object)) {
        subscription->lines.push_back(Line(*subscription, "ADDED", *object));
      }
    }
  } else if (*from < compacted_) {
    subscription->lines.push_back(Line({}, "ERROR",
                                       Expired("too old resource version: " + resource_version +
                                               " (" + std::to_string(compacted_) + ")")));
    subscription->end = Subscription::End::kOrderly;
    return {};
  } else {
    for (const Change& change : history_) {
      std::string line = LineFor(*subscription, change);
      if (!line.empty()) subscription->lines.push_back(std::move(line));
    }
  }
  subscriptions_.push_back(subscription);
  return {};
}

void FakeStore::Unsubscribe(const std::shared_ptr<Subscription>& subscription) {
  std::erase(subscriptions_, subscription);
}

void FakeStore::SendBookmarks() {
  for (const auto& subscription : subscriptions_) {
    if (!subscription->bookmarks) continue;
    subscription->lines.push_back(BookmarkLine(*subscription, version_));
    Wake(*subscription);
  }
}

std::string FakeStore::BookmarkLine(const Subscription& subscription, int64_t version) {
  const Resource& resource = subscription.scope.resource;
  return Line(subscription, "BOOKMARK",
              {{"kind", resource.kind},
               {"apiVersion", resource.api_version()},
               {"metadata", {{"resourceVersion", std::to_string(version)}}}});
}

void FakeStore::Wake(const Subscription& subscription) {
  ::eventfd_write(subscription.event_fd, 1);
}

void FakeStore::Compact() {
  compacted_ = version_;
  history_.clear();
}

size_t FakeStore::size(const Resource& resource) const {
  return static_cast<size_t>(
      std::count_if(objects_.begin(), objects_.end(), [&resource](const auto& entry) {
        return std::get<0>(entry.first) == resource.group &&
               std::get<1>(entry.first) == resource.plural;
      }));
}

}  // namespace mindgate::kube::testing
