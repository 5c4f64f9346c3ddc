#include "deploy/rollback.h"

#include <map>
#include <set>
#include <utility>

#include "deploy/apply.h"
#include "deploy/labels.h"
#include "deploy/objects.h"
#include "json/value.h"
#include "schemas/names.h"

namespace mindgate::deploy {
namespace {

// An object that was deleted, to be made again: what we had applied, or all of it where it was not
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

class Undoer {
 public:
  Undoer(kube::Client& client, RetryPolicy& patience, const Progress& progress,
         const std::string& app, const std::vector<Done>& done)
      : client_(client), patience_(patience), progress_(progress), app_(app), done_(done) {}

  std::vector<std::string> Run() {
    for (const Done& done : done_) {
      if (done.stored.is_object()) latest_[done.Title()] = done.stored;
    }
    for (auto done = done_.rbegin(); done != done_.rend(); ++done) {
      if (!done->sent) continue;
      const bool made = done->live.is_null() || done->deleted;
      Report(*done, UndoApplied(*done, made), made ? "deleted" : "restored");
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

  kube::Answer<Json> Live(const Json& object) {
    return patience_.RetryWrite([&] {
      return Look(client_, ResourceOf(object), NamespaceOf(object), NameOf(object),
                  patience_.stop());
    });
  }

  // Force: nobody else has a claim to what stood there before.
  kube::Answer<Json> Apply(const Json& object) {
    return patience_.RetryWrite([&] {
      return client_.Apply(ResourceOf(object), NamespaceOf(object), NameOf(object), object,
                           /*force=*/true, {.field_manager = kFieldManager}, {}, patience_.stop());
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
    return "changed meanwhile by " + WhoChanged(live, latest->second);
  }

  // Controllers write the object as well, so that it may be another one at each try: each begins
  // by reading what is there, and the API server refuses it when that has changed since.
  Fault UndoApplied(const Done& done, bool made) {
    for (int left = kUndoTries;; --left) {
      if (Fault lost = patience_.Lost(); !lost.empty()) return lost;
      const auto live = Live(done.object);
      if (!live) return live.error().message;
      if (live->is_null()) return made ? "" : "somebody deleted it meanwhile";
      if (Fault change = ChangeOf(done, *live); !change.empty()) return change;
      bool crossed = false;
      Fault fault = made ? RemoveMade(done, *live, crossed) : PutBack(done, *live, crossed);
      if (!crossed || left <= 1) return fault;
    }
  }

  Fault RemoveMade(const Done& done, const Json& live, bool& crossed) {
    if (done.stored.is_null()) {
      const bool is_before = done.live.is_object() && UidOf(live) == UidOf(done.live);
      if (is_before || !IsOurs(live, app_)) return "";  // nothing came of it
    }
    kube::DeleteOptions options;
    options.preconditions.uid = UidOf(live);
    options.preconditions.resource_version = live.at("metadata").value("resourceVersion", "");
    options.propagation = "Background";
    const auto deleted = patience_.RetryWrite([&] {
      return client_.Delete(ResourceOf(done.object), NamespaceOf(live), NameOf(live), options,
                            patience_.stop());
    });
    if (deleted || deleted.error().reason == kube::Reason::kNotFound) return "";
    crossed = deleted.error().reason == kube::Reason::kConflict;
    return deleted.error().message;
  }

  Fault PutBack(const Done& done, const Json& live, bool& crossed) {
    Json before = AppliedBy(done.live, kFieldManager);
    if (before.is_null()) return "it was not of mindgate deploy before";
    // What others wrote meanwhile is newer than what there was.
    if (done.seeded && live.contains("data")) before["data"] = live.at("data");
    before["metadata"]["resourceVersion"] = live.at("metadata").at("resourceVersion");
    auto restored = Apply(before);
    if (!restored) {
      crossed = restored.error().reason == kube::Reason::kConflict;
      return restored.error().message;
    }
    latest_[done.Title()] = *std::move(restored);
    return "";
  }

  Fault MakeAgain(const Done& done, bool& was_deleted) {
    // What is being deleted still has the name: neither what was before nor what came after it may
    // be there.
    bool taken = false;
    const auto gone = patience_.Await(done.Title(), "was not gone", [&]() -> kube::Answer<bool> {
      const auto live = Look(client_, ResourceOf(done.object), NamespaceOf(done.object),
                             NameOf(done.object), patience_.stop());
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
        const auto made = made_again_.find(owner.value("uid", ""));
        if (made != made_again_.end()) owner["uid"] = made->second;
      }
    } else {
      before["metadata"].erase("ownerReferences");
    }
    const auto restored = Apply(before);
    if (!restored) return restored.error().message;
    made_again_[UidOf(done.live)] = UidOf(*restored);
    return "";
  }

  kube::Client& client_;
  RetryPolicy& patience_;
  const Progress& progress_;
  const std::string& app_;
  const std::vector<Done>& done_;
  std::set<std::string> failed_;
  std::map<std::string, Json> latest_;  // by title: what we wrote last, as it was answered
  std::map<std::string, std::string> made_again_;  // uids, before and after
};

}  // namespace

std::vector<std::string> Undo(kube::Client& client, RetryPolicy& patience, const Progress& progress,
                              const std::string& app, const std::vector<Done>& done) {
  return Undoer(client, patience, progress, app, done).Run();
}

}  // namespace mindgate::deploy
