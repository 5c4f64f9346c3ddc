#include "doctor/report.h"

#include <algorithm>

namespace mindgate::doctor {

std::string_view StatusName(Status status) {
  switch (status) {
    case Status::kOk:
      return "ok";
    case Status::kWarning:
      return "warning";
    case Status::kFailed:
      return "failed";
    case Status::kSkipped:
      return "skipped";
  }
  return "unknown";
}

bool Report::Has(Status status) const {
  return std::any_of(findings_.begin(), findings_.end(),
                     [status](const Finding& finding) { return finding.status == status; });
}

}  // namespace mindgate::doctor
