// Server-side apply: who owns which field. See api_server_suite.h.
#include <gmock/gmock.h>

#include "kube/api_server_suite.h"

namespace mindgate::kube::testing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using ::testing::UnorderedElementsAre;

WriteOptions By(const std::string& manager) {
  WriteOptions options;
  options.field_manager = manager;
  return options;
}

Json ConfigMapWith(const Json& data, const std::string& name = "a") {
  return {
      {"apiVersion", "v1"}, {"kind", "ConfigMap"}, {"metadata", {{"name", name}}}, {"data", data}};
}

// Those whose managers have applied, by "manager operation subresource".
std::vector<std::string> ManagersOf(const Json& object) {
  std::vector<std::string> managers;
  for (const Json& entry : object.at("metadata").at("managedFields")) {
    managers.push_back(entry.at("manager").get<std::string>() + " " +
                       entry.at("operation").get<std::string>() + entry.value("subresource", ""));
  }
  return managers;
}

TEST_P(ApiServerSuite, ApplyCreatesAndThenChangesNothing) {
  const auto apply = [this](const Json& data) {
    return Value(client().Apply(resources::kConfigMaps, ns(), "a", ConfigMapWith(data), false));
  };
  const Json made = apply({{"n", "1"}});
  EXPECT_EQ(made.at("data"), Json({{"n", "1"}}));
  EXPECT_THAT(ManagersOf(made), ElementsAre("mindgate Apply"));
  EXPECT_EQ(VersionOf(apply({{"n", "1"}})), VersionOf(made));
  EXPECT_EQ(apply({{"n", "2"}}).at("data"), Json({{"n", "2"}}));
}

TEST_P(ApiServerSuite, ApplyRemovesWhatItNoLongerNames) {
  const auto apply = [this](const Json& data, const std::string& manager) {
    return Value(
        client().Apply(resources::kConfigMaps, ns(), "a", ConfigMapWith(data), false, By(manager)));
  };
  apply({{"mine", "1"}, {"ours", "1"}}, "one");
  apply({{"theirs", "1"}, {"ours", "1"}}, "two");
  const Json left = apply({{"mine", "2"}}, "one");
  EXPECT_EQ(left.at("data"), Json({{"mine", "2"}, {"ours", "1"}, {"theirs", "1"}}));
  EXPECT_EQ(apply({{"theirs", "1"}}, "two").at("data"), Json({{"mine", "2"}, {"theirs", "1"}}));
}

TEST_P(ApiServerSuite, ApplyDoesNotTakeFieldsUnlessForced) {
  Value(client().Apply(resources::kConfigMaps, ns(), "a", ConfigMapWith({{"n", "1"}, {"m", "1"}}),
                       false, By("one")));
  const auto apply = [this](const Json& data, bool force) {
    return client().Apply(resources::kConfigMaps, ns(), "a", ConfigMapWith(data), force, By("two"));
  };
  const Fault one = FaultIn(apply({{"n", "2"}, {"m", "1"}}, false));
  EXPECT_EQ(one.reason, Reason::kConflict);
  EXPECT_EQ(one.http, 409);
  EXPECT_THAT(one.message,
              HasSubstr("Apply failed with 1 conflict: conflict with \"one\": .data.n"));
  EXPECT_THAT(one.causes, ElementsAre(".data.n: conflict with \"one\""));
  const Fault two = FaultIn(apply({{"n", "2"}, {"m", "2"}}, false));
  EXPECT_THAT(two.message, HasSubstr("Apply failed with 2 conflicts: conflicts with \"one\":\n"
                                     "- .data.m\n- .data.n"));
  EXPECT_THAT(two.causes, UnorderedElementsAre(".data.m: conflict with \"one\"",
                                               ".data.n: conflict with \"one\""));
  EXPECT_EQ(Get(resources::kConfigMaps, "a").at("data"), Json({{"m", "1"}, {"n", "1"}}));

  EXPECT_EQ(Value(apply({{"n", "2"}}, true)).at("data"), Json({{"m", "1"}, {"n", "2"}}));
  // It is no longer the other one's.
  const Json left = Value(client().Apply(resources::kConfigMaps, ns(), "a",
                                         ConfigMapWith({{"m", "1"}}), false, By("one")));
  EXPECT_EQ(left.at("data"), Json({{"m", "1"}, {"n", "2"}}));
}

TEST_P(ApiServerSuite, AWriteOfAnotherKindTakesFields) {
  Value(client().Apply(resources::kConfigMaps, ns(), "a", ConfigMapWith({{"n", "1"}}), false,
                       By("one")));
  const Json changed = Value(client().MergePatch(resources::kConfigMaps, ns(), "a",
                                                 {{"data", {{"n", "2"}}}}, By("editor")));
  EXPECT_THAT(ManagersOf(changed), ElementsAre("editor Update"));
  const Fault fault = FaultIn(client().Apply(resources::kConfigMaps, ns(), "a",
                                             ConfigMapWith({{"n", "1"}}), false, By("one")));
  EXPECT_EQ(fault.reason, Reason::kConflict);
  EXPECT_THAT(fault.causes, ElementsAre(".data.n: conflict with \"editor\" using v1"));
}

