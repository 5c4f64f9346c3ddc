#include "base/result.h"

namespace mindgate {

std::string_view ErrorCodeName(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalidArgument:
      return "invalid argument";
    case ErrorCode::kNotFound:
      return "not found";
    case ErrorCode::kTooLarge:
      return "too large";
    case ErrorCode::kInternal:
      return "internal";
  }
  return "internal";
}

}  // namespace mindgate
