#include "cli/console/terminal.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <istream>
#include <ostream>

#include "base/files.h"
#include "base/foreign_text.h"
#include "base/text.h"
#include "kube/subprocess.h"

namespace mindgate::cli {
namespace {

bool IsPlain(char c) { return (c >= 0x20 && c < 0x7f) || c == '\n' || c == '\t'; }

// How many bytes a character has that begins so; 0: none does.
size_t Announced(char c) {
  const auto byte = static_cast<unsigned char>(c);
  if (byte >= 0xC2 && byte < 0xE0) return 2;
  if (byte >= 0xE0 && byte < 0xF0) return 3;
  return byte >= 0xF0 && byte < 0xF5 ? 4 : 0;
}

// Of the sequence of ours that `text` begins with; 0: there is none.
size_t OwnLength(std::string_view text) {
  for (const std::string_view own : kOwnSequences) {
    if (text.starts_with(own)) return own.size();
  }
  return 0;
}

// What follows may still make it a sequence of ours.
bool MayBecomeOwn(std::string_view text) {
  return std::any_of(kOwnSequences.begin(), kOwnSequences.end(), [&](std::string_view own) {
    return text.size() < own.size() && own.starts_with(text);
  });
}

// What follows may still make it a character.
bool MayBecomeCharacter(std::string_view text) {
  return text.size() < Announced(text.front()) &&
         std::all_of(
             text.begin() + 1, text.end(),
             [](char c) { return (static_cast<unsigned char>(c) & 0xC0u) == 0x80u; });
}

}  // namespace

TerminalBuffer::~TerminalBuffer() {
  if (!begun_.empty()) target_ << ForTerminal(begun_);
}

bool TerminalBuffer::Write(std::string_view text) {
  std::string joined;
  if (!begun_.empty()) {
    joined = std::move(begun_) + std::string(text);
    begun_.clear();
    text = joined;
  }
  while (!text.empty()) {
    const auto unsafe = std::find_if_not(text.begin(), text.end(), IsPlain);
    const auto plain = static_cast<size_t>(unsafe - text.begin());
    target_.write(text.data(), static_cast<std::streamsize>(plain));
    text.remove_prefix(plain);
    if (text.empty()) break;
    if (text.front() == kOwnMark) {
      const std::string_view after = text.substr(1);
      if (MayBecomeOwn(after)) {
        begun_ = text;
        break;
      }
      if (const size_t own = OwnLength(after); own > 0) {
        target_ << after.substr(0, own);
        text.remove_prefix(1 + own);
        continue;
      }
    } else if (text.front() == '\r' && (text.size() == 1 || text[1] == '\n')) {
      if (text.size() == 1) {
        begun_ = text;
        break;
      }
      target_ << "\r\n";
      text.remove_prefix(2);
      continue;
    } else if (MayBecomeCharacter(text)) {
      begun_ = text;
      break;
    }
    const size_t length = std::max<size_t>(1, Utf8Length(text));
    target_ << ForTerminal(text.substr(0, length));
    text.remove_prefix(length);
  }
  return target_.good();
}

TerminalBuffer::int_type TerminalBuffer::overflow(int_type c) {
  if (traits_type::eq_int_type(c, traits_type::eof())) return traits_type::not_eof(c);
  const char text = traits_type::to_char_type(c);
  return Write({&text, 1}) ? c : traits_type::eof();
}

std::streamsize TerminalBuffer::xsputn(const char* text, std::streamsize size) {
  return Write({text, static_cast<size_t>(size)}) ? size : 0;
}

int TerminalBuffer::sync() {
  target_.flush();
  return target_.good() ? 0 : -1;
}

namespace {

// NO_COLOR (https://no-color.org), and terminals without color support.
bool IsUnwanted() {
  return !kube::Environment("NO_COLOR").empty() || kube::Environment("TERM") == "dumb";
}

std::string_view CodeOf(Color color) {
  switch (color) {
    case Color::kRed:
      return "\033[31m";
    case Color::kGreen:
      return "\033[32m";
    case Color::kYellow:
      return "\033[33m";
    case Color::kCyan:
      return "\033[36m";
    case Color::kBold:
      return "\033[1m";
  }
  return "";
}

}  // namespace

Paint::Paint(ColorMode mode, bool is_terminal)
    : on_(mode == ColorMode::kAlways ||
          (mode == ColorMode::kAuto && is_terminal && !IsUnwanted())) {}

std::string Paint::operator()(Color color, std::string_view text) const {
  if (!on_ || text.empty()) return std::string(text);
  return kOwnMark + std::string(CodeOf(color)) + std::string(text) + kOwnMark + "\033[0m";
}

namespace {

// Below this width, lines of one word each are harder to read than unwrapped ones.
constexpr size_t kNarrowest = 40;

}  // namespace

size_t TerminalWidth(bool is_terminal, int descriptor) {
  if (!is_terminal) return kDefaultWidth;
  const auto columns = ParseGoInt(kube::Environment("COLUMNS")).value_or(0);
  if (columns > 0) return std::max(static_cast<size_t>(columns), kNarrowest);
  winsize size{};
  if (::ioctl(descriptor, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return kDefaultWidth;
  return std::max<size_t>(size.ws_col, kNarrowest);
}

std::string Wrapped(std::string_view text, size_t width, std::string_view margin) {
  std::string out;
  std::string line;
  for (std::string_view word : Split(text, ' ')) {
    if (!line.empty() && margin.size() + line.size() + 1 + word.size() > width) {
      out += std::string(margin) + line + "\n";
      line.clear();
    }
    if (!line.empty()) line += ' ';
    line += word;
  }
  return out + std::string(margin) + line + "\n";
}

std::string WrappedCell(std::string_view text, size_t width, size_t column) {
  // A very narrow last column is harder to read than long lines.
  const size_t right = std::max(width, column + kNarrowest);
  std::string cell = Wrapped(text, right, std::string(column, ' ')).substr(column);
  cell.pop_back();
  return cell;
}

namespace {

// Returns when a line can be read, or `stop` was asked to.
void AwaitInput(Streams& io, const std::stop_token& stop) {
  const bool is_here = io.in_descriptor < 0 || io.in.rdbuf()->in_avail() > 0;
  if (is_here || !stop.stop_possible()) return;
  const FileDescriptor wake(::eventfd(0, EFD_CLOEXEC));
  const std::stop_callback when_stopped(stop, [&wake] { ::eventfd_write(wake.get(), 1); });
  std::array<pollfd, 2> either = {{{.fd = io.in_descriptor, .events = POLLIN, .revents = 0},
                                   {.fd = wake.get(), .events = POLLIN, .revents = 0}}};
  while (::poll(either.data(), either.size(), -1) < 0 && errno == EINTR) {
  }
}

}  // namespace

bool IsConfirmed(const std::vector<std::string>& objects, const std::string& question, Streams& io,
                 const std::stop_token& stop) {
  for (const std::string& object : objects) io.err << object << "\n";
  io.err << question << " [y/N] " << std::flush;
  AwaitInput(io, stop);
  if (stop.stop_requested()) {
    io.err << "\n";
    return false;
  }
  std::string answer;
  std::getline(io.in, answer);
  answer = ToLower(Trim(answer));
  return answer == "y" || answer == "yes";
}

}  // namespace mindgate::cli
