#include "simulation/failing_calls.h"

#include <algorithm>

namespace mindgate::simulation {
namespace {

// As `failCalls` names it.
std::string_view VerbOf(const kube::HttpCall& call) {
  if (call.method == "GET") return "get";
  if (call.method == "PATCH") return "patch";
  if (call.method == "DELETE") return "delete";
  return "evict";
}

}  // namespace

std::optional<kube::Answer<kube::HttpAnswer>> FailingCalls::Of(const kube::HttpCall& call) const {
  const auto found = std::find_if(failures_.rbegin(), failures_.rend(), [&](const Failure& each) {
    return clock_.WallNow() < each.until &&
           (each.calls.verb.empty() || each.calls.verb == VerbOf(call));
  });
  if (found == failures_.rend()) return std::nullopt;
  if (found->calls.status == 0) {
    return kube::Failed(kube::Reason::kTimeout, call.method + " " + call.path + ": no answer");
  }
  return kube::HttpAnswer{.status = static_cast<int>(found->calls.status)};
}

}  // namespace mindgate::simulation
