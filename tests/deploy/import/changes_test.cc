#include "deploy/import/changes.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

namespace mindgate::deploy {
namespace {

using json::Json;
using ::testing::ElementsAre;

std::vector<std::string> ChangesOf(const char* before, const char* after) {
  std::vector<std::string> lines;
  for (const FieldChange& each : ChangesBetween(Json::parse(before), Json::parse(after))) {
    lines.push_back(each.path + ": " + each.before.dump() + " -> " + each.after.dump());
  }
  return lines;
}

TEST(Changes, AreThoseOfFields) {
  EXPECT_THAT(ChangesOf(R"({"spec":{"a":1,"b":{"c":2},"gone":true,"list":[1,2]}})",
                        R"({"spec":{"a":2,"b":{"c":2},"new/key":"x","list":[2,1]}})"),
              ElementsAre("spec.a: 1 -> 2", "spec.gone: true -> null", "spec.list: [1,2] -> [2,1]",
                          "spec[new/key]: null -> \"x\""));
}

TEST(Changes, OfLabelsAreOneForEach) {
  EXPECT_THAT(
      ChangesOf(R"({"metadata":{"name":"a"}})",
                R"({"metadata":{"name":"a","labels":{"a/b":"c","d":"e"}}})"),
      ElementsAre("metadata.labels[a/b]: null -> \"c\"", "metadata.labels.d: null -> \"e\""));
}

TEST(Changes, OfItemsWithNamesDoNotDependOnTheirOrder) {
  EXPECT_THAT(ChangesOf(R"({"env":[{"name":"A","value":"1"},{"name":"B","value":"2"}]})",
                        R"({"env":[{"name":"B","value":"3"},{"name":"A","value":"1"}]})"),
              ElementsAre("env[B].value: \"2\" -> \"3\""));
  EXPECT_THAT(ChangesOf(R"({"volumeMounts":[{"name":"v","mountPath":"/a"}]})",
                        R"({"volumeMounts":[{"name":"v","mountPath":"/b"}]})"),
              ElementsAre(R"(volumeMounts[/a]: {"mountPath":"/a","name":"v"} -> null)",
                          R"(volumeMounts[/b]: null -> {"mountPath":"/b","name":"v"})"));
}

TEST(Changes, OfVariablesThatReferToOthersNameTheOrder) {
  EXPECT_THAT(
      ChangesOf(R"({"env":[{"name":"A","value":"1"},{"name":"B","value":"$(A)2"}]})",
                R"({"env":[{"name":"B","value":"$(A)2"},{"name":"A","value":"1"}]})"),
      ElementsAre(
          "env[B]: \"stands after A, to which it refers\" -> \"stands before A, to which it "
          "refers\""));
}

TEST(Changes, OfTwoVariablesWithOneNameAreThoseOfTheLater) {
  EXPECT_THAT(ChangesOf(R"({"env":[{"name":"A","value":"1"},{"name":"A","value":"2"}]})",
                        R"({"env":[{"name":"A","value":"2"}]})"),
              ElementsAre());
}

TEST(Changes, AreNoneWhereBothMeanTheSame) {
  for (const auto& [before, after] : std::vector<std::pair<const char*, const char*>>{
           {R"({"a":null,"b":{},"c":[]})", "{}"},
           {R"({"spec":{"dnsPolicy":"ClusterFirst","restartPolicy":"Always"}})", R"({"spec":{}})"},
           {R"({"containers":[{"name":"a","image":"x:1","imagePullPolicy":"IfNotPresent"}]})",
            R"({"containers":[{"name":"a","image":"x:1"}]})"},
           {R"({"containers":[{"name":"a","image":"h:1/x","imagePullPolicy":"Always"}]})",
            R"({"containers":[{"name":"a","image":"h:1/x"}]})"},
           {R"({"ports":[{"port":80,"targetPort":80,"protocol":"TCP"}]})",
            R"({"ports":[{"port":80}]})"},
           {R"({"resources":{"limits":{"huawei.com/Ascend910":"8"}}})",
            R"({"resources":{"limits":{"huawei.com/Ascend910":8}}})"},
           {R"({"resources":{"limits":{"huawei.com/Ascend910":0}}})", "{}"},
           {R"({"tolerations":[{"key":"a"}]})",
            R"({"tolerations":[{"key":"a","operator":"Equal"}]})"},
           {R"({"metadata":{"uid":"u","finalizers":["f"],"annotations":{
                "kubectl.kubernetes.io/last-applied-configuration":"x"}},"status":{"a":1}})",
            "{}"},
           {R"({"kind":"Service","spec":{"clusterIP":"10.0.0.1","clusterIPs":["10.0.0.1"]}})",
            R"({"kind":"Service","spec":{}})"}}) {
    EXPECT_THAT(ChangesOf(before, after), ElementsAre()) << before;
    EXPECT_THAT(ChangesOf(after, before), ElementsAre()) << before;
  }
}

TEST(Changes, AreThereWhereADefaultIsAnother) {
  EXPECT_THAT(ChangesOf(R"({"containers":[{"name":"a","image":"x","imagePullPolicy":"Never"}]})",
                        R"({"containers":[{"name":"a","image":"x"}]})"),
              ElementsAre("containers[a].imagePullPolicy: \"Never\" -> null"));
  EXPECT_THAT(ChangesOf(R"({"kind":"Service","spec":{"clusterIP":"None"}})",
                        R"({"kind":"Service","spec":{}})"),
              ElementsAre("spec.clusterIP: \"None\" -> null"));
  // Of an AscendJob, where nothing takes Always for it.
  EXPECT_THAT(ChangesOf(R"({"Master":{"restartPolicy":"Always"}})", R"({"Master":{}})"),
              ElementsAre("Master.restartPolicy: \"Always\" -> null"));
}

}  // namespace
}  // namespace mindgate::deploy
