#pragma once

#include <string_view>

namespace mindgate::webhook {

// The longest name that Kubernetes has, about. Nobody else's text makes a line of the log long.
inline constexpr size_t kMaxLogged = 256;

inline std::string_view ForLog(std::string_view text) { return text.substr(0, kMaxLogged); }

}  // namespace mindgate::webhook
