#pragma once

#include <string>
#include <string_view>

#include "admission/admit.h"
#include "schemas/config.h"
#include "webhook/admission_review.h"

namespace mindgate::bench {

// One review the way the webhook serves it, text in and text out, without the connection around it.
// A body is decoded in place if it has the room that a request leaves it.
class Decider {
 public:
  std::string Answer(const std::string& body, webhook::Hook hook) {
    const auto decoder = decoders_.Borrow();  // the review points into it
    const auto review = webhook::DecodeReview(*decoder, json::Text::InPlace(body), Time());
    if (!review) return review.error().detail;
    const bool mutates = hook == webhook::Hook::kMutate;
    const auto verdict = admission::Admit(
        review->request, config_, {.mutate = mutates, .evaluate = !mutates, .apply = false});
    return webhook::EncodeAnswer(*review, hook, verdict, "bench");
  }

 private:
  const schemas::Config config_;
  webhook::DecoderPool decoders_{webhook::kNotDecoded};
};

}  // namespace mindgate::bench
