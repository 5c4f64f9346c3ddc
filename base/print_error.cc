#include "base/print_error.h"

#include <ostream>

namespace mindgate {

void PrintError(std::ostream& err, const std::string& what, const std::string& hint) {
  err << "error: " << what << "\n";
  if (!hint.empty()) err << "hint: " << hint << "\n";
}

}  // namespace mindgate
