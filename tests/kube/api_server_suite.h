#pragma once

#include <gtest/gtest.h>

#include <condition_variable>
#include <memory>
#include <mutex>
#include <ostream>
#include <string>
#include <thread>
#include <vector>

#include "kube/client.h"
#include "kube/client_fixture.h"
#include "kube/fake_api_server.h"

// The suite that holds the fake API server to the real one: each test is run against both. The real
// one is named by a kubeconfig in MINDGATE_KUBECONFIG_FOR_TESTS, whose user may do everything.
namespace mindgate::kube::testing {

inline constexpr const char* kKubeconfigVariable = "MINDGATE_KUBECONFIG_FOR_TESTS";

// An API server that tests may write to.
class ServerUnderTest {
 public:
  virtual ~ServerUnderTest() = default;
  virtual Access FullAccess() = 0;
  // As somebody whom it knows and allows nothing.
  virtual Access PowerlessAccess() = 0;
  // As somebody whom it does not know.
  virtual Access AccessByToken(const std::string& token) = 0;
};

struct ServerKind {
  std::string name;  // "Fake"
  std::unique_ptr<ServerUnderTest> (*start)();
};
inline std::ostream& operator<<(std::ostream& out, const ServerKind& kind) {
  return out << kind.name;
}

// Has a namespace of its own for each test.
class ApiServerSuite : public ::testing::TestWithParam<ServerKind> {
 protected:
  void SetUp() override;
  void TearDown() override;

  Client& client() { return *client_; }
  Transport& transport() { return *transport_; }
  ServerUnderTest& server() { return *server_; }
  const std::string& ns() const { return ns_; }

  Json CreateConfigMap(const std::string& name, const Json& labels = nullptr,
                       const Json& data = nullptr);
  // Not scheduled by anybody; with `node`, bound to it from the beginning.
  Json CreatePod(const std::string& name, const std::string& node = "");
  Json CreateDeployment(const std::string& name);
  // A custom resource with status and scale, and one object of it. Its name is that of the test.
  Resource DefineResource();
  Json CreateWidget(const Resource& resource, const std::string& name);

  Json Get(const Resource& resource, const std::string& name) {
    return Value(client().Get(resource, ns(), name));
  }
  Fault GetFault(const Resource& resource, const std::string& name) {
    return FaultIn(client().Get(resource, ns(), name));
  }

 private:
  std::unique_ptr<ServerUnderTest> server_;
  RealSleeper sleeper_;
  std::unique_ptr<Transport> transport_;
  std::unique_ptr<Client> client_;
  std::string ns_;
  std::vector<std::string> definitions_;
};

// One event, kept.
struct Happened {
  WatchEvent::Type type;
  Json object;
};

// A watch in a thread of its own, and what it has seen.
class WatchThread {
 public:
  WatchThread(Client& client, const Resource& resource, const std::string& ns,
              const WatchOptions& options);
  ~WatchThread() { Stop(); }

  // "ADDED a", ... once there are so many, else what there is after some seconds.
  std::vector<std::string> WaitFor(size_t events);
  std::vector<Happened> events() const;
  // How it ended by itself.
  Answer<void> WaitForEnd();
  void Stop();

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Happened> events_;
  Answer<void> answer_;
  bool ended_ = false;
  std::jthread thread_;
};

std::string Reported(const Happened& event);  // "ADDED a"

}  // namespace mindgate::kube::testing
