#include "webhook/admission_review.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>
#include <vector>

#include "admission/admit.h"
#include "base/text.h"
#include "certs/certificate.h"
#include "http/request.h"
#include "json/decode.h"
#include "json/issues.h"
#include "json/pointer.h"
#include "schemas/raw_objects.h"

namespace mindgate::webhook {
namespace {

// In the order of the enumeration. Retry-After as in http/response.cc; none to wait for while
// draining, where the repeat lands on another replica.
constexpr std::array<http::RefusalInfo, kRefusalCount> kRefusals = {{
    {503, "queue_full", "too many reviews waiting, try again", "Retry-After: 1"},
    {503, "draining", "shutting down, try another replica", "Retry-After: 0"},
    {503, "not_ready", "no configuration or certificate loaded yet, try again", "Retry-After: 1"},
    {400, "empty_body", "empty body: want an AdmissionReview", ""},
    {400, "undecodable", "the body is not valid JSON", ""},
    {400, "not_admission_review",
     "want an AdmissionReview of admission.k8s.io/v1 or admission.k8s.io/v1beta1", ""},
    {400, "no_request", "the AdmissionReview has no request", ""},
    {400, "bad_request", "the request of the AdmissionReview is malformed", ""},
}};

}  // namespace

const http::RefusalInfo& InfoOf(Refusal refusal) { return kRefusals[static_cast<size_t>(refusal)]; }

namespace {

using json::Json;
using json::Value;

constexpr std::string_view kVersions[] = {"admission.k8s.io/v1", "admission.k8s.io/v1beta1"};

// Answers are small; this is about ten findings.
constexpr size_t kMaxMessage = 2048;
// Of these the command that explains the rules.
constexpr size_t kMaxExplain = 120;

// The structure rule: a member of the wrong type, which the API server's own schema would refuse
// with 422 as well.
constexpr std::string_view kWrongType = "MG001";

// Reads members of one object and remembers the first that has a wrong type.
class Reader {
 public:
  explicit Reader(const Value& object) : object_(object) {}

  std::string String(std::string_view key) {
    const Value* value = json::Find(object_, key);
    if (value == nullptr) return {};
    const auto text = json::AsString(value);
    if (!text) Wrong(key, "a string", *value);
    return std::string(text.value_or(""));
  }
  bool Bool(std::string_view key) {
    const Value* value = json::Find(object_, key);
    if (value == nullptr) return false;
    const auto boolean = json::AsBool(value);
    if (!boolean) Wrong(key, "a boolean", *value);
    return boolean.value_or(false);
  }
  const Value* Object(std::string_view key) {
    const Value* value = json::Find(object_, key);
    if (value == nullptr || json::IsObject(value)) return value;
    Wrong(key, "an object", *value);
    return nullptr;
  }
  const std::string& fault() const { return fault_; }

 private:
  void Wrong(std::string_view key, std::string_view want, const Value& value) {
    if (!fault_.empty()) return;
    fault_ = "request." + std::string(key) + " must be " + std::string(want) + ", not " +
             std::string(json::TypeName(value));
  }

