#include "cli/console/connection.h"

#include <set>
#include <utility>

#include "base/mutex.h"
#include "base/problem.h"
#include "base/text.h"
#include "base/version.h"

namespace mindgate::cli {
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

}  // namespace mindgate::cli
