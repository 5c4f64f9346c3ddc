#include "deploy/apply.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/time.h"
#include "deploy/render.h"
#include "deploy/rollback.h"
#include "json/value.h"

namespace mindgate::deploy {
namespace {

using json::Json;
using kube::Reason;

// Writes of an object of which others fill the data may cross theirs, but not for long.
constexpr int kSeedTries = 5;

class Executor {
 public:
  Executor(kube::Client& client, kube::Sleeper& sleeper, const Clock& clock,
           const Application& application, const Plan& plan, const ApplyOptions& options,
           const Progress& progress, const std::stop_token& stop)
      : client_(client),
        sleeper_(sleeper),
        clock_(clock),
        application_(application),
        plan_(plan),
        options_(options),
        progress_(progress),
        stop_(stop),
        retry_(sleeper, clock, options.timeout, progress, stop, options.hold) {
    for (const PlannedObject& planned : plan.objects) {
      if (planned.action != Action::kNone) result_.left.push_back(planned.Title());
    }
    for (const Json& object : plan.surplus) {
      if (options.prune) result_.left.push_back(TitleOf(object));
    }
  }

  ApplyResult Run() {
    const auto failure = Apply();
    if (!failure) return result_;
    result_.outcome = failure->outcome;
    result_.message = failure->message;
    if (options_.atomic) RollBack();
    return result_;
  }

 private:
  Step Apply() {
    for (const Phase phase : {Phase::kFirst, Phase::kManagers, Phase::kServers}) {
      for (const PlannedObject& planned : plan_.objects) {
        if (planned.rendered.phase != phase) continue;
        if (auto failure = ApplyOne(planned)) return failure;
      }
      for (const PlannedObject& planned : plan_.objects) {
        if (planned.rendered.phase != phase || !planned.rendered.wait_ready) continue;
        if (auto failure = AwaitDeployment(planned)) return failure;
      }
    }
    if (auto failure = Adopt()) return failure;
    if (options_.prune) {
      if (auto failure = Prune()) return failure;
    }
    if (!options_.atomic) ReportSettled();
    if (options_.wait || options_.atomic) {
      if (auto failure = AwaitHealth()) return failure;
    }
    if (options_.atomic) ReportSettled();
    return std::nullopt;
  }

  void ReportSettled() const {
    if (options_.settled) options_.settled();
  }

  // Nothing is written without the hold.
  Step CheckHold() {
    std::string lost = retry_.Lost();
    if (lost.empty()) return std::nullopt;
    return Failure{Outcome::kFailed, std::move(lost)};
  }

  void NoteDone(const std::string& title) { std::erase(result_.left, title); }

  Step Failed(const std::string& what, const kube::Fault& fault) const {
    return RetryPolicy::FailureOf(what, fault);
  }

  kube::Answer<Json> Send(const PlannedObject& planned, const Json& object) {
    return retry_.RetryWrite([&] {
      return client_.Apply(ResourceOf(object), planned.rendered.Namespace(),
                           planned.rendered.Name(), object, options_.force,
                           {.field_manager = kFieldManager}, {}, stop_);
    });
  }

  // Takes over what others wrote since the plan was made, and writes only if nothing was since.
  kube::Answer<Json> SendSeeded(const PlannedObject& planned) {
    const RenderedObject& rendered = planned.rendered;
    for (int left = kSeedTries;; --left) {
      const auto live = retry_.RetryWrite([&] {
        return FindObject(client_, ResourceOf(rendered.object), rendered.Namespace(),
                          rendered.Name(), stop_);
      });
      if (!live) return live;
      Json desired = DesiredOf(rendered, *live, nullptr);
      if (live->is_object()) {
        desired["metadata"]["resourceVersion"] = live->at("metadata").at("resourceVersion");
      }
      auto stored = Send(planned, desired);
      const bool crossed = !stored && stored.error().reason == Reason::kConflict;
      if (!crossed || left <= 1) return stored;
    }
  }

