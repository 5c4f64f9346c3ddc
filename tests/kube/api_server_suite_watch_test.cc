// Watching. See api_server_suite.h.
#include <gmock/gmock.h>

#include "kube/api_server_suite.h"

namespace mindgate::kube::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

WatchOptions From(const std::string& version, const std::string& labels = "app") {
  WatchOptions options;
  options.resource_version = version;
  options.label_selector = labels;
  return options;
}

TEST_P(ApiServerSuite, AWatchGoesOnFromAVersion) {
  const Json before = CreateConfigMap("before", {{"app", "suite"}});
  const Json a = CreateConfigMap("a", {{"app", "suite"}});
  WatchThread watch(client(), resources::kConfigMaps, ns(), From(VersionOf(before)));
  EXPECT_THAT(watch.WaitFor(1), ElementsAre("ADDED a"));

  const Json changed =
      Value(client().MergePatch(resources::kConfigMaps, ns(), "a", {{"data", {{"n", "1"}}}}));
  Done(client().Delete(resources::kConfigMaps, ns(), "a"));
  CreateConfigMap("unlabelled");
  CreateConfigMap("b", {{"app", "suite"}});
  EXPECT_THAT(watch.WaitFor(4), ElementsAre("ADDED a", "MODIFIED a", "DELETED a", "ADDED b"));
  const std::vector<Happened> events = watch.events();
  EXPECT_EQ(events[0].object, a);
  EXPECT_EQ(events[1].object, changed);
  // The last state, under the version of the deletion.
  Json last = events[2].object;
  EXPECT_GT(std::stoll(VersionOf(last)), std::stoll(VersionOf(changed)));
  last["metadata"]["resourceVersion"] = VersionOf(changed);
  EXPECT_EQ(last, changed);

  watch.Stop();
  EXPECT_EQ(FaultIn(watch.WaitForEnd()).reason, Reason::kStopped);
}

TEST_P(ApiServerSuite, AWatchWithoutAVersionBeginsWithWhatIsThere) {
  CreateConfigMap("a", {{"app", "suite"}});
  WatchThread watch(client(), resources::kConfigMaps, ns(), From(""));
  EXPECT_THAT(watch.WaitFor(1), ElementsAre("ADDED a"));
}

// To a watch with a selector, what begins to match it appears, and what ceases to is gone.
TEST_P(ApiServerSuite, AWatchedSelectorIsTheWorld) {
  const Json made = CreateConfigMap("a", {{"tier", "back"}});
  WatchThread watch(client(), resources::kConfigMaps, ns(), From(VersionOf(made), "tier=front"));
  const auto label = [this](const Json& tier) {
    return Value(client().MergePatch(resources::kConfigMaps, ns(), "a",
                                     {{"metadata", {{"labels", {{"tier", tier}}}}}}));
  };
  label("front");
  Value(client().MergePatch(resources::kConfigMaps, ns(), "a", {{"data", {{"n", "1"}}}}));
  const Json left = label("back");
  label("front");
  Done(client().Delete(resources::kConfigMaps, ns(), "a"));
  EXPECT_THAT(watch.WaitFor(5),
              ElementsAre("ADDED a", "MODIFIED a", "DELETED a", "ADDED a", "DELETED a"));
  // As it was when it last matched, under the version of the change.
  const Json gone = watch.events()[2].object;
  EXPECT_EQ(gone.at("metadata").at("labels").at("tier"), "front");
  EXPECT_EQ(VersionOf(gone), VersionOf(left));
}

TEST_P(ApiServerSuite, MetadataIsWatchedWithoutTheRest) {
  const Json before = CreateConfigMap("before", {{"app", "suite"}});
  WatchOptions options = From(VersionOf(before));
  options.metadata_only = true;
  WatchThread watch(client(), resources::kConfigMaps, ns(), options);
  const Json a = CreateConfigMap("a", {{"app", "suite"}}, {{"large", "x"}});
  Value(client().MergePatch(resources::kConfigMaps, ns(), "a", {{"data", {{"n", "1"}}}}));
  Done(client().Delete(resources::kConfigMaps, ns(), "a"));
  EXPECT_THAT(watch.WaitFor(3), ElementsAre("ADDED a", "MODIFIED a", "DELETED a"));
  const Json want = {{"kind", "PartialObjectMetadata"},
                     {"apiVersion", "meta.k8s.io/v1"},
                     {"metadata", a.at("metadata")}};
  EXPECT_EQ(watch.events()[0].object, want);
}

TEST_P(ApiServerSuite, AWatchOfOneName) {
  const Json a = CreateConfigMap("a");
  WatchOptions options = From(VersionOf(a), "");
  options.field_selector = "metadata.name=b";
  WatchThread watch(client(), resources::kConfigMaps, ns(), options);
  Value(client().MergePatch(resources::kConfigMaps, ns(), "a", {{"data", {{"n", "1"}}}}));
  CreateConfigMap("b");
  EXPECT_THAT(watch.WaitFor(1), ElementsAre("ADDED b"));
}

