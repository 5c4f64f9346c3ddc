#pragma once

#include <string_view>

#include "cel/context.h"
#include "cel/value.h"

namespace mindgate::cel {

// The bytes of a text in base64, with padding or without; a fault when it is none.
Value DecodedBase64(Context& context, std::string_view text);

// Whether the text is base64 with padding.
bool IsBase64(std::string_view text);

}  // namespace mindgate::cel