  Step ApplyOne(const PlannedObject& planned) {
    if (planned.action == Action::kNone) {
      uids_[planned.Title()] = UidOf(planned.live);
      return std::nullopt;
    }
    if (auto failure = CheckHold()) return failure;
    Done done{.object = planned.desired,
              .live = planned.live,
              .stored = nullptr,
              .seeded = planned.rendered.seeded};
    if (planned.replace) {
      done.deleted = true;
      done_.push_back(done);
      if (auto failure = Remove(planned.live, "deleted, to be submitted again")) return failure;
      if (auto failure = AwaitGone(planned.live)) return failure;
      done_.pop_back();
    }
    done.sent = true;
    done_.push_back(std::move(done));
    const auto stored =
        planned.rendered.seeded ? SendSeeded(planned) : Send(planned, planned.desired);
    if (!stored) {
      done_.back().sent = !retry_.refused();
      return Failed(planned.Title(), stored.error());
    }
    ++result_.written;
    NoteDone(planned.Title());
    done_.back().stored = *stored;
    uids_[planned.Title()] = UidOf(*stored);
    if (planned.rendered.is_root) root_ = *stored;
    progress_.step(planned.Title() + (planned.action == Action::kCreate ? " created"
                                      : planned.replace                 ? " submitted again"
                                                                        : " changed"));
    return std::nullopt;
  }

  // Gives the objects that are new to their owner, which did not exist before.
  Step Adopt() {
    if (root_.is_null()) return std::nullopt;
    for (const PlannedObject& planned : plan_.objects) {
      if (!planned.rendered.of_root) continue;
      const Json owned = DesiredOf(planned.rendered, planned.live, root_);
      if (owned == planned.desired) continue;
      if (auto failure = CheckHold()) return failure;
      // What was created goes anyway; what was there must have its owner back before the new one
      // is deleted, and it with it.
      if (planned.live.is_object()) {
        done_.push_back({.object = owned,
                         .live = planned.live,
                         .sent = true,
                         .stored = nullptr,
                         .quiet = true});
      }
      const auto stored = Send(planned, owned);
      for (Done& done : done_) {
        if (done.Title() != planned.Title()) continue;
        if (stored) done.stored = *stored;
        // What an earlier answer gave may be there no longer.
        if (!stored && !retry_.refused()) done.stored = nullptr;
      }
      if (!stored) return Failed(planned.Title(), stored.error());
    }
    return std::nullopt;
  }

  Step Remove(const Json& object, const std::string& word) {
    kube::DeleteOptions options;
    options.preconditions.uid = UidOf(object);
    options.propagation = PropagationOf(object);
    const auto deleted = retry_.RetryWrite([&] {
      return client_.Delete(ResourceOf(object), NamespaceOf(object), NameOf(object), options,
                            stop_);
    });
    if (!deleted && deleted.error().reason != Reason::kNotFound) {
      if (retry_.refused()) done_.pop_back();
      return Failed(TitleOf(object), deleted.error());
    }
    ++result_.written;
    progress_.step(TitleOf(object) + " " + word);
    return std::nullopt;
  }

  Step Prune() {
    for (const Json& object : plan_.surplus) {
      // What somebody else is deleting does not come back.
      if (IsLeaving(object)) {
        NoteDone(TitleOf(object));
        continue;
      }
      if (auto failure = CheckHold()) return failure;
      done_.push_back({.object = object, .live = object, .deleted = true, .stored = nullptr});
      if (auto failure = Remove(object, "deleted: it is no longer part of the application")) {
        return failure;
      }
      NoteDone(TitleOf(object));
    }
    return std::nullopt;
  }

  Step AwaitGone(const Json& object) {
    return retry_.Await(TitleOf(object), "was not gone", [&]() -> kube::Answer<bool> {
      const auto live =
          FindObject(client_, ResourceOf(object), NamespaceOf(object), NameOf(object), stop_);
      if (!live) return tl::unexpected(live.error());
      return live->is_null() || UidOf(*live) != UidOf(object);
    });
  }

  Step AwaitDeployment(const PlannedObject& planned) {
    bool reported = false;
    return retry_.Await(planned.Title(), "was not ready", [&]() -> kube::Answer<bool> {
      const auto live = FindObject(client_, kube::resources::kDeployments,
                                   planned.rendered.Namespace(), planned.rendered.Name(), stop_);
      if (!live) return tl::unexpected(live.error());
      if (live->is_object() && IsAvailable(*live)) return true;
      if (!reported) progress_.step("waiting for " + planned.Title());
      reported = true;
      return false;
    });
  }

