#pragma once

#include <chrono>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>

#include "base/file_descriptor.h"
#include "cli/console/streams.h"
#include "deploy/apply.h"

namespace CLI {
class App;
}

// What `deploy` and `delete` share.
namespace mindgate::cli {

// Stops what it is asked to when SIGTERM or SIGINT comes, while it lives.
class StopOnSignal {
 public:
  StopOnSignal();

  std::stop_token token() const { return stop_.get_token(); }

 private:
  FileDescriptor signals_;
  std::stop_source stop_;
  std::jthread watch_;
};

// Prints steps line by line, and what is being waited for: on a terminal in a line that changes,
// else in a line for each change. With `quiet`, nothing.
class ProgressPrinter {
 public:
  ProgressPrinter(Streams& io, bool quiet) : io_(io), quiet_(quiet) {}
  ~ProgressPrinter() { EndLine(); }
  ProgressPrinter(const ProgressPrinter&) = delete;
  ProgressPrinter& operator=(const ProgressPrinter&) = delete;

  // Refers to this.
  deploy::Progress progress();

 private:
  void Step(const std::string& line);
  void Waiting(const deploy::Health& health);
  void EndLine();

  Streams& io_;
  const bool quiet_;
  std::string shown_;  // the line that changes
  bool open_ = false;  // it has no end yet
};

// Prints why a call failed: kExitBlocked where a right is missing, else kExitUnusable.
int PrintKubeFault(const kube::Fault& fault, Streams& io);

// Who runs the command, for others who wait for its end: "alice@build-7/4711", a user, a machine
// and a process.
std::string HolderName();

// Takes the hold on an application, waiting at most `limit` for whoever has it. The exit code when
// the command must end, after the reason was printed; nothing: it goes on. `waited` says whether
// another one may have changed the application meanwhile.
std::optional<int> TakeHold(deploy::Hold& hold, const std::string& app, const std::string& ns,
                            std::chrono::seconds limit, bool& waited, Streams& io,
                            const std::stop_token& stop);

// What a failure leaves: "2 of 6 objects are written, not yet: Service chat-router, ...". Empty:
// there is nothing to say.
std::string LeftText(const deploy::ApplyResult& result, const std::string& word);

// --wait-for-lock with the variable MINDGATE_`variable`.
void AddWaitForLock(CLI::App& command, std::chrono::seconds& limit, const std::string& variable);

// kExitDone, kExitDenied or kExitTimedOut.
int ExitCodeOf(deploy::Outcome outcome);

// --timeout with the variable MINDGATE_`variable`: "90s", "10m".
void AddTimeout(CLI::App& command, std::chrono::seconds& timeout, const std::string& description,
                const std::string& variable);

}  // namespace mindgate::cli
