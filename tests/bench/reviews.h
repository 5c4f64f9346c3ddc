#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>

#include "bench/manifests.h"
#include "http/raw_requests.h"

namespace mindgate::bench {

// An AdmissionReview that creates a StormService, as kube-apiserver writes it, of about `bytes`.
inline std::string ReviewOf(size_t bytes) {
  const auto body = [](size_t object_bytes) {
    const Json review = {
        {"apiVersion", "admission.k8s.io/v1"},
        {"kind", "AdmissionReview"},
        {"request",
         {{"uid", "b5f4a6a2-6a1e-4a3e-8a57-0d3f3f1a0c11"},
          {"kind",
           {{"group", "orchestration.aibrix.ai"},
            {"version", "v1alpha1"},
            {"kind", "StormService"}}},
          {"operation", "CREATE"},
          {"namespace", "inference"},
          {"name", "vllm-1p1d"},
          {"userInfo", {{"username", "kubernetes-admin"}, {"groups", {"system:masters"}}}},
          {"object", Json::parse(Padded(StormService, object_bytes))},
          {"oldObject", nullptr},
          {"dryRun", false}}}};
    return review.dump();
  };
  const std::string smallest = body(0);
  return smallest.size() >= bytes ? smallest : body(bytes - 500);
}

// The POST of such a review to /mutate.
inline std::string RequestOf(size_t bytes) { return http::testing::Post(ReviewOf(bytes)); }

}  // namespace mindgate::bench
