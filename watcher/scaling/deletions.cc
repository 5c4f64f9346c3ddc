#include <algorithm>
#include <utility>

#include "json/value.h"
#include "watcher/scaling/reconciler.h"

// What takes pods away: instances that have found no room return behind the gate, and instances
// that run are given up for one that is needed more.
namespace mindgate::watcher::scaling {
namespace {

// What a decision about the pod depends on.
bool IsSame(const PodState& a, const PodState& b) {
  const auto of = [](const PodState& pod) {
    return std::tuple(pod.uid, pod.instance, pod.group(), pod.deleted, pod.on_node(), pod.running,
                      pod.gate, pod.unschedulable.has_value());
  };
  return of(a) == of(b);
}

// What was decided about is another one by now, which the watch will report.
Refusal Changed() { return {.why = "its pods have changed meanwhile", .brief = true}; }
}  // namespace

// What is destroyed is read again before: a watch may be a while behind. Nothing when it is no
// longer what was decided about.
std::optional<json::Document> Reconciler::ReadAgain(LeaderClient& client, const PodState& pod) {
  static const json::Projection fields = [] {
    auto paths = PodFields();
    const auto of_opt_outs = OptOutFields();
    paths.insert(paths.end(), of_opt_outs.begin(), of_opt_outs.end());
    return json::Projection(paths);
  }();
  auto answer = client.Read(kube::resources::kPods, ServiceKeyOf(pod).ns, pod.name, fields);
  if (!answer) return std::nullopt;
  const auto now = PodOf(answer->root());
  if (!now || !IsSame(pod, *now)) return std::nullopt;
  return *std::move(answer);
}

bool Reconciler::IsStillSo(LeaderClient& client, const ObservedInstance* instance) {
  if (instance == nullptr) return false;
  if (instance->pod_group != nullptr) return StillWaits(client, *instance->pod_group);
  return std::all_of(instance->pods.begin(), instance->pods.end(),
                     [&](const PodState* pod) { return ReadAgain(client, *pod).has_value(); });
}

// The question right before pods of the instance go: whether all of them are as they were, and
// neither the configuration, nor they or what they belong to, say otherwise by now. `versions`: of
// the pods.
Refusal Reconciler::MayGo(LeaderClient& client, const ObservedInstance& instance,
                          std::map<const PodState*, std::string>& versions) {
  if (settings_().mode != schemas::EnforcementMode::kEnforce) {
    return {.why = "the configuration no longer asks for it", .brief = true};
  }
  if (instance.pod_group != nullptr && !StillWaits(client, *instance.pod_group)) return Changed();
  for (const PodState* pod : instance.pods) {
    const auto now = ReadAgain(client, *pod);
    if (!now) return Changed();
    versions[pod] = json::TextAt(now->root(), {"metadata", "resourceVersion"});
    // All pods of an instance have the same namespace, PodGroup and owners.
    if (pod == instance.pods.front()) {
      OptOut of = DisabledFor(client, now->root(), ServiceKeyOf(*pod).ns);
      if (!of.why.empty()) return {.why = std::move(of.why), .unreadable = of.unreadable};
    } else if (OptsOut(now->root())) {
      return {.why = "mindgate.io/rescheduling is disabled on pod " + pod->name};
    }
  }
  return {};
}

// Whether somebody said so since the first of the pods went. What is gone has nothing to say.
OptOut Reconciler::OptedOut(LeaderClient& client, const std::vector<const PodState*>& pods) {
  static const json::Projection fields(OptOutFields());
  bool asked = false;  // for the namespace, PodGroup and owners, which all of them share
  for (const PodState* pod : pods) {
    const std::string ns = ServiceKeyOf(*pod).ns;
    const auto now = client.Read(kube::resources::kPods, ns, pod->name, fields);
    if (!now && now.error().reason == kube::Reason::kNotFound) continue;
    if (!now) {
      return {.why = "pod " + pod->name + " cannot be read: " + now.error().message,
              .unreadable = true};
    }
    if (OptsOut(now->root())) {
      return {.why = "mindgate.io/rescheduling is disabled on pod " + pod->name};
    }
    if (std::exchange(asked, true)) continue;
    if (OptOut of = DisabledFor(client, now->root(), ns); !of.why.empty()) return of;
  }
  return {};
}

bool Reconciler::StillWaits(LeaderClient& client, const PodGroupState& pod_group) {
  static const json::Projection fields(PodGroupFields());
  const auto answer =
      client.Read(kube::resources::kPodGroups, pod_group.service.ns, pod_group.name, fields);
  if (!answer) return false;
  const auto now = PodGroupOf(answer->root());
  return now && now->uid == pod_group.uid && now->service == pod_group.service &&
         now->group == pod_group.group && now->waits();
}

// Deletes its pods, which its owner recreates behind the gate. One that has found a node meanwhile
// stays, and with it the instance.
bool Reconciler::Withdraw(Run& run, const ObservedInstance& instance) {
  std::vector<const PodState*> pods;
  for (const PodState* pod : instance.pods) {
    if (!pod->gate) pods.push_back(pod);  // others are where they should be
  }
  std::map<const PodState*, std::string> versions;
  DisruptionGate::Request request = RequestOf(run, 0);
  request.still_so = [&](LeaderClient& client) { return MayGo(client, instance, versions); };
  bool all = true;
  const Refusal refusal =
      gate_.Send(run.client.term(), request, pods.size(), [&](DestructiveClient& client, size_t i) {
        all = all && Delete(run, client, *pods[i], versions.at(pods[i])) == Done::kYes;
      });
  if (refusal.refused()) ReportRefusal(run.key, refusal);
  if (refusal.refused() || !all) return false;
  ++withdrawn_;
  return true;
}

bool Reconciler::MayBeEvicted(Run& run, LeaderClient& client, const ObservedInstance& instance) {
  return std::all_of(instance.pods.begin(), instance.pods.end(), [&](const PodState* pod) {
    kube::DeleteOptions options;
    options.preconditions.uid = pod->uid;
    return Evaluate(run, client.MayEvict(ServiceKeyOf(*pod).ns, pod->name, options), *pod,
                    "a pod may not be evicted now") == Done::kYes;
  });
}

// All or none: less than all would help nobody.
std::set<std::string> Reconciler::GiveUp(Run& run, const std::vector<const Outcome*>& outcomes) {
  std::set<std::string> names;
  std::vector<std::pair<std::string, const PodState*>> pods;  // with their instances
  for (const Outcome* outcome : outcomes) {
    names.insert(outcome->instance);
    const ObservedInstance* instance = run.Find(outcome->instance);
    if (instance == nullptr) return names;
    for (const PodState* pod : instance->pods) pods.emplace_back(outcome->instance, pod);
  }
  const ObservedInstance* beneficiary = run.Find(run.decision.beneficiary);
  DisruptionGate::Request request = RequestOf(run, outcomes.size());
  request.still_so = [&](LeaderClient& client) -> Refusal {
    if (!IsStillSo(client, beneficiary)) return Changed();
    std::map<const PodState*, std::string> versions;
    for (const std::string& name : names) {
      const ObservedInstance& instance = *run.Find(name);
      if (Refusal refusal = MayGo(client, instance, versions); refusal.refused()) return refusal;
      if (!MayBeEvicted(run, client, instance)) return Changed();
    }
    return {};
  };
  // Known before the first call, so that what is not answered is finished.
  bool begun = false;
  request.before_first = [&] {
    begun = true;
    run.state.given_up = run.now;
    run.state.futile = std::make_shared<const Instance>(beneficiary->instance);
    for (const Outcome* outcome : outcomes) {
      run.state.giving_up[outcome->instance] = {*outcome, run.Find(outcome->instance)->uids(), {}};
    }
  };
  const Refusal refusal =
      gate_.Send(run.client.term(), request, pods.size(), [&](DestructiveClient& client, size_t i) {
        const auto& [instance, pod] = pods[i];
        if (Delete(run, client, *pod, "") != Done::kYes) return;
        run.state.giving_up.at(instance).deleted.insert(pod->uid);
      });
  if (refusal.refused()) ReportRefusal(run.key, refusal);
  if (!begun) return names;
  for (const Outcome* outcome : outcomes) {
    if (CountWhenDone(run.state.giving_up.at(outcome->instance))) names.erase(outcome->instance);
  }
  return names;
}

// True once: when the last of its pods was deleted.
bool Reconciler::CountWhenDone(GivingUp& giving_up) {
  if (giving_up.reported || giving_up.deleted != giving_up.pods) return false;
  giving_up.reported = true;
  ++given_up_;
  return true;
}

// Deletes what is left of those that are given up, which the watch reports and no refusal: a
// conflict may be of another kind than that of the UID. False as long as the watch shows a pod of
// them: a decision would take the instance for one that starts. One that somebody opts out
// meanwhile keeps what is left of it.
bool Reconciler::FinishGivingUp(Run& run) {
  bool finished = true;
  std::map<std::string, const PodState*> live;  // by UID
  for (const PodPtr& pod : run.inputs.view.pods) {
    if (!pod->deleted) live[pod->uid] = pod.get();
  }
  for (auto each = run.state.giving_up.begin(); each != run.state.giving_up.end();) {
    GivingUp& giving_up = each->second;
    std::vector<const PodState*> left;
    bool any_live = false;
    for (const std::string& uid : giving_up.pods) {
      const auto pod = live.find(uid);
      any_live = any_live || pod != live.end();
      if (pod == live.end()) {
        giving_up.deleted.insert(uid);  // what is not there any more need not be deleted
      } else if (!giving_up.deleted.contains(uid)) {
        left.push_back(pod->second);
      }
    }
    DisruptionGate::Request request = RequestOf(run, 0);
    bool opted_out = false;
    request.still_so = [&](LeaderClient& client) -> Refusal {
      OptOut of = OptedOut(client, left);
      opted_out = !of.why.empty() && !of.unreadable;
      return {.why = std::move(of.why), .unreadable = of.unreadable};
    };
    const Refusal refusal = gate_.Send(run.client.term(), request, left.size(),
                                       [&](DestructiveClient& client, size_t i) {
                                         if (Delete(run, client, *left[i], "") != Done::kYes)
                                           return;
                                         giving_up.deleted.insert(left[i]->uid);
                                       });
    if (refusal.refused()) ReportRefusal(run.key, refusal);
    if (opted_out) {
      each = run.state.giving_up.erase(each);
      continue;
    }
    if (CountWhenDone(giving_up)) {
      Report(run.key, giving_up.outcome, DecisionKind::kGivenUp, true, run.Find(each->first));
    }
    finished = finished && !any_live;
    each = any_live ? std::next(each) : run.state.giving_up.erase(each);
  }
  return finished;
}

Reconciler::Done Reconciler::Delete(Run& run, DestructiveClient& client, const PodState& pod,
                                    std::string resource_version) {
  kube::DeleteOptions options;
  options.preconditions.uid = pod.uid;
  options.preconditions.resource_version = std::move(resource_version);
  return Evaluate(run, client.DeletePod(ServiceKeyOf(pod).ns, pod.name, options), pod,
                  "a pod cannot be deleted now");
}

}  // namespace mindgate::watcher::scaling
