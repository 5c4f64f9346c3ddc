#pragma once

#include <string>
#include <string_view>

namespace mindgate::kube {

// The URL of an API server as Access has it: scheme in lower case, no slash at its end. Or what is
// wrong with it: a sentence, and what to write instead.
struct ServerUrl {
  std::string text;
  std::string fault;
  std::string fix;
};
ServerUrl ReadServerUrl(std::string_view text);

// Whether its scheme is one that proxies have (client-go: parseProxyURL) and a host follows.
bool IsProxyUrl(std::string_view text);

// "https://10.0.0.1:443"; an IPv6 address in brackets.
std::string UrlOf(const std::string& host, const std::string& port);

}  // namespace mindgate::kube
