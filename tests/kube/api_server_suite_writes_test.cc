// Writing single objects. See api_server_suite.h.
#include <gmock/gmock.h>

#include "kube/api_server_suite.h"

namespace mindgate::kube::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

WriteOptions DryRun() {
  WriteOptions options;
  options.dry_run = true;
  return options;
}

int64_t GenerationOf(const Json& object) { return object.at("metadata").at("generation"); }

Json ConfigMap(const Json& metadata, const Json& data = nullptr) {
  Json object = {{"apiVersion", "v1"}, {"kind", "ConfigMap"}, {"metadata", metadata}};
  if (!data.is_null()) object["data"] = data;
  return object;
}

TEST_P(ApiServerSuite, CreateAddsWhatTheServerOwns) {
  const Json made = CreateConfigMap("a", nullptr, {{"key", "value"}});
  EXPECT_EQ(made.at("kind"), "ConfigMap");
  EXPECT_EQ(made.at("apiVersion"), "v1");
  EXPECT_EQ(made.at("data"), Json({{"key", "value"}}));
  EXPECT_EQ(made.at("metadata").at("namespace"), ns());
  EXPECT_EQ(UidOf(made).size(), 36u);
  EXPECT_EQ(made.at("metadata").at("creationTimestamp").get<std::string>().size(),
            std::string("2026-01-01T00:00:00Z").size());
  EXPECT_EQ(made, Get(resources::kConfigMaps, "a"));
}

TEST_P(ApiServerSuite, CreateOfWhatIsThere) {
  CreateConfigMap("a");
  const Fault fault =
      FaultIn(client().Create(resources::kConfigMaps, ns(), ConfigMap({{"name", "a"}})));
  EXPECT_EQ(fault.reason, Reason::kAlreadyExists);
  EXPECT_EQ(fault.http, 409);
  EXPECT_THAT(fault.message, HasSubstr("configmaps \"a\" already exists"));
}

TEST_P(ApiServerSuite, NamesAreGenerated) {
  const Json object = ConfigMap({{"generateName", "made-"}});
  const std::string one = NameOf(Value(client().Create(resources::kConfigMaps, ns(), object)));
  const std::string two = NameOf(Value(client().Create(resources::kConfigMaps, ns(), object)));
  EXPECT_THAT(one, StartsWith("made-"));
  EXPECT_EQ(one.size(), 10u);
  EXPECT_NE(one, two);
}

TEST_P(ApiServerSuite, CreateRefusesWhatIsWrong) {
  struct Case {
    const char* what;
    std::string ns;
    Json object;
    Reason reason;
    int http;
    const char* cause;  // of the Status; empty: it has none
  };
  const std::vector<Case> cases = {
      {"no such namespace", "absent-" + ns(), ConfigMap({{"name", "a"}}), Reason::kNotFound, 404,
       ""},
      {"another namespace", ns(), ConfigMap({{"name", "a"}, {"namespace", "default"}}),
       Reason::kInvalid, 400, ""},
      {"no name", ns(), ConfigMap(Json::object()), Reason::kInvalid, 422,
       "metadata.name: Required"},
      {"a bad key", ns(), ConfigMap({{"name", "a"}}, {{"a b", ""}}), Reason::kInvalid, 422,
       "data[a b]: Invalid value"},
      {"a number for a string", ns(), ConfigMap({{"name", "a"}}, {{"a", 1}}), Reason::kInvalid, 400,
       ""},
      {"another kind",
       ns(),
       {{"apiVersion", "v1"}, {"kind", "Secret"}, {"metadata", {{"name", "a"}}}},
       Reason::kInvalid,
       400,
       ""},
      {"a version", ns(), ConfigMap({{"name", "a"}, {"resourceVersion", "1"}}),
       Reason::kUnavailable, 500, ""},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.what);
    const Fault fault = FaultIn(client().Create(resources::kConfigMaps, c.ns, c.object));
    EXPECT_EQ(fault.reason, c.reason) << fault.message;
    EXPECT_EQ(fault.http, c.http) << fault.message;
    if (*c.cause == '\0') {
      EXPECT_THAT(fault.causes, ElementsAre());
    } else {
      EXPECT_THAT(fault.causes, ElementsAre(StartsWith(c.cause)));
    }
  }
  EXPECT_EQ(GetFault(resources::kConfigMaps, "a").reason, Reason::kNotFound);
}

