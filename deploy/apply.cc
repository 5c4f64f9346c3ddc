#include "deploy/apply.h"

#include <algorithm>
#include <utility>

#include "deploy/applied_fields.h"
#include "deploy/labels.h"
#include "json/value.h"

namespace mindgate::deploy {
namespace {

using kube::Reason;

// What was done to one object, to undo it.
struct Done {
  const PlannedObject* planned;
  bool created;
  Json before;  // what we had applied; null: nothing
  Json stored;
};

struct Failure {
  Outcome outcome = Outcome::kFailed;
  std::string message;
};

bool IsAvailable(const Json& deployment) {
  const int64_t wanted = json::AsInt(json::FindPath(deployment, {"spec", "replicas"})).value_or(1);
  const auto count = [&](const char* member) {
    return json::AsInt(json::FindPath(deployment, {"status", member})).value_or(0);
  };
  const int64_t generation =
      json::AsInt(json::FindPath(deployment, {"metadata", "generation"})).value_or(0);
  return count("observedGeneration") >= generation && count("updatedReplicas") >= wanted &&
         count("availableReplicas") >= wanted;
}

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
        deadline_(clock.Now() + options.timeout) {}

  ApplyResult Run() {
    const auto failure = Apply();
    if (!failure) return result_;
    result_.outcome = failure->outcome;
    result_.message = failure->message;
    if (options_.atomic) RollBack();
    return result_;
  }

 private:
  using Step = std::optional<Failure>;  // nothing: it worked

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
    if (options_.wait || options_.atomic) return AwaitHealth();
    return std::nullopt;
  }

  static Step Failed(const std::string& what, const kube::Fault& fault) {
    return Failure{Outcome::kFailed, what + ": " + fault.message};
  }

  kube::Answer<Json> Send(const PlannedObject& planned, const Json& object, bool force) {
    return client_.Apply(ResourceOf(object), planned.rendered.Namespace(), planned.rendered.Name(),
                         object, force, {.field_manager = kFieldManager}, {}, stop_);
  }

