#pragma once

#include <string>
#include <vector>

#include "offline/documents.h"
#include "offline/text_edits.h"

namespace mindgate::offline {

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
