#include "simulation/calls.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "json/decode.h"

namespace mindgate::simulation {
namespace {

using kube::HttpCall;

// As `failCalls` names it.
std::string_view VerbOf(const HttpCall& call) {
  if (call.method == "GET") return "get";
  if (call.method == "PATCH") return "patch";
  if (call.method == "DELETE") return "delete";
  return "evict";
}

// Of a call that was answered with 200; nothing: it was about no pod, or changed none.
std::optional<PodAction> ActionOf(const HttpCall& call) {
  if (call.method != "DELETE" && call.method != "PATCH") return std::nullopt;
  const std::string_view path = std::string_view(call.path).substr(0, call.path.find('?'));
  // "", "api", "v1", "namespaces", its namespace, "pods", its name
  const auto parts = Split(path, '/');
  if (parts.size() != 7 || parts[5] != "pods") return std::nullopt;
  PodAction action{PodAction::Kind::kMarked, {PercentDecoded(parts[4]), PercentDecoded(parts[6])}};
  if (call.method == "DELETE") {
    const auto body = json::Decode(call.body);
    const bool by_force = body && body->value("gracePeriodSeconds", -1) == 0;
    action.kind = by_force ? PodAction::Kind::kDeleted : PodAction::Kind::kEvicted;
  }
  return action;
}

}  // namespace

std::optional<kube::Answer<kube::HttpAnswer>> Calls::FailureOf(const HttpCall& call) const {
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

kube::Answer<kube::HttpAnswer> Calls::Send(const HttpCall& call, std::stop_token stop) {
  const MutexLock lock(mutex_);
  if (auto failed = FailureOf(call)) return *std::move(failed);
  auto answer = server_.Send(call, std::move(stop));
  if (!answer || answer->status != 200) return answer;
  if (auto action = ActionOf(call)) actions_.push_back(*std::move(action));
  return answer;
}

kube::Answer<kube::HttpAnswer> Calls::Stream(const HttpCall& call, const Consume& consume,
                                             std::stop_token stop) {
  return server_.Stream(call, consume, std::move(stop));
}

std::vector<PodAction> Calls::TakeActions() {
  std::vector<PodAction> actions = std::exchange(actions_, {});
  std::sort(actions.begin(), actions.end());
  return actions;
}

}  // namespace mindgate::simulation