  const Value& object_;
  std::string fault_;
};

tl::unexpected<ReviewRefusal> Refuse(Refusal refusal, std::string detail = {}) {
  return tl::unexpected(ReviewRefusal{refusal, std::move(detail)});
}

std::string Sentence(const policies::Finding& finding) {
  std::string text = policies::TitleOf(*finding.rule) + ": ";
  if (!finding.field.empty()) text += finding.field + ": ";
  text += finding.message;
  if (!finding.fix.empty()) text += "; " + finding.fix;
  return text;
}

bool Denies(const policies::Finding& finding) {
  return finding.mode == schemas::Mode::kEnforce && finding.rule != nullptr;
}

// All that denies, one a line, so that one look at the answer is enough to correct the object; then
// where more can be read.
std::string Message(const std::vector<const policies::Finding*>& denying) {
  std::vector<const policies::Rule*> rules;
  for (const policies::Finding* finding : denying) rules.push_back(finding->rule);
  const std::string command = admission::ExplainCommand(rules, kMaxExplain);
  const std::string more = command.empty() ? "" : "more: " + command;
  if (denying.size() == 1) {
    const std::string tail = more.empty() ? "" : "; " + more;
    return Sentence(*denying.front()).substr(0, kMaxMessage - tail.size()) + tail;
  }
  std::string message = std::to_string(denying.size()) + " rules are violated:";
  for (size_t i = 0; i < denying.size(); ++i) {
    const std::string line = "\n- " + Sentence(*denying[i]);
    if (message.size() + line.size() > kMaxMessage - more.size()) {
      message += "\n- and " + std::to_string(denying.size() - i) + " more";
      break;
    }
    message += line;
  }
  return more.empty() ? message : message + "\n" + more;
}

// As the API server has them for policies of its own (k8s.io/apiserver:
// pkg/admission/plugin/policy/ validating/policy_decision.go, reasonToCode).
int CodeOf(std::string_view reason) {
  if (reason == "Unauthorized") return 401;
  if (reason == "RequestEntityTooLarge") return 413;
  return reason == "Invalid" ? 422 : 403;
}

Json Status(const admission::Verdict& verdict) {
  std::vector<const policies::Finding*> denying;
  for (const policies::Finding& finding : verdict.findings) {
    if (Denies(finding)) denying.push_back(&finding);
  }
  const bool shape = !denying.empty() && std::all_of(denying.begin(), denying.end(), [](auto* f) {
    return f->rule->id == kWrongType;
  });
  std::string_view reason = shape ? "Invalid" : "Forbidden";
  if (!denying.empty() && !denying.front()->reason.empty()) reason = denying.front()->reason;
  return {{"status", "Failure"},
          {"code", CodeOf(reason)},
          {"reason", reason},
          {"message", denying.empty() ? "denied by mindgate" : Message(denying)}};
}

// Keys become "<webhook>/<key>" and may hold no slash of their own.
Json AuditAnnotations(const admission::Verdict& verdict, std::string_view generation) {
  Json annotations = {{"generation", generation}};
  if (std::string rules = RuleList(verdict.findings); !rules.empty()) {
    annotations["rules"] = std::move(rules);
  }
  std::set<std::string_view> mutators;
  if (!verdict.patch.empty()) {
    for (const auto& change : verdict.changes) mutators.insert(change.mutator);
  }
  if (!mutators.empty()) {
    annotations["mutators"] =
        Join(std::vector<std::string_view>(mutators.begin(), mutators.end()), ",");
  }
  for (const auto& each : verdict.annotations) annotations[each.key] = each.value;
  return annotations;
}

}  // namespace

std::string RuleList(const std::vector<policies::Finding>& findings) {
  std::string list;
  const policies::Rule* last = nullptr;
  for (const policies::Finding& finding : findings) {
    if (finding.rule == nullptr || finding.rule == last) continue;
    last = finding.rule;
    if (!list.empty()) list += ",";
    list += std::string(finding.rule->id) + "=" +
            std::string(finding.error ? "error" : schemas::ModeName(finding.mode));
  }
  return list;
}

tl::expected<Review, ReviewRefusal> DecodeReview(json::Decoder& decoder, json::Text body,
                                                 Time now) {
  if (Trim(body.text()).empty()) return Refuse(Refusal::kEmptyBody);
  const auto decoded = decoder.Decode(body);
  if (!decoded) {
    const json::Issue& issue = decoded.error();
    return Refuse(Refusal::kUndecodable, json::LineText(issue.at) + ": " + issue.message);
  }
  Review review;
  const Value& tree = **decoded;
  review.api_version = json::FindString(tree, "apiVersion").value_or("");
  const bool known = std::find(std::begin(kVersions), std::end(kVersions), review.api_version) !=
                     std::end(kVersions);
  const auto kind = json::FindString(tree, "kind").value_or("");
  if (!known || kind != "AdmissionReview") {
    return Refuse(Refusal::kNotAdmissionReview,
                  "got kind " + Quote(kind) + " of " + Quote(review.api_version));
  }
  const Value* request = json::Find(tree, "request");
  if (request == nullptr) return Refuse(Refusal::kNoRequest);
  if (!json::IsObject(request)) {
    return Refuse(Refusal::kBadRequest,
                  "request must be an object, not " + std::string(json::TypeName(*request)));
  }

  Reader reader(*request);
  review.uid = reader.String("uid");
  const std::string operation = reader.String("operation");
  review.request.subresource = reader.String("subResource");
  review.request.ns = reader.String("namespace");
  review.name = reader.String("name");
  review.request.dry_run = reader.Bool("dryRun");
  review.request.object = reader.Object("object");
  review.request.old_object = reader.Object("oldObject");
  const Value* sent_kind = reader.Object("kind");
  const Value* user = reader.Object("userInfo");
  review.request.options = reader.Object("options");
  if (!reader.fault().empty()) return Refuse(Refusal::kBadRequest, reader.fault());
  // Without it the API server cannot know which of its requests is answered.
  if (review.uid.empty()) return Refuse(Refusal::kBadRequest, "request.uid is missing");
  const auto known_operation = schemas::OperationNamed(operation);
  if (!known_operation) {
    return Refuse(
        Refusal::kBadRequest,
        "request.operation must be CREATE, UPDATE, DELETE or CONNECT, not " + Quote(operation));
  }
  review.request.operation = *known_operation;
  review.request.now = now;
  review.request.user_info = user;
  review.kind = json::FindString(sent_kind, "kind").value_or("");
  review.user = json::FindString(user, "username").value_or("");
  if (review.name.empty() && review.request.object != nullptr) {
    review.name = schemas::ObjectName(*review.request.object);
  }
  return review;
}

std::string EncodeProbeAnswer(const Review& review) {
  const Json status = {{"status", "Failure"},
                       {"code", 403},
                       {"reason", "Forbidden"},
                       {"message", "mindgate answers, which is all that this dry run asks"}};
  return Json({{"apiVersion", review.api_version},
               {"kind", "AdmissionReview"},
               {"response", {{"uid", review.uid}, {"allowed", false}, {"status", status}}}})
      .dump();
}

std::string EncodeAnswer(const Review& review, Hook hook, const admission::Verdict& verdict,
                         std::string_view generation) {
  const bool allowed = verdict.outcome != admission::Outcome::kDenied;
  Json response = {{"uid", review.uid},
                   {"allowed", allowed},
                   {"auditAnnotations", AuditAnnotations(verdict, generation)}};
  if (!allowed) response["status"] = Status(verdict);
  if (!verdict.warnings.empty()) response["warnings"] = verdict.warnings;
  // One of two versions: nothing in it needs escaping.
  std::string answer =
      R"({"apiVersion":")" + review.api_version + R"(","kind":"AdmissionReview","response":{)";
  // Patch and patchType come together or not at all, and never from a validating webhook. Base64
  // needs no escaping, and is most of an answer.
  if (hook == Hook::kMutate && allowed && !verdict.patch.empty()) {
    answer += R"("patch":")";
    certs::AppendBase64(json::PatchText(verdict.patch), answer);
    answer += R"(","patchType":"JSONPatch",)";
  }
  // Texts are cut at bytes: half a character must not make the answer fail.
  answer += response.dump(-1, ' ', false, Json::error_handler_t::replace).substr(1);
  return answer + "}";
}

std::chrono::seconds TimeoutOf(std::string_view query) {
  std::string_view text = http::QueryValue(query, "timeout").value_or("");
  if (!text.ends_with('s')) return {};
  text.remove_suffix(1);
  // More than four digits is more than the 30 s that a webhook may ask for, by far.
  if (text.size() > 4 || text.find_first_not_of("0123456789") != std::string_view::npos) return {};
  return std::chrono::seconds(ParseGoInt(text).value_or(0));
}

}  // namespace mindgate::webhook