  // Who changed what was deployed, of an object that was written; empty: nobody did.
  std::string ChangeOf(const Json& live) const {
    for (const Done& done : done_) {
      if (done.stored.is_null() || TitleOf(live) != done.Title()) continue;
      if (IsAsStored(live, done.stored, done.seeded)) continue;
      return done.Title() + " was changed meanwhile by " + WhoChanged(live, done.stored);
    }
    return "";
  }

  // Why what was deployed is not what is there by now; empty: it is. Nothing that may be awaited
  // makes such an application healthy.
  std::string LossOf(const AppObjects& objects) const {
    for (const auto& [title, uid] : uids_) {
      const auto live = std::find_if(objects.objects.begin(), objects.objects.end(),
                                     [&](const Json& object) { return TitleOf(object) == title; });
      if (live == objects.objects.end()) {
        // Nothing is known of kinds that may not be listed.
        const bool is_unread =
            std::any_of(objects.unread.begin(), objects.unread.end(),
                        [&](const Unread& each) { return title.starts_with(each.kind + " "); });
        if (is_unread) continue;
        return title + " is gone: somebody deleted it meanwhile";
      }
      if (UidOf(*live) != uid) {
        return title + " is another one: somebody deleted it and made it again meanwhile";
      }
      if (IsLeaving(*live)) {
        return title + " is being deleted by somebody" + FinalizersOf(*live);
      }
      if (const std::string change = ChangeOf(*live); !change.empty()) return change;
    }
    return "";
  }

  Step AwaitHealth() {
    std::string last;
    std::string loss;
    Step step = retry_.Await("the application", "was not healthy", [&]() -> kube::Answer<bool> {
      // Their controllers report on the objects themselves, so these are read each time.
      const auto objects =
          FindObjects(client_, application_.ns, application_.name, stop_, application_.framework());
      if (!objects) return tl::unexpected(objects.error());
      loss = LossOf(*objects);
      if (!loss.empty()) return true;
      const auto health = LookAtPods(client_, application_.ns, application_.name, *objects, stop_);
      if (!health) return tl::unexpected(health.error());
      last = health->why;
      if (progress_.waiting) progress_.waiting(*health);
      return health->verdict == Verdict::kHealthy;
    });
    if (!loss.empty()) {
      return Failure{Outcome::kFailed, "the application does not become healthy: " + loss};
    }
    if (step && step->outcome == Outcome::kTimedOut && !last.empty()) step->message += ": " + last;
    return step;
  }

  // Has time of its own, and goes on when the user has stopped all else.
  void RollBack() {
    if (!retry_.Lost().empty()) {
      // Whoever took over has read what is there, and counts on it.
      for (const Done& done : done_) {
        const bool touched = done.sent || done.deleted;
        if (touched && !done.quiet) result_.not_undone.push_back(done.Title());
      }
      result_.rolled_back = result_.not_undone.empty();
      return;
    }
    progress_.step("rolling back");
    RetryPolicy retry(sleeper_, clock_, kUndoTime, progress_, {}, options_.hold);
    result_.not_undone = Undo(client_, retry, progress_, application_.name, done_);
    result_.rolled_back = result_.not_undone.empty();
  }

  kube::Client& client_;
  kube::Sleeper& sleeper_;
  const Clock& clock_;
  const Application& application_;
  const Plan& plan_;
  const ApplyOptions& options_;
  const Progress& progress_;
  const std::stop_token stop_;
  RetryPolicy retry_;
  ApplyResult result_;
  std::vector<Done> done_;
  std::map<std::string, std::string> uids_;  // of all that the application is made of, by title
  Json root_;
};

}  // namespace

ApplyResult CarryOut(kube::Client& client, kube::Sleeper& sleeper, const Clock& clock,
                     const Application& application, const Plan& plan, const ApplyOptions& options,
                     const Progress& progress, const std::stop_token& stop) {
  return Executor(client, sleeper, clock, application, plan, options, progress, stop).Run();
}

}  // namespace mindgate::deploy
