#include <chrono>
#include <cstdlib>
#include <optional>
#include <utility>

#include "base/time.h"
#include "kube/api_server_suite.h"

namespace mindgate::kube::testing {
namespace {

const SystemClock kClock;
const Resource kServiceAccounts{"", "v1", "serviceaccounts", "ServiceAccount", true};

class FakeUnderTest final : public ServerUnderTest {
 public:
  FakeUnderTest() { fake_.Accept({"admin"}, {"nobody"}); }

  Access FullAccess() override { return AccessByToken("admin"); }
  Access PowerlessAccess() override { return AccessByToken("nobody"); }
  Access AccessByToken(const std::string& token) override {
    return AccessTo(fake_.url(), {.token = token, .certificate = {}, .key = {}});
  }

 private:
  FakeApiServer fake_;
};

class RealUnderTest final : public ServerUnderTest {
 public:
  Access FullAccess() override {
    AccessFlags flags;
    flags.kubeconfig = std::getenv(kKubeconfigVariable);  // NOLINT(concurrency-mt-unsafe)
    return Value(FindAccess(flags, kClock));
  }
  // The service account that each namespace has.
  Access PowerlessAccess() override {
    const auto transport = MakeTransport(FullAccess(), "mindgate-test");
    const auto answer = Value(transport->Send(
        {.method = "POST",
         .path = "/api/v1/namespaces/default/serviceaccounts/default/token",
         .body = R"({"kind":"TokenRequest","apiVersion":"authentication.k8s.io/v1","spec":{}})",
         .content_type = "application/json"},
        {}));
    const Json request = Json::parse(answer.body);
    return AccessByToken(request.at("status").at("token"));
  }
  Access AccessByToken(const std::string& token) override {
    Access access = FullAccess();
    access.credentials = std::make_shared<FixedCredentials>(
        Credential{.token = token, .certificate = {}, .key = {}});
    return access;
  }
};

const Json kContainer = {{"name", "main"}, {"image", "localhost/none:1"}};

// Asks a server again and again for what its controllers are about to bring about.
bool Poll(const std::function<bool()>& condition) {
  RealSleeper sleeper;
  for (int i = 0; i < 300; ++i) {
    if (condition()) return true;
    sleeper.Sleep(std::chrono::milliseconds(100), {});
  }
  return false;
}

std::unique_ptr<ServerUnderTest> StartFake() { return std::make_unique<FakeUnderTest>(); }
std::unique_ptr<ServerUnderTest> FindReal() { return std::make_unique<RealUnderTest>(); }

bool HasReal() {
  return std::getenv(kKubeconfigVariable) != nullptr;  // NOLINT(concurrency-mt-unsafe)
}

std::vector<ServerKind> RealServers() {
  if (!HasReal()) return {};
  return {{"Real", FindReal}};
}

std::string KindName(const ::testing::TestParamInfo<ServerKind>& info) { return info.param.name; }

const char* TypeName(WatchEvent::Type type) {
  switch (type) {
    case WatchEvent::Type::kAdded:
      return "ADDED";
    case WatchEvent::Type::kModified:
      return "MODIFIED";
    case WatchEvent::Type::kDeleted:
      return "DELETED";
    case WatchEvent::Type::kBookmark:
      return "BOOKMARK";
  }
  return "?";
}

}  // namespace

INSTANTIATE_TEST_SUITE_P(OnFake, ApiServerSuite, ::testing::Values(ServerKind{"Fake", StartFake}),
                         KindName);
INSTANTIATE_TEST_SUITE_P(OnReal, ApiServerSuite, ::testing::ValuesIn(RealServers()), KindName);

TEST(ApiServerSuiteOnReal, IsAskedTheSame) {
  if (!HasReal()) {
    GTEST_SKIP() << "the fake API server was not compared with a real one: " << kKubeconfigVariable
                 << " names no kubeconfig";
  }
}

void ApiServerSuite::SetUp() {
  server_ = GetParam().start();
  const Access access = server_->FullAccess();
  ASSERT_NE(access.credentials, nullptr) << kKubeconfigVariable << " leads to no server";
  transport_ = MakeTransport(access, "mindgate-test/1");
  client_ = std::make_unique<Client>(*transport_, sleeper_);
  const Json made = Value(client_->Create(
      resources::kNamespaces, "",
      {{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"generateName", "suite-"}}}}));
  ASSERT_TRUE(made.is_object()) << "the server makes no namespace";
  ns_ = NameOf(made);
}

void ApiServerSuite::TearDown() {
  if (client_ == nullptr || ns_.empty()) return;
  for (const std::string& name : definitions_) {
    Done(client_->Delete(resources::kCustomResourceDefinitions, "", name));
  }
  Done(client_->Delete(resources::kNamespaces, "", ns_));
}

