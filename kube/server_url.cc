#include "kube/server_url.h"

#include <algorithm>

#include "base/text.h"

namespace mindgate::kube {
namespace {

bool IsPort(std::string_view text) {
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  if (text.empty() || text.size() > 5 || !std::all_of(text.begin(), text.end(), digit)) {
    return false;
  }
  const auto number = ParseGoInt(text);
  return number && *number >= 1 && *number <= 65535;
}

bool IsHostAndPort(std::string_view text) {
  size_t end = text.find(':');
  if (text.starts_with('[')) {
    const size_t bracket = text.find(']');
    if (bracket == std::string_view::npos || bracket == 1) return false;
    end = bracket + 1 == text.size() ? std::string_view::npos : bracket + 1;
  }
  if (end == 0) return false;
  if (end == std::string_view::npos) return !text.empty();
  return text[end] == ':' && IsPort(text.substr(end + 1));
}

}  // namespace

ServerUrl ReadServerUrl(std::string_view text) {
  const size_t colon = text.find("://");
  const std::string scheme =
      colon == std::string_view::npos ? "" : ToLower(text.substr(0, colon + 3));
  if (text.find('@') != std::string_view::npos) {  // which may stand behind a password
    return {"", "the server's URL holds a user name or an @",
            "write https://ADDRESS:PORT; credentials belong to a user"};
  }
  if (scheme != "https://" && scheme != "http://") {
    return {"", Quote(text) + " does not begin with https:// or http://",
            "write https://ADDRESS:PORT"};
  }
  std::string_view rest = text.substr(scheme.size());
  const auto odd = [](char c) { return c <= ' ' || c == 0x7f || c == '?' || c == '#'; };
  if (std::any_of(rest.begin(), rest.end(), odd) ||
      !IsHostAndPort(rest.substr(0, rest.find('/')))) {
    return {"", Quote(text) + " is not the URL of an API server", "write https://ADDRESS:PORT"};
  }
  while (rest.ends_with('/')) rest.remove_suffix(1);
  return {scheme + std::string(rest), "", ""};
}

bool IsProxyUrl(std::string_view text) {
  return std::ranges::any_of(
      std::initializer_list<std::string_view>{"http://", "https://", "socks5://"},
      [&](std::string_view scheme) {
        return text.size() > scheme.size() &&
               EqualIgnoreCase(text.substr(0, scheme.size()), scheme) && text[scheme.size()] != '/';
      });
}

std::string UrlOf(const std::string& host, const std::string& port) {
  const bool is_ipv6 = host.find(':') != std::string::npos && !host.starts_with('[');
  return "https://" + (is_ipv6 ? "[" + host + "]" : host) + ":" + port;
}

}  // namespace mindgate::kube
