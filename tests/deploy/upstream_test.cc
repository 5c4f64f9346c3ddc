// What reaches the cluster is what mindcluster-deploy's deploy tool makes of the same file, but for
// what is listed here. tests/fixtures/deploy/upstream holds what that tool makes.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "deploy/check.h"
#include "deploy/cluster.h"
#include "deploy/config.h"
#include "deploy/render.h"
#include "json/pointer.h"
#include "json/value.h"
#include "json/yaml.h"
#include "support/golden.h"

namespace mindgate::deploy {
namespace {

using ::mindgate::testing::ReadSource;
using ::testing::IsEmpty;

// By their titles, "Service my-test-router".
Json ByTitle(const std::vector<Json>& objects) {
  Json all = Json::object();
  for (const Json& object : objects) all[TitleOf(object)] = object;
  return all;
}

Json Theirs(const std::string& sample) {
  const std::string path = "tests/fixtures/deploy/upstream/" + sample + ".yaml";
  std::vector<Json> objects;
  const auto documents = json::DecodeCoreYaml(ReadSource(path));
  if (!documents) {
    ADD_FAILURE() << path << ": " << documents.error().message;
    return nullptr;
  }
  for (const auto& document : *documents) objects.push_back(document.value);
  return ByTitle(objects);
}

// After mutators and rules, as it is sent.
Json Ours(const std::string& sample) {
  const auto read = ReadConfiguration(ReadSource("tests/fixtures/deploy/" + sample + ".yaml"));
  if (!read) {
    ADD_FAILURE() << sample << " is refused";
    return nullptr;
  }
  std::vector<Json> objects;
  for (const RenderedObject& each :
       Check(*read, Render(read->application), {}, {}, Time()).objects) {
    objects.push_back(each.object);
  }
  return ByTitle(objects);
}

// "add /Deployment my-test-mf-store/spec/replicas". Of a map that is new, each key; of an item that
// is new, its name.
std::set<std::string> Differences(const Json& theirs, const Json& ours) {
  std::set<std::string> differences;
  for (const Json& operation : Json::diff(theirs, ours)) {
    const std::string path = operation["path"];
    const std::string what = operation["op"].get<std::string>() + " " + path;
    const Json* value = json::Find(operation, "value");
    if (path.ends_with("/labels") || path.ends_with("/annotations")) {
      for (const auto& [key, member] : value->items()) {
        differences.insert(json::Child(what, key));
      }
    } else if (path.ends_with("/-")) {
      differences.insert(what + " " + value->value("name", ""));
    } else {
      differences.insert(what);
    }
  }
  return differences;
}

struct Change {
  std::string why;  // a row of the table of defects, or what changes on purpose
  std::vector<std::string> at;
  std::vector<std::string> differences;  // at each of them
  std::string operation = "add";
};

void ExpectChanges(const std::string& sample, const std::vector<Change>& changes) {
  std::set<std::string> left = Differences(Theirs(sample), Ours(sample));
  for (const Change& change : changes) {
    for (const std::string& at : change.at) {
      for (const std::string& difference : change.differences) {
        const std::string whole = change.operation + " /" + at + difference;
        EXPECT_EQ(left.erase(whole), 1u)
            << sample << " does not differ: " << whole << " (" << change.why << ")";
      }
    }
  }
  EXPECT_THAT(left, IsEmpty()) << sample;
}

const std::vector<std::string> kOwnership = {"/metadata/labels/app.kubernetes.io~1instance",
                                             "/metadata/labels/app.kubernetes.io~1managed-by",
                                             "/metadata/labels/mindgate.io~1framework",
                                             "/metadata/annotations/mindgate.io~1application"};
const char* const kWhyOwnership = "every object says whose it is";

TEST(Upstream, AnOmeApplication) {
  const std::string store = "Deployment my-test-mf-store";
  const std::string service = "InferenceService my-test";
  ExpectChanges("isvc-config",
                {{kWhyOwnership, {store, service, "Service my-test-mf-store"}, kOwnership},
                 {"the rest waits for the store, whose port is probed",
                  {store},
                  {"/spec/template/spec/containers/0/readinessProbe"}},
                 {"mutator: the documents list it, as D24 for AIBrix",
                  {service + "/spec/engine", service + "/spec/decoder"},
                  {"/runner/env/- ASCEND_VISIBLE_DEVICES"}}});
}

TEST(Upstream, AnAibrixApplication) {
  const std::string service = "StormService my-test";
  const std::string role = service + "/spec/template/spec/roles/";
  ExpectChanges("stormservice-config",
                {{kWhyOwnership,
                  {service, "Service my-test-prefill-0", "Service my-test-prefill-1",
                   "Service my-test-decode-0-0", "Service my-test-decode-0-1"},
                  kOwnership},
                 {"the same quantities, as numbers for both roles",
                  {role + "1/template/spec/containers/0/resources"},
                  {"/limits/huawei.com~1Ascend910", "/requests/huawei.com~1Ascend910"},
                  "replace"},
                 {"what the documents ask for",
                  {role + "0", role + "1"},
                  {"/template/metadata/labels/fault-retry-times", "/template/spec/restartPolicy"}},
                 {"the devices of the pod",
                  {role + "0", role + "1"},
                  {"/template/spec/containers/0/env/- ASCEND_VISIBLE_DEVICES"}},
                 {"the router has a Service and a probe",
                  {role + "2/template/spec/containers/0"},
                  {"/ports", "/readinessProbe"}},
                 {"the router has a Service and a probe", {"Service my-test-router"}, {""}}});
}

}  // namespace
}  // namespace mindgate::deploy
