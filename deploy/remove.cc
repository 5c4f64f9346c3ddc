#include "deploy/remove.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "deploy/apply.h"
#include "deploy/cluster.h"
#include "deploy/render.h"
#include "json/value.h"

namespace mindgate::deploy {
namespace {

using kube::Reason;

std::string Listed(const std::vector<std::string>& titles) {
  constexpr size_t kMost = 5;
  return JoinFirst(titles, kMost);
}

constexpr const char* kInterrupted = "interrupted";

// "Pod chat-engine-0 (finalizers: a, b)"
std::string WithFinalizers(const Json& object) { return TitleOf(object) + FinalizersOf(object); }

class Remover {
 public:
  Remover(kube::Client& client, kube::Sleeper& sleeper, const Clock& clock, const std::string& ns,
          const std::string& app, const RemovalPlan& plan, const RemoveOptions& options,
          const Progress& progress, const std::stop_token& stop)
      : client_(client),
        sleeper_(sleeper),
        clock_(clock),
        ns_(ns),
        app_(app),
        plan_(plan),
        options_(options),
        progress_(progress),
        stop_(stop),
        retry_(sleeper, clock, options.timeout, progress, stop, options.hold) {
    for (const Json& object : plan.objects) result_.left.push_back(TitleOf(object));
  }

  ApplyResult Run() {
    const bool waits = options_.wait && !options_.dry_run;
    // Before anything goes: what owned a pod names its PodGroup when the pod is gone.
    for (const Json& object : plan_.objects) ownership_.Add(object);
    if (waits && !Pods()) return result_;
    for (const Json& object : plan_.kept) {
      if (!Release(object)) return result_;
    }
    for (const Json& object : plan_.objects) {
      if (!Delete(object)) return result_;
    }
    if (options_.settled) options_.settled();
    if (waits) Await();
    return result_;
  }

 private:
  bool Fail(Outcome outcome, std::string message) {
    result_.outcome = outcome;
    result_.message = std::move(message);
    return false;
  }

  bool Refused(const Json& object, const kube::Fault& fault) {
    if (fault.reason == Reason::kStopped) return Fail(Outcome::kFailed, kInterrupted);
    result_.forbidden = fault.reason == Reason::kForbidden;
    return Fail(Outcome::kFailed, TitleOf(object) + ": " + fault.message);
  }

  // Without this the store would go with its owner.
  bool Release(const Json& object) {
    if (json::FindPath(object, {"metadata", "ownerReferences"}) == nullptr) return true;
    const Json patch = {{"metadata", {{"ownerReferences", nullptr}}}};
    if (std::string lost = retry_.Lost(); !lost.empty()) return Fail(Outcome::kFailed, lost);
    const auto patched = retry_.RetryWrite([&] {
      return client_.MergePatch(ResourceOf(object), ns_, NameOf(object), patch,
                                {.dry_run = options_.dry_run, .field_manager = kFieldManager}, {},
                                stop_);
    });
    if (!patched) return Refused(object, patched.error());
    progress_.step(TitleOf(object) + " kept");
    return true;
  }

  bool Delete(const Json& object) {
    kube::DeleteOptions options;
    options.preconditions.uid = UidOf(object);
    options.propagation = PropagationOf(object);
    options.dry_run = options_.dry_run;
    if (std::string lost = retry_.Lost(); !lost.empty()) return Fail(Outcome::kFailed, lost);
    const auto deleted = retry_.RetryWrite([&] {
      return client_.Delete(ResourceOf(object), NamespaceOf(object), NameOf(object), options,
                            stop_);
    });
    if (!deleted && deleted.error().reason != Reason::kNotFound) {
      return Refused(object, deleted.error());
    }
    ++result_.written;
    std::erase(result_.left, TitleOf(object));
    progress_.step(TitleOf(object) + (options_.dry_run ? " would be deleted" : " deleted"));
    return true;
  }

  // What is left of the application; nothing when that cannot be found out.
  std::optional<std::vector<std::string>> Left() {
    std::vector<std::string> left;
    for (const Json& object : plan_.objects) {
      const auto live =
          FindObject(client_, ResourceOf(object), NamespaceOf(object), NameOf(object), stop_);
      if (!live) return Unknown(live.error());
      if (live->is_object() && UidOf(*live) == UidOf(object)) {
        left.push_back(WithFinalizers(*live));
      }
    }
    const auto pods = Pods();
    if (!pods) return std::nullopt;
    for (const Json& pod : *pods) left.push_back(WithFinalizers(pod));
    const auto groups = PodGroupsOf(client_, ns_, ownership_, stop_);
    if (!groups) return Unknown(groups.error());
    for (const Json& group : *groups) {
      // Nobody deletes one that a user made and named in the annotation of pods.
      if (!group.at("metadata").contains("ownerReferences") && !IsLeaving(group)) continue;
      left.push_back(WithFinalizers(group));
    }
    return left;
  }

