#pragma once

#include <array>
#include <chrono>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "admission/admit.h"
#include "json/decode.h"
#include "schemas/config.h"
#include "schemas/request.h"
#include "webhook/refusal.h"

namespace mindgate::webhook {

// Which webhook was called. A mutating one only mutates and a validating one only judges: the API
// server refuses a patch from the latter, and shows the object after all mutation to it. One of
// probes denies whatever it is asked, which shows that it answers (watcher/fail_closed).
enum class Hook { kMutate, kValidate, kProbe };
inline constexpr std::array<std::string_view, 3> kHookPaths = {"/mutate", "/validate", "/probe"};
inline std::string_view PathOf(Hook hook) { return kHookPaths[static_cast<size_t>(hook)]; }

// One decoded AdmissionReview. Its request's objects live as long as what the decoder decoded.
struct Review {
  std::string api_version;  // "admission.k8s.io/v1" or "admission.k8s.io/v1beta1"
  std::string uid;
  schemas::AdmissionRequest request;
  // Of the object that was sent; for logs and metrics.
  std::string kind;
  std::string name;  // "legacy-*****" before generateName is completed
  std::string user;
  bool dry_run = false;
};

struct ReviewRefusal {
  Refusal refusal;
  std::string detail;  // what and where
};

// Nothing that is decided depends on these, and they are often half of an object.
inline constexpr std::string_view kNotDecoded = "managedFields";

// `decoder` was made with kNotDecoded and is not used again before the answer is encoded. `now`
// becomes the request's.
tl::expected<Review, ReviewRefusal> DecodeReview(json::Decoder& decoder, json::Text body, Time now);

// The AdmissionReview that answers. `verdict` is not kError: that is not a decision, and the API
// server's failurePolicy must see a failed call. `generation` is the configuration's.
std::string EncodeAnswer(const Review& review, Hook hook, const admission::Verdict& verdict,
                         std::string_view generation);

// The denial that answers one of Hook::kProbe.
std::string EncodeProbeAnswer(const Review& review);

// "MG001=enforce,MG055=warn": each rule that was broken, once with its mode, in order of ids.
std::string RuleList(const std::vector<policies::Finding>& findings);

// The `timeout` of a query as kube-apiserver writes it ("timeout=5s"); zero when there is none or
// it is something else.
std::chrono::seconds TimeoutOf(std::string_view query);

}  // namespace mindgate::webhook
