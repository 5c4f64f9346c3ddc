#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>

#include "bench/manifests.h"
#include "http/raw_requests.h"

namespace mindgate::bench {

// What a review is about.
struct Subject {
  const char* group;
  const char* version;
  const char* kind;
  Json (*make)(int env);
};
inline constexpr Subject kStormService = {"orchestration.aibrix.ai", "v1alpha1", "StormService",
                                          StormService};
inline constexpr Subject kLeaderWorkerSet = {"leaderworkerset.x-k8s.io", "v1", "LeaderWorkerSet",
                                             LeaderWorkerSet};

// An AdmissionReview that creates such an object, as kube-apiserver writes it, of about `bytes`.
inline std::string ReviewOf(size_t bytes, const Subject& subject = kStormService) {
  const auto body = [&](size_t object_bytes) {
    const Json object = Json::parse(Padded(subject.make, object_bytes));
    const Json review = {
        {"apiVersion", "admission.k8s.io/v1"},
        {"kind", "AdmissionReview"},
        {"request",
         {{"uid", "b5f4a6a2-6a1e-4a3e-8a57-0d3f3f1a0c11"},
          {"kind",
           {{"group", subject.group}, {"version", subject.version}, {"kind", subject.kind}}},
          {"operation", "CREATE"},
          {"namespace", "inference"},
          {"name", object["metadata"]["name"]},
          {"userInfo", {{"username", "kubernetes-admin"}, {"groups", {"system:masters"}}}},
          {"object", object},
          {"oldObject", nullptr},
          {"dryRun", false}}}};
    return review.dump();
  };
  const std::string smallest = body(0);
  return smallest.size() >= bytes ? smallest : body(bytes - 500);
}

// The POST of such a review to /mutate.
inline std::string RequestOf(size_t bytes, const Subject& subject = kStormService) {
  return http::testing::Post(ReviewOf(bytes, subject));
}

}  // namespace mindgate::bench
