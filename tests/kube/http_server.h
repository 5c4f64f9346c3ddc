#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mindgate::kube::testing {

struct HttpRequest {
  std::string method;
  std::string target;                          // as it came: "/api/v1/pods?limit=5"
  std::string path;                            // decoded, without the query
  std::map<std::string, std::string> query;    // decoded; of repeated names, the first
  std::map<std::string, std::string> headers;  // names in lower case
  std::string body;
  std::chrono::steady_clock::time_point received{};  // its last byte
  std::string client_certificate;  // its common name, when a client-CA's holder showed one
  bool bad_client_certificate = false;
};

// Where an answer without a known end is written to. One thread.
class HttpStream {
 public:
  virtual ~HttpStream() = default;
  // False when the peer or the server has gone: nothing more can be written.
  virtual bool Write(std::string_view bytes) = 0;
  // To poll(2): readable once the peer or the server has gone.
  virtual int socket() const = 0;
};

struct HttpResponse {
  int status = 200;
  std::string body = {};
  std::string content_type = "application/json";
  std::vector<std::pair<std::string, std::string>> headers = {};

  // Instead of `body`, in chunks: returns whether the answer ends in good order; else the
  // connection ends without the last chunk.
  std::function<bool(HttpStream&)> stream = {};
  // Instead of everything above: the very bytes, then the connection ends. A writer that writes
  // nothing is a server that does not answer.
  std::function<void(HttpStream&)> raw = {};
};

// HTTP/1.1 as kube-apiserver serves it to one client, for tests: a thread per connection, kept
// connections, exact control of what goes over the wire, and an end within milliseconds. (The
// packaged cpp-httplib can neither cut an answer nor stop while a connection is idle.) It trusts
// its peers to send well-formed requests.
class HttpServer {
 public:
  struct Options {
    std::string certificate;  // PEM with its chain; empty: no TLS
    std::string key;
    std::string client_ca = {};  // PEM; empty: client certificates are not requested
  };
  using Handler = std::function<HttpResponse(const HttpRequest&)>;  // called from many threads

  // Listens on 127.0.0.1, at a port of its own.
  HttpServer(Options options, Handler handler);
  ~HttpServer();  // as Stop
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  // Ends all connections and waits for their threads: a handler that waits must be released before.
  void Stop();

  uint16_t port() const;
  int connections() const;  // accepted so far

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace mindgate::kube::testing
