#include "doctor/context.h"
#include "doctor/name_list.h"
#include "json/value.h"
#include "kube/reflector.h"
#include "schemas/raw_objects.h"

namespace mindgate::doctor {
namespace {

constexpr std::string_view kTaintsCheck = "taints";

}  // namespace

void CheckTaints(Context& context) {
  NameList tainted;
  const json::Projection fields = kube::WithIdentity({{"spec", "taints"}});
  const auto listed = context.client.ListAll(
      kube::resources::kNodes, "", {}, &fields,
      {.started = [&] { tainted = {}; },
       .item =
           [&](const json::Value& node) {
             if (!schemas::PlaceOfFaultyTaint(json::FindPath(node, {"spec", "taints"}))) return;
             tainted.Add(json::TextAt(node, {"metadata", "name"}));
           }},
      context.stop);
  if (!listed) return SkipFor(context, kTaintsCheck, "Taints of nodes", listed.error());
  const std::string taint(schemas::kFaultyTaint);
  if (tainted.count() == 0) {
    return context.report.Ok(kTaintsCheck, "no node has the taint " + taint);
  }
  const std::string who =
      tainted.Text("node") + (tainted.count() == 1 ? " has" : " have") + " the taint " + taint;
  if (!context.isolates_nodes) {
    return context.report.Skip(kTaintsCheck,
                               who + ", and it is unknown whether a watcher removes it",
                               "see the checks of configuration and permissions");
  }
  if (!*context.isolates_nodes) {
    return context.report.Fail(
        kTaintsCheck,
        who + ", and no watcher isolates nodes: nothing removes it, and new pods go elsewhere",
        "`mindgate release-nodes --all` removes it; or set config.rescheduling.isolateNodes to "
        "true, and config.rescheduling.mode to takeover or enforce");
  }
  context.report.Ok(kTaintsCheck,
                    who + "; the watcher removes it from those that are healthy again");
}

}  // namespace mindgate::doctor
