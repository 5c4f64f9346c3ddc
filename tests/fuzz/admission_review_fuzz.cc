// Whatever the bytes of a body: a refusal, or an answer that is valid JSON, echoes version and uid,
// and holds a patch only together with its type, and only from the mutating webhook.

#include <cstdint>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "json/decode.h"
#include "webhook/admission_review.h"

namespace {

using mindgate::webhook::Hook;

void Check(bool holds) {
  if (!holds) std::abort();
}

void Answer(const mindgate::webhook::Review& review, Hook hook) {
  const mindgate::schemas::Config config;
  const bool mutate = hook == Hook::kMutate;
  const auto verdict =
      mindgate::admission::Admit(review.request, config, {.mutate = mutate, .evaluate = !mutate});
  Check(verdict.outcome != mindgate::admission::Outcome::kError);
  const auto answer =
      mindgate::json::Decode(EncodeAnswer(review, hook, verdict, config.generation));
  Check(answer.has_value());
  Check(answer->at("apiVersion") == review.api_version);
  const auto& response = answer->at("response");
  Check(response.at("uid") == review.uid);
  Check(response.contains("patch") == response.contains("patchType"));
  Check(mutate || !response.contains("patch"));
  Check(response.at("allowed").get<bool>() != response.contains("status"));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view body(reinterpret_cast<const char*>(data), size);
  static mindgate::json::Decoder decoder({}, mindgate::webhook::kNotDecoded);
  const auto review = mindgate::webhook::DecodeReview(decoder, body, mindgate::Time{});
  if (!review) return 0;
  Answer(*review, Hook::kMutate);
  Answer(*review, Hook::kValidate);
  return 0;
}
