#include "webhook/admission_review.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "admission/config_files.h"
#include "json/decode.h"
#include "json/pointer.h"
#include "webhook/reviews.h"

namespace mindgate::webhook {
namespace {

using json::Json;
using testing::Deployment;
using ::testing::HasSubstr;
using testing::ReviewOf;
using ::testing::StartsWith;

const Time kNow{};

// The review lives until the next one.
tl::expected<Review, ReviewRefusal> Reviewed(std::string_view body) {
  static json::Decoder decoder({}, kNotDecoded);
  return DecodeReview(decoder, body, kNow);
}

std::string RefusalOf(std::string_view body) {
  const auto review = Reviewed(body);
  if (review) return "accepted";
  return std::string(InfoOf(review.error().refusal).name) + ": " + review.error().detail;
}

TEST(AdmissionReview, RefusalsNameWhatIsWrong) {
  const std::string ok = R"("apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview")";
  struct Case {
    std::string body;
    std::string want;
  };
  const std::vector<Case> cases = {
      {"", "empty_body: "},
      {" \r\n\t", "empty_body: "},
      {"null", "not_admission_review: got kind \"\" of \"\""},
      {"[]", "not_admission_review: got kind \"\" of \"\""},
      {"\"text\"", "not_admission_review: got kind \"\" of \"\""},
      {R"({"apiVersion":"admission.k8s.io/v2","kind":"AdmissionReview"})",
       "not_admission_review: got kind \"AdmissionReview\" of \"admission.k8s.io/v2\""},
      {R"({"apiVersion":"v1","kind":"Pod"})", "not_admission_review: got kind \"Pod\" of \"v1\""},
      {R"({"apiVersion":1,"kind":[]})", "not_admission_review: got kind \"\" of \"\""},
      {"{" + ok + "}", "no_request: "},
      {"{" + ok + R"(,"request":null})", "no_request: "},
      {"{" + ok + R"(,"request":[]})", "bad_request: request must be an object, not list"},
      {"{" + ok + R"(,"request":{}})", "bad_request: request.uid is missing"},
      {"{" + ok + R"(,"request":{"uid":""}})", "bad_request: request.uid is missing"},
      {"{" + ok + R"(,"request":{"uid":7}})",
       "bad_request: request.uid must be a string, not integer"},
      {"{" + ok + R"(,"request":{"uid":"u"}})",
       "bad_request: request.operation must be CREATE, UPDATE, DELETE or CONNECT, not \"\""},
      {"{" + ok + R"(,"request":{"uid":"u","operation":"PATCH"}})",
       "bad_request: request.operation must be CREATE, UPDATE, DELETE or CONNECT, not \"PATCH\""},
      {"{" + ok + R"(,"request":{"uid":"u","operation":"CREATE","object":"x"}})",
       "bad_request: request.object must be an object, not string"},
      {"{" + ok + R"(,"request":{"uid":"u","operation":"CREATE","dryRun":"yes"}})",
       "bad_request: request.dryRun must be a boolean, not string"},
      {"{" + ok + R"(,"request":{"uid":"u","operation":"CREATE","namespace":{}}})",
       "bad_request: request.namespace must be a string, not object"},
      {"{" + ok + R"(,"request":{"uid":"u","operation":"CREATE","kind":"Pod"}})",
       "bad_request: request.kind must be an object, not string"},
      {"{" + ok + R"(,"request":{"uid":"u","operation":"CREATE"}})", "accepted"},
  };
  for (const Case& c : cases) EXPECT_EQ(RefusalOf(c.body), c.want) << c.body;
  for (const std::string& body :
       {std::string("{"), std::string("{} {}"), std::string("{\"a\":1,\"a\":2}"),
        std::string("\"\xff\""), std::string(200, '['), std::string("\x1f\x8b\x08\x00", 4)}) {
    EXPECT_THAT(RefusalOf(body), StartsWith("undecodable: line 1, column ")) << body;
  }
}

Json AnswerTo(const Json& request, Hook hook, std::string* text = nullptr) {
  const auto review = Reviewed(request.dump());
  if (!review) {
    ADD_FAILURE() << review.error().detail;
    return {};
  }
  const bool mutate = hook == Hook::kMutate;
  const auto verdict =
      admission::Admit(review->request, schemas::Config(), {.mutate = mutate, .evaluate = !mutate});
  const std::string answer = EncodeAnswer(*review, hook, verdict, "0123456789abcdef");
  if (text != nullptr) *text = answer;
  return *json::Decode(answer);
}

std::string Decoded(const std::string& base64) {
  static const std::string kAlphabet =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  uint32_t bits = 0;
  int count = 0;
  for (const char c : base64) {
    if (c == '=') break;
    bits = bits << 6 | static_cast<uint32_t>(kAlphabet.find(c));
    count += 6;
    if (count >= 8) {
      count -= 8;
      bytes += static_cast<char>(bits >> count & 0xff);
    }
  }
  return bytes;
}

TEST(AdmissionReview, MutationIsAPatchThatApplies) {
  for (const char* version : {"admission.k8s.io/v1", "admission.k8s.io/v1beta1"}) {
    Json review = ReviewOf(Deployment());
    review["apiVersion"] = version;
    const Json answer = AnswerTo(review, Hook::kMutate);
    EXPECT_EQ(answer["apiVersion"], version) << "the version is echoed";
    EXPECT_EQ(answer["kind"], "AdmissionReview");
    const Json& response = answer["response"];
    EXPECT_EQ(response["uid"], review["request"]["uid"]);
    EXPECT_EQ(response["allowed"], true);
    EXPECT_EQ(response["patchType"], "JSONPatch");
    EXPECT_FALSE(response.contains("status"));
    Json object = Deployment();
    object = object.patch(*json::Decode(Decoded(response["patch"])));
    EXPECT_EQ(object["spec"]["template"]["spec"]["schedulerName"], "volcano");
    EXPECT_EQ(response["auditAnnotations"]["generation"], "0123456789abcdef");
    EXPECT_THAT(response["auditAnnotations"]["mutators"].get<std::string>(),
                HasSubstr("scheduler-name"));

    // Its own output needs no patch, and then neither patch nor patchType is there.
    const Json again = AnswerTo(ReviewOf(object), Hook::kMutate);
    EXPECT_EQ(again["response"],
              Json({{"uid", "u-1"},
                    {"allowed", true},
                    {"auditAnnotations", {{"generation", "0123456789abcdef"}}}}));
  }
}

TEST(AdmissionReview, ValidationNeverPatches) {
  const Json answer = AnswerTo(ReviewOf(Deployment()), Hook::kValidate);
  EXPECT_EQ(answer["response"]["allowed"], true);
  EXPECT_FALSE(answer["response"].contains("patch"));
  EXPECT_FALSE(answer["response"].contains("patchType"));
}

TEST(AdmissionReview, DenialHasCodeReasonAndTheWholeMessage) {
  Json broken = Deployment();
  broken["spec"]["template"]["metadata"]["labels"]["fault-scheduling"] = true;
  const Json answer = AnswerTo(ReviewOf(broken), Hook::kValidate);
  const Json& response = answer["response"];
  EXPECT_EQ(response["allowed"], false);
  EXPECT_EQ(response["status"]["code"], 422) << "a member of the wrong type is a matter of shape";
  EXPECT_EQ(response["status"]["reason"], "Invalid");
  EXPECT_EQ(response["status"]["status"], "Failure");
  EXPECT_THAT(response["status"]["message"].get<std::string>(),
              StartsWith("MG001 wrong-type: spec.template.metadata.labels[fault-scheduling]: "));
  EXPECT_THAT(response["auditAnnotations"]["rules"].get<std::string>(), HasSubstr("MG001=enforce"));
}

policies::Finding FindingOf(const char* rule, schemas::Mode mode, std::string message) {
  policies::Finding finding;
  finding.rule = policies::FindRule(rule);
  finding.mode = mode;
  finding.field = "spec.x";
  finding.message = std::move(message);
  finding.fix = "write y";
  return finding;
}

Json Encoded(admission::Verdict verdict) {
  const auto review = Reviewed(ReviewOf(Deployment()).dump());
  return json::Decode(EncodeAnswer(*review, Hook::kValidate, verdict, "g"))->at("response");
}

TEST(AdmissionReview, DenialByPolicyIs403AndListsEverything) {
  admission::Verdict verdict;
  verdict.outcome = admission::Outcome::kDenied;
  verdict.findings = {FindingOf("MG001", schemas::Mode::kEnforce, "first"),
                      FindingOf("MG002", schemas::Mode::kWarn, "only a warning"),
                      FindingOf("MG002", schemas::Mode::kEnforce, "second")};
  verdict.warnings = {"MG002 inject-label: only a warning"};
  const Json response = Encoded(verdict);
  EXPECT_EQ(response["status"],
            Json({{"status", "Failure"},
                  {"code", 403},
                  {"reason", "Forbidden"},
                  {"message",
                   "2 rules are violated:\n- MG001 wrong-type: spec.x: first; write y\n"
                   "- MG002 inject-label: spec.x: second; write y\n"
                   "more: kubectl mindgate explain MG001 MG002"}}));
  EXPECT_EQ(response["warnings"], Json({"MG002 inject-label: only a warning"}))
      << "of a denial as well";
  EXPECT_EQ(response["auditAnnotations"],
            Json({{"generation", "g"}, {"rules", "MG001=enforce,MG002=warn"}}));
}

// As Kubernetes has it for its own policies; the first finding that denies decides.
// What a policy of these validations, in braces and by commas, makes of the Deployment. `change` is
// merged into the request.
admission::Verdict DecidedBy(const std::string& validations, const Json& change = Json::object()) {
  const std::string policy = R"(apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: p}
spec:
  matchConstraints:
    resourceRules: [{apiGroups: ["*"], apiVersions: ["*"], operations: ["*"], resources: ["*"]}]
  validations: [)" + validations +
                             R"(]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: b}
spec: {policyName: p, validationActions: [Deny]}
)";
  schemas::Config config;
  const auto set = admission::SetPolicies({{"a.yaml", policy}}, config);
  EXPECT_TRUE(set.has_value()) << set.error().message();
  Json sent = ReviewOf(Deployment());
  sent["request"].merge_patch(change);
  const auto review = Reviewed(sent.dump());
  return admission::Admit(review->request, config, {.mutate = false});
}

TEST(AdmissionReview, PoliciesReadHowItWasSent) {
  const std::string demanded =
      "{expression: 'request.dryRun && request.options.fieldManager == \"kubectl\"'}";
  EXPECT_EQ(
      DecidedBy(demanded, {{"dryRun", true}, {"options", {{"fieldManager", "kubectl"}}}}).outcome,
      admission::Outcome::kAdmitted);
  EXPECT_EQ(
      DecidedBy(demanded, {{"dryRun", false}, {"options", {{"fieldManager", "kubectl"}}}}).outcome,
      admission::Outcome::kDenied);
}

// `kubectl mindgate explain policy/p` needs the policy's file: nobody is sent there.
TEST(AdmissionReview, OnlyRulesAreExplainedElsewhere) {
  const auto message = [](const admission::Verdict& verdict) {
    return Encoded(verdict)["status"]["message"].get<std::string>();
  };
  const std::string one = "{expression: 'false', message: one}";
  const std::string fix =
      "; change what the message names, or ask who wrote the policy; `mindgate explain policy/p "
      "--policies FILE` shows what it demands";
  EXPECT_EQ(message(DecidedBy(one)), "policy/p: one" + fix);
  admission::Verdict both = DecidedBy(one + ", {expression: 'false', message: two}");
  EXPECT_EQ(message(both),
            "2 rules are violated:\n- policy/p: one" + fix + "\n- policy/p: two" + fix);
  both.findings.insert(both.findings.begin(), FindingOf("MG002", schemas::Mode::kEnforce, "first"));
  EXPECT_THAT(message(both), ::testing::EndsWith("\nmore: kubectl mindgate explain MG002"));
}

TEST(AdmissionReview, AReasonOfAPolicyIsThatOfTheAnswer) {
  const auto answer = [](const admission::Verdict& verdict) {
    const Json status = Encoded(verdict)["status"];
    return status["code"].dump() + " " + status["reason"].get<std::string>();
  };
  const std::pair<const char*, const char*> cases[] = {
      {"{expression: 'false', reason: Unauthorized}", "401 Unauthorized"},
      {"{expression: 'false', reason: Forbidden}", "403 Forbidden"},
      {"{expression: 'false', reason: Invalid}", "422 Invalid"},
      {"{expression: 'false', reason: RequestEntityTooLarge}", "413 RequestEntityTooLarge"},
      {"{expression: 'false'}", "403 Forbidden"},
      {"{expression: 'object.none', reason: Invalid}", "403 Forbidden"},  // an error has none
      {"{expression: 'true', reason: Unauthorized}, {expression: 'false', message: b, reason: "
       "Invalid}, {expression: 'false', message: c, reason: Unauthorized}",
       "422 Invalid"},
  };
  for (const auto& [validations, wanted] : cases) {
    EXPECT_EQ(answer(DecidedBy(validations)), wanted) << validations;
  }
  admission::Verdict rule_first = DecidedBy("{expression: 'false', reason: Invalid}");
  rule_first.findings.insert(rule_first.findings.begin(),
                             FindingOf("MG002", schemas::Mode::kEnforce, "first"));
  EXPECT_EQ(answer(rule_first), "403 Forbidden");
  rule_first.findings.front().mode = schemas::Mode::kWarn;
  EXPECT_EQ(answer(rule_first), "422 Invalid");
}

TEST(AdmissionReview, MessageOfManyViolationsIsBounded) {
  admission::Verdict verdict;
  verdict.outcome = admission::Outcome::kDenied;
  for (int i = 0; i < 100; ++i) {
    verdict.findings.push_back(
        FindingOf("MG002", schemas::Mode::kEnforce, std::string(60, 'x') + std::to_string(i)));
  }
  const std::string message = Encoded(verdict)["status"]["message"];
  EXPECT_LT(message.size(), 2100);
  EXPECT_THAT(message, StartsWith("100 rules are violated:\n- MG002"));
  EXPECT_THAT(message, ::testing::ContainsRegex(
                           "\n- and [0-9]+ more\nmore: kubectl mindgate explain MG002$"));

  verdict.findings.resize(1);
  verdict.findings[0].message = std::string(2040, 'x') + "\xc3\xa9\xc3\xa9\xc3\xa9";
  EXPECT_LE(Encoded(verdict)["status"]["message"].get<std::string>().size(), 2051)
      << "cut inside a character";
}

TEST(AdmissionReview, AuditAnnotationKeysHaveNoSlash) {
  const Json answer = AnswerTo(ReviewOf(Deployment()), Hook::kMutate);
  for (const auto& [key, value] : answer["response"]["auditAnnotations"].items()) {
    EXPECT_EQ(key.find('/'), std::string::npos)
        << "the API server puts '<webhook>/' in front and drops others";
    EXPECT_LE(key.size(), 63);
    EXPECT_TRUE(value.is_string());
  }
}

// What kube-apiserver sends besides creating namespaced objects. None may fail, and none may be
// patched without an object.
TEST(AdmissionReview, OperationsScopesAndSubresources) {
  struct Case {
    std::string name;
    Json change;  // merged into the request
    bool patched;
  };
  const std::vector<Case> cases = {
      {"CREATE", {{"operation", "CREATE"}}, true},
      {"UPDATE that changes nothing",
       {{"operation", "UPDATE"}, {"oldObject", Deployment()}},
       false},
      {"UPDATE without the old object", {{"operation", "UPDATE"}, {"oldObject", nullptr}}, true},
      {"DELETE",
       {{"operation", "DELETE"}, {"object", nullptr}, {"oldObject", Deployment()}},
       false},
      {"CONNECT",
       {{"operation", "CONNECT"},
        {"subResource", "exec"},
        {"object", {{"apiVersion", "v1"}, {"kind", "PodExecOptions"}}}},
       false},
      {"status", {{"operation", "UPDATE"}, {"subResource", "status"}}, false},
      {"scale",
       {{"operation", "UPDATE"},
        {"subResource", "scale"},
        {"object", {{"apiVersion", "autoscaling/v1"}, {"kind", "Scale"}}}},
       false},
      {"dry run", {{"dryRun", true}}, true},
      {"no name: generateName", {{"name", nullptr}}, true},
      {"no namespace: cluster scope", {{"namespace", nullptr}}, true},
      {"no user", {{"userInfo", nullptr}}, true},
      {"another kind",
       {{"object", {{"apiVersion", "v1"}, {"kind", "Service"}, {"metadata", {{"name", "s"}}}}}},
       false},
      {"no object at all", {{"object", nullptr}}, false},
      {"being deleted",
       {{"object", {{"metadata", {{"deletionTimestamp", "2026-01-01T00:00:00Z"}}}}}},
       false},
  };
  for (const Case& c : cases) {
    Json review = ReviewOf(Deployment());
    review["request"].merge_patch(c.change);
    for (const Hook hook : {Hook::kMutate, Hook::kValidate}) {
      const Json response = AnswerTo(review, hook)["response"];
      EXPECT_EQ(response["allowed"], true) << c.name;
      EXPECT_EQ(response["uid"], "u-1") << c.name;
      EXPECT_EQ(response.contains("patch"), c.patched && hook == Hook::kMutate) << c.name;
      EXPECT_EQ(response.contains("patch"), response.contains("patchType")) << c.name;
    }
  }
}

TEST(AdmissionReview, NamesTheObject) {
  const auto name = [](const Json& of_request, const Json& metadata) {
    Json review = ReviewOf(Deployment());
    review["request"]["name"] = of_request;
    review["request"]["object"]["metadata"] = metadata;
    const auto decoded = Reviewed(review.dump());
    return decoded ? decoded->name : "refused";
  };
  EXPECT_EQ(name("chat", {{"name", "other"}}), "chat");
  EXPECT_EQ(name(nullptr, {{"name", "chat"}, {"generateName", "legacy-"}}), "chat");
  EXPECT_EQ(name(nullptr, {{"generateName", "legacy-"}}), "legacy-*****");
  EXPECT_EQ(name("", {{"generateName", "legacy-"}}), "legacy-*****");
  EXPECT_EQ(name(nullptr, {{"labels", {{"a", "b"}}}}), "");
}

TEST(AdmissionReview, LargeIntegersAndUnknownFieldsSurvive) {
  Json object = Deployment();
  object["metadata"]["generation"] = 9223372036854775807;
  object["spec"]["template"]["spec"]["someFutureField"] = {{"x", 1.0}};
  std::string text;
  const Json answer = AnswerTo(ReviewOf(object), Hook::kMutate, &text);
  const Json patch = *json::Decode(Decoded(answer["response"]["patch"]));
  for (const Json& operation : patch) {
    EXPECT_NE(operation["path"], "") << "leaves are patched, never the whole";
    EXPECT_NE(operation["path"], "/spec");
  }
  EXPECT_LT(text.size(), 2048) << "answers are small";
}

}  // namespace
}  // namespace mindgate::webhook
