#pragma once

#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>

namespace mindgate {

// Why the machine failed. Faults in what a user wrote are not Errors but json::Issues.
enum class ErrorCode {
  kInvalidArgument,  // the caller passed something unusable
  kNotFound,         // a file or object is not there
  kTooLarge,         // a limit was passed; the message names it
  kInternal,         // a bug of ours or a third party's exception
};

class Error {
 public:
  Error(ErrorCode code, std::string message) : code_(code), message_(std::move(message)) {}

  ErrorCode code() const { return code_; }
  const std::string& message() const { return message_; }

  // Prefixes what was being done: "while reading a.yaml: <message>".
  Error While(std::string_view doing) && {
    message_ = "while " + std::string(doing) + ": " + message_;
    return std::move(*this);
  }

 private:
  ErrorCode code_;
  std::string message_;
};

template <typename T>
using Result = tl::expected<T, Error>;

inline tl::unexpected<Error> Fail(ErrorCode code, std::string message) {
  return tl::unexpected<Error>(Error(code, std::move(message)));
}

}  // namespace mindgate
