#include "deploy/rollback.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "deploy/apply.h"
#include "deploy/render.h"
#include "json/decode.h"
#include "json/value.h"
#include "schemas/names.h"

namespace mindgate::deploy {
namespace {

using json::Json;
using kube::Reason;

// Objects in an API server are not nested more deeply.
constexpr int kMaxDepth = 100;

bool HasKeys(const Json& item, const Json& keys) {
  if (!item.is_object() || !keys.is_object()) return false;
  return std::all_of(keys.items().begin(), keys.items().end(), [&item](const auto& key) {
    return item.contains(key.key()) && item.at(key.key()) == key.value();
  });
}

// The part of `value` that `fields` names. "f:x" is a member, "k:{...}" an item of a list by its
// keys, "v:..." an item by its value, "." the value itself; without any of them it is all of it.
Json Part(const Json& value, const Json& fields, int depth) {
  const bool whole = !fields.is_object() || fields.empty();
  if (whole || depth == 0 || !value.is_structured()) return value;
  Json part = value.is_array() ? Json::array() : Json::object();
  for (const auto& [field, below] : fields.items()) {
    const std::string name = field.substr(std::min<size_t>(field.size(), 2));
    if (value.is_object() && field.starts_with("f:")) {
      if (value.contains(name)) part[name] = Part(value.at(name), below, depth - 1);
    } else if (value.is_array() && (field.starts_with("k:") || field.starts_with("v:"))) {
      const auto meant = json::Decode(name, {});
      if (!meant) continue;
      for (const Json& item : value) {
        const bool found = field[0] == 'k' ? HasKeys(item, *meant) : item == *meant;
        if (found) part.push_back(Part(item, below, depth - 1));
      }
    }
  }
  return part;
}

// What the manager has applied, in metadata.managedFields; null pointer: nothing.
const Json* EntryOf(const Json& object, std::string_view manager) {
  const Json* managers = json::FindPath(object, {"metadata", "managedFields"});
  if (!json::IsArray(managers)) return nullptr;
  const auto entry = std::find_if(managers->begin(), managers->end(), [manager](const Json& each) {
    return json::FindString(each, "manager") == manager &&
           json::FindString(each, "operation") == "Apply" && !each.contains("subresource");
  });
  return entry == managers->end() ? nullptr : &*entry;
}

// The fields that hold no others, as "f:spec/f:replicas".
void AddLeaves(const Json* fields, const std::string& at, int depth,
               std::set<std::string>& leaves) {
  if (!json::IsObject(fields) || fields->empty() || depth == 0) {
    leaves.insert(at);
    return;
  }
  for (const auto& [name, below] : fields->items()) {
    AddLeaves(&below, at + "/" + name, depth - 1, leaves);
  }
}

}  // namespace

Json AppliedBy(const Json& object, std::string_view manager) {
  const Json* entry = EntryOf(object, manager);
  if (entry == nullptr) return nullptr;
  Json applied = Part(object, entry->value("fieldsV1", Json::object()), kMaxDepth);
  if (!applied.is_object()) return nullptr;
  for (const char* member : {"apiVersion", "kind"}) {
    if (object.contains(member)) applied[member] = object.at(member);
  }
  for (const char* member : {"name", "namespace"}) {
    const Json* written = json::FindPath(object, {"metadata", member});
    if (written != nullptr) applied["metadata"][member] = *written;
  }
  return applied;
}

bool IsAsStored(const Json& live, const Json& stored, bool seeded) {
  Json now = AppliedBy(live, kFieldManager);
  Json then = AppliedBy(stored, kFieldManager);
  if (seeded) {
    for (Json* each : {&now, &then}) {
      if (each->is_object()) each->erase("data");
    }
  }
  return now == then;
}

std::string WhoChanged(const Json& live, const Json& stored) {
  constexpr size_t kMost = 3;
  const Json* now = EntryOf(live, kFieldManager);
  const Json* then = EntryOf(stored, kFieldManager);
  std::set<std::string> lost;
  if (then != nullptr) AddLeaves(json::Find(*then, "fieldsV1"), "", kMaxDepth, lost);
  std::set<std::string> kept;
  if (now != nullptr) AddLeaves(json::Find(*now, "fieldsV1"), "", kMaxDepth, kept);
  for (const std::string& each : kept) lost.erase(each);
  std::vector<std::string> names;
  const Json* managers = json::FindPath(live, {"metadata", "managedFields"});
  if (json::IsArray(managers)) {
    for (const Json& entry : *managers) {
      std::set<std::string> own;
      AddLeaves(json::Find(entry, "fieldsV1"), "", kMaxDepth, own);
      const bool took = std::any_of(
          own.begin(), own.end(), [&lost](const std::string& each) { return lost.contains(each); });
      if (took && &entry != now) {
        names.emplace_back(json::FindString(entry, "manager").value_or("somebody"));
      }
    }
  }
  const bool again = now != nullptr && then != nullptr &&
                     json::FindString(*now, "time") != json::FindString(*then, "time");
  // Nobody but ourselves can change what only we own.
  if (again || names.empty()) names.emplace_back("another mindgate deploy");
  return JoinFirst(names, kMost);
}

namespace {

// What --force takes from others: it has no owner but us afterwards, and goes when we apply it no
// longer. What nobody owned, such as a default, comes back by itself.
class TakenValues {
 public:
  explicit TakenValues(const Json& before) : before_(before) {
    const Json* managers = json::FindPath(before, {"metadata", "managedFields"});
    if (!json::IsArray(managers)) return;
    const Json* own = EntryOf(before, kFieldManager);
    for (const Json& entry : *managers) {
      AddLeaves(json::Find(entry, "fieldsV1"), "", kMaxDepth, &entry == own ? ours_ : theirs_);
    }
  }

