#include "base/result.h"

#include <ostream>

namespace mindgate {

void PrintError(std::ostream& err, const Problem& problem) {
  err << "error: " << problem.what << "\n";
  if (!problem.hint.empty()) err << "hint: " << problem.hint << "\n";
}

}  // namespace mindgate
