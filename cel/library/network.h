#pragma once

#include <optional>
#include <string_view>

#include "cel/library/times.h"
#include "cel/opaque.h"

namespace mindgate::cel {

// The canonical form of an address: "10.0.0.1", "2001:db8::1".
ShortText TextOfIp(const Ip& ip);

// An address without a zone; nothing for any other text.
std::optional<Ip> ParseIp(std::string_view text);

}  // namespace mindgate::cel
