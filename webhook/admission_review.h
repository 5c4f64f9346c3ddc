#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>
#include <vector>

#include "admission/admit.h"
#include "base/threads.h"
#include "http/response.h"
#include "json/decode.h"
#include "schemas/config.h"
#include "schemas/request.h"

namespace mindgate::webhook {

// Why a complete request gets no admission decision, beside the reasons that any server has
// (http::Refusal). Each is one more value of the `reason` label of mindgate_webhook_rejects_total;
// the API server shows the text of its answer to the user.
enum class Refusal {
  kQueueFull,
  kDraining,
  kNotReady,
  // What the AdmissionReview codec finds.
  kEmptyBody,
  kUndecodable,
  kNotAdmissionReview,
  kNoRequest,
  kBadRequest,
};

inline constexpr size_t kRefusalCount = static_cast<size_t>(Refusal::kBadRequest) + 1;

const http::RefusalInfo& InfoOf(Refusal refusal);

inline http::Response RefusalResponse(Refusal refusal, std::string_view detail = {}) {
  return http::RefusalResponse(InfoOf(refusal), detail);
}

// How often each was given. Safe from many threads.
struct RefusalCounts {
  std::array<std::atomic<uint64_t>, kRefusalCount> counts{};

  void Add(Refusal refusal) { ++counts[static_cast<size_t>(refusal)]; }
  uint64_t Count(Refusal refusal) const { return counts[static_cast<size_t>(refusal)].load(); }
};

// Decoders that threads borrow, so that each request finds buffers that were used before. There are
// never more than were borrowed at once. Safe from many threads.
class DecoderPool {
 public:
  explicit DecoderPool(std::string_view left_out) : left_out_(left_out) {}

  using Borrowed = std::unique_ptr<json::Decoder, std::function<void(json::Decoder*)>>;

  // Goes back when the caller lets go; the pool outlives that.
  Borrowed Borrow() {
    const auto give_back = [this](json::Decoder* decoder) {
      decoder->Release();
      const MutexLock lock(mutex_);
      idle_.emplace_back(decoder);
    };
    const MutexLock lock(mutex_);
    if (idle_.empty()) return {new json::Decoder({}, left_out_), give_back};
    std::unique_ptr<json::Decoder> decoder = std::move(idle_.back());
    idle_.pop_back();
    return {decoder.release(), give_back};
  }

 private:
  const std::string_view left_out_;
  Mutex mutex_;
  std::vector<std::unique_ptr<json::Decoder>> idle_ GUARDED_BY(mutex_);
};

// Which webhook was called. A mutating one only mutates and a validating one only evaluates: the
// API server refuses a patch from the latter, and shows the object after all mutation to it. One of
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
