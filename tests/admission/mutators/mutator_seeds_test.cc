#include <fstream>
#include <sstream>

#include "support/mutations.h"
#include "support/places.h"

// The three samples that MindCluster's documents give for elastic scaling and rescheduling
// (tests/fixtures/seeds): what they leave to the user's care is what gets added, and nothing else.
namespace mindgate::testing {
namespace {

std::string Document(const std::string& file, size_t index) {
  std::ifstream in(std::string(::mindgate::testing::SourceFolder()) + "/tests/fixtures/seeds/" +
                   file);
  std::ostringstream text;
  text << in.rdbuf();
  const auto documents = json::DecodeYaml(text.str());
  if (!documents || documents->size() <= index) {
    ADD_FAILURE() << file << " has no document " << index;
    return "{}";
  }
  return (*documents)[index].value.dump();
}

std::string VisibleDevicesEnv(const std::string& container) {
  return container +
         R"(/env/- = {"name":"ASCEND_VISIBLE_DEVICES","valueFrom":{"fieldRef":{"fieldPath":"metadata.annotations['huawei.com/Ascend910']"}}}  (visible-devices))";
}

TEST(Seeds, ElasticScalingOfMindie) {
  std::vector<std::string> want;
  for (const std::string type : {"Master", "Worker"}) {
    const std::string pod = "/spec/replicaSpecs/" + type + "/template";
    want.push_back(pod + R"(/metadata/labels/app = "mindeie-ms-server"  (mindie-labels))");
    want.push_back(pod + R"(/metadata/labels/jobID = "mindie-xxx"  (mindie-labels))");
    want.push_back(pod +
                   R"(/metadata/labels/mind-cluster~1group-name = "group0"  (mindie-labels))");
    want.push_back(
        pod + R"(/metadata/labels/mind-cluster~1scaling-rule = "scaling-rule"  (mindie-labels))");
    want.push_back(VisibleDevicesEnv(pod + "/spec/containers/0"));
  }
  ExpectMutations({{"the scaling rule", Document("mindie-ascendjob.yaml", 0), {}},
                   {"the job", Document("mindie-ascendjob.yaml", 1), want}});
}

TEST(Seeds, InstanceReschedulingOfOme) {
  ExpectMutations({
      // schedule_policy chip2-node16 selects no super pod, so sp-block stays where it does no harm.
      {"labels on the runtime's metadata, where nothing reads them",
       Document("ome-clusterservingruntime.yaml", 0),
       {R"(/spec/engineConfig/labels/fault-retry-times = "3"  (runtime-labels))",
        R"(/spec/engineConfig/labels/fault-scheduling = "force"  (runtime-labels))",
        R"(/spec/engineConfig/labels/pod-rescheduling = "on"  (runtime-labels))",
        VisibleDevicesEnv("/spec/engineConfig/runner"),
        R"(/spec/engineConfig/schedulerName = "volcano"  (scheduler-name))"}},
      {"schedulerName indented under nodeSelector names no scheduler",
       Document("ome-clusterservingruntime.yaml", 1),
       {R"(/spec/decoderConfig/labels/fault-retry-times = "3"  (fault-retry-times))",
        R"(/spec/decoderConfig/labels/fault-scheduling = "force"  (fault-scheduling))",
        R"(/spec/decoderConfig/labels/pod-rescheduling = "on"  (pod-rescheduling))",
        R"(/spec/decoderConfig/leader/schedulerName = "volcano"  (scheduler-name))"}},
  });
}

TEST(Seeds, InstanceReschedulingOfAibrix) {
  std::vector<std::string> want;
  for (const std::string role : {"0", "1"}) {
    const std::string pod = "/spec/template/spec/roles/" + role + "/template";
    want.push_back(
        pod + R"(/metadata/annotations/huawei.com~1schedule_minAvailable = "2"  (min-available))");
    want.push_back(VisibleDevicesEnv(pod + "/spec/containers/0"));
  }
  ExpectMutations(
      {{"podGroupSize 2: no pod-rescheduling", Document("aibrix-stormservice.yaml", 0), want}});
}

}  // namespace
}  // namespace mindgate::testing