  // Writes what others had at `fields` (FieldsV1) into `object`.
  void WriteInto(Json& object, const Json& fields) const {
    Write(fields, {.at = "", .theirs = false, .depth = kMaxDepth}, before_, object);
  }

 private:
  struct Place {
    std::string at;       // as in AddLeaves
    bool theirs = false;  // with all that is below
    int depth = 0;
  };

  void Write(const Json& fields, const Place& place, const Json& before, Json& object) const {
    if (!fields.is_object() || place.depth == 0) return;
    for (const auto& [field, below] : fields.items()) {
      const std::string at = place.at + "/" + field;
      const auto [old, now] = Values(field, before, object);
      if (old == nullptr || now == nullptr) continue;  // what was not there goes as it came
      const bool theirs = place.theirs || theirs_.contains(at);
      if (below.is_object() && !below.empty()) {
        Write(below, {at, theirs, place.depth - 1}, *old, *now);
      } else if (!ours_.contains(at) && (theirs || HasBelow(theirs_, at))) {
        *now = *old;
      }
    }
  }

  static bool HasBelow(const std::set<std::string>& leaves, const std::string& at) {
    const auto next = leaves.lower_bound(at + "/");
    return next != leaves.end() && next->starts_with(at + "/");
  }

  // What a field is in two objects; null pointer: one has none.
  static std::pair<const Json*, Json*> Values(const std::string& field, const Json& before,
                                              Json& object) {
    const std::string name = field.substr(std::min<size_t>(field.size(), 2));
    if (field.starts_with("f:") && before.is_object() && object.is_object()) {
      const auto now = object.find(name);
      return {json::Find(before, name), now == object.end() ? nullptr : &*now};
    }
    const auto keys = json::Decode(name, {});
    if (!field.starts_with("k:") || !keys || !before.is_array() || !object.is_array()) return {};
    const auto has = [&keys](const Json& item) { return HasKeys(item, *keys); };
    const auto old = std::find_if(before.begin(), before.end(), has);
    const auto now = std::find_if(object.begin(), object.end(), has);
    return {old == before.end() ? nullptr : &*old, now == object.end() ? nullptr : &*now};
  }

  const Json& before_;
  std::set<std::string> ours_;
  std::set<std::string> theirs_;
};

// An object that was deleted, to be recreated: what we had applied, or all of it where it was not
// ours.
Json ToRestore(const Json& live) {
  Json before = AppliedBy(live, kFieldManager);
  if (before.is_null()) before = Comparable(live);
  before["metadata"].erase("deletionTimestamp");
  before["metadata"].erase("deletionGracePeriodSeconds");
  // The servers of a job that is submitted again must not read the addresses of those before.
  const Json* table = json::FindPath(live, {"data", schemas::kRankTableKey});
  if (table != nullptr) before["data"][schemas::kRankTableKey] = kEmptyRankTable;
  return before;
}

// Controllers report on what they make while it is undone.
constexpr int kUndoTries = 10;

// Who writes values of others that come back, in metadata.managedFields.
constexpr const char* kGivenBack = "mindgate-deploy-rollback";

class Undoer {
 public:
  Undoer(kube::Client& client, RetryPolicy& retry, const Progress& progress, const std::string& app,
         const std::vector<Done>& done)
      : client_(client), retry_(retry), progress_(progress), app_(app), done_(done) {}

