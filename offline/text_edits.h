#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "json/issues.h"
#include "json/value.h"
#include "offline/documents.h"

namespace mindgate::offline {

// Changes of values made in the text of their document: only the bytes that must change do, so that
// comments, order, quotes and anchors stay.

// The value that shall be at `pointer` of the document (RFC 6901): instead of a scalar, of null or
// of an empty object or list, as a new member of an object, or with the last token "-" as a new
// item of a list.
struct TextEdit {
  std::string pointer;
  json::Json value;
};

// An edit that the text does not allow without a change of something else.
struct RefusedEdit {
  size_t edit = 0;      // its number
  std::string why;      // "labels is an alias, ..."
  std::string instead;  // what its user may write
};

// Bytes of the text to replace.
struct Splice {
  size_t at = 0;
  size_t length = 0;
  std::string text;
  size_t depth = 0;  // of the value: what is inside comes first where two are inserted at one place
};

struct TextChanges {
  std::vector<Splice> splices;
  std::vector<RefusedEdit> refused;
};

enum class TextFormat : unsigned char { kYaml, kJson };

// The text with the splices made, in any order. Those that overlap another one are left out.
std::string Spliced(std::string_view text, std::vector<Splice> splices);

// An edit of one document of a source.
struct DocumentEdit {
  size_t document = 0;  // its place in Source::documents
  TextEdit edit;
};

struct EditedText {
  std::string text;
  std::vector<size_t> done;          // numbers of the edits that were made
  std::vector<RefusedEdit> refused;  // all others
};

// The text of a source with the edits, of which those of one document are independent of each
// other. Each is made only when the new text, decoded, has in all its documents what was intended,
// and nothing else changed; those that spoil it are refused. None of the documents has a fault.
EditedText Edited(const Source& source, const std::vector<DocumentEdit>& edits);

}  // namespace mindgate::offline
