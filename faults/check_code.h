#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace mindgate::faults {

// The device plugin and NodeD write {"DeviceInfo": {...}, ..., "CheckCode": "<hex>"}: the SHA-256
// of the JSON text of the member as Go writes it (mind-cluster: component/ascend-common), which is
// the very text that stands there. Their readers reject a ConfigMap whose code is another one. We
// say so and take what it says all the same: the text of another version or one that a person
// changed by hand is the only report there is, and without it broken hardware would pass for
// healthy.
//
// What is wrong with the code, for people; nothing: it is right, or there is none.
std::optional<std::string> WrongCheckCode(std::string_view text, std::string_view member);

// Of the bytes, 64 lower-case hex digits.
std::string Sha256Hex(std::string_view text);

// The text of a member of the outermost object; empty when it has none, or is no JSON object.
std::string_view TextOfMember(std::string_view object, std::string_view member);

}  // namespace mindgate::faults
