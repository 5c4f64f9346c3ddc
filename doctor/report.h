#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace mindgate::doctor {

enum class Status {
  kOk,
  kWarning,  // it works, but not as it should
  kFailed,   // it does not
  kSkipped,  // could not be checked; the message says why
};

std::string_view StatusName(Status status);  // "ok", ...

struct Finding {
  std::string check;  // "ca-bundle"
  Status status = Status::kOk;
  std::string message;  // what is, and what comes of it
  std::string fix{};    // what to do about it; empty where nothing is
};

// What a diagnosis found, in the order of the checks.
class Report {
 public:
  void Ok(std::string_view check, std::string message) {
    Add(check, Status::kOk, std::move(message), "");
  }
  void Warn(std::string_view check, std::string message, std::string fix) {
    Add(check, Status::kWarning, std::move(message), std::move(fix));
  }
  void Fail(std::string_view check, std::string message, std::string fix) {
    Add(check, Status::kFailed, std::move(message), std::move(fix));
  }
  void Skip(std::string_view check, std::string message, std::string fix = "") {
    Add(check, Status::kSkipped, std::move(message), std::move(fix));
  }

  const std::vector<Finding>& findings() const& { return findings_; }
  // Of a temporary, they outlive it: a loop may run over them.
  std::vector<Finding> findings() && { return std::move(findings_); }
  bool Has(Status status) const;

 private:
  void Add(std::string_view check, Status status, std::string message, std::string fix) {
    findings_.push_back({std::string(check), status, std::move(message), std::move(fix)});
  }

  std::vector<Finding> findings_;
};

}  // namespace mindgate::doctor
