#include <algorithm>
#include <initializer_list>
#include <nlohmann/json.hpp>

#include "doctor/context.h"
#include "doctor/name_list.h"
#include "json/value.h"
#include "kube/reflector.h"
#include "schemas/names.h"
#include "schemas/raw_objects.h"

namespace mindgate::doctor {
namespace {

constexpr std::string_view kGatesCheck = "gates";

void Add(const json::Value& pod, NameList& pods) {
  pods.Add(json::TextAt(pod, {"metadata", "namespace"}) + "/" +
           json::TextAt(pod, {"metadata", "name"}));
}

std::string TextOf(const NameList& pods) {
  return pods.Text("pod") + (pods.count() == 1 ? " waits" : " wait") + " behind the gate " +
         std::string(schemas::kScalingGate);
}

// The watcher looks after pods that carry all of these.
bool HasLabels(const json::Value& pod) {
  const json::Value* labels = json::FindPath(pod, {"metadata", "labels"});
  return std::ranges::all_of(
      std::initializer_list{schemas::kScalingRule, schemas::kJobId, schemas::kGroupName},
      [labels](std::string_view key) {
        return !json::FindString(labels, key).value_or("").empty();
      });
}

}  // namespace

void CheckGates(Context& context) {
  NameList waiting;
  NameList unlabelled;
  const json::Projection fields =
      kube::WithIdentity({{"metadata", "labels"}, {"spec", "schedulingGates"}});
  // A pod behind a gate is Pending.
  const auto listed = context.client.ListAll(
      kube::resources::kPods, "", {.field_selector = "status.phase=Pending"}, &fields,
      {.started =
           [&] {
             waiting = {};
             unlabelled = {};
           },
       .item =
           [&](const json::Value& pod) {
             const json::Value* gates = json::FindPath(pod, {"spec", "schedulingGates"});
             if (!schemas::PlaceOfScalingGate(gates)) return;
             Add(pod, HasLabels(pod) ? waiting : unlabelled);
           }},
      context.stop);
  if (!listed) return SkipFor(context, kGatesCheck, "Pods that wait", listed.error());
  const std::string release = "`mindgate release-gates -A --all` lets them start";
  if (unlabelled.count() > 0) {
    context.report.Fail(
        kGatesCheck,
        TextOf(unlabelled) +
            " without all of the labels mind-cluster/scaling-rule, jobID and "
            "mind-cluster/group-name, and the watcher ignores a pod that lacks one of them",
        "restore the labels that it was created with; or " + release);
  }
  if (waiting.count() == 0) {
    if (unlabelled.count() == 0) context.report.Ok(kGatesCheck, "no pod waits behind a gate");
  } else if (!context.enforces_scaling) {
    context.report.Skip(kGatesCheck,
                        TextOf(waiting) + ", and it is unknown whether a watcher opens it",
                        "see the checks of configuration and permissions");
  } else if (!*context.enforces_scaling) {
    context.report.Fail(kGatesCheck,
                        TextOf(waiting) + ", and no watcher is in mode enforce: nothing opens it",
                        "set elasticScaling.mode to enforce; or " + release);
  } else {
    context.report.Ok(kGatesCheck, TextOf(waiting) + "; `mindgate status` shows why");
  }
}

}  // namespace mindgate::doctor
