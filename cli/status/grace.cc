#include "base/text.h"
#include "base/time.h"
#include "cli/status/status.h"

namespace mindgate::cli {

std::string AfterText(std::chrono::seconds duration) {
  const auto minutes = duration.count() / 60;
  const bool whole = duration.count() % 60 == 0 && minutes > 0 && minutes < 60;
  return "after " + (whole ? Counted(minutes, "minute") : FormatDuration(duration));
}

}  // namespace mindgate::cli
