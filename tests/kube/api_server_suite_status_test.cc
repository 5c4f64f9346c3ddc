// What refusals look like to the last member, but for texts: of these the client reads one only to
// show it. See api_server_suite.h.
#include <gmock/gmock.h>

#include "kube/api_server_suite.h"

namespace mindgate::kube::testing {
namespace {

struct StatusCase {
  HttpCall call;
  Json want;  // without "message"
};

HttpCall Call(const char* method, const std::string& path, const Json& body = nullptr,
              const char* type = "application/json") {
  return {.method = method,
          .path = path,
          .body = body.is_null() ? "" : body.dump(),
          .content_type = type};
}

Json Failure(int code, const char* reason, const Json& details = nullptr) {
  return StatusOf(code, reason, "", details);
}

// Empties all texts that are messages.
void Hush(Json& status) {
  status["message"] = "";
  if (!status.contains("details") || !status["details"].contains("causes")) return;
  for (Json& cause : status["details"]["causes"]) cause["message"] = "";
}

Json CauseOf(const char* reason, const char* field) {
  return {{"reason", reason}, {"message", ""}, {"field", field}};
}

TEST_P(ApiServerSuite, RefusalsAreWholeStatuses) {
  const Json made = CreateConfigMap("a", nullptr, {{"n", "1"}});
  const std::string maps = PathOf(resources::kConfigMaps, ns());
  const std::string map = maps + "/a";
  const Json a = {{"name", "a"}, {"kind", "configmaps"}};
  const auto config_map = [](const Json& metadata, const Json& data = Json::object()) {
    return Json{
        {"apiVersion", "v1"}, {"kind", "ConfigMap"}, {"metadata", metadata}, {"data", data}};
  };
  const Json test = {{"op", "test"}, {"path", "/data/n"}, {"value", "7"}};
  const std::vector<StatusCase> cases = {
      {Call("GET", PathOf(resources::kDeployments, ns(), "absent")),
       Failure(404, "NotFound", {{"name", "absent"}, {"group", "apps"}, {"kind", "deployments"}})},
      {Call("GET", PathOf(resources::kConfigMaps, ns()) + "s"),
       Failure(404, "NotFound", Json::object())},
      {Call("POST", "/api/v1/namespaces/absent-" + ns() + "/configmaps",
            config_map({{"name", "a"}})),
       Failure(404, "NotFound", {{"name", "absent-" + ns()}, {"kind", "namespaces"}})},
      {Call("POST", maps, config_map({{"name", "a"}})), Failure(409, "AlreadyExists", a)},
      {Call("PUT", map, config_map({{"name", "a"}, {"resourceVersion", "1"}})),
       Failure(409, "Conflict", a)},
      // Here alone, "kind" is the kind.
      {Call("DELETE", map, {{"preconditions", {{"uid", "other"}}}}),
       Failure(409, "Conflict", {{"name", "a"}, {"kind", "ConfigMap"}})},
      {Call("POST", maps, config_map({{"name", "b"}}, {{"a b", ""}})),
       Failure(422, "Invalid",
               {{"name", "b"},
                {"kind", "ConfigMap"},
                {"causes", Json::array({CauseOf("FieldValueInvalid", "data[a b]")})}})},
      {Call("PATCH", map, {{"data", {{"n", 1}}}}, "application/merge-patch+json"),
       Failure(422, "Invalid", {{"causes", Json::array({CauseOf("FieldValueInvalid", "patch")})}})},
      {Call("PATCH", map, Json::array({test}), "application/json-patch+json"),
       Failure(422, "Invalid", Json::object())},
      {Call("PATCH", map, Json::object(), "application/apply-patch+yaml"),
       Failure(422, "Invalid",
               {{"group", "meta.k8s.io"},
                {"kind", "PatchOptions"},
                {"causes", Json::array({CauseOf("FieldValueRequired", "fieldManager")})}})},
      {Call("PATCH", map + "?fieldManager=other", config_map({{"name", "a"}}, {{"n", "2"}}),
            "application/apply-patch+yaml"),
       Failure(409, "Conflict",
               {{"causes", Json::array({CauseOf("FieldManagerConflict", ".data.n")})}})},
      {Call("PATCH", map, Json::object(), "text/plain"),
       Failure(415, "UnsupportedMediaType", Json::object())},
      {Call("POST", maps, Json::object(), "text/plain"), Failure(415, "UnsupportedMediaType")},
      {Call("PUT", maps, Json::object()), Failure(405, "MethodNotAllowed", Json::object())},
      {Call("POST", maps, Json("no object")), Failure(400, "BadRequest")},
      {Call("POST", maps, config_map({{"name", "b"}, {"resourceVersion", "1"}})), Failure(500, "")},
      {Call("GET", maps + "?continue=invented"), Failure(400, "BadRequest")},
      {Call("GET", maps + "?labelSelector=a%20in%20b"), Failure(400, "BadRequest")},
      {Call("GET", maps + "?watch=true&resourceVersion=yesterday"), Failure(500, "")},
      {Call("GET", maps + "?resourceVersion=0&resourceVersionMatch=Exact"),
       Failure(
           422, "Invalid",
           {{"group", "meta.k8s.io"},
            {"kind", "ListOptions"},
            {"causes", Json::array({CauseOf("FieldValueForbidden", "resourceVersionMatch")})}})},
      {Call("GET", maps + "?resourceVersion=9000000000"),
       Failure(504, "Timeout",
               {{"causes", Json::array({{{"reason", "ResourceVersionTooLarge"}, {"message", ""}}})},
                {"retryAfterSeconds", 1}})},
  };
  for (const StatusCase& c : cases) {
    SCOPED_TRACE(c.call.method + " " + c.call.path + " " + c.call.body);
    const HttpAnswer answer = Value(transport().Send(c.call, {}));
    EXPECT_EQ(answer.status, c.want.at("code"));
    ASSERT_TRUE(Json::accept(answer.body)) << answer.body;
    Json status = Json::parse(answer.body);
    EXPECT_NE(status.value("message", ""), "");
    Hush(status);
    EXPECT_EQ(status, c.want);
    const Json details = c.want.value("details", Json::object());
    EXPECT_EQ(answer.retry_after.has_value(), details.contains("retryAfterSeconds"));
  }
  EXPECT_EQ(Get(resources::kConfigMaps, "a"), made);
}

TEST_P(ApiServerSuite, StrangersAreRefusedInWholeStatuses) {
  const std::string absent = PathOf(resources::kDeployments, "default", "absent");
  struct StrangerCase {
    std::string token;
    std::string path;
    Json want;
  };
  const Json details = {{"name", "absent"}, {"group", "apps"}, {"kind", "deployments"}};
  for (const StrangerCase& c : {StrangerCase{"", absent, Failure(403, "Forbidden", details)},
                                {"", "/nothing", Failure(403, "Forbidden", Json::object())},
                                {"unknown", absent, Failure(401, "Unauthorized")},
                                {"unknown", "/nothing", Failure(401, "Unauthorized")}}) {
    SCOPED_TRACE(c.token + " " + c.path);
    const auto stranger = MakeTransport(server().AccessByToken(c.token), "mindgate-test/1");
    const HttpAnswer answer = Value(stranger->Send(Call("GET", c.path), {}));
    EXPECT_EQ(answer.status, c.want.at("code"));
    Json status = Json::parse(answer.body);
    EXPECT_NE(status.value("message", ""), "");
    Hush(status);
    EXPECT_EQ(status, c.want);
  }
}

TEST_P(ApiServerSuite, WhatNobodyServesIsAPlainPage) {
  const HttpAnswer answer = Value(transport().Send(Call("GET", "/apis/nobody.mindgate.io/v1"), {}));
  EXPECT_EQ(answer.status, 404);
  EXPECT_EQ(answer.body, "404 page not found\n");
}

TEST_P(ApiServerSuite, SuccessIsAStatusToo) {
  const Json made = CreateConfigMap("a");
  const HttpAnswer deleted = Value(transport().Send(
      Call("DELETE", PathOf(resources::kConfigMaps, ns(), "a"), Json::object()), {}));
  EXPECT_EQ(deleted.status, 200);
  EXPECT_EQ(
      Json::parse(deleted.body),
      Json({{"kind", "Status"},
            {"apiVersion", "v1"},
            {"metadata", Json::object()},
            {"status", "Success"},
            {"details",
             {{"name", "a"}, {"kind", "configmaps"}, {"uid", made.at("metadata").at("uid")}}}}));

  CreatePod("p");
  const HttpAnswer evicted = Value(transport().Send(
      Call("POST", PathOf(resources::kPods, ns(), "p", "eviction"),
           {{"apiVersion", "policy/v1"}, {"kind", "Eviction"}, {"metadata", {{"name", "p"}}}}),
      {}));
  EXPECT_EQ(evicted.status, 201);
  EXPECT_EQ(Json::parse(evicted.body), Json({{"kind", "Status"},
                                             {"apiVersion", "v1"},
                                             {"metadata", Json::object()},
                                             {"status", "Success"},
                                             {"code", 201}}));
}

}  // namespace
}  // namespace mindgate::kube::testing
