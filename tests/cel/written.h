#pragma once

#include <cstddef>
#include <string>

#include "base/text.h"
#include "cel/library/libraries.h"
#include "cel/value.h"

namespace mindgate::testing {

// A value as an expression would write it: 3, 3u, 1.5, "a", [1], {"a": 1}, optional.of(1).
inline std::string Written(const cel::Value& value) {
  using cel::Kind;
  std::string out;
  switch (value.kind()) {
    case Kind::kNull:
      return "null";
    case Kind::kBool:
      return value.is_true() ? "true" : "false";
    case Kind::kInt:
      return std::to_string(value.integer());
    case Kind::kUint:
      return std::to_string(value.unsigned_integer()) + "u";
    case Kind::kDouble:
      return "double " + std::string(cel::NumberText::OfDouble(value.number()).text());
    case Kind::kString:
      return Quote(value.text());
    case Kind::kBytes:
      return "b" + Quote(value.text());
    case Kind::kType:
      return "type " + std::string(value.text());
    case Kind::kTimestamp:
      return std::string(cel::TimeText(value).text());
    case Kind::kDuration:
      return std::string(cel::DurationText(value.integer()).text());
    case Kind::kIp:
      return "ip " + std::string(cel::TextOfIp(value.ip()).text());
    case Kind::kCidr:
      return "cidr " + std::string(cel::TextOfIp(value.cidr().ip).text()) + "/" +
             std::to_string(value.cidr().prefix);
    case Kind::kOptional:
      return value.optional() == nullptr ? "none" : "some " + Written(*value.optional());
    case Kind::kList:
      for (size_t i = 0; i < value.size(); ++i) {
        out += (i == 0 ? "" : ", ") + Written(value.At(i));
      }
      return "[" + out + "]";
    case Kind::kMap:
      for (size_t i = 0; i < value.size(); ++i) {
        out += (i == 0 ? "" : ", ") + Written(value.KeyAt(i)) + ": " + Written(value.ValueAt(i));
      }
      return "{" + out + "}";
    default:
      return std::string(cel::NameOf(value.kind()));
  }
}

}  // namespace mindgate::testing
