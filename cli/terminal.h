#pragma once

#include <string>
#include <string_view>

namespace mindgate::cli {

// The columns to write in: of a terminal what COLUMNS or the terminal itself says, of everything
// else kDefaultWidth, so that what lands in files is the same everywhere.
size_t TerminalWidth(bool is_terminal, int descriptor);

// Text broken at words to lines of at most `width`, each begun with `margin`; ends with a newline.
// A word that is longer than a line stays whole.
std::string Wrapped(std::string_view text, size_t width, std::string_view margin = "");

// The same without the first margin and the last newline: for the last column of a table.
std::string WrappedCell(std::string_view text, size_t width, size_t column);

}  // namespace mindgate::cli
