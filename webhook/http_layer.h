#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "webhook/connection.h"
#include "webhook/framing.h"

namespace mindgate::webhook {

// What a handler sees of a request. Views live as long as the call.
struct HttpRequest {
  std::string_view path;
  std::string_view body;
  std::string_view traceparent;
  bool verbose = false;  // ?verbose
};

struct HttpResponse {
  int status = 200;
  std::string content_type = "application/json";
  std::string body;
  int retry_after = -1;  // seconds; negative: no such header
};

HttpResponse RefusalResponse(Refusal refusal, std::string_view detail = "");

// Routing and formatting by cpp-httplib, on requests that are already whole and in memory: it never
// sees a socket, nor a byte that Framer did not admit. Handlers are set before the first Serve;
// Serve is safe from many threads.
class HttpLayer {
 public:
  using Handler = std::function<HttpResponse(const HttpRequest& request)>;

  // Told of what a handler threw, which never reaches the client, and of requests for paths that
  // nobody handles.
  HttpLayer(std::function<void(std::string_view what)> on_bug, std::function<void()> on_not_found);
  ~HttpLayer();

  // `path` without characters that mean something to a regular expression.
  void Get(const std::string& path, Handler handler);
  void Post(const std::string& path, Handler handler);

  // The whole answer, to be written at once. Never throws.
  Answer Serve(const Request& request, bool close) const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace mindgate::webhook
