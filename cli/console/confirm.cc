#include <istream>
#include <ostream>

#include "base/text.h"
#include "cli/console/terminal.h"

namespace mindgate::cli {

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