TEST_P(ApiServerSuite, UpdateOfAnOldStateIsAConflict) {
  const Json old = CreateConfigMap("a", nullptr, {{"n", "1"}});
  Json next = old;
  next["data"]["n"] = "2";
  const Json updated = Value(client().Update(resources::kConfigMaps, ns(), "a", next));
  EXPECT_EQ(updated.at("data").at("n"), "2");
  EXPECT_GT(std::stoll(VersionOf(updated)), std::stoll(VersionOf(old)));
  EXPECT_EQ(UidOf(updated), UidOf(old));

  next["data"]["n"] = "3";
  const Fault fault = FaultIn(client().Update(resources::kConfigMaps, ns(), "a", next));
  EXPECT_EQ(fault.reason, Reason::kConflict);
  EXPECT_EQ(fault.http, 409);
  EXPECT_THAT(fault.message, HasSubstr("the object has been modified"));
  EXPECT_EQ(Get(resources::kConfigMaps, "a"), updated);
}

TEST_P(ApiServerSuite, UpdateOfAnotherObjectOfThatNameIsAConflict) {
  Json object = CreateConfigMap("a");
  object["metadata"]["uid"] = "6b1a4a5c-0000-4000-8000-000000000000";
  const Fault fault = FaultIn(client().Update(resources::kConfigMaps, ns(), "a", object));
  EXPECT_EQ(fault.reason, Reason::kConflict);
  EXPECT_THAT(fault.message, HasSubstr("UID in precondition"));
}

TEST_P(ApiServerSuite, UpdateWithoutAVersion) {
  CreateConfigMap("a");
  const Json bare = ConfigMap({{"name", "a"}}, {{"n", "2"}});
  EXPECT_EQ(Value(client().Update(resources::kConfigMaps, ns(), "a", bare)).at("data"),
            bare.at("data"));
  EXPECT_EQ(FaultIn(client().Update(resources::kConfigMaps, ns(), "b",
                                    ConfigMap({{"name", "b"}}, {{"n", "2"}})))
                .reason,
            Reason::kNotFound);

  // Not every resource lets it pass.
  const Resource widgets = DefineResource();
  Json widget = CreateWidget(widgets, "a");
  widget["metadata"].erase("resourceVersion");
  const Fault fault = FaultIn(client().Update(widgets, ns(), "a", widget));
  EXPECT_EQ(fault.reason, Reason::kInvalid);
  EXPECT_EQ(fault.http, 422);
  EXPECT_THAT(fault.causes, ElementsAre(StartsWith("metadata.resourceVersion: Invalid value")));
}

TEST_P(ApiServerSuite, ALeaseIsRenewedByItsVersion) {
  const Json lease = {{"apiVersion", "coordination.k8s.io/v1"},
                      {"kind", "Lease"},
                      {"metadata", {{"name", "leader"}}},
                      {"spec", {{"holderIdentity", "one"}, {"leaseDurationSeconds", 60}}}};
  const Json held = Value(client().Create(resources::kLeases, ns(), lease));
  Json mine = held;
  mine["spec"]["holderIdentity"] = "two";
  Json taken = Value(client().Update(resources::kLeases, ns(), "leader", mine));
  EXPECT_EQ(taken.at("spec").at("holderIdentity"), "two");
  EXPECT_EQ(FaultIn(client().Update(resources::kLeases, ns(), "leader", held)).reason,
            Reason::kConflict);

  Json blind = taken;
  blind["metadata"].erase("resourceVersion");
  blind["spec"]["holderIdentity"] = "three";
  const Fault fault = FaultIn(client().Update(resources::kLeases, ns(), "leader", blind));
  EXPECT_EQ(fault.reason, Reason::kInvalid);
  EXPECT_EQ(fault.http, 422);

  // Of this resource alone, an update makes what is not there.
  Json other = lease;
  other["metadata"]["name"] = "other";
  EXPECT_EQ(NameOf(Value(client().Update(resources::kLeases, ns(), "other", other))), "other");
}

TEST_P(ApiServerSuite, WritesThatChangeNothingKeepTheVersion) {
  const Json made = CreateConfigMap("a", nullptr, {{"n", "1"}});
  EXPECT_EQ(VersionOf(Value(client().Update(resources::kConfigMaps, ns(), "a", made))),
            VersionOf(made));
  EXPECT_EQ(VersionOf(Value(
                client().MergePatch(resources::kConfigMaps, ns(), "a", {{"data", {{"n", "1"}}}}))),
            VersionOf(made));
  const Json again = {{"op", "replace"}, {"path", "/data/n"}, {"value", "1"}};
  EXPECT_EQ(
      VersionOf(Value(client().Patch(resources::kConfigMaps, ns(), "a", Json::array({again})))),
      VersionOf(made));
  EXPECT_EQ(Get(resources::kConfigMaps, "a"), made);
}

