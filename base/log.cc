#include "base/log.h"

#include <fmt/format.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <mutex>
#include <utility>

#include "base/foreign_text.h"
#include "base/text.h"
#include "base/threads.h"

namespace mindgate::log {
namespace {

std::string_view LevelName(Level level) {
  switch (level) {
    case Level::kDebug:
      return "debug";
    case Level::kInfo:
      return "info";
    case Level::kWarning:
      return "warning";
    case Level::kError:
      return "error";
  }
  return "error";
}

spdlog::level::level_enum SpdlogLevel(Level level) {
  switch (level) {
    case Level::kDebug:
      return spdlog::level::debug;
    case Level::kInfo:
      return spdlog::level::info;
    case Level::kWarning:
      return spdlog::level::warn;
    case Level::kError:
      return spdlog::level::err;
  }
  return spdlog::level::err;
}

// In double quotes, as JSON has it; a byte that is not UTF-8 becomes U+FFFD, and what may act on
// the terminal that shows the log is escaped.
void AppendQuoted(std::string& line, std::string_view text) {
  line += '"';
  while (!text.empty()) {
    const size_t size = Utf8Length(text);
    const auto byte = static_cast<unsigned char>(text.front());
    if (size == 0) {
      line += "\\ufffd";
    } else if (byte < 0x20 || byte == 0x7f) {
      line += fmt::format("\\u{:04x}", byte);
    } else if (size > 1 && IsUnsafe(text.substr(0, size))) {
      line += Escaped(text.substr(0, size));
    } else {
      if (byte == '"' || byte == '\\') line += '\\';
      line += text.substr(0, size);
    }
    text.remove_prefix(std::max<size_t>(size, 1));
  }
  line += '"';
}

void AppendValue(std::string& line, const Field& field) {
  if (const auto* text = std::get_if<std::string_view>(&field.value)) {
    AppendQuoted(line, *text);
  } else if (const auto* integer = std::get_if<int64_t>(&field.value)) {
    line += std::to_string(*integer);
  } else if (const auto* number = std::get_if<double>(&field.value)) {
    line += fmt::format("{:.6g}", *number);
  } else {
    line += std::get<bool>(field.value) ? "true" : "false";
  }
}

std::string JsonLine(const std::string& time, Level level, std::string_view message,
                     std::span<const Field> fields) {
  std::string line = R"({"time":")" + time + R"(","level":")";
  line += LevelName(level);
  line += R"(","message":)";
  AppendQuoted(line, message);
  for (const Field& field : fields) {
    line += ",\"";
    line += field.key;
    line += "\":";
    AppendValue(line, field);
  }
  return line + "}";
}

std::string TextLine(const std::string& time, Level level, std::string_view message,
                     std::span<const Field> fields) {
  std::string line = time + " ";
  line += LevelName(level);
  line += " ";
  std::string quoted;
  AppendQuoted(quoted, message);
  line += std::string_view(quoted).substr(1, quoted.size() - 2);
  for (const Field& field : fields) {
    line += " ";
    line += field.key;
    line += "=";
    AppendValue(line, field);
  }
  return line;
}

// The line is complete already: a pattern would not escape what it inserts.
class Verbatim final : public spdlog::formatter {
 public:
  void format(const spdlog::details::log_msg& message, spdlog::memory_buf_t& to) override {
    to.append(message.payload.data(), message.payload.data() + message.payload.size());
    to.push_back('\n');
  }
  std::unique_ptr<formatter> clone() const override { return std::make_unique<Verbatim>(); }
};

class CallbackSink final : public spdlog::sinks::base_sink<std::mutex> {
 public:
  explicit CallbackSink(std::function<void(std::string_view)> callback)
      : callback_(std::move(callback)) {}

 private:
  void sink_it_(const spdlog::details::log_msg& message) override {
    spdlog::memory_buf_t line;
    formatter_->format(message, line);
    callback_({line.data(), line.size()});
  }
  void flush_() override {}

  const std::function<void(std::string_view)> callback_;
};

}  // namespace

struct Logger::Backend {
  explicit Backend(spdlog::sink_ptr sink) : logger("mindgate", std::move(sink)) {
    logger.set_formatter(std::make_unique<Verbatim>());
    logger.set_level(spdlog::level::debug);
    logger.flush_on(spdlog::level::warn);
  }
  spdlog::logger logger;
};

Logger::Logger(Format format, Level level, const Clock& clock)
    : format_(format),
      level_(level),
      clock_(clock),
      backend_(std::make_unique<Backend>(std::make_shared<spdlog::sinks::stderr_sink_mt>())) {}

Logger::Logger(Format format, Level level, const Clock& clock,
               std::function<void(std::string_view line)> sink)
    : format_(format),
      level_(level),
      clock_(clock),
      backend_(std::make_unique<Backend>(std::make_shared<CallbackSink>(std::move(sink)))) {}

Logger::~Logger() = default;

void Logger::Log(Level level, std::string_view message, std::span<const Field> fields) {
  if (!Wants(level)) return;
  const std::string time = FormatTime(clock_.WallNow());
  const std::string line = format_ == Format::kJson ? JsonLine(time, level, message, fields)
                                                    : TextLine(time, level, message, fields);
  backend_->logger.log(SpdlogLevel(level), spdlog::string_view_t(line.data(), line.size()));
}

struct Sampler::State {
  Mutex mutex;
  int64_t second GUARDED_BY(mutex) = 0;
  uint64_t seen GUARDED_BY(mutex) = 0;
};

Sampler::Sampler(uint64_t first, uint64_t every, const Clock& clock)
    : first_(first), every_(every), clock_(clock), state_(std::make_unique<State>()) {}

Sampler::~Sampler() = default;

bool Sampler::Admit() {
  const auto second =
      std::chrono::floor<std::chrono::seconds>(clock_.Now().time_since_epoch()).count();
  const MutexLock lock(state_->mutex);
  if (second != state_->second) {
    state_->second = second;
    state_->seen = 0;
  }
  const uint64_t seen = state_->seen++;
  return seen < first_ || (seen - first_ + 1) % every_ == 0;
}

}  // namespace mindgate::log
