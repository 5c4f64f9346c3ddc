#include "kube/resource.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace mindgate::kube {
namespace {

TEST(Resource, VersionsAreThoseThatApiServersServe) {
  for (const char* version : {"v1", "v12", "v1alpha1", "v1beta2", "v2alpha10"}) {
    EXPECT_TRUE(IsVersion(version)) << version;
  }
  for (const char* version :
       {"", "v", "1", "V1", "v1beta", "v1beta1x", "v1 ", "v1/pods", "v1alpha1beta1", "v1gamma1",
        "v1%2Fpods?x=", "v1?watch=true", "..", "v1\n"}) {
    EXPECT_FALSE(IsVersion(version)) << version;
  }
}

TEST(Resource, PathsHaveTheSegmentsOfTheirResourceAndNoOthers) {
  struct Case {
    Resource resource;
    std::string ns;
    std::string name;
    std::string subresource;
    std::string path;
  };
  const Resource pods = resources::kPods;
  const Resource jobs = {"batch.volcano.sh", "v1alpha1", "jobs", "Job", true};
  const std::vector<Case> cases = {
      {pods, "", "", "", "/api/v1/pods"},
      {pods, "a", "", "", "/api/v1/namespaces/a/pods"},
      {pods, "a", "b", "eviction", "/api/v1/namespaces/a/pods/b/eviction"},
      {resources::kNodes, "a", "b", "", "/api/v1/nodes/b"},
      {jobs, "a", "b", "", "/apis/batch.volcano.sh/v1alpha1/namespaces/a/jobs/b"},
      {pods, "a/b", "c?d#e", "", "/api/v1/namespaces/a%2Fb/pods/c%3Fd%23e"},
      {pods, "a", "b%2Fc", "", "/api/v1/namespaces/a/pods/b%252Fc"},
      {pods, "a", "...", "", "/api/v1/namespaces/a/pods/..."},
      {{"g/h", "v1", "p?q", "K", true}, "", "", "x/y", "/apis/g%2Fh/v1/p%3Fq/x%2Fy"},
      {pods, "a", "..", "", ""},
      {pods, ".", "b", "", ""},
      {pods, "a", "b", "..", ""},
      {{"..", "v1", "pods", "Pod", true}, "a", "b", "", ""},
      {{"", "v1", "..", "Pod", true}, "a", "b", "", ""},
      {{"", "v1", "", "Pod", true}, "a", "b", "", ""},
      {{"", "", "pods", "Pod", true}, "a", "b", "", ""},
      {{"", "v1%2Fnamespaces%2Ft%2Fconfigmaps?x=", "pods", "Pod", true}, "t", "x", "", ""},
      {{"", "v1?watch=true", "pods", "Pod", true}, "t", "x", "", ""},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(PathOf(c.resource, c.ns, c.name, c.subresource), c.path)
        << c.resource.version << " " << c.ns << " " << c.name;
  }
}

}  // namespace
}  // namespace mindgate::kube
