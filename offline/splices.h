#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "json/issues.h"
#include "json/value.h"
#include "offline/text_edits.h"

namespace mindgate::offline {

// New values as the text around them writes its own.

// How one document is written, as far as new values depend on it.
struct WrittenStyle {
  size_t step = 2;       // spaces from a key to the keys below it
  size_t list_step = 0;  // from a key to the dashes below it
  char quote = '\'';     // of texts that need quotes
};

// On one line of JSON, with a space after ':' and ',' or none.
std::string JsonLine(const json::Json& value, bool spaced);

// Writes values into the text of one document, in the style of what stands beside them: with its
// indentation, its line ends, and in brackets where it has them.
class SpliceWriter {
 public:
  // Borrows the text and its outline.
  SpliceWriter(std::string_view text, const json::Outline& outline, TextFormat format);

  // Adds members or items behind those of a mapping or sequence that has some.
  void Append(uint32_t node, const json::Json& parts, size_t depth);

  // Writes a value instead of a scalar, or of an empty mapping or sequence. `key`: of the node in a
  // mapping without brackets; kNoKey: it stands elsewhere. False when the node holds parts or has a
  // tag.
  static constexpr uint32_t kNoKey = UINT32_MAX;
  bool Overwrite(uint32_t node, uint32_t key, bool in_brackets, const json::Json& value,
                 size_t depth);

  std::string AliasOf(const json::TextNode& node) const;   // "*name"
  std::string AnchorOf(const json::TextNode& node) const;  // "&name"

  std::vector<Splice> Take() && { return std::move(splices_); }

 private:
  void Insert(size_t at, std::string text, size_t depth) {
    splices_.push_back({at, 0, std::move(text), depth});
  }
  void AddLines(size_t line_end, const std::string& indent, const std::vector<std::string>& lines,
                size_t depth);
  void AppendInBrackets(uint32_t node, const json::Json& parts, size_t depth);
  void AppendOnLines(uint32_t node, const std::vector<std::string>& parts,
                     const std::string& indent, size_t depth);
  std::vector<std::string> PartsInBrackets(uint32_t node, const json::Json& parts,
                                           const std::string* indent) const;
  // In brackets at the place of the node, which it replaces.
  std::string InBrackets(uint32_t node, uint32_t key, const json::Json& value) const;
  std::string ScalarLike(const json::TextNode& old, const json::Json& value) const;
  std::string JsonLines(const json::Json& value, const std::string& indent) const;
  std::string JsonUnit() const;  // one step of indentation

  // Behind a key with its value, or an item, in brackets.
  size_t EndOfPart(uint32_t node, uint32_t child) const;
  size_t LineEnd(size_t offset) const;  // without its break
  size_t LineEndOf(const json::TextNode& last) const;
  std::string_view LineBreakAt(size_t line_end) const;
  std::string_view LineBefore(size_t offset) const;  // of its line
  bool IsLikeJson(uint32_t node) const;
  bool IsSpaced(uint32_t node) const;
  size_t NextSign(size_t offset) const;  // behind spaces, line ends and comments

  const std::string_view text_;
  const json::Outline& outline_;
  const TextFormat format_;
  const WrittenStyle style_;
  std::vector<Splice> splices_;
};

}  // namespace mindgate::offline
