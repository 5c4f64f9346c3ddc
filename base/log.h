#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "base/time.h"

// Structured logs: one line, one event, with named fields. Values from outside are escaped, so that
// no request can forge a line.
namespace mindgate::log {

enum class Level { kDebug, kInfo, kWarning, kError };
enum class Format { kJson, kText };

struct Field {
  std::string_view key;  // a constant of ours: letters and underscores
  std::variant<std::string_view, int64_t, double, bool> value;
};

// Safe from many threads.
class Logger {
 public:
  // To standard error; standard output belongs to results.
  Logger(Format format, Level level, const Clock& clock);
  // To `sink`, a whole line with its end at a time; for tests.
  Logger(Format format, Level level, const Clock& clock,
         std::function<void(std::string_view line)> sink);
  ~Logger();

  bool Wants(Level level) const { return level >= level_; }
  void Log(Level level, std::string_view message, std::span<const Field> fields);
  void Log(Level level, std::string_view message, std::initializer_list<Field> fields = {}) {
    Log(level, message, std::span(fields.begin(), fields.size()));
  }

  void Debug(std::string_view message, std::initializer_list<Field> fields = {}) {
    Log(Level::kDebug, message, fields);
  }
  void Info(std::string_view message, std::initializer_list<Field> fields = {}) {
    Log(Level::kInfo, message, fields);
  }
  void Warning(std::string_view message, std::initializer_list<Field> fields = {}) {
    Log(Level::kWarning, message, fields);
  }
  void Error(std::string_view message, std::initializer_list<Field> fields = {}) {
    Log(Level::kError, message, fields);
  }

 private:
  struct Backend;
  const Format format_;
  const Level level_;
  const Clock& clock_;
  std::unique_ptr<Backend> backend_;
};

// Lets the first `first` events of each second through, then every `every`th. Safe from many
// threads.
class Sampler {
 public:
  Sampler(uint64_t first, uint64_t every, const Clock& clock);
  ~Sampler();
  bool Admit();

 private:
  struct State;
  const uint64_t first_;
  const uint64_t every_;
  const Clock& clock_;
  std::unique_ptr<State> state_;
};

}  // namespace mindgate::log
