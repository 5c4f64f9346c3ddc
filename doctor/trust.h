#pragma once

#include <optional>
#include <set>
#include <string>

#include "doctor/context.h"

namespace mindgate::doctor {

// Who counts as a controller: what these make of objects that were admitted is not sent to the
// webhook.
struct Trusted {
  std::set<std::string> users;
  std::set<std::string> namespaces;  // all their ServiceAccounts
};

// As the condition says that the chart writes into the webhooks (mindgate.cel.source in _cel.tpl).
// Nothing when none of them has it.
std::optional<Trusted> WhoIsTrusted(const Context& context);

}  // namespace mindgate::doctor
