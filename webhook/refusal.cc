#include "webhook/refusal.h"

#include <array>

namespace mindgate::webhook {
namespace {

// In the order of the enumeration. Retry-After as in http/refusal.cc; none to wait for while
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

}  // namespace mindgate::webhook
