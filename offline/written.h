#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "json/issues.h"
#include "offline/documents.h"
#include "policies/engine.h"

namespace mindgate::offline {

// The text of the number, true or false at `path` as its author wrote it: 1.10, 0755, on. Nothing
// when it is not found, as in what was injected.
std::optional<std::string> AsWritten(const Source& source, Document& document,
                                     const std::string& path, const json::Value& value);

// A fix that puts the value at its place into quotes quotes what the author wrote: the value alone
// no longer knows that 1.1 was 1.10. `after` is the object that was judged.
void QuoteAsWritten(const InputObject& input, const json::Value& after,
                    std::vector<policies::Finding>& findings);

// The place in `text` of what is at `within` of a literal block scalar ("key: |") that begins at
// `at`; nothing when no such block begins there: the lines of a quoted or folded scalar are not
// those of its value.
std::optional<json::Position> InsideBlock(std::string_view text, json::Position at,
                                          json::Position within);

}  // namespace mindgate::offline
