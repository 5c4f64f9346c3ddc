#pragma once

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <ctime>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "bench/tls_connection.h"

// A client that asks at fixed times, whether or not answers came: what an API server does, whose
// users do not wait for each other. One thread, so that it spoils no figures of a server on the
// other core.
namespace mindgate::bench {

struct OpenLoopResult {
  uint64_t answers = 0;
  uint64_t lost = 0;  // no 200 in time
  // Microseconds from the time when the request should have been sent.
  double p50 = 0;
  double p99 = 0;
  double max = 0;
  // How late the client sent, when a connection was free: what it adds itself.
  double late_p99 = 0;
};

class OpenLoop {
 public:
  using Clock = std::chrono::steady_clock;

  // Opens the connections; for one run.
  OpenLoop(uint16_t port, std::string request, size_t connections)
      : context_(ClientContext()), request_(std::move(request)), epoll_(::epoll_create1(0)) {
    for (size_t i = 0; i < connections; ++i) {
      auto& slot = slots_.emplace_back(std::make_unique<Slot>(context_.get(), port));
      ::fcntl(slot->connection.socket(), F_SETFL, O_NONBLOCK);
      Watch(slot->connection.socket(), i, EPOLLIN, EPOLL_CTL_ADD);
      idle_.push_back(i);
    }
    open_ = connections;
  }
  ~OpenLoop() { ::close(epoll_); }
  OpenLoop(const OpenLoop&) = delete;
  OpenLoop& operator=(const OpenLoop&) = delete;

  // Connections are used in turn; when all are busy, a request waits for the first that is free,
  // and its time runs.
  OpenLoopResult Run(int per_second, std::chrono::milliseconds duration) {
    const auto interval = std::chrono::nanoseconds(1'000'000'000 / per_second);
    const auto total = static_cast<uint64_t>(duration / interval);
    const auto start = Clock::now() + std::chrono::milliseconds(10);
    const auto end = start + duration + kPatience;
    const int timer = StartTimer(start, interval);
    uint64_t due = 0;
    while (latencies_.size() + lost_ < total && Clock::now() < end && open_ > 0) {
      std::array<epoll_event, 64> events;
      const int count = ::epoll_wait(epoll_, events.data(), events.size(), 100);
      for (int i = 0; i < count; ++i) {
        const auto& event = events[static_cast<size_t>(i)];
        if (event.data.u64 == kTimer) {
          uint64_t ticks = 0;
          [[maybe_unused]] const auto size = ::read(timer, &ticks, sizeof ticks);
        } else {
          OnReady(event.data.u64);
        }
      }
      const auto now = Clock::now();
      for (; due < total && start + interval * due <= now; ++due) {
        waiting_.push_back(start + interval * due);
      }
      const bool enough = waiting_.size() <= idle_.size();
      while (!waiting_.empty() && !idle_.empty()) {
        if (enough) lateness_.push_back(Microseconds(now - waiting_.front()));
        Send(idle_.front(), waiting_.front());
        idle_.pop_front();
        waiting_.pop_front();
      }
    }
    ::close(timer);
    OpenLoopResult result;
    result.answers = latencies_.size();
    result.lost = total - result.answers;
    result.p50 = At(latencies_, 50);
    result.p99 = At(latencies_, 99);
    result.max = At(latencies_, 100);
    result.late_p99 = At(lateness_, 99);
    return result;
  }

 private:
  static constexpr uint64_t kTimer = UINT64_MAX;
  static constexpr std::chrono::seconds kPatience{5};  // for what is under way in the end

  struct Slot {
    Slot(SSL_CTX* context, uint16_t port) : connection(context, port) {}
    TlsConnection connection;
    HttpAnswer answer;
    Clock::time_point due;
    bool sending = false;  // part of the request
    bool waiting = false;  // for the answer
    bool full = false;     // epoll also says when there is room
  };

  static double Microseconds(Clock::duration duration) {
    return std::chrono::duration<double, std::micro>(duration).count();
  }

  static double At(std::vector<double>& values, size_t percent) {
    if (values.empty()) return 0;
    std::sort(values.begin(), values.end());
    return values[std::min(values.size() - 1, values.size() * percent / 100)];
  }

  int StartTimer(Clock::time_point start, std::chrono::nanoseconds interval) const {
    const int timer = ::timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    const auto parts = [](std::chrono::nanoseconds time) {
      return timespec{static_cast<time_t>(time.count() / 1'000'000'000),
                      static_cast<long>(time.count() % 1'000'000'000)};
    };
    // The steady clock of libstdc++ is CLOCK_MONOTONIC.
    const itimerspec when{parts(interval), parts(start.time_since_epoch())};
    ::timerfd_settime(timer, TFD_TIMER_ABSTIME, &when, nullptr);
    Watch(timer, kTimer, EPOLLIN, EPOLL_CTL_ADD);
    return timer;
  }

  void Watch(int fd, uint64_t slot, uint32_t events, int operation) const {
    epoll_event event{};
    event.events = events;
    event.data.u64 = slot;
    ::epoll_ctl(epoll_, operation, fd, &event);
  }

  void Send(size_t index, Clock::time_point due) {
    Slot& slot = *slots_[index];
    slot.due = due;
    slot.answer.Clear();
    slot.sending = true;
    Write(index);
  }

  void Write(size_t index) {
    Slot& slot = *slots_[index];
    SSL* ssl = slot.connection.ssl();
    const int written = SSL_write(ssl, request_.data(), static_cast<int>(request_.size()));
    const bool full = written <= 0 && SSL_get_error(ssl, written) == SSL_ERROR_WANT_WRITE;
    if (written <= 0 && !full) return Lose(index);
    if (full != slot.full) {
      Watch(slot.connection.socket(), index, full ? EPOLLIN | EPOLLOUT : EPOLLIN, EPOLL_CTL_MOD);
    }
    slot.full = full;
    slot.sending = full;
    slot.waiting = !full;
  }

  void OnReady(size_t index) {
    Slot& slot = *slots_[index];
    if (slot.sending) Write(index);
    char chunk[16384];
    for (;;) {
      SSL* ssl = slot.connection.ssl();
      const int count = SSL_read(ssl, chunk, sizeof chunk);
      if (count <= 0) {
        if (SSL_get_error(ssl, count) != SSL_ERROR_WANT_READ) Lose(index);
        return;
      }
      if (!slot.waiting || !slot.answer.Add({chunk, static_cast<size_t>(count)})) continue;
      slot.waiting = false;
      if (slot.answer.status() == 200) {
        latencies_.push_back(Microseconds(Clock::now() - slot.due));
      } else {
        ++lost_;
      }
      idle_.push_back(index);
    }
  }

  // The connection is gone, with the request that was on it.
  void Lose(size_t index) {
    Slot& slot = *slots_[index];
    if (slot.sending || slot.waiting) ++lost_;
    slot.sending = slot.waiting = false;
    std::erase(idle_, index);
    --open_;
    ::epoll_ctl(epoll_, EPOLL_CTL_DEL, slot.connection.socket(), nullptr);
  }

  SslContext context_;
  const std::string request_;
  const int epoll_;
  std::vector<std::unique_ptr<Slot>> slots_;
  std::deque<size_t> idle_;
  std::deque<Clock::time_point> waiting_;  // due, and no connection was free
  std::vector<double> latencies_;
  std::vector<double> lateness_;
  uint64_t lost_ = 0;
  size_t open_ = 0;  // connections
};

}  // namespace mindgate::bench
