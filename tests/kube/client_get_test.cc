// Reads of one object that a tenant may have written: no more of it is kept than was asked for, and
// nothing but that object is taken for an answer.
#include <gmock/gmock.h>

#include "kube/client_fixture.h"
#include "kube/fake_transport.h"

namespace mindgate::kube::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

const json::Projection kLabels(std::vector<json::Projection::Path>{{"metadata", "labels"}});

class ClientGet : public ::testing::Test {
 protected:
  // The answer to a read of pod a/b, of which only `labels` are asked.
  Answer<json::Document> Read(const Json& answer, const ClientOptions& options = {}) {
    body_ = answer.dump();
    Client client(transport_, sleeper_, options);
    return client.Get(resources::kPods, "a", "b", kLabels);
  }

  FakeSleeper sleeper_;
  std::string body_;
  FakeTransport transport_{[this](const HttpCall&, const std::stop_token&) { return Ok(body_); }};
};

TEST_F(ClientGet, KeepsWhatTheFieldsNameAndWhoTheObjectIs) {
  const Json pod = {{"apiVersion", "v1"},
                    {"kind", "Pod"},
                    {"metadata",
                     {{"namespace", "a"},
                      {"name", "b"},
                      {"uid", "u"},
                      {"resourceVersion", "7"},
                      {"labels", {{"x", "y"}}},
                      {"annotations", {{"large", std::string(3 << 20, 'x')}}}}},
                    {"spec", {{"containers", Json::array()}}}};
  const auto read = Read(pod);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(json::TreeOf(read->root()), (Json{{"kind", "Pod"},
                                              {"metadata",
                                               {{"namespace", "a"},
                                                {"name", "b"},
                                                {"uid", "u"},
                                                {"resourceVersion", "7"},
                                                {"labels", {{"x", "y"}}}}}}));
}

TEST_F(ClientGet, RefusesWhatIsNotTheObject) {
  struct Case {
    const char* what;
    Json answer;
    const char* message;
  };
  const std::vector<Case> cases = {
      {"a list",
       {{"kind", "PodList"}, {"metadata", {{"name", "b"}}}, {"items", Json::array()}},
       "\"PodList\""},
      {"another kind", {{"kind", "ConfigMap"}, {"metadata", {{"name", "b"}}}}, "\"ConfigMap\""},
      {"no kind", {{"metadata", {{"name", "b"}}}}, "an object without a kind"},
      {"another pod", {{"kind", "Pod"}, {"metadata", {{"name", "c"}}}}, "\"Pod\" \"c\", not"},
      {"no object", Json::array(), "an object without a kind"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.what);
    const Fault fault = FaultIn(Read(c.answer));
    EXPECT_EQ(fault.reason, Reason::kGarbage);
    EXPECT_THAT(fault.message, HasSubstr("GET /api/v1/namespaces/a/pods/b"));
    EXPECT_THAT(fault.message, HasSubstr(c.message));
  }
}

TEST_F(ClientGet, RefusesMoreThanItMayKeep) {
  Json pod = {{"kind", "Pod"}, {"metadata", {{"name", "b"}, {"labels", Json::object()}}}};
  for (int i = 0; i < 1000; ++i) pod["metadata"]["labels"]["key" + std::to_string(i)] = "value";
  EXPECT_TRUE(Read(pod));
  const Fault fault = FaultIn(Read(pod, {.kept_bytes = 10'000}));
  EXPECT_EQ(fault.reason, Reason::kTooLarge);
  EXPECT_THAT(fault.message, HasSubstr("more than 10000"));
}

TEST_F(ClientGet, CallsOfWhatIsNoPathAreNotSent) {
  body_ = R"({"kind":"Pod","metadata":{"name":"b"}})";
  Client client(transport_, sleeper_);
  const Resource pods = resources::kPods;
  Resource steered = pods;
  steered.version = "v1%2Fnamespaces%2Ft%2Fconfigmaps?x=";
  const auto ignore = [](const WatchEvent&) {};
  const std::vector<Fault> faults = {
      FaultIn(client.Get(steered, "a", "b")),
      FaultIn(client.Get(steered, "a", "b", kLabels)),
      FaultIn(client.List(steered, "a")),
      FaultIn(client.ListObjects(steered, "a")),
      FaultIn(client.Watch(steered, "a", {}, nullptr, ignore, {})),
      FaultIn(client.Get(pods, "a", "")),
      FaultIn(client.Get(pods, "a", "", kLabels)),
      FaultIn(client.Get(pods, "..", "b")),
      FaultIn(client.Delete(pods, "a", "")),
      FaultIn(client.Delete(pods, "a", "..")),
      FaultIn(client.Evict("a", "")),
      FaultIn(client.Patch(pods, "a", "", Json::array())),
      FaultIn(client.MergePatch(pods, "a", "", Json::object())),
      FaultIn(client.Update(pods, "a", "", Json::object())),
      FaultIn(client.Apply(pods, "a", "", Json::object(), true)),
      FaultIn(client.Create(steered, "a", Json::object())),
  };
  for (size_t i = 0; i < faults.size(); ++i) {
    EXPECT_EQ(faults[i].reason, Reason::kInvalid) << i;
    EXPECT_THAT(faults[i].message, HasSubstr("was not sent")) << i;
  }
  EXPECT_THAT(transport_.calls(), IsEmpty());
}

}  // namespace
}  // namespace mindgate::kube::testing
