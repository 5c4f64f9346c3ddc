#include <gtest/gtest.h>

#include <deque>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "json/decode.h"
#include "watcher/scaling/pod.h"

namespace mindgate::watcher::scaling {
namespace {

using json::Json;
using kube::Reason;

// Answers the calls of OpenGate, and notes them: "0" is a patch of the gate at that place.
struct PodWithGate {
  std::deque<Reason> refusals;              // of patches; then they are accepted
  kube::Answer<Json> now = Json::object();  // what a read finds
  std::vector<std::string> calls;

  std::string Open() {
    const auto opened =
        OpenGate({"ns", "p", "uid", 0},
                 {.patch = [this](const Json& operations) -> kube::Answer<void> {
                    EXPECT_EQ(operations[0]["value"], "uid");
                    const std::string path = operations[2]["path"];
                    calls.push_back(path.substr(path.rfind('/') + 1));
                    if (refusals.empty()) return {};
                    const Reason reason = refusals.front();
                    refusals.pop_front();
                    return kube::Failed(reason, "refused");
                  },
                  .read = [this](const json::Projection&) -> kube::Answer<json::Document> {
                    calls.emplace_back("read");
                    if (!now) return tl::make_unexpected(now.error());
                    return json::Document(*now);
                  }});
    if (!opened) return opened.error().message;
    return *opened ? "opened" : "nothing to open";
  }
};

Json WithGates(const std::vector<std::string>& names, const std::string& uid = "uid") {
  Json pod = {{"metadata", {{"uid", uid}}}, {"spec", {{"schedulingGates", Json::array()}}}};
  for (const std::string& name : names) {
    pod["spec"]["schedulingGates"].push_back({{"name", name}});
  }
  return pod;
}

TEST(ScalingGates, OnlyThePodShowsWhyAPatchIsRefused) {
  const std::string ours = "mindgate.io/elastic-scaling";
  using Calls = std::vector<std::string>;
  struct Case {
    const char* name;
    std::deque<Reason> refusals;
    kube::Answer<Json> now;
    std::string want;
    Calls calls;
  };
  const Case cases[] = {
      {"accepted", {}, Json(), "opened", {"0"}},
      {"the pod is gone", {Reason::kNotFound}, Json(), "nothing to open", {"0"}},
      {"the server is away", {Reason::kUnavailable}, Json(), "refused", {"0"}},
      {"another pod",
       {Reason::kInvalid},
       WithGates({ours}, "other"),
       "nothing to open",
       {"0", "read"}},
      {"opened by others",
       {Reason::kInvalid},
       WithGates({"quota"}),
       "nothing to open",
       {"0", "read"}},
      {"gone since",
       {Reason::kInvalid},
       kube::Failed(Reason::kNotFound, "gone"),
       "nothing to open",
       {"0", "read"}},
      {"a policy", {Reason::kInvalid}, WithGates({ours}), "refused", {"0", "read"}},
      {"a webhook", {Reason::kConflict}, WithGates({ours}), "refused", {"0", "read"}},
      {"nobody knows",
       {Reason::kInvalid},
       kube::Failed(Reason::kForbidden, "no read"),
       "no read",
       {"0", "read"}},
      {"at another place",
       {Reason::kInvalid},
       WithGates({"quota", ours}),
       "opened",
       {"0", "read", "1"}},
      {"at another place, and a policy",
       {Reason::kInvalid, Reason::kInvalid},
       WithGates({"quota", ours}),
       "refused",
       {"0", "read", "1", "read"}},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    PodWithGate pod{.refusals = c.refusals, .now = c.now, .calls = {}};
    EXPECT_EQ(pod.Open(), c.want);
    EXPECT_EQ(pod.calls, c.calls);
  }
}

}  // namespace
}  // namespace mindgate::watcher::scaling