  Step ApplyOne(const PlannedObject& planned) {
    if (planned.action == Action::kNone) return std::nullopt;
    if (planned.replace) {
      if (auto failure = Remove(planned.live, "deleted, to be submitted again")) return failure;
      if (auto failure = AwaitGone(planned.live)) return failure;
    }
    const auto stored = Send(planned, planned.desired, options_.force);
    if (!stored) return Failed(planned.Title(), stored.error());
    ++result_.written;
    const bool created = planned.action == Action::kCreate;
    done_.push_back(
        {&planned, created, created ? Json() : AppliedBy(planned.live, kFieldManager), *stored});
    if (planned.rendered.is_root) root_ = *stored;
    progress_.step(planned.Title() + (created           ? " created"
                                      : planned.replace ? " submitted again"
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
      const auto stored = Send(planned, owned, options_.force);
      if (!stored) return Failed(planned.Title(), stored.error());
    }
    return std::nullopt;
  }

  kube::Answer<void> Delete(const Json& object, const char* propagation,
                            const std::stop_token& stop) {
    kube::DeleteOptions options;
    options.preconditions.uid = UidOf(object);
    options.propagation = propagation;
    return client_.Delete(ResourceOf(object), NamespaceOf(object), NameOf(object), options, stop);
  }

  Step Remove(const Json& object, const std::string& word) {
    const auto deleted = Delete(object, PropagationOf(object), stop_);
    if (!deleted && deleted.error().reason != Reason::kNotFound) {
      return Failed(TitleOf(object), deleted.error());
    }
    ++result_.written;
    progress_.step(TitleOf(object) + " " + word);
    return std::nullopt;
  }

  Step Prune() {
    for (const Json& object : plan_.surplus) {
      if (auto failure = Remove(object, "deleted: it is no longer part of the application")) {
        return failure;
      }
    }
    return std::nullopt;
  }

  // Calls `is_done` until it gives true or a failure, or until the time is over.
  template <typename IsDone>
  Step Await(const std::string& what, IsDone is_done) {
    while (true) {
      Step failure;
      if (is_done(failure) || failure) return failure;
      if (clock_.Now() >= deadline_) {
        return Failure{Outcome::kTimedOut,
                       what + " within " + std::to_string(options_.timeout.count()) + " s"};
      }
      if (!sleeper_.Sleep(kPollTime, stop_)) {
        return Failure{Outcome::kFailed, "interrupted; deploying again goes on from here"};
      }
    }
  }

  Step AwaitGone(const Json& object) {
    return Await(TitleOf(object) + " was not gone", [&](Step& failure) {
      const kube::Resource& resource = ResourceOf(object);
      const auto live = Look(client_, resource, NamespaceOf(object), NameOf(object), stop_);
      if (!live) failure = Failed(TitleOf(object), live.error());
      return live && (live->is_null() || UidOf(*live) != UidOf(object));
    });
  }

  Step AwaitDeployment(const PlannedObject& planned) {
    bool told = false;
    return Await(planned.Title() + " was not ready", [&](Step& failure) {
      const auto live = Look(client_, kube::resources::kDeployments, planned.rendered.Namespace(),
                             planned.rendered.Name(), stop_);
      if (!live) failure = Failed(planned.Title(), live.error());
      if (live && live->is_object() && IsAvailable(*live)) return true;
      if (!told) progress_.step("waiting for " + planned.Title());
      told = true;
      return false;
    });
  }

  Step AwaitHealth() {
    const auto objects = FindObjects(client_, application_.ns, application_.name, stop_);
    if (!objects) return Failed("application " + application_.name, objects.error());
    std::string last;
    Step step = Await("the application was not healthy", [&](Step& failure) {
      const auto health = LookAtPods(client_, application_.ns, application_.name, *objects, stop_);
      if (!health) {
        failure = Failed("application " + application_.name, health.error());
        return false;
      }
      last = health->why;
      if (progress_.waiting) progress_.waiting(*health);
      return health->verdict == Verdict::kHealthy;
    });
    if (step && step->outcome == Outcome::kTimedOut) step->message += ": " + last;
    return step;
  }

  // Undoes what was done, last first. What fails is told, and the rest is undone all the same.
  void RollBack() {
    progress_.step("rolling back");
    result_.rolled_back = true;
    for (auto done = done_.rbegin(); done != done_.rend(); ++done) {
      const std::string fault = Undo(*done);
      const std::string word = done->created ? " deleted" : " restored";
      progress_.step(done->planned->Title() + (fault.empty() ? word : " not undone: " + fault));
      result_.rolled_back = result_.rolled_back && fault.empty();
    }
  }

  // Why it failed; empty: it did not. Goes on when the user has stopped all else.
  std::string Undo(const Done& done) {
    const PlannedObject& planned = *done.planned;
    if (!done.created && done.before.is_null()) return "it was not of mindgate deploy before";
    if (done.created || planned.replace) {
      const auto deleted = Delete(done.stored, "Background", {});
      if (!deleted && deleted.error().reason != Reason::kNotFound) return deleted.error().message;
      if (done.created) return "";
      if (const auto failure = AwaitGone(done.stored)) return failure->message;
    }
    const auto restored = client_.Apply(ResourceOf(planned.desired), planned.rendered.Namespace(),
                                        planned.rendered.Name(), done.before, /*force=*/true,
                                        {.field_manager = kFieldManager}, {}, {});
    return restored ? "" : restored.error().message;
  }

  kube::Client& client_;
  kube::Sleeper& sleeper_;
  const Clock& clock_;
  const Application& application_;
  const Plan& plan_;
  const ApplyOptions& options_;
  const Progress& progress_;
  const std::stop_token stop_;
  const Clock::Instant deadline_;
  ApplyResult result_;
  std::vector<Done> done_;
  Json root_;
};

}  // namespace

ApplyResult CarryOut(kube::Client& client, kube::Sleeper& sleeper, const Clock& clock,
                     const Application& application, const Plan& plan, const ApplyOptions& options,
                     const Progress& progress, const std::stop_token& stop) {
  return Executor(client, sleeper, clock, application, plan, options, progress, stop).Run();
}

}  // namespace mindgate::deploy