  std::vector<std::string> Run() {
    for (const Done& done : done_) {
      if (done.stored.is_object()) latest_[done.Title()] = done.stored;
    }
    for (auto done = done_.rbegin(); done != done_.rend(); ++done) {
      if (!done->sent) continue;
      const bool made = done->live.is_null() || done->deleted;
      bool found = true;
      const Fault fault = UndoApplied(*done, made, found);
      if (found || !fault.empty()) Report(*done, fault, made ? "deleted" : "restored");
    }
    for (const Done& done : done_) {
      if (!done.deleted || failed_.contains(done.Title())) continue;
      bool was_deleted = true;
      const Fault fault = MakeAgain(done, was_deleted);
      if (was_deleted) Report(done, fault, "restored");
    }
    return {failed_.begin(), failed_.end()};
  }

 private:
  using Fault = std::string;  // empty: it worked

  void Report(const Done& done, const Fault& fault, const std::string& word) {
    if (!fault.empty()) {
      failed_.insert(done.Title());
      progress_.step(done.Title() + " not undone: " + fault);
    } else if (!done.quiet) {
      progress_.step(done.Title() + " " + word);
    }
  }

  kube::Answer<Json> ReadLive(const Json& object) {
    return retry_.RetryWrite([&] {
      return FindObject(client_, ResourceOf(object), NamespaceOf(object), NameOf(object),
                        retry_.stop());
    });
  }

  // Force: nobody else has a claim to what stood there before.
  kube::Answer<Json> Apply(const Json& object) {
    return retry_.RetryWrite([&] {
      return client_.Apply(ResourceOf(object), NamespaceOf(object), NameOf(object), object,
                           /*force=*/true, {.field_manager = kFieldManager}, {}, retry_.stop());
    });
  }

  // What keeps us from undoing what is there: it is not what we left.
  Fault ChangeOf(const Done& done, const Json& live) const {
    const auto latest = latest_.find(done.Title());
    if (latest == latest_.end()) return "";  // no answer came
    if (UidOf(live) != UidOf(latest->second)) {
      return "somebody deleted it meanwhile and made another one";
    }
    if (IsAsStored(live, latest->second, done.seeded)) return "";
    // Our own write, of which no answer came.
    const auto sent = sent_.find(done.Title());
    if (sent != sent_.end() && AppliedBy(live, kFieldManager) == sent->second) return "";
    const std::string who = WhoChanged(live, latest->second);
    return who == kGivenBack ? "" : "changed meanwhile by " + who;
  }

  // Controllers write the object as well, so that it may be another one at each try: each begins
  // by reading what is there, and the API server refuses it when that has changed since. `found`
  // becomes false when nothing came of what was done, so that nothing is undone.
  Fault UndoApplied(const Done& done, bool made, bool& found) {
    for (int left = kUndoTries;; --left) {
      if (Fault lost = retry_.Lost(); !lost.empty()) return lost;
      const auto live = ReadLive(done.object);
      if (!live) return live.error().message;
      if (live->is_null()) {
        found = false;
        return made ? "" : "somebody deleted it meanwhile";
      }
      found = !IsUntouched(done, *live, made);
      if (!found) return "";
      if (Fault change = ChangeOf(done, *live); !change.empty()) return change;
      bool crossed = false;
      Fault fault = made ? RemoveMade(done, *live, crossed) : PutBack(done, *live, crossed);
      if (!crossed || left <= 1) return fault;
    }
  }

  // Whether nothing came of an application of which no answer reports what came of it.
  bool IsUntouched(const Done& done, const Json& live, bool made) const {
    if (done.stored.is_object()) return false;
    const bool is_before = done.live.is_object() && UidOf(live) == UidOf(done.live);
    if (made) return is_before || !IsOurs(live, app_);
    return is_before && IsAsStored(live, done.live, done.seeded);
  }

  Fault RemoveMade(const Done& done, const Json& live, bool& crossed) {
    kube::DeleteOptions options;
    options.preconditions.uid = UidOf(live);
    options.preconditions.resource_version = live.at("metadata").value("resourceVersion", "");
    options.propagation = "Background";
    const auto deleted = retry_.RetryWrite([&] {
      return client_.Delete(ResourceOf(done.object), NamespaceOf(live), NameOf(live), options,
                            retry_.stop());
    });
    if (deleted || deleted.error().reason == Reason::kNotFound) return "";
    crossed = deleted.error().reason == Reason::kConflict;
    return deleted.error().message;
  }

