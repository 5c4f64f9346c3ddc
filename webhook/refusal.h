#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string_view>

#include "http/refusal.h"

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

}  // namespace mindgate::webhook
