#pragma once

#include <array>
#include <cstddef>
#include <istream>
#include <ostream>
#include <streambuf>
#include <string>
#include <string_view>

namespace mindgate::cli {

// Width of output that is not a terminal.
inline constexpr size_t kDefaultWidth = 100;

// Precedes what mindgate itself sends to a terminal, its colors and the erasing of a line. No UTF-8
// has this byte, so no text of an object can hold it.
inline constexpr char kOwnMark = '\xFF';
inline constexpr std::array<std::string_view, 7> kOwnSequences = {
    "\033[31m", "\033[32m", "\033[33m", "\033[36m", "\033[1m", "\033[0m", "\r\033[K"};

// Empties the line that the terminal is in, to write it again.
inline std::ostream& EmptyLine(std::ostream& out) { return out << kOwnMark << "\r\033[K"; }

// Where everything goes that a command prints: the names and texts in it are those of others, and a
// control character in one of them would act on the terminal of whoever reads it. Passes ends of
// lines ("\n" and "\r\n"), tabs and kOwnSequences after kOwnMark, and escapes every other unsafe
// character as base/terminal_text.h says; JSON and YAML that mindgate prints stay what they are.
// Keeps nothing back but the beginning of a character.
class TerminalBuffer final : public std::streambuf {
 public:
  // `target` must outlive it.
  explicit TerminalBuffer(std::ostream& target) : target_(target) {}
  ~TerminalBuffer() override;
  TerminalBuffer(const TerminalBuffer&) = delete;
  TerminalBuffer& operator=(const TerminalBuffer&) = delete;

 protected:
  int_type overflow(int_type c) override;
  std::streamsize xsputn(const char* text, std::streamsize size) override;
  int sync() override;

 private:
  bool Write(std::string_view text);

  std::ostream& target_;
  std::string begun_;  // of a character, or of a sequence of ours
};

class TerminalStream final : public std::ostream {
 public:
  explicit TerminalStream(std::ostream& target) : std::ostream(nullptr), buffer_(target) {
    rdbuf(&buffer_);
  }

 private:
  TerminalBuffer buffer_;
};

// The streams of a command; tests use string streams.
class Streams {
  TerminalStream out_stream_;
  TerminalStream err_stream_;

 public:
  // All must outlive it.
  Streams(std::istream& input, std::ostream& output, std::ostream& errors,
          bool output_is_terminal = false, bool errors_are_terminal = false,
          size_t columns = kDefaultWidth, bool input_is_terminal = false)
      : out_stream_(output),
        err_stream_(errors),
        in(input),
        out(out_stream_),
        err(err_stream_),
        out_is_terminal(output_is_terminal),
        err_is_terminal(errors_are_terminal),
        width(columns),
        in_is_terminal(input_is_terminal) {}

  std::istream& in;
  std::ostream& out;
  std::ostream& err;
  bool out_is_terminal;
  bool err_is_terminal;
  size_t width;         // of human-readable output, in columns
  bool in_is_terminal;  // somebody can be asked
};

// Exit codes of the program. The first three are those of every command.
inline constexpr int kExitDone = 0;           // success, or everything admitted
inline constexpr int kExitDenied = 1;         // something denied or failed
inline constexpr int kExitUnusable = 2;       // invalid input or arguments
inline constexpr int kExitInvalidConfig = 3;  // the configuration of an application is faulty
inline constexpr int kExitBlocked = 4;        // denied by a rule, or not possible on this cluster
inline constexpr int kExitTimedOut = 5;
inline constexpr int kExitNotFound = 6;

}  // namespace mindgate::cli
