#include "offline/columns.h"

#include <algorithm>

namespace mindgate::offline {
namespace {

// A look-up counts at most this many bytes twice, however long the line is.
constexpr size_t kBlock = 1024;

// Whether a character of UTF-8 begins with the byte.
bool BeginsCharacter(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) != 0x80; }

size_t CountCharacters(std::string_view text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), BeginsCharacter));
}

}  // namespace

Columns::Columns(std::string_view text) : text_(text), lines_({0}) {
  for (size_t at = 0; (at = text.find('\n', at)) != std::string_view::npos;) {
    lines_.push_back(++at);
  }
  if (CountCharacters(text) == text.size()) return;
  size_t characters = 0;
  for (size_t at = 0; at < text.size(); at += kBlock) {
    before_.push_back(characters);
    characters += CountCharacters(text.substr(at, kBlock));
  }
}

json::Position Columns::InCharacters(json::Position at) const {
  if (before_.empty() || at.line < 1 || at.column < 1) return at;
  if (static_cast<size_t>(at.line) > lines_.size()) return at;
  const size_t start = lines_[static_cast<size_t>(at.line) - 1];
  const size_t offset = start + static_cast<size_t>(at.column) - 1;
  if (offset > text_.size()) return at;
  return {at.line, static_cast<int>(CharactersBefore(offset) - CharactersBefore(start)) + 1};
}

size_t Columns::CharactersBefore(size_t offset) const {
  const size_t block = std::min(offset / kBlock, before_.size() - 1);
  const size_t begin = block * kBlock;
  return before_[block] + CountCharacters(text_.substr(begin, offset - begin));
}

}  // namespace mindgate::offline