Json ApiServerSuite::CreateConfigMap(const std::string& name, const Json& labels,
                                     const Json& data) {
  Json object = {{"apiVersion", "v1"}, {"kind", "ConfigMap"}, {"metadata", {{"name", name}}}};
  if (!labels.is_null()) object["metadata"]["labels"] = labels;
  if (!data.is_null()) object["data"] = data;
  return Value(client().Create(resources::kConfigMaps, ns(), object));
}

Json ApiServerSuite::CreatePod(const std::string& name, const std::string& node) {
  // Admission lets no pod in before a controller has made the namespace's account.
  if (GetParam().name == "Real") {
    EXPECT_TRUE(Poll([&] { return client().Get(kServiceAccounts, ns(), "default").has_value(); }))
        << "the namespace got no service account";
  }
  Json pod = {{"apiVersion", "v1"},
              {"kind", "Pod"},
              {"metadata", {{"name", name}, {"labels", {{"app", "suite"}}}}},
              {"spec", {{"schedulerName", "nobody"}, {"containers", Json::array({kContainer})}}}};
  if (!node.empty()) pod["spec"]["nodeName"] = node;
  return Value(client().Create(resources::kPods, ns(), pod));
}

Json ApiServerSuite::CreateDeployment(const std::string& name) {
  const Json labels = {{"app", name}};
  return Value(client().Create(resources::kDeployments, ns(),
                               {{"apiVersion", "apps/v1"},
                                {"kind", "Deployment"},
                                {"metadata", {{"name", name}}},
                                {"spec",
                                 {{"replicas", 0},
                                  {"selector", {{"matchLabels", labels}}},
                                  {"template",
                                   {{"metadata", {{"labels", labels}}},
                                    {"spec", {{"containers", Json::array({kContainer})}}}}}}}}));
}

Resource ApiServerSuite::DefineResource() {
  const Resource resource{"suite.mindgate.io", "v1", ns() + "-widgets", ns() + "-Widget", true};
  const Json version = {
      {"name", resource.version},
      {"served", true},
      {"storage", true},
      {"schema",
       {{"openAPIV3Schema", {{"type", "object"}, {"x-kubernetes-preserve-unknown-fields", true}}}}},
      {"subresources",
       {{"status", Json::object()},
        {"scale",
         {{"specReplicasPath", ".spec.replicas"}, {"statusReplicasPath", ".status.replicas"}}}}}};
  const Json made = {{"apiVersion", "apiextensions.k8s.io/v1"},
                     {"kind", "CustomResourceDefinition"},
                     {"metadata", {{"name", resource.plural + "." + resource.group}}},
                     {"spec",
                      {{"group", resource.group},
                       {"scope", "Namespaced"},
                       {"names", {{"plural", resource.plural}, {"kind", resource.kind}}},
                       {"versions", Json::array({version})}}}};
  Value(client().Create(resources::kCustomResourceDefinitions, "", made));
  definitions_.push_back(NameOf(made));
  EXPECT_TRUE(Poll([&] { return client().List(resource, ns()).has_value(); }))
      << resource.plural << " is not served";
  return resource;
}

Json ApiServerSuite::CreateWidget(const Resource& resource, const std::string& name) {
  return Value(client().Create(resource, ns(),
                               {{"apiVersion", resource.api_version()},
                                {"kind", resource.kind},
                                {"metadata", {{"name", name}}},
                                {"spec", {{"replicas", 2}, {"colour", "red"}}},
                                {"status", {{"phase", "made up"}}}}));
}

std::string Reported(const Happened& event) {
  return std::string(TypeName(event.type)) + " " + NameOf(event.object);
}

WatchThread::WatchThread(Client& client, const Resource& resource, const std::string& ns,
                         const WatchOptions& options)
    : thread_([this, &client, resource, ns, options](std::stop_token stop) {
        Answer<void> answer = client.Watch(
            resource, ns, options, nullptr,
            [this](const WatchEvent& event) {
              const std::lock_guard lock(mutex_);
              if (event.type != WatchEvent::Type::kBookmark) {
                events_.push_back({event.type, json::TreeOf(event.object)});
              }
              changed_.notify_all();
            },
            std::move(stop));
        const std::lock_guard lock(mutex_);
        answer_ = std::move(answer);
        ended_ = true;
        changed_.notify_all();
      }) {}

std::vector<Happened> WatchThread::events() const {
  const std::lock_guard lock(mutex_);
  return events_;
}

std::vector<std::string> WatchThread::WaitFor(size_t count) {
  {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, std::chrono::seconds(30),
                      [&] { return events_.size() >= count || ended_; });
  }
  std::vector<std::string> reported;
  for (const Happened& event : events()) reported.push_back(Reported(event));
  return reported;
}

Answer<void> WatchThread::WaitForEnd() {
  if (thread_.joinable()) thread_.join();
  return answer_;
}

void WatchThread::Stop() {
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
}

}  // namespace mindgate::kube::testing
