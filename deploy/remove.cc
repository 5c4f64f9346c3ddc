#include "deploy/remove.h"

#include <algorithm>
#include <utility>

#include "deploy/labels.h"
#include "json/value.h"

namespace mindgate::deploy {
namespace {

using kube::Reason;

std::string Listed(const std::vector<std::string>& titles) {
  constexpr size_t kMost = 5;
  std::string text;
  for (size_t i = 0; i < std::min(titles.size(), kMost); ++i)
    text += (i > 0 ? ", " : "") + titles[i];
  if (titles.size() > kMost) text += " and " + std::to_string(titles.size() - kMost) + " more";
  return text;
}

// "Pod chat-engine-0 (finalizers: a, b)"
std::string WithFinalizers(const Json& object) {
  std::string text = TitleOf(object);
  const Json* finalizers = json::FindPath(object, {"metadata", "finalizers"});
  if (!json::IsArray(finalizers) || finalizers->empty()) return text;
  text += " (finalizers:";
  for (const Json& each : *finalizers) {
    text += " " + std::string(json::AsString(&each).value_or(""));
  }
  return text + ")";
}

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
        stop_(stop) {}

  ApplyResult Run() {
    for (const Json& object : plan_.kept) {
      if (!Release(object)) return result_;
    }
    for (const Json& object : plan_.objects) {
      if (!Delete(object)) return result_;
    }
    if (options_.wait && !options_.dry_run && !plan_.objects.empty()) Await();
    return result_;
  }

 private:
  bool Fail(Outcome outcome, std::string message) {
    result_.outcome = outcome;
    result_.message = std::move(message);
    return false;
  }

  // Without this the store would go with its owner.
  bool Release(const Json& object) {
    if (json::FindPath(object, {"metadata", "ownerReferences"}) == nullptr) return true;
    const Json patch = {{"metadata", {{"ownerReferences", nullptr}}}};
    const auto patched = client_.MergePatch(
        ResourceOf(object), ns_, NameOf(object), patch,
        {.dry_run = options_.dry_run, .field_manager = kFieldManager}, {}, stop_);
    if (!patched) return Fail(Outcome::kFailed, TitleOf(object) + ": " + patched.error().message);
    progress_.step(TitleOf(object) + " kept");
    return true;
  }

  bool Delete(const Json& object) {
    kube::DeleteOptions options;
    options.preconditions.uid = UidOf(object);
    options.propagation = PropagationOf(object);
    options.dry_run = options_.dry_run;
    const auto deleted =
        client_.Delete(ResourceOf(object), NamespaceOf(object), NameOf(object), options, stop_);
    if (!deleted && deleted.error().reason != Reason::kNotFound) {
      return Fail(Outcome::kFailed, TitleOf(object) + ": " + deleted.error().message);
    }
    ++result_.written;
    progress_.step(TitleOf(object) + (options_.dry_run ? " would be deleted" : " deleted"));
    return true;
  }

  // What is left of the application; nothing when that cannot be found out.
  std::optional<std::vector<std::string>> Left() {
    std::vector<std::string> left;
    for (const Json& object : plan_.objects) {
      const auto live =
          Look(client_, ResourceOf(object), NamespaceOf(object), NameOf(object), stop_);
      if (!live) return Unknown(live.error());
      if (live->is_object() && UidOf(*live) == UidOf(object)) {
        left.push_back(WithFinalizers(*live));
      }
    }
    const auto pods =
        client_.ListObjects(kube::resources::kPods, ns_,
                            {.label_selector = PodSelector(plan_.framework, app_)}, nullptr, stop_);
    if (!pods) return Unknown(pods.error());
    for (Json pod : *pods) {
      if (!plan_.kept.empty() && Label(pod, kComponent) == kStoreComponent) continue;
      pod["kind"] = "Pod";
      left.push_back(WithFinalizers(pod));
    }
    const auto groups =
        client_.ListObjects(kube::resources::kPodGroups, ns_,
                            {.label_selector = PodSelector(plan_.framework, app_)}, nullptr, stop_);
    if (!groups && groups.error().reason != Reason::kNotFound &&
        groups.error().reason != Reason::kForbidden) {
      return Unknown(groups.error());
    }
    for (const Json& each : groups ? *groups : std::vector<Json>()) {
      Json group = each;
      group["kind"] = "PodGroup";
      left.push_back(WithFinalizers(group));
    }
    return left;
  }

  std::optional<std::vector<std::string>> Unknown(const kube::Fault& fault) {
    Fail(Outcome::kFailed, fault.message);
    return std::nullopt;
  }

  void Await() {
    const Clock::Instant deadline = clock_.Now() + options_.timeout;
    bool told = false;
    while (true) {
      const auto left = Left();
      if (!left || left->empty()) return;
      if (!told) progress_.step("waiting for " + Listed(*left));
      told = true;
      if (clock_.Now() >= deadline) {
        Fail(Outcome::kTimedOut, "not gone within " + std::to_string(options_.timeout.count()) +
                                     " s: " + Listed(*left));
        return;
      }
      if (!sleeper_.Sleep(kPollTime, stop_)) {
        Fail(Outcome::kFailed, "interrupted; deleting again goes on from here");
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
  ApplyResult result_;
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
  plan.framework = found->framework().value_or(Framework::kOme);
  for (Json& object : found->objects) {
    const bool keep = keep_store && IsStore(object, app);
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
