#pragma once

#include <cstddef>
#include <ostream>
#include <string>
#include <utility>

#include "cli/console/streams.h"

namespace mindgate::cli {

// A line that is written again and again, for whoever waits at a terminal.
class Progress {
 public:
  Progress(Streams& io, std::string what) : io_(io), what_(std::move(what)) {}
  ~Progress() {
    if (shown_) io_.err << EmptyLine << std::flush;
  }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void Show(size_t done, size_t of) {
    if (!io_.err_is_terminal || done % kEvery != 0) return;
    shown_ = true;
    io_.err << EmptyLine << what_ + ": " + std::to_string(done) + " of " + std::to_string(of)
            << std::flush;
  }

 private:
  static constexpr size_t kEvery = 100;  // small clusters are done before anybody can read

  Streams& io_;
  std::string what_;
  bool shown_ = false;
};

}  // namespace mindgate::cli
