#pragma once

#include <array>
#include <cstddef>
#include <istream>
#include <ostream>
#include <stop_token>
#include <streambuf>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

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
// character as base/foreign_text.h says; JSON and YAML that mindgate prints stay what they are.
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
          size_t columns = kDefaultWidth, bool input_is_terminal = false, int input_descriptor = -1)
      : out_stream_(output),
        err_stream_(errors),
        in(input),
        out(out_stream_),
        err(err_stream_),
        out_is_terminal(output_is_terminal),
        err_is_terminal(errors_are_terminal),
        width(columns),
        in_is_terminal(input_is_terminal),
        in_descriptor(input_descriptor) {}

  std::istream& in;
  std::ostream& out;
  std::ostream& err;
  bool out_is_terminal;
  bool err_is_terminal;
  size_t width;         // of human-readable output, in columns
  bool in_is_terminal;  // somebody can be asked
  int in_descriptor;    // of `in`, to wait for what comes; -1: all is there
};

// Exit codes of the program. The first three are those of every command.
inline constexpr int kExitDone = 0;           // success, or everything admitted
inline constexpr int kExitDenied = 1;         // something denied or failed
inline constexpr int kExitUnusable = 2;       // invalid input or arguments
inline constexpr int kExitInvalidConfig = 3;  // the configuration of an application is faulty
inline constexpr int kExitBlocked = 4;        // denied by a rule, or not possible on this cluster
inline constexpr int kExitTimedOut = 5;
inline constexpr int kExitNotFound = 6;

enum class ColorMode { kAuto, kAlways, kNever };

enum class Color { kRed, kGreen, kYellow, kCyan, kBold };

// Colors text, or returns it unchanged. The colors are for a TerminalStream.
class Paint {
 public:
  // kAuto colors on a terminal unless NO_COLOR (https://no-color.org) is set or TERM is dumb.
  Paint(ColorMode mode, bool is_terminal);

  std::string operator()(Color color, std::string_view text) const;

 private:
  bool on_;
};

// The output width: for a terminal from COLUMNS or the terminal itself, otherwise kDefaultWidth, so
// that files are the same everywhere.
size_t TerminalWidth(bool is_terminal, int descriptor);

// Wraps text at `width` columns, each line starting with `margin`; ends with a newline. Words
// longer than a line are not split.
std::string Wrapped(std::string_view text, size_t width, std::string_view margin = "");

// The same without the first margin and the last newline, for the last column of a table.
std::string WrappedCell(std::string_view text, size_t width, size_t column);

// Shows what it is about, a line each ("pod/a in namespace b"), and asks on `io.err`; true after y
// or yes on `io.in`, in any case. False as soon as `stop` is asked to: who blocks SIGINT and
// SIGTERM, so that they are read elsewhere, passes it, or nothing ends the question.
bool IsConfirmed(const std::vector<std::string>& objects, const std::string& question, Streams& io,
                 const std::stop_token& stop = {});

// A line that is written again and again, for whoever waits at a terminal.
class Progress {
 public:
  Progress(Streams& io, std::string what) : io_(io), what_(std::move(what)) {}
  ~Progress() {
    if (shown_) io_.err << EmptyLine << std::flush;
  }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void Show(size_t done, size_t of) {
    if (!io_.err_is_terminal || done % kEvery != 0) return;
    shown_ = true;
    io_.err << EmptyLine << what_ + ": " + std::to_string(done) + " of " + std::to_string(of)
            << std::flush;
  }

 private:
  static constexpr size_t kEvery = 100;  // small clusters are done before anybody can read

  Streams& io_;
  std::string what_;
  bool shown_ = false;
};

}  // namespace mindgate::cli
