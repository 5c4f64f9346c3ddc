#include "support/mutations.h"

// Pods whose NPUs another product hands out get nothing.
namespace mindgate::testing {
namespace {

using schemas::Kind;

std::string Deployed(const std::string& limits, const std::string& spec = "",
                     const std::string& metadata = "") {
  return "{apiVersion: apps/v1, kind: Deployment, metadata: {name: d}, spec: {template: {metadata: "
         "{" +
         metadata + "}, spec: {" + spec + "containers: [{name: m, resources: {limits: {" + limits +
         "}}}]}}}}";
}

TEST(ForeignNpus, NothingIsInjected) {
  schemas::Config given_away;
  given_away.npu_resources = {{"huawei.com/Ascend910", schemas::NpuServer::kOther}};
  MutationCase of_site{
      "a name that the site has given away", Deployed("huawei.com/Ascend910: 8"), {}};
  of_site.config = given_away;
  ExpectMutations({
      {"a share of a card",
       Deployed("huawei.com/Ascend310P: 1, huawei.com/Ascend310P-memory: 4096"),
       {}},
      {"another product's name", Deployed("huawei.com/Ascend910B4-1: 2"), {}},
      {"a cloud's name", Deployed("huawei.com/ascend-1980: 16"), {}},
      {"another product's scheduler",
       Deployed("huawei.com/Ascend910: 1", "schedulerName: hami-scheduler, "),
       {}},
      {"another product's annotation",
       Deployed("huawei.com/Ascend910: 1", "", "annotations: {huawei.com/vnpu-mode: hami-core}"),
       {}},
      {"a Volcano Job",
       "{apiVersion: batch.volcano.sh/v1alpha1, kind: Job, spec: {schedulerName: volcano, tasks: "
       "[{name: t, replicas: 1, template: {spec: {containers: [{resources: {limits: "
       "{huawei.com/Ascend910B3: 1, huawei.com/Ascend910B3-memory: 32768}}}]}}}]}}",
       {}},
      of_site,
  });
}

TEST(ForeignNpus, NamesThatTheSiteServesAreInjected) {
  MutationCase served{"a name of the site",
                      Deployed("huawei.com/Ascend910B3: 8"),
                      {"/spec/template/spec/containers/0/env/- = "
                       R"({"name":"ASCEND_VISIBLE_DEVICES","valueFrom":{"fieldRef":{"fieldPath":)"
                       R"("metadata.annotations['huawei.com/Ascend910B3']"}}})"}};
  served.config.npu_resources = {{"huawei.com/Ascend910B3"}};
  ExpectMutationsBy("visible-devices", {served});
}

}  // namespace
}  // namespace mindgate::testing
