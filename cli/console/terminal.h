#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/console/streams.h"

namespace mindgate::cli {

// The output width: for a terminal from COLUMNS or the terminal itself, otherwise kDefaultWidth, so
// that files are the same everywhere.
size_t TerminalWidth(bool is_terminal, int descriptor);

// Wraps text at `width` columns, each line starting with `margin`; ends with a newline. Words
// longer than a line are not split.
std::string Wrapped(std::string_view text, size_t width, std::string_view margin = "");

// The same without the first margin and the last newline, for the last column of a table.
std::string WrappedCell(std::string_view text, size_t width, size_t column);

// Shows what it is about, a line each ("pod/a in namespace b"), and asks on `io.err`; true after y
// or yes on `io.in`, in any case.
bool IsConfirmed(const std::vector<std::string>& objects, const std::string& question, Streams& io);

}  // namespace mindgate::cli