  // The pods that go with the application. Without objects nothing says which framework it had, and
  // whose pods are not going: only those count that are.
  std::optional<std::vector<Json>> Pods() {
    std::vector<Json> pods;
    const bool gone = plan_.objects.empty();
    for (const Framework each : {Framework::kOme, Framework::kAibrix, Framework::kMindie}) {
      if (!gone && plan_.framework != each) continue;
      auto listed = client_.ListObjects(
          kube::resources::kPods, ns_, {.label_selector = PodSelector(each, app_)}, nullptr, stop_);
      if (!listed) {
        Unknown(listed.error());
        return std::nullopt;
      }
      for (Json& pod : *listed) {
        if (!plan_.kept.empty() && Label(pod, kComponent) == kStoreComponent) continue;
        if (gone && !IsLeaving(pod)) continue;
        pod["kind"] = "Pod";
        ownership_.Add(pod);
        pods.push_back(std::move(pod));
      }
    }
    return pods;
  }

  std::optional<std::vector<std::string>> Unknown(const kube::Fault& fault) {
    result_.forbidden = fault.reason == Reason::kForbidden;
    passes_ = fault.transient();
    Fail(Outcome::kFailed, "what to wait for cannot be read: " + fault.message);
    return std::nullopt;
  }

  void Await() {
    const Clock::Instant deadline = clock_.Now() + options_.timeout;
    bool reported = false;
    while (true) {
      const auto left = Left();
      // An API server that restarts ends no waiting.
      if (!left && (!passes_ || clock_.Now() >= deadline)) return;
      if (!left) {
        result_.outcome = Outcome::kDone;
        result_.message.clear();
      } else if (left->empty()) {
        return;
      } else {
        if (!reported) progress_.step("waiting for " + Listed(*left));
        reported = true;
        if (clock_.Now() >= deadline) {
          Fail(Outcome::kTimedOut, "not gone within " + std::to_string(options_.timeout.count()) +
                                       " s: " + Listed(*left));
          return;
        }
      }
      if (!sleeper_.Sleep(kPollTime, stop_)) {
        Fail(Outcome::kFailed, kInterrupted);
        return;
      }
    }
  }

  kube::Client& client_;
  kube::Sleeper& sleeper_;
  const Clock& clock_;
  const std::string& ns_;
  const std::string& app_;
  const RemovalPlan& plan_;
  const RemoveOptions& options_;
  const Progress& progress_;
  const std::stop_token stop_;
  RetryPolicy retry_;
  ApplyResult result_;
  bool passes_ = false;  // what hinders may be over soon
  ApplicationOwnership ownership_;
};

// The store and its Service.
bool IsStore(const Json& object, const std::string& app) {
  return NameOf(object) == app + "-mf-store" && Label(object, kFrameworkLabel) == "ome";
}

}  // namespace

kube::Answer<RemovalPlan> PlanRemoval(kube::Client& client, const std::string& ns,
                                      const std::string& app, bool keep_store,
                                      const std::stop_token& stop) {
  auto found = FindObjects(client, ns, app, stop);
  if (!found) return tl::unexpected(found.error());
  RemovalPlan plan;
  plan.framework = found->framework();
  plan.unread = std::move(found->unread);
  for (Json& object : found->objects) {
    const bool keep = keep_store && IsStore(object, app);
    if (!keep && !IsAppliedByUs(object)) plan.applied_by_others.push_back(TitleOf(object));
    (keep ? plan.kept : plan.objects).push_back(std::move(object));
  }
  plan.foreign = std::move(found->foreign);
  return plan;
}

ApplyResult Remove(kube::Client& client, kube::Sleeper& sleeper, const Clock& clock,
                   const std::string& ns, const std::string& app, const RemovalPlan& plan,
                   const RemoveOptions& options, const Progress& progress,
                   const std::stop_token& stop) {
  return Remover(client, sleeper, clock, ns, app, plan, options, progress, stop).Run();
}

}  // namespace mindgate::deploy
