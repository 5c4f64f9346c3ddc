#include "deploy/plan.h"

#include <algorithm>
#include <set>
#include <utility>

#include "deploy/apply.h"
#include "deploy/render.h"
#include "json/value.h"

namespace mindgate::deploy {
namespace {

using kube::Reason;

std::string WithCauses(const kube::Fault& fault) {
  std::string text = fault.message;
  for (const std::string& cause : fault.causes) text += "; " + cause;
  return text;
}

// Whether labels or annotations of a job change that its PodGroup has copied. What others write
// does not count, nor do our marks.
bool ChangesCopied(const Json& live, const Json& after) {
  for (const char* map : {"labels", "annotations"}) {
    std::set<std::string> keys;
    for (const Json* each : {&live, &after}) {
      const Json applied = AppliedBy(*each, kFieldManager);
      const Json* members = json::FindPath(applied, {"metadata", map});
      if (!json::IsObject(members)) continue;
      for (const auto& [key, value] : members->items()) keys.insert(key);
    }
    for (const std::string& key : keys) {
      const Json* before = json::FindPath(live, {"metadata", map, key});
      const Json* then = json::FindPath(after, {"metadata", map, key});
      const bool same = before == nullptr || then == nullptr ? before == then : *before == *then;
      if (!same && !IsMark(key)) return true;
    }
  }
  return false;
}

class Planner {
 public:
  Planner(kube::Client& client, const Application& application, const PlanOptions& options,
          const std::stop_token& stop)
      : client_(client), application_(application), options_(options), stop_(stop) {}

  kube::Answer<Plan> Make(std::vector<RenderedObject> objects) {
    for (RenderedObject& each : objects) {
      const kube::Resource& resource = ResourceOf(each.object);
      auto live = FindObject(client_, resource, each.Namespace(), each.Name(), stop_);
      if (!live) return tl::unexpected(live.error());
      PlannedObject planned;
      planned.rendered = std::move(each);
      planned.live = *std::move(live);
      plan_.objects.push_back(std::move(planned));
    }
    const Json root = Root();
    for (PlannedObject& planned : plan_.objects) {
      if (IsForeign(planned)) continue;
      planned.desired = DesiredOf(planned.rendered, planned.live, root);
      if (auto fault = Try(planned)) return tl::unexpected(*std::move(fault));
    }
    if (auto fault = FindSurplus()) return tl::unexpected(*std::move(fault));
    return std::move(plan_);
  }

 private:
  Json Root() const {
    for (const PlannedObject& planned : plan_.objects) {
      if (planned.rendered.is_root) return planned.live;
    }
    return nullptr;
  }

  // Objects of others are left alone, whatever their name.
  bool IsForeign(const PlannedObject& planned) {
    const bool foreign =
        planned.live.is_object() && !IsOurs(planned.live, application_.name) && !options_.force;
    if (foreign) {
      plan_.blockers.push_back(
          {planned.Title() + " in namespace " + application_.ns +
               " exists already and is not of application " + application_.name,
           "choose another app_name, delete the object, or take it over with --force"});
    }
    return foreign;
  }

  // The faults that end planning; others are obstacles.
  std::optional<kube::Fault> Try(PlannedObject& planned) {
    const bool exists = planned.live.is_object();
    if (exists && IsLeaving(planned.live)) {
      plan_.blockers.push_back(
          {planned.Title() + " is being deleted", "wait until it is gone, and deploy again"});
      return std::nullopt;
    }
    planned.action = exists ? Action::kUpdate : Action::kCreate;
    if (!options_.try_out) return std::nullopt;
    auto after = client_.Apply(ResourceOf(planned.desired), planned.rendered.Namespace(),
                               planned.rendered.Name(), planned.desired, options_.force,
                               {.dry_run = true, .field_manager = kFieldManager}, {}, stop_);
    if (!after) return Refused(planned.Title(), after.error());
    planned.after = *std::move(after);
    const bool same = exists && IsOurs(planned.live, application_.name) &&
                      Comparable(planned.after) == Comparable(planned.live);
    if (same) planned.action = Action::kNone;
    if (!same && exists && planned.rendered.Kind() == "AscendJob") return CheckJob(planned);
    return std::nullopt;
  }

