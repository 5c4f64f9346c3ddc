#include "cli/deploy/app_run.h"

#include <poll.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <ostream>

#include "base/problem.h"
#include "base/text.h"
#include "base/thread.h"
#include "base/time.h"
#include "cli/console/service.h"
#include "cli/deploy/deploy.h"
#include "kube/environment.h"

namespace mindgate::cli {
namespace {

// How soon a stopped command ends its thread.
constexpr int kLookMs = 100;

// "engine 1/2, decoder 0/1"
std::string SummaryOf(const deploy::Health& health) {
  std::string text;
  for (const deploy::ComponentState& each : health.components) {
    if (!text.empty()) text += ", ";
    text += each.name + " " + std::to_string(each.ready) + "/" + std::to_string(each.wanted);
  }
  return text.empty() ? "no pods yet" : text;
}

void AddDuration(CLI::App& command, const std::string& flag, std::chrono::seconds& value,
                 const std::string& description, const std::string& variable) {
  command
      .add_option_function<std::string>(
          flag,
          [&value, flag](const std::string& text) {
            const auto duration = ParseDuration(text);
            if (!duration) {
              throw CLI::ValidationError(flag,
                                         Quote(text) + " is not a duration: write 90s, 5m or 1h");
            }
            value = *duration;
          },
          description)
      ->type_name("TIME")
      ->default_str(FormatDuration(value))
      ->envname("MINDGATE_" + variable);
}

}  // namespace

StopOnSignal::StopOnSignal()
    : signals_(CatchStopSignals()), watch_([this](const std::stop_token& end) {
        while (!end.stop_requested()) {
          pollfd signal{.fd = signals_.get(), .events = POLLIN, .revents = 0};
          if (::poll(&signal, 1, kLookMs) == 0) continue;
          stop_.request_stop();
          return;
        }
      }) {}

deploy::Progress ProgressPrinter::progress() {
  return {.step = [this](const std::string& line) { Step(line); },
          .waiting = [this](const deploy::Health& health) { Waiting(health); }};
}

void ProgressPrinter::Step(const std::string& line) {
  if (quiet_) return;
  EndLine();
  io_.out << line << std::endl;
}

void ProgressPrinter::Waiting(const deploy::Health& health) {
  const std::string summary = "waiting: " + SummaryOf(health);
  if (quiet_ || summary == shown_) return;
  shown_ = summary;
  if (io_.out_is_terminal) {
    io_.out << EmptyLine << Cut(summary, io_.width - 1) << std::flush;
    open_ = true;
  } else {
    io_.out << summary << std::endl;
  }
}

void ProgressPrinter::EndLine() {
  if (open_) io_.out << std::endl;
  open_ = false;
}

int PrintKubeFault(const kube::Fault& fault, Streams& io) {
  PrintError(io.err, fault.message);
  return fault.reason == kube::Reason::kForbidden ? kExitBlocked : kExitUnusable;
}

std::string HolderName() {
  std::string user = kube::Environment("USER");
  if (user.empty()) user = "uid " + std::to_string(::getuid());
  constexpr size_t kMostUser = 64;
  return user.substr(0, kMostUser) + "@" + kube::HostName() + "/" + std::to_string(::getpid());
}

std::optional<int> TakeHold(deploy::Hold& hold, const std::string& app, const std::string& ns,
                            std::chrono::seconds limit, bool& waited, Streams& io,
                            const std::stop_token& stop) {
  using How = deploy::Hold::Taken::How;
  const auto by = [&](const deploy::Hold::Taken& other) {
    return "application " + app + " in namespace " + ns + " is being changed by " + other.who +
           " since " + other.since;
  };
  const auto taken = hold.Take(
      limit,
      [&](const deploy::Hold::Taken& other) {
        waited = true;
        io.err << "note: " << by(other) << "; waiting for it" << std::endl;
      },
      stop);
  switch (taken.how) {
    case How::kHeld:
      return std::nullopt;
    case How::kUnprotected:
      io.err << "note: nothing keeps others from changing application " << app
             << " at the same time, since Lease " << hold.name()
             << " cannot be written: " << taken.why << "\n";
      return std::nullopt;
    case How::kByAnother:
      PrintError(io.err, by(taken),
                 "wait for it with --wait-for-lock 10m; of a run that was killed, Lease " +
                     hold.name() + " counts for nothing after " +
                     FormatDuration(deploy::Hold::kHoldTime));
      return limit.count() > 0 ? kExitTimedOut : kExitBlocked;
    case How::kFailed:
      PrintError(io.err, taken.why);
      return kExitUnusable;
    case How::kStopped:
      PrintError(io.err, "interrupted; nothing was changed");
      return kExitDenied;
  }
  return kExitDenied;
}

std::string LeftText(const deploy::ApplyResult& result, const std::string& word) {
  constexpr size_t kMost = 5;
  if (result.left.empty()) return "";
  const size_t all = result.written + result.left.size();
  return std::to_string(result.written) + " of " + std::to_string(all) + " objects are " + word +
         ", not yet: " + JoinFirst(result.left, kMost);
}

void AddWaitForLock(CLI::App& command, std::chrono::seconds& limit, const std::string& variable) {
  AddDuration(command, "--wait-for-lock", limit,
              "How long to wait for another run that changes the application; 0s refuses at once",
              variable);
}

int ExitCodeOf(deploy::Outcome outcome) {
  switch (outcome) {
    case deploy::Outcome::kDone:
      return kExitDone;
    case deploy::Outcome::kFailed:
      return kExitDenied;
    case deploy::Outcome::kTimedOut:
      return kExitTimedOut;
  }
  return kExitDenied;
}

void AddTimeout(CLI::App& command, std::chrono::seconds& timeout, const std::string& description,
                const std::string& variable) {
  AddDuration(command, "--timeout", timeout, description, variable);
}

}  // namespace mindgate::cli
