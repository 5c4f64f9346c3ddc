#include "cli/console/service.h"

#include <pthread.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>

namespace mindgate::cli {

log::Format FormatOf(const LogOptions& options) {
  return options.format == "text" ? log::Format::kText : log::Format::kJson;
}

log::Level LevelOf(const LogOptions& options) {
  if (options.level == "debug") return log::Level::kDebug;
  if (options.level == "warning") return log::Level::kWarning;
  if (options.level == "error") return log::Level::kError;
  return log::Level::kInfo;
}

FileDescriptor CatchStopSignals() {
  sigset_t stop;
  sigemptyset(&stop);
  sigaddset(&stop, SIGTERM);
  sigaddset(&stop, SIGINT);
  ::pthread_sigmask(SIG_BLOCK, &stop, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
  return FileDescriptor(::signalfd(-1, &stop, SFD_CLOEXEC));
}

bool AwaitStopSignal(int signals) {
  std::array<char, sizeof(signalfd_siginfo)> signal;
  ssize_t size = 0;
  do {
    size = ::read(signals, signal.data(), signal.size());
  } while (size < 0 && errno == EINTR);
  return size > 0;
}

}  // namespace mindgate::cli