TEST_P(ApiServerSuite, ContainersMergeByName) {
  CreateDeployment("d");
  const auto patch = [](const Json& containers) {
    return Json{{"apiVersion", "apps/v1"},
                {"kind", "Deployment"},
                {"spec", {{"template", {{"spec", {{"containers", containers}}}}}}}};
  };
  const auto apply = [&](const Json& containers) {
    return client().Apply(resources::kDeployments, ns(), "d", patch(containers), false, By("one"));
  };
  const Json sidecar = {{"name", "sidecar"}, {"image", "localhost/side:1"}};
  const Json both =
      Value(apply(Json::array({sidecar}))).at("spec").at("template").at("spec").at("containers");
  ASSERT_EQ(both.size(), 2u);
  EXPECT_EQ(both[0].at("name"), "main");
  EXPECT_EQ(both[1].at("image"), "localhost/side:1");

  const Json theirs = {{"name", "main"}, {"image", "localhost/other:1"}};
  EXPECT_THAT(FaultIn(apply(Json::array({sidecar, theirs}))).causes,
              ElementsAre(AllOf(StartsWith(".spec.template.spec.containers[name=\"main\"].image: "),
                                HasSubstr("conflict with \"mindgate\""))));

  Json only_env = {{"name", "main"}, {"env", Json::array({{{"name", "A"}, {"value", "1"}}})}};
  const Json left =
      Value(apply(Json::array({only_env}))).at("spec").at("template").at("spec").at("containers");
  ASSERT_EQ(left.size(), 1u);
  EXPECT_EQ(left[0].at("image"), "localhost/none:1");
  EXPECT_EQ(left[0].at("env"), only_env["env"]);
}

TEST_P(ApiServerSuite, CustomListsAreOneValue) {
  const Resource widgets = DefineResource();
  const auto apply = [&](const std::string& manager, const Json& list) {
    return client().Apply(widgets, ns(), "w",
                          {{"apiVersion", widgets.api_version()},
                           {"kind", widgets.kind},
                           {"metadata", {{"name", "w"}}},
                           {"spec", {{"containers", list}}}},
                          false, By(manager));
  };
  const Json one = {{"name", "one"}};
  const Json two = {{"name", "two"}};
  Value(apply("one", Json::array({one})));
  EXPECT_THAT(FaultIn(apply("two", Json::array({two}))).causes,
              ElementsAre(".spec.containers: conflict with \"one\""));
}

TEST_P(ApiServerSuite, StatusIsAppliedApart) {
  const Resource widgets = DefineResource();
  const Json made = CreateWidget(widgets, "w");
  const Json patch = {{"apiVersion", widgets.api_version()},
                      {"kind", widgets.kind},
                      {"spec", {{"colour", "blue"}}},
                      {"status", {{"phase", "done"}}}};
  const Json applied = Value(client().Apply(widgets, ns(), "w", patch, false, By("one"), "status"));
  EXPECT_EQ(applied.at("status"), patch.at("status"));
  EXPECT_EQ(applied.at("spec"), made.at("spec"));
  EXPECT_THAT(ManagersOf(applied), UnorderedElementsAre("mindgate Update", "one Applystatus"));
}

TEST_P(ApiServerSuite, ApplyNeedsAManager) {
  const auto answer = Value(transport().Send({.method = "PATCH",
                                              .path = PathOf(resources::kConfigMaps, ns(), "a"),
                                              .body = ConfigMapWith({{"n", "1"}}).dump(),
                                              .content_type = "application/apply-patch+yaml"},
                                             {}));
  EXPECT_EQ(answer.status, 422);
  const Json status = Json::parse(answer.body);
  EXPECT_EQ(status.at("details").at("causes").at(0).at("field"), "fieldManager");
}

TEST_P(ApiServerSuite, ApplyOfAnotherObjectIsRefused) {
  CreateConfigMap("a", nullptr, {{"n", "1"}});
  struct Case {
    Json metadata;
    Reason reason;
  };
  const std::vector<Case> cases = {
      {{{"name", "b"}}, Reason::kInvalid},
      {{{"name", "a"}, {"resourceVersion", "1"}}, Reason::kConflict},
      {{{"name", "a"}, {"uid", "6b1a4a5c-0000-4000-8000-000000000000"}}, Reason::kInvalid},
      {{{"name", "a"}, {"managedFields", Json::array({Json::object()})}}, Reason::kInvalid},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.metadata.dump());
    Json patch = ConfigMapWith({{"k", "2"}});
    patch["metadata"] = c.metadata;
    const Fault fault = FaultIn(client().Apply(resources::kConfigMaps, ns(), "a", patch, true));
    EXPECT_EQ(fault.reason, c.reason) << fault.message;
  }
  EXPECT_EQ(Get(resources::kConfigMaps, "a").at("data"), Json({{"n", "1"}}));
}

// The path is enough for what is there, and not for what is to be made.
TEST_P(ApiServerSuite, ApplyWithoutAName) {
  CreateConfigMap("a");
  Json patch = ConfigMapWith({{"k", "2"}});
  patch.erase("metadata");
  Value(client().Apply(resources::kConfigMaps, ns(), "a", patch, false));
  const Fault fault = FaultIn(client().Apply(resources::kConfigMaps, ns(), "b", patch, false));
  EXPECT_EQ(fault.reason, Reason::kInvalid);
  EXPECT_THAT(fault.message, HasSubstr("name must be provided"));
}

// A condition on what is not there does not hold anybody back.
TEST_P(ApiServerSuite, ApplyMakesWhatIsNotThereUnderAnyVersion) {
  Json patch = ConfigMapWith({{"k", "2"}});
  patch["metadata"]["resourceVersion"] = "1";
  EXPECT_EQ(Value(client().Apply(resources::kConfigMaps, ns(), "a", patch, false)).at("data"),
            patch["data"]);
}

}  // namespace
}  // namespace mindgate::kube::testing
