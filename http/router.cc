#include "http/router.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "http/refusal.h"

namespace mindgate::http {
namespace {

int HexValue(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// RFC 3986, 2.1. What is no escape stays as it is.
std::string Unescaped(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    const int high = text[i] == '%' && i + 2 < text.size() ? HexValue(text[i + 1]) : -1;
    const int low = high >= 0 ? HexValue(text[i + 2]) : -1;
    if (low < 0) {
      out += text[i];
      continue;
    }
    out += static_cast<char>(high * 16 + low);
    i += 2;
  }
  return out;
}

}  // namespace

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
    handler = Find(Unescaped(path));
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
