#include "cli/app_run.h"

#include <poll.h>

#include <CLI/CLI.hpp>
#include <ostream>

#include "base/duration.h"
#include "base/text.h"
#include "base/thread.h"
#include "cli/deploy.h"
#include "cli/service.h"

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
    io_.out << kOwnMark << "\r\033[K" << Cut(summary, io_.width - 1) << std::flush;
    open_ = true;
  } else {
    io_.out << summary << std::endl;
  }
}

void ProgressPrinter::EndLine() {
  if (open_) io_.out << std::endl;
  open_ = false;
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
  command
      .add_option_function<std::string>(
          "--timeout",
          [&timeout](const std::string& text) {
            const auto duration = ParseDuration(text);
            if (!duration) {
              throw CLI::ValidationError("--timeout",
                                         Quote(text) + " is not a duration: write 90s, 5m or 1h");
            }
            timeout = *duration;
          },
          description)
      ->type_name("TIME")
      ->default_str(FormatDuration(timeout))
      ->envname("MINDGATE_" + variable);
}

}  // namespace mindgate::cli