TEST_P(ApiServerSuite, JsonPatch) {
  const Json made = CreateConfigMap("a", nullptr, {{"n", "1"}});
  const auto patch = [this](const Json& operation) {
    return client().Patch(resources::kConfigMaps, ns(), "a", Json::array({operation}));
  };
  EXPECT_EQ(Value(patch({{"op", "add"}, {"path", "/data/m"}, {"value", "2"}})).at("data"),
            Json({{"m", "2"}, {"n", "1"}}));

  struct Case {
    Json operation;
    Reason reason;
    int http;
  };
  const std::vector<Case> cases = {
      {{{"op", "test"}, {"path", "/data/n"}, {"value", "7"}}, Reason::kInvalid, 422},
      {{{"op", "test"}, {"path", "/metadata/resourceVersion"}, {"value", VersionOf(made)}},
       Reason::kInvalid,
       422},
      {{{"op", "remove"}, {"path", "/data/absent"}}, Reason::kInvalid, 422},
      {{{"op", "add"}, {"path", "/absent/n"}, {"value", "7"}}, Reason::kInvalid, 422},
      {{{"op", "replace"}, {"path", "/data/n"}, {"value", 7}}, Reason::kInvalid, 422},
      {{{"op", "replace"}, {"path", "/metadata/resourceVersion"}, {"value", VersionOf(made)}},
       Reason::kConflict,
       409},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.operation.dump());
    const Fault fault = FaultIn(patch(c.operation));
    EXPECT_EQ(fault.reason, c.reason) << fault.message;
    EXPECT_EQ(fault.http, c.http) << fault.message;
  }
  EXPECT_EQ(FaultIn(client().Patch(resources::kConfigMaps, ns(), "b", Json::array())).reason,
            Reason::kNotFound);
}

TEST_P(ApiServerSuite, MergePatch) {
  const Json made = CreateConfigMap("a", {{"app", "suite"}}, {{"n", "1"}, {"m", "2"}});
  const Json merged = Value(client().MergePatch(resources::kConfigMaps, ns(), "a",
                                                {{"data", {{"n", nullptr}, {"k", "3"}}}}));
  EXPECT_EQ(merged.at("data"), Json({{"k", "3"}, {"m", "2"}}));
  EXPECT_EQ(merged.at("metadata").at("labels"), Json({{"app", "suite"}}));

  const Fault fault = FaultIn(client().MergePatch(
      resources::kConfigMaps, ns(), "a",
      {{"metadata", {{"resourceVersion", VersionOf(made)}}}, {"data", nullptr}}));
  EXPECT_EQ(fault.reason, Reason::kConflict);

  const Resource widgets = DefineResource();
  CreateWidget(widgets, "w");
  EXPECT_EQ(
      Value(client().MergePatch(widgets, ns(), "w", {{"spec", {{"colour", "blue"}}}})).at("spec"),
      Json({{"colour", "blue"}, {"replicas", 2}}));
}

TEST_P(ApiServerSuite, AnUnknownKindOfPatchIsRefused) {
  CreateConfigMap("a");
  const auto answer = Value(transport().Send({.method = "PATCH",
                                              .path = PathOf(resources::kConfigMaps, ns(), "a"),
                                              .body = "{}",
                                              .content_type = "text/plain"},
                                             {}));
  EXPECT_EQ(answer.status, 415);
  EXPECT_EQ(Json::parse(answer.body).at("reason"), "UnsupportedMediaType");
}

TEST_P(ApiServerSuite, ACollectionCannotBeUpdated) {
  const auto answer = Value(transport().Send({.method = "PUT",
                                              .path = PathOf(resources::kConfigMaps, ns()),
                                              .body = "{}",
                                              .content_type = "application/json"},
                                             {}));
  EXPECT_EQ(answer.status, 405);
}

TEST_P(ApiServerSuite, TheGenerationCountsWhatIsDesired) {
  const Json made = CreateDeployment("d");
  EXPECT_EQ(GenerationOf(made), 1);
  const auto merge = [this](const Json& patch) {
    return GenerationOf(Value(client().MergePatch(resources::kDeployments, ns(), "d", patch)));
  };
  const int64_t labelled = merge({{"metadata", {{"labels", {{"a", "b"}}}}}});
  EXPECT_GT(merge({{"spec", {{"minReadySeconds", 5}}}}), labelled);

  const Resource widgets = DefineResource();
  EXPECT_EQ(GenerationOf(CreateWidget(widgets, "w")), 1);
  const auto widget = [&](const Json& patch, const char* subresource = "") {
    return GenerationOf(Value(client().MergePatch(widgets, ns(), "w", patch, {}, subresource)));
  };
  EXPECT_EQ(widget({{"metadata", {{"labels", {{"a", "b"}}}}}}), 1);
  EXPECT_EQ(widget({{"status", {{"phase", "done"}}}}, "status"), 1);
  EXPECT_EQ(widget({{"spec", {{"colour", "blue"}}}}), 2);
}

