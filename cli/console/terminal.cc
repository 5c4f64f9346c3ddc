#include "cli/console/terminal.h"

#include <sys/ioctl.h>

#include <algorithm>
#include <istream>
#include <ostream>

#include "base/text.h"
#include "cli/console/streams.h"
#include "kube/environment.h"

namespace mindgate::cli {
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

bool IsConfirmed(const std::vector<std::string>& objects, const std::string& question,
                 Streams& io) {
  for (const std::string& object : objects) io.err << object << "\n";
  io.err << question << " [y/N] " << std::flush;
  std::string answer;
  std::getline(io.in, answer);
  answer = ToLower(Trim(answer));
  return answer == "y" || answer == "yes";
}

}  // namespace mindgate::cli
