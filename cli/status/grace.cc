#include "base/text.h"
#include "base/time.h"
#include "cli/status/status.h"

namespace mindgate::cli {

std::string EvictedText(std::chrono::seconds grace_over_time) {
  const auto minutes = grace_over_time.count() / 60;
  const bool whole = grace_over_time.count() % 60 == 0 && minutes > 0 && minutes < 60;
  return "evicted, and deleted by force after " +
         (whole ? Counted(minutes, "minute") : FormatDuration(grace_over_time));
}

}  // namespace mindgate::cli
