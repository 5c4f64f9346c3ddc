#pragma once

#include <iosfwd>
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

// What is wrong, and what to do instead, where no text has a place of it: json::Issue is of those
// that have one.
struct Problem {
  std::string what;  // a sentence without its full stop
  std::string hint;  // may be empty
};

// Prints "error: <what>" and "hint: <hint>".
void PrintError(std::ostream& err, const Problem& problem);
inline void PrintError(std::ostream& err, const std::string& what, const std::string& hint = "") {
  PrintError(err, Problem{what, hint});
}

}  // namespace mindgate
