#pragma once

#include <nlohmann/json.hpp>

#include "json/value.h"

namespace mindgate::webhook::testing {

// A Deployment that asks for NPUs and says nothing else: mutators have work, rules have nothing to
// deny.
inline json::Json Deployment() {
  return {{"apiVersion", "apps/v1"},
          {"kind", "Deployment"},
          {"metadata", {{"name", "infer"}, {"namespace", "team-a"}}},
          {"spec",
           {{"replicas", 1},
            {"selector", {{"matchLabels", {{"app", "infer"}}}}},
            {"template",
             {{"metadata", {{"labels", {{"app", "infer"}}}}},
              {"spec",
               {{"containers",
                 json::Json::array({{{"name", "main"},
                                     {"image", "infer:1"},
                                     {"resources",
                                      {{"limits", {{"huawei.com/Ascend910", 8}}},
                                       {"requests", {{"huawei.com/Ascend910", 8}}}}}}})}}}}}}}};
}

// As kube-apiserver 1.30 sends a CREATE of it by kubectl.
inline json::Json ReviewOf(const json::Json& object) {
  return {
      {"apiVersion", "admission.k8s.io/v1"},
      {"kind", "AdmissionReview"},
      {"request",
       {{"uid", "u-1"},
        {"kind", {{"group", "apps"}, {"version", "v1"}, {"kind", "Deployment"}}},
        {"resource", {{"group", "apps"}, {"version", "v1"}, {"resource", "deployments"}}},
        {"requestKind", {{"group", "apps"}, {"version", "v1"}, {"kind", "Deployment"}}},
        {"requestResource", {{"group", "apps"}, {"version", "v1"}, {"resource", "deployments"}}},
        {"name", "infer"},
        {"namespace", "team-a"},
        {"operation", "CREATE"},
        {"userInfo", {{"username", "kubernetes-admin"}, {"groups", {"system:masters"}}}},
        {"object", object},
        {"oldObject", nullptr},
        {"dryRun", false},
        {"options", {{"kind", "CreateOptions"}, {"apiVersion", "meta.k8s.io/v1"}}}}}};
}

}  // namespace mindgate::webhook::testing