TEST_P(ApiServerSuite, PodsAppearOnANodeAndLeaveAPhase) {
  const Json pod = CreatePod("p", "nowhere");
  WatchOptions options = From(VersionOf(pod), "");
  options.field_selector = "spec.nodeName=nowhere,status.phase=Running";
  WatchThread watch(client(), resources::kPods, ns(), options);
  for (const char* phase : {"Running", "Failed"}) {
    Value(client().MergePatch(resources::kPods, ns(), "p", {{"status", {{"phase", phase}}}}, {},
                              "status"));
  }
  EXPECT_THAT(watch.WaitFor(2), ElementsAre("ADDED p", "DELETED p"));
}

TEST_P(ApiServerSuite, AWatchOfCustomObjects) {
  const Resource widgets = DefineResource();
  WatchThread watch(client(), widgets, ns(), From("", ""));
  const Json made = CreateWidget(widgets, "w");
  EXPECT_THAT(watch.WaitFor(1), ElementsAre("ADDED w"));
  EXPECT_EQ(watch.events()[0].object, made);
}

TEST_P(ApiServerSuite, AFinalizedObjectIsModifiedBeforeItGoes) {
  const Json made = CreateConfigMap("a", {{"app", "suite"}});
  WatchThread watch(client(), resources::kConfigMaps, ns(), From(VersionOf(made)));
  const auto finalizers = [this](const Json& list) {
    Value(client().MergePatch(resources::kConfigMaps, ns(), "a",
                              {{"metadata", {{"finalizers", list}}}}));
  };
  finalizers({"mindgate.io/test"});
  Done(client().Delete(resources::kConfigMaps, ns(), "a"));
  finalizers(nullptr);
  const std::vector<std::string> reported = watch.WaitFor(3);
  ASSERT_GE(reported.size(), 3u);
  EXPECT_EQ(reported[0], "MODIFIED a");
  EXPECT_EQ(reported[1], "MODIFIED a");
  EXPECT_TRUE(watch.events()[1].object.at("metadata").contains("deletionTimestamp"));
  EXPECT_EQ(reported[2], "DELETED a");
}

TEST_P(ApiServerSuite, AWatchEndsInGoodOrderWhenItsTimeIsOver) {
  const Json made = CreateConfigMap("a", {{"app", "suite"}});
  WatchOptions options = From(VersionOf(made));
  options.timeout = std::chrono::seconds(1);
  WatchThread watch(client(), resources::kConfigMaps, ns(), options);
  Done(watch.WaitForEnd());
  EXPECT_THAT(watch.events(), IsEmpty());
}

// What a server remembers of a resource that was defined just now does not reach back to the
// beginning. (Of its own resources it may, when it is young.)
TEST_P(ApiServerSuite, AWatchFromLongAgoHasExpired) {
  const Resource widgets = DefineResource();
  WatchOptions options = From("1", "");
  options.timeout = std::chrono::seconds(5);
  WatchThread watch(client(), widgets, ns(), options);
  const Fault fault = FaultIn(watch.WaitForEnd());
  EXPECT_EQ(fault.reason, Reason::kExpired);
  EXPECT_EQ(fault.http, 410);
  EXPECT_THAT(fault.message, HasSubstr("too old resource version"));
}

TEST_P(ApiServerSuite, AWatchFromNoVersionAtAll) {
  WatchThread watch(client(), resources::kConfigMaps, ns(), From("yesterday"));
  const Fault fault = FaultIn(watch.WaitForEnd());
  EXPECT_EQ(fault.reason, Reason::kUnavailable);
  EXPECT_EQ(fault.http, 500);
  EXPECT_THAT(fault.message, HasSubstr("resourceVersion: Invalid value: \"yesterday\""));
}

// A version that is yet to come is no fault of a watch, unlike of a list.
TEST_P(ApiServerSuite, AWatchFromTheFutureIsSilent) {
  WatchOptions options = From("9000000000");
  options.timeout = std::chrono::seconds(1);
  WatchThread watch(client(), resources::kConfigMaps, ns(), options);
  CreateConfigMap("a", {{"app", "suite"}});
  Done(watch.WaitForEnd());
  EXPECT_THAT(watch.events(), IsEmpty());
}

TEST_P(ApiServerSuite, AWatchOfWhatIsNotServed) {
  const Resource unknown{"nobody.mindgate.io", "v1", "things", "Thing", true};
  WatchThread watch(client(), unknown, ns(), From(""));
  EXPECT_EQ(FaultIn(watch.WaitForEnd()).reason, Reason::kNotFound);
}

TEST_P(ApiServerSuite, AProjectedWatchKeepsNamedFieldsOnly) {
  const Json made = CreateConfigMap("a", {{"app", "suite"}}, {{"keep", "1"}, {"drop", "2"}});
  const json::Projection fields({{"metadata", "name"}, {"data", "keep"}});
  std::stop_source stop;
  std::vector<Json> seen;
  const auto answer = client().Watch(
      resources::kConfigMaps, ns(), From(""), &fields,
      [&](const WatchEvent& event) {
        if (event.type == WatchEvent::Type::kBookmark) return;
        seen.push_back(json::TreeOf(event.object));
        stop.request_stop();
      },
      stop.get_token());
  EXPECT_EQ(FaultIn(answer).reason, Reason::kStopped);
  ASSERT_THAT(seen, SizeIs(1));
  EXPECT_EQ(seen[0].at("data"), Json({{"keep", "1"}}));
  EXPECT_EQ(seen[0].at("metadata"), Json({{"name", "a"}, {"resourceVersion", VersionOf(made)}}));
}

}  // namespace
}  // namespace mindgate::kube::testing
