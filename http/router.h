#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "http/framing.h"
#include "http/response.h"

namespace mindgate::http {

// Which handler answers which path. The framing has refused other methods than those of the port.
// Safe from many threads.
class Router {
 public:
  using Handler = std::function<Response(const Request& request)>;
  struct Route {
    std::string path;
    Handler handler;
  };

  // `on_bug` is told of what a handler threw, which never reaches the client, `on_not_found` of
  // each request for a path that nobody handles.
  Router(std::vector<Route> routes, std::function<void(std::string_view what)> on_bug,
         std::function<void()> on_not_found);

  // Paths are compared whole, after their percent-escapes have been decoded.
  Response Serve(const Request& request) const;

 private:
  const Handler* Find(std::string_view path) const;

  const std::vector<Route> routes_;  // a handful
  const std::function<void(std::string_view what)> on_bug_;
  const std::function<void()> on_not_found_;
};

}  // namespace mindgate::http