  Fault PutBack(const Done& done, const Json& live, bool& crossed) {
    Json before = AppliedBy(done.live, kFieldManager);
    if (before.is_null()) return "it was not of mindgate deploy before";
    Json version = live.at("metadata").at("resourceVersion");
    if (Fault fault = GiveBack(done, live, version, crossed); !fault.empty()) return fault;
    // What others wrote meanwhile is newer than what there was.
    if (done.seeded && live.contains("data")) before["data"] = live.at("data");
    sent_[done.Title()] = before;
    before["metadata"]["resourceVersion"] = std::move(version);
    auto restored = Apply(before);
    if (!restored) {
      crossed = restored.error().reason == Reason::kConflict;
      return restored.error().message;
    }
    latest_[done.Title()] = *std::move(restored);
    return "";
  }

  // Gives the values back that were taken from others, under a name that is not ours: what we own,
  // and do not apply, goes. `version`: of the object, before and after.
  Fault GiveBack(const Done& done, const Json& live, Json& version, bool& crossed) {
    // Where no answer came, what is there says what is ours.
    const Json* ours = EntryOf(done.stored.is_object() ? done.stored : live, kFieldManager);
    if (ours == nullptr) return "";
    Json given = live;
    TakenValues(done.live).WriteInto(given, ours->value("fieldsV1", Json::object()));
    if (done.seeded && live.contains("data")) given["data"] = live.at("data");
    Json operations = Json::diff(live, given);
    if (operations.empty()) return "";
    const Json test = {{"op", "test"}, {"path", "/metadata/resourceVersion"}, {"value", version}};
    operations.insert(operations.begin(), test);
    auto patched = retry_.RetryWrite([&] {
      return client_.Patch(ResourceOf(done.object), NamespaceOf(live), NameOf(live), operations,
                           {.field_manager = kGivenBack}, {}, retry_.stop());
    });
    if (!patched) {
      // kInvalid: the test failed.
      crossed =
          patched.error().reason == Reason::kConflict || patched.error().reason == Reason::kInvalid;
      return patched.error().message;
    }
    version = patched->at("metadata").at("resourceVersion");
    latest_[done.Title()] = *std::move(patched);
    return "";
  }

  Fault MakeAgain(const Done& done, bool& was_deleted) {
    // What is being deleted still has the name: neither what was before nor what came after it may
    // be there.
    bool taken = false;
    const auto gone = retry_.Await(done.Title(), "was not gone", [&]() -> kube::Answer<bool> {
      const auto live = FindObject(client_, ResourceOf(done.object), NamespaceOf(done.object),
                                   NameOf(done.object), retry_.stop());
      if (!live) return tl::unexpected(live.error());
      taken = live->is_object() && UidOf(*live) != UidOf(done.live) && !IsLeaving(*live);
      if (taken) return true;
      // Whoever was interrupted may have asked for nothing yet.
      was_deleted = live->is_null() || UidOf(*live) != UidOf(done.live) || IsLeaving(*live);
      return live->is_null() || !was_deleted;
    });
    if (gone) return gone->message;
    if (taken) return "somebody made another one meanwhile";
    if (!was_deleted) return "";
    Json before = ToRestore(done.live);
    if (Json* owners = &before["metadata"]["ownerReferences"]; owners->is_array()) {
      for (Json& owner : *owners) {
        const auto made = recreated_.find(owner.value("uid", ""));
        if (made != recreated_.end()) owner["uid"] = made->second;
      }
    } else {
      before["metadata"].erase("ownerReferences");
    }
    const auto restored = Apply(before);
    if (!restored) return restored.error().message;
    recreated_[UidOf(done.live)] = UidOf(*restored);
    return "";
  }

  kube::Client& client_;
  RetryPolicy& retry_;
  const Progress& progress_;
  const std::string& app_;
  const std::vector<Done>& done_;
  std::set<std::string> failed_;
  std::map<std::string, Json> latest_;  // by title: what we wrote last, as it was answered
  std::map<std::string, Json> sent_;    // by title: what we applied last to put it back
  std::map<std::string, std::string> recreated_;  // uids, before and after
};

}  // namespace

std::vector<std::string> Undo(kube::Client& client, RetryPolicy& retry, const Progress& progress,
                              const std::string& app, const std::vector<Done>& done) {
  return Undoer(client, retry, progress, app, done).Run();
}

}  // namespace mindgate::deploy
