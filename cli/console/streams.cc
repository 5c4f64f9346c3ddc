#include "cli/console/streams.h"

#include <algorithm>

#include "base/terminal_text.h"
#include "base/text.h"

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

}  // namespace mindgate::cli
