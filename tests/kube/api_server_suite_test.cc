// Reading: discovery, gets, lists and who may. See api_server_suite.h.
#include "kube/api_server_suite.h"

#include <gmock/gmock.h>

namespace mindgate::kube::testing {
namespace {

using ::testing::AnyOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::vector<std::string> ResourceNames(const Json& list) {
  std::vector<std::string> names;
  for (const Json& resource : list.at("resources")) names.push_back(resource.at("name"));
  return names;
}

ListOptions Labelled(const std::string& selector, int64_t limit = 0) {
  ListOptions options;
  options.label_selector = selector;
  options.limit = limit;
  return options;
}

ListOptions AtVersion(const std::string& version, ListOptions::Match match) {
  ListOptions options = Labelled("app");
  options.resource_version = version;
  options.match = match;
  return options;
}

TEST_P(ApiServerSuite, ReportsItsVersionAndResources) {
  EXPECT_EQ(Value(client().GetPath("/version")).at("major"), "1");
  const Json core = Value(client().GetPath("/api/v1"));
  EXPECT_EQ(core.at("kind"), "APIResourceList");
  EXPECT_THAT(ResourceNames(core), Contains("pods/eviction"));
  const Json apps = Value(client().GetPath("/apis/apps/v1"));
  EXPECT_EQ(apps.at("groupVersion"), "apps/v1");
  EXPECT_THAT(ResourceNames(apps), Contains("deployments/scale"));
  const Json groups = Value(client().GetPath("/apis"));
  EXPECT_EQ(groups.at("kind"), "APIGroupList");
}

TEST_P(ApiServerSuite, WhatIsNotThereIsNotFound) {
  const Fault object = GetFault(resources::kConfigMaps, "absent");
  EXPECT_EQ(object.reason, Reason::kNotFound);
  EXPECT_EQ(object.http, 404);
  EXPECT_THAT(object.message, HasSubstr("configmaps \"absent\" not found"));

  const Fault deployment = GetFault(resources::kDeployments, "absent");
  EXPECT_THAT(deployment.message, HasSubstr("deployments.apps \"absent\" not found"));

  const Resource unknown{"nobody.mindgate.io", "v1", "things", "Thing", true};
  EXPECT_EQ(FaultIn(client().List(unknown, ns())).reason, Reason::kNotFound);
  const Resource misspelt{"apps", "v1", "deploymants", "Deployment", true};
  EXPECT_EQ(FaultIn(client().List(misspelt, ns())).reason, Reason::kNotFound);
  EXPECT_EQ(FaultIn(client().GetPath("/apis/nobody.mindgate.io/v1")).reason, Reason::kNotFound);
}

TEST_P(ApiServerSuite, AListHasTheVersionThatAWatchGoesOnFrom) {
  const Json made = CreateConfigMap("a", {{"app", "suite"}});
  const Page page = Value(client().List(resources::kConfigMaps, ns(), Labelled("app=suite")));
  EXPECT_THAT(NamesOf(page.items), ElementsAre("a"));
  EXPECT_GE(std::stoll(page.resource_version), std::stoll(VersionOf(made)));
  EXPECT_EQ(page.continue_token, "");
}

// Go leaves them out of the items of lists of its own types.
TEST_P(ApiServerSuite, ItemsOfBuiltInListsDoNotNameTheirKind) {
  CreateConfigMap("a", {{"app", "suite"}});
  const Page page = Value(client().List(resources::kConfigMaps, ns(), Labelled("app")));
  ASSERT_THAT(page.items, SizeIs(1));
  EXPECT_FALSE(page.items[0].contains("kind"));
  EXPECT_FALSE(page.items[0].contains("apiVersion"));
  EXPECT_EQ(Get(resources::kConfigMaps, "a").at("kind"), "ConfigMap");
}

TEST_P(ApiServerSuite, ItemsOfCustomListsNameTheirKind) {
  const Resource widgets = DefineResource();
  CreateWidget(widgets, "a");
  const Page page = Value(client().List(widgets, ns()));
  ASSERT_THAT(page.items, SizeIs(1));
  EXPECT_EQ(page.items[0].at("kind"), widgets.kind);
}

TEST_P(ApiServerSuite, ListsSelectByLabel) {
  CreateConfigMap("front", {{"app", "suite"}, {"tier", "front"}});
  CreateConfigMap("back", {{"app", "suite"}, {"tier", "back"}});
  CreateConfigMap("bare", {{"app", "suite"}});
  const std::vector<std::pair<std::string, std::vector<std::string>>> cases = {
      {"app=suite,tier=front", {"front"}},
      {"app==suite,tier==back", {"back"}},
      {"app=suite,tier!=front", {"back", "bare"}},
      {"app=suite,tier in (front,back)", {"back", "front"}},
      {"app=suite,tier notin (front)", {"back", "bare"}},
      {"app=suite,tier", {"back", "front"}},
      {"app=suite,!tier", {"bare"}},
      {"app=other", {}},
  };
  for (const auto& [selector, want] : cases) {
    const Page page = Value(client().List(resources::kConfigMaps, ns(), Labelled(selector)));
    EXPECT_EQ(NamesOf(page.items), want) << selector;
  }
  const Fault bad = FaultIn(client().List(resources::kConfigMaps, ns(), Labelled("tier in front")));
  EXPECT_EQ(bad.reason, Reason::kInvalid);
  EXPECT_EQ(bad.http, 400);
}

TEST_P(ApiServerSuite, ListsSelectByField) {
  CreateConfigMap("a");
  CreateConfigMap("b");
  ListOptions options;
  options.field_selector = "metadata.name=b";
  EXPECT_THAT(NamesOf(Value(client().List(resources::kConfigMaps, ns(), options)).items),
              ElementsAre("b"));
  options.field_selector = "metadata.namespace=" + ns() + ",metadata.name=a";
  EXPECT_THAT(NamesOf(Value(client().List(resources::kConfigMaps, "", options)).items),
              ElementsAre("a"));

  options.field_selector = "data.key=a";
  const Fault unknown = FaultIn(client().List(resources::kConfigMaps, ns(), options));
  EXPECT_EQ(unknown.reason, Reason::kInvalid);
  EXPECT_EQ(unknown.http, 400);
  EXPECT_THAT(unknown.message, HasSubstr("\"data.key\" is not a known field selector"));
}

TEST_P(ApiServerSuite, PodsAreSelectedByNodeAndPhase) {
  CreatePod("bound", "nowhere");
  CreatePod("free");
  ListOptions options;
  options.field_selector = "spec.nodeName=nowhere";
  EXPECT_THAT(NamesOf(Value(client().List(resources::kPods, ns(), options)).items),
              ElementsAre("bound"));
  options.field_selector = "spec.nodeName=";
  EXPECT_THAT(NamesOf(Value(client().List(resources::kPods, ns(), options)).items),
              ElementsAre("free"));
  options.field_selector = "status.phase!=Pending";
  EXPECT_THAT(Value(client().List(resources::kPods, ns(), options)).items, IsEmpty());
}

TEST_P(ApiServerSuite, ListsComeInPagesOfOneState) {
  for (const char* name : {"a", "b", "c", "d", "e"}) CreateConfigMap(name, {{"app", "suite"}});
  ListOptions options = Labelled("app=suite", 2);
  const Page first = Value(client().List(resources::kConfigMaps, ns(), options));
  EXPECT_THAT(NamesOf(first.items), ElementsAre("a", "b"));

  // What happens meanwhile belongs to a later state.
  CreateConfigMap("cc", {{"app", "suite"}});
  Done(client().Delete(resources::kConfigMaps, ns(), "d"));
  options.continue_token = first.continue_token;
  const Page second = Value(client().List(resources::kConfigMaps, ns(), options));
  EXPECT_THAT(NamesOf(second.items), ElementsAre("c", "d"));
  EXPECT_EQ(second.resource_version, first.resource_version);
  options.continue_token = second.continue_token;
  const Page third = Value(client().List(resources::kConfigMaps, ns(), options));
  EXPECT_THAT(NamesOf(third.items), ElementsAre("e"));
  EXPECT_EQ(third.continue_token, "");

  std::vector<std::string> all;
  int started = 0;
  const std::string version = Value(client().ListAll(
      resources::kConfigMaps, ns(), Labelled("app=suite", 1), nullptr,
      {.started = [&] { ++started; },
       .item = [&](const json::Value& item) { all.push_back(NameOf(json::TreeOf(item))); }}));
  EXPECT_THAT(all, ElementsAre("a", "b", "c", "cc", "e"));
  EXPECT_EQ(started, 1);
  EXPECT_GT(std::stoll(version), std::stoll(first.resource_version));
}

// Pages of one list may have different sizes.
TEST_P(ApiServerSuite, ALargerPageGoesOnWhereASmallerOneEnded) {
  for (const char* name : {"a", "b", "c", "d", "e"}) CreateConfigMap(name, {{"app", "suite"}});
  ListOptions options = Labelled("app=suite", 1);
  const std::vector<std::pair<int64_t, std::vector<std::string>>> pages = {
      {1, {"a"}}, {3, {"b", "c", "d"}}, {2, {"e"}}};
  for (const auto& [limit, names] : pages) {
    options.limit = limit;
    const Page page = Value(client().List(resources::kConfigMaps, ns(), options));
    EXPECT_EQ(NamesOf(page.items), names);
    options.continue_token = page.continue_token;
  }
  EXPECT_EQ(options.continue_token, "");
}

TEST_P(ApiServerSuite, MetadataIsListedWithoutTheRest) {
  const Json a = CreateConfigMap("a", {{"app", "suite"}}, {{"large", "x"}});
  CreateConfigMap("b", {{"app", "suite"}}, {{"large", "x"}});
  ListOptions options = Labelled("app=suite", 1);
  options.metadata_only = true;
  const Page page = Value(client().List(resources::kConfigMaps, ns(), options));
  const Json want = {{"kind", "PartialObjectMetadata"},
                     {"apiVersion", "meta.k8s.io/v1"},
                     {"metadata", a.at("metadata")}};
  EXPECT_THAT(page.items, ElementsAre(want));

  // Where the metadata ended, whole objects go on.
  options.metadata_only = false;
  options.continue_token = page.continue_token;
  const Page rest = Value(client().List(resources::kConfigMaps, ns(), options));
  ASSERT_THAT(NamesOf(rest.items), ElementsAre("b"));
  EXPECT_EQ(rest.items[0].at("data"), Json({{"large", "x"}}));
  EXPECT_EQ(rest.resource_version, page.resource_version);
}

TEST_P(ApiServerSuite, MetadataOfCustomObjectsIsListedToo) {
  const Resource widgets = DefineResource();
  const Json made = CreateWidget(widgets, "a");
  ListOptions options;
  options.metadata_only = true;
  const Page page = Value(client().List(widgets, ns(), options));
  ASSERT_THAT(page.items, SizeIs(1));
  EXPECT_EQ(page.items[0].at("metadata"), made.at("metadata"));
  EXPECT_FALSE(page.items[0].contains("spec"));
}

TEST_P(ApiServerSuite, AnInventedContinueTokenIsInvalid) {
  ListOptions options = Labelled("app", 2);
  options.continue_token = "invented";
  const Fault fault = FaultIn(client().List(resources::kConfigMaps, ns(), options));
  EXPECT_EQ(fault.reason, Reason::kInvalid);
  EXPECT_EQ(fault.http, 400);
}

TEST_P(ApiServerSuite, ListsOfOtherStates) {
  const Json a = CreateConfigMap("a", {{"app", "suite"}});
  const Json b = CreateConfigMap("b", {{"app", "suite"}});
  const auto names = [this](const ListOptions& options) {
    return NamesOf(Value(client().List(resources::kConfigMaps, ns(), options)).items);
  };
  using Match = ListOptions::Match;
  EXPECT_THAT(names(AtVersion(VersionOf(a), Match::kExact)), ElementsAre("a"));
  EXPECT_THAT(names(AtVersion(VersionOf(b), Match::kNotOlderThan)), ElementsAre("a", "b"));
  EXPECT_THAT(names(AtVersion(VersionOf(b), Match::kUnset)), ElementsAre("a", "b"));
  // The cache may be a moment behind, but for the version that was asked for.
  for (const Match match : {Match::kNotOlderThan, Match::kUnset}) {
    EXPECT_THAT(names(AtVersion(VersionOf(a), match)),
                AnyOf(ElementsAre("a"), ElementsAre("a", "b")));
  }
  EXPECT_THAT(names(AtVersion("0", Match::kNotOlderThan)),
              AnyOf(IsEmpty(), ElementsAre("a"), ElementsAre("a", "b")));
}

TEST_P(ApiServerSuite, VersionsThatCannotBeListed) {
  using Match = ListOptions::Match;
  struct Case {
    ListOptions options;
    Reason reason;
    int http;
  };
  const std::vector<Case> cases = {
      {AtVersion("9000000000", Match::kNotOlderThan), Reason::kTimeout, 504},
      {AtVersion("0", Match::kExact), Reason::kInvalid, 422},
      {AtVersion("", Match::kNotOlderThan), Reason::kInvalid, 422},
      {AtVersion("yesterday", Match::kUnset), Reason::kInvalid, 400},
  };
  ClientOptions once;
  once.retries = 0;  // a version that is too large is answered with Retry-After
  RealSleeper sleeper;
  Client impatient(transport(), sleeper, once);
  for (const Case& c : cases) {
    SCOPED_TRACE("version \"" + c.options.resource_version + "\"");
    const Fault fault = FaultIn(impatient.List(resources::kConfigMaps, ns(), c.options));
    EXPECT_EQ(fault.reason, c.reason) << fault.message;
    EXPECT_EQ(fault.http, c.http) << fault.message;
  }
}

TEST_P(ApiServerSuite, AProjectionKeepsNamedFieldsOnly) {
  const Json made = CreateConfigMap("a", {{"app", "suite"}}, {{"keep", "1"}, {"drop", "2"}});
  const json::Projection fields({{"metadata", "name"}, {"data", "keep"}});
  const Page page = Value(client().List(resources::kConfigMaps, ns(), Labelled("app"), &fields));
  const Json want = {{"metadata", {{"name", "a"}}}, {"data", {{"keep", "1"}}}};
  EXPECT_THAT(page.items, ElementsAre(want));
  EXPECT_GE(std::stoll(page.resource_version), std::stoll(VersionOf(made)));
}

TEST_P(ApiServerSuite, AnUnknownTokenIsUnauthorized) {
  const auto stranger = MakeTransport(server().AccessByToken("unknown"), "mindgate-test/1");
  RealSleeper sleeper;
  Client client(*stranger, sleeper);
  const Fault fault = FaultIn(client.List(resources::kConfigMaps, ns()));
  EXPECT_EQ(fault.reason, Reason::kUnauthorized);
  EXPECT_EQ(fault.http, 401);
  EXPECT_THAT(fault.message, HasSubstr("Unauthorized"));
}

TEST_P(ApiServerSuite, WhoHasNoRoleIsForbidden) {
  const auto powerless = MakeTransport(server().PowerlessAccess(), "mindgate-test/1");
  RealSleeper sleeper;
  Client client(*powerless, sleeper);
  const Fault list = FaultIn(client.List(resources::kDeployments, "default"));
  EXPECT_EQ(list.reason, Reason::kForbidden);
  EXPECT_EQ(list.http, 403);
  EXPECT_THAT(list.message,
              HasSubstr("cannot list resource \"deployments\" in API group \"apps\" in the "
                        "namespace \"default\""));
  const Fault get = FaultIn(client.Get(resources::kNodes, "", "n"));
  EXPECT_THAT(get.message,
              HasSubstr("cannot get resource \"nodes\" in API group \"\" at the cluster scope"));
}

}  // namespace
}  // namespace mindgate::kube::testing
