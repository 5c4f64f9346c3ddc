#include "cli/console/session.h"

#include <pthread.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <array>
#include <cerrno>
#include <csignal>
#include <random>
#include <set>
#include <utility>

#include "base/result.h"
#include "base/text.h"
#include "base/threads.h"
#include "base/version.h"
#include "cli/console/flags.h"
#include "kube/subprocess.h"
#include "watcher/frame/leader_client.h"

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

namespace {

// Limit of remembered texts. Beyond it the memory is cleared, and texts may repeat.
constexpr size_t kMaxWarnings = 1000;

// Passes each text on once.
WarningSink Once(WarningSink sink) {
  struct Seen {
    Mutex mutex;
    std::set<std::string> texts;
  };
  return [seen = std::make_shared<Seen>(), sink = std::move(sink)](const std::string& text) {
    const MutexLock lock(seen->mutex);
    if (seen->texts.size() >= kMaxWarnings) seen->texts.clear();
    if (seen->texts.insert(text).second) sink(text);
  };
}

// Escapes control characters: the text is untrusted.
std::string Plain(std::string_view text) {
  std::string plain;
  while (!text.empty()) {
    const size_t length = Utf8Length(text);
    const std::string_view character = text.substr(0, std::max<size_t>(length, 1));
    const bool safe = length > 0 && !IsControl(character);
    plain += safe ? std::string(character) : HexEscaped(character);
    text.remove_prefix(character.size());
  }
  return plain;
}

kube::ClientOptions WithTimeout(kube::ClientOptions options, const kube::Access& access) {
  if (access.request_timeout) options.timeout = *access.request_timeout;
  return options;
}

}  // namespace

WarningSink PrintWarnings(std::ostream& err) {
  return Once([&err](const std::string& text) { err << "Warning: " << Plain(text) << std::endl; });
}

WarningSink LogWarnings(log::Logger& logger) {
  return Once([&logger](const std::string& text) {
    logger.Warning("warning from the API server", {{"warning", text}});
  });
}

Connection::Connection(const kube::Access& access, kube::ClientOptions options,
                       WarningSink warnings)
    : ns_(access.default_namespace),
      transport_(kube::MakeTransport(access, UserAgent())),
      client_(*transport_, sleeper_, WithTimeout(options, access)) {
  client_.OnWarning(std::move(warnings));
}

kube::ClientOptions ForPeople() { return {.retries = 1, .timeout = std::chrono::seconds(15)}; }

std::unique_ptr<Connection> Connect(const kube::AccessFlags& flags, const Clock& clock,
                                    const kube::ClientOptions& options, Streams& io) {
  auto access = kube::FindAccess(flags, clock);
  if (!access) {
    PrintError(io.err, access.error().message);
    return nullptr;
  }
  return std::make_unique<Connection>(*access, options, PrintWarnings(io.err));
}

namespace {

std::string Identity() {
  std::random_device random;
  return kube::HostName() + "_" + std::to_string(random());
}

}  // namespace

void AddLeadershipFlags(CLI::App& command, LeadershipOptions& options) {
  AddSwitch(command, "--leader-elect", options.elect,
            "Use leader election: only the replica that holds the Lease acts", "LEADER_ELECT");
  AddFlag(command, "--lease", options.lease, "Name of the Lease, in the same namespace", "LEASE",
          "NAME");
  AddFlag(command, "--identity", options.identity,
          "Identity of this replica in the Lease (default: the host name and a random number)",
          "IDENTITY", "NAME");
}

ConnectedLeadership::ConnectedLeadership(const kube::Access& access,
                                         const LeadershipOptions& options, const Clock& clock,
                                         log::Logger& logger)
    : connection_(access, watcher::LeaderClient::kOptions, LogWarnings(logger)),
      leadership_(connection_.client(), connection_.sleeper(), clock, logger,
                  {.elect = options.elect,
                   .ns = access.default_namespace,
                   .lease = options.lease,
                   .identity = options.identity.empty() ? Identity() : options.identity},
                  std::random_device()()) {}

}  // namespace mindgate::cli
