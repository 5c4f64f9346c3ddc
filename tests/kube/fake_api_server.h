#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/time.h"
#include "kube/fake_resources.h"
#include "kube/fake_store.h"
#include "kube/fake_users.h"
#include "kube/fake_writes.h"
#include "kube/http_server.h"
#include "kube/resource.h"

namespace mindgate::kube::testing {

// Requests that a test means. Empty members: any.
struct When {
  std::string method = {};
  std::string target_part = {};  // of path and query: "/pods?", "watch=true"
};

// Keeps requests waiting, so that a test can look at what happens meanwhile.
class Gate {
 public:
  // False when none has come within some seconds.
  bool WaitUntilHeld();
  void Release();

 private:
  friend class FakeApiServer;
  void Hold();

  std::mutex mutex_;
  std::condition_variable changed_;
  bool held_ = false;
  bool released_ = false;
};

// A Kubernetes API server for tests, on a port of 127.0.0.1, with all its objects in memory. It
// answers as the real one does as far as mindgate's client can see (api_server_suite.h asks both
// the same questions), and fails in the ways that a test asks for. No controller runs: nothing
// changes but by requests and by the calls below; a namespace goes at once, with all that is in it.
// It knows no schemas, no strategic merge patch, no deletion of collections and no protobuf. Safe
// from many threads.
class FakeApiServer {
 public:
  struct Options {
    HttpServer::Options http = {};
    const Clock* clock = nullptr;  // for timestamps; null: the time of day
  };

  explicit FakeApiServer(Options options);
  FakeApiServer() : FakeApiServer(Options{}) {}
  ~FakeApiServer();

  std::string url() const;  // "http://127.0.0.1:40000"
  uint16_t port() const { return http_->port(); }
  int connections() const { return http_->connections(); }
  // Ends all connections; nobody listens any more.
  void Stop();

  // --- objects -----------------------------------------------------------------------------------

  void Register(FakeResource resource);
  // As if somebody had written it, status and all; the namespace is made when it is missing. Kind
  // and apiVersion are filled in. Returns what is stored.
  Json Put(const Resource& resource, Json object);
  void Remove(const Resource& resource, const std::string& ns, const std::string& name);
  // Null: not there.
  Json Find(const Resource& resource, const std::string& ns, const std::string& name) const;
  size_t size(const Resource& resource) const;
  std::string version() const;  // the newest resourceVersion

  // --- watches -----------------------------------------------------------------------------------

  // All history is gone: a watch or continue token from before now gets 410. Open watches go on.
  void Compact();
  void SendBookmarks();
  enum class Cut {
    kOrderly,     // as when its time is over
    kConnection,  // between two lines
    kMidLine,     // within a line
  };
  void CutWatches(Cut how);
  void WriteToWatches(const std::string& bytes);
  size_t watches() const;
  // False when it does not come to that within some seconds.
  bool WaitForWatches(size_t count) const;

  // --- who may what ------------------------------------------------------------------------------

  // From now on only these bearer tokens and client certificates (of Options::http.client_ca) are
  // let in: others get 401. Who shows nothing is anonymous and gets 403, and so does who shows one
  // of `powerless`.
  void Accept(std::set<std::string> tokens, std::set<std::string> powerless = {});
  // 403 for this verb ("list", "*") on this resource ("pods", "pods/eviction", "*").
  void Forbid(const std::string& verb, const std::string& resource);
  void AllowAll();  // forgets what was forbidden

  // --- faults ------------------------------------------------------------------------------------

  // Instead of an answer of its own, the next `times` such requests get this one.
  void AnswerNext(int times, When when, HttpResponse answer);
  // They are carried out, and the connection ends without an answer.
  void LoseAnswers(int times, When when);
  // They are carried out, and get this answer, as of a proxy that waited no longer.
  void AnswerLate(int times, When when, HttpResponse answer);
  // Such requests wait, before anything is done about them, until the gate is released.
  std::shared_ptr<Gate> Hold(When when);

  // --- what was asked ----------------------------------------------------------------------------

  std::vector<HttpRequest> Requests(const When& when = {}) const;
  size_t Count(const When& when = {}) const;
  bool WaitForRequests(const When& when, size_t count) const;
  void ForgetRequests();

 private:
  struct Fault {
    int times = 0;
    When when;
    std::optional<HttpResponse> answer;  // nothing: the real answer is lost
    bool carried_out = false;
  };
  // A request that is about resources; nothing: it is not.
  struct Route {
    Target target;
    std::string verb;
  };

  HttpResponse Serve(const HttpRequest& request);
  HttpResponse Carry(const HttpRequest& request);
  HttpResponse AnswerRoute(const HttpRequest& request, const Route& route);
  HttpResponse List(const HttpRequest& request, const Target& target);
  HttpResponse Watch(const HttpRequest& request, const Scope& scope);
  bool Stream(HttpStream& stream, const std::shared_ptr<Subscription>& watch,
              std::chrono::steady_clock::time_point deadline);
  std::optional<Route> RouteOf(const HttpRequest& request) const;
  HttpResponse AnswerElse(const std::string& path) const;
  bool WaitFor(const std::function<bool()>& condition) const;

  const Options options_;
  const SystemClock system_clock_;
  mutable std::mutex mutex_;  // guards everything below but http_
  mutable std::condition_variable changed_;
  FakeResources resources_;
  FakeStore store_;
  FakeWrites writes_;
  FakeUsers users_;
  std::list<Fault> faults_;
  std::list<std::pair<When, std::shared_ptr<Gate>>> gates_;
  std::vector<HttpRequest> requests_;
  bool stopping_ = false;
  std::unique_ptr<HttpServer> http_;
};

// Answers for AnswerNext.
HttpResponse StatusAnswer(int code, const std::string& reason, const std::string& message,
                          std::optional<int> retry_after = std::nullopt);
HttpResponse HtmlAnswer(int code);  // of some proxy
HttpResponse NoAnswer();            // the connection ends

}  // namespace mindgate::kube::testing