  // The operator reads a job once, and copies its labels and annotations to the PodGroup once: a
  // change of an existing one has no effect.
  std::optional<kube::Fault> CheckJob(PlannedObject& planned) {
    const auto spec = [](const Json& object) { return object.value("spec", Json::object()); };
    if (spec(planned.after) == spec(planned.live) && !ChangesCopied(planned.live, planned.after)) {
      return std::nullopt;
    }
    planned.replace = options_.replace;
    if (planned.replace) return TryDelete(planned.live);
    plan_.blockers.push_back(
        {planned.Title() + " is submitted already, and Ascend Operator does not read its changes",
         "deploy with --replace, which deletes the job and submits it again"});
    return std::nullopt;
  }

  std::optional<kube::Fault> TryDelete(const Json& live) {
    kube::DeleteOptions options;
    options.preconditions.uid = UidOf(live);
    options.propagation = PropagationOf(live);
    options.dry_run = true;
    const auto tried =
        client_.Delete(ResourceOf(live), NamespaceOf(live), NameOf(live), options, stop_);
    // What is gone, or another one by now, is checked when it is deleted.
    if (tried || tried.error().reason == Reason::kNotFound ||
        tried.error().reason == Reason::kConflict) {
      return std::nullopt;
    }
    return Refused(TitleOf(live) + " cannot be deleted", tried.error());
  }

  std::optional<kube::Fault> Refused(const std::string& title, const kube::Fault& fault) {
    switch (fault.reason) {
      case Reason::kForbidden:
      case Reason::kInvalid:
        plan_.blockers.push_back({title + ": " + WithCauses(fault), ""});
        return std::nullopt;
      case Reason::kConflict:
        plan_.blockers.push_back(
            {title + ": " + WithCauses(fault),
             "leave the field to the other manager, or take it over with --force"});
        return std::nullopt;
      case Reason::kNotFound:
        // No such namespace or kind, of which preflight says more.
        plan_.blockers.push_back({title + ": " + fault.message, ""});
        return std::nullopt;
      default:
        return fault;
    }
  }

  std::optional<kube::Fault> FindSurplus() {
    auto found =
        FindObjects(client_, application_.ns, application_.name, stop_, application_.framework());
    if (!found) return found.error();
    std::set<std::string> wanted;
    for (const PlannedObject& planned : plan_.objects) wanted.insert(planned.Title());
    for (Json& object : found->objects) {
      if (wanted.contains(TitleOf(object))) continue;
      if (options_.prune && options_.try_out) {
        if (auto fault = TryDelete(object)) return fault;
      }
      plan_.surplus.push_back(std::move(object));
    }
    return std::nullopt;
  }

  kube::Client& client_;
  const Application& application_;
  const PlanOptions& options_;
  const std::stop_token& stop_;
  Plan plan_;
};

}  // namespace

bool Plan::changes() const {
  return std::any_of(objects.begin(), objects.end(),
                     [](const PlannedObject& planned) { return planned.action != Action::kNone; });
}

Json Comparable(Json object) {
  object.erase("status");
  Json& metadata = object["metadata"];
  for (const char* member :
       {"managedFields", "resourceVersion", "generation", "creationTimestamp", "uid", "selfLink"}) {
    metadata.erase(member);
  }
  return object;
}

Json DesiredOf(const RenderedObject& rendered, const Json& live, const Json& root) {
  Json desired = rendered.object;
  // Sharing a field with its present value takes nothing from whoever wrote it.
  if (rendered.seeded && live.is_object()) {
    if (live.contains("data")) {
      desired["data"] = live.at("data");
    } else {
      desired.erase("data");
    }
  }
  if (rendered.of_root && root.is_object()) {
    desired["metadata"]["ownerReferences"] = Json::array({{{"apiVersion", root.at("apiVersion")},
                                                           {"kind", root.at("kind")},
                                                           {"name", NameOf(root)},
                                                           {"uid", UidOf(root)}}});
  }
  return desired;
}

kube::Answer<Plan> MakePlan(kube::Client& client, const Application& application,
                            std::vector<RenderedObject> objects, const PlanOptions& options,
                            const std::stop_token& stop) {
  return Planner(client, application, options, stop).Make(std::move(objects));
}

}  // namespace mindgate::deploy