TEST_P(ApiServerSuite, StatusIsWrittenApart) {
  const Resource widgets = DefineResource();
  const Json made = CreateWidget(widgets, "w");
  EXPECT_FALSE(made.contains("status"));

  Json both = made;
  both["status"] = {{"phase", "done"}};
  both["spec"]["colour"] = "blue";
  const Json status = Value(client().Update(widgets, ns(), "w", both, {}, "status"));
  EXPECT_EQ(status.at("status"), both.at("status"));
  EXPECT_EQ(status.at("spec"), made.at("spec"));

  both["metadata"]["resourceVersion"] = VersionOf(status);
  both["status"]["phase"] = "undone";
  const Json object = Value(client().Update(widgets, ns(), "w", both));
  EXPECT_EQ(object.at("status"), Json({{"phase", "done"}}));
  EXPECT_EQ(object.at("spec"), both.at("spec"));

  const Json patch = Json::array({{{"op", "replace"}, {"path", "/status/phase"}, {"value", "x"}}});
  EXPECT_EQ(Value(client().Patch(widgets, ns(), "w", patch, {}, "status")).at("status").at("phase"),
            "x");
  EXPECT_EQ(FaultIn(client().Update(widgets, ns(), "absent", both, {}, "status")).reason,
            Reason::kInvalid);
}

TEST_P(ApiServerSuite, PodStatusIsWrittenApart) {
  EXPECT_EQ(CreatePod("p").at("status").at("phase"), "Pending");
  const Json pod = Value(client().MergePatch(resources::kPods, ns(), "p",
                                             {{"status", {{"phase", "Running"}}}}, {}, "status"));
  EXPECT_EQ(pod.at("status").at("phase"), "Running");
  EXPECT_EQ(
      Value(client().MergePatch(resources::kPods, ns(), "p", {{"status", {{"phase", "Failed"}}}}))
          .at("status")
          .at("phase"),
      "Running");
}

TEST_P(ApiServerSuite, DryRunsChangeNothing) {
  const Json made = CreateConfigMap("a", nullptr, {{"n", "1"}});
  const Json would =
      Value(client().Create(resources::kConfigMaps, ns(), ConfigMap({{"name", "b"}}), DryRun()));
  EXPECT_EQ(NameOf(would), "b");
  EXPECT_EQ(GetFault(resources::kConfigMaps, "b").reason, Reason::kNotFound);
  EXPECT_EQ(
      FaultIn(client().Create(resources::kConfigMaps, ns(), ConfigMap({{"name", "a"}}), DryRun()))
          .reason,
      Reason::kAlreadyExists);

  const Json patch = {{"data", {{"n", "2"}}}};
  EXPECT_EQ(
      Value(client().MergePatch(resources::kConfigMaps, ns(), "a", patch, DryRun())).at("data"),
      patch.at("data"));
  const Json operation = {{"op", "replace"}, {"path", "/data/n"}, {"value", "2"}};
  Value(client().Patch(resources::kConfigMaps, ns(), "a", Json::array({operation}), DryRun()));
  Value(client().Apply(resources::kConfigMaps, ns(), "a", ConfigMap({{"name", "a"}}, {{"k", "2"}}),
                       false, DryRun()));
  Json next = made;
  next["data"]["n"] = "2";
  Value(client().Update(resources::kConfigMaps, ns(), "a", next, DryRun()));
  DeleteOptions deletion;
  deletion.dry_run = true;
  Done(client().Delete(resources::kConfigMaps, ns(), "a", deletion));
  EXPECT_EQ(Get(resources::kConfigMaps, "a"), made);

  const auto answer =
      Value(transport().Send({.method = "POST",
                              .path = PathOf(resources::kConfigMaps, ns()) + "?dryRun=Some",
                              .body = ConfigMap({{"name", "b"}}).dump(),
                              .content_type = "application/json"},
                             {}));
  EXPECT_EQ(answer.status, 422);
}

}  // namespace
}  // namespace mindgate::kube::testing
