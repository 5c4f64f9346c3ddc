#include "http/router.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "base/text.h"
#include "http/refusal.h"

namespace mindgate::http {

Router::Router(std::vector<Route> routes, std::function<void(std::string_view)> on_bug,
               std::function<void()> on_not_found)
    : routes_(std::move(routes)),
      on_bug_(std::move(on_bug)),
      on_not_found_(std::move(on_not_found)) {}

const Router::Handler* Router::Find(std::string_view path) const {
  const auto route = std::find_if(routes_.begin(), routes_.end(),
                                  [path](const Route& known) { return known.path == path; });
  return route == routes_.end() ? nullptr : &route->handler;
}

Response Router::Serve(const Request& request) const {
  const std::string_view path = request.path();
  const Handler* handler = Find(path);
  if (handler == nullptr && path.find('%') != std::string_view::npos) {
    handler = Find(PercentDecoded(path));
  }
  if (handler == nullptr) {
    on_not_found_();
    return RefusalResponse(Refusal::kNotFound);
  }
  try {
    return (*handler)(request);
  } catch (const std::exception& bug) {
    on_bug_(bug.what());
  } catch (...) {
    on_bug_("an exception of unknown type");
  }
  return RefusalResponse(Refusal::kInternal);
}

}  // namespace mindgate::http
