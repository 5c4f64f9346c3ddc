#pragma once

#include <sys/epoll.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "base/files.h"
#include "base/threads.h"
#include "base/time.h"
#include "http/connection.h"

namespace mindgate::http {

class EventLoop;

// Where the answer to one request goes, if it is not given at once. Must not outlive the loop nor
// its budget, which counts the request's bytes as long as this is there.
class Responder {
 public:
  Responder(EventLoop& loop, uint64_t connection, uint64_t sequence, ByteLease bytes)
      : loop_(&loop), connection_(connection), sequence_(sequence), bytes_(std::move(bytes)) {}

  // From any thread, once. An answer to a connection that has gone, or that came after its
  // deadline, is dropped.
  void Send(Response response) const;

 private:
  EventLoop* loop_;
  uint64_t connection_;
  uint64_t sequence_;
  ByteLease bytes_;
};

// When a request came, and into what.
struct Arrival {
  Clock::Instant at;
  Clock::Instant deadline;           // when the connection gives up
  bool others_wait = false;          // other connections have their turn after this request
  std::chrono::nanoseconds busy{0};  // since the loop last polled its sockets
};

// One thread with its own epoll set and its own connections: no connection is ever touched by two
// threads, so none needs a lock, and an idle one costs its memory and nothing else. Edge-triggered:
// one epoll_ctl in the life of a connection instead of two per request (EPOLLONESHOT would need
// them), at the price that each is driven until its socket has nothing more.
class EventLoop {
 public:
  // Called in the loop's thread, whose other connections wait meanwhile: answers at once, which
  // costs no hand-over between threads, or returns nothing and sends the answer later.
  using Handler = std::function<std::optional<Response>(Request request, const Arrival& arrival,
                                                        Responder responder)>;
  // Null refuses the connection.
  using MakeTransport = std::function<std::unique_ptr<Transport>(FileDescriptor socket)>;

  struct Options {
    std::string name;
    size_t max_connections = 1024;
    size_t max_handshakes = 128;
    const ConnectionSettings* settings = nullptr;
    ByteBudget* budget = nullptr;
    LayerStats* stats = nullptr;
    const Clock* clock = nullptr;
    Handler handler;
    MakeTransport make_transport;
  };

  explicit EventLoop(Options options);
  ~EventLoop();  // stops

  // Before Start: `ready` is called in the loop's thread whenever `fd` is readable.
  void Watch(int fd, std::function<void()> ready);
  void Start();
  // Ends the thread and closes all connections. Safe to call twice.
  void Stop();

  // From any thread.
  void Adopt(FileDescriptor socket, const PeerAddress& peer);
  void Send(uint64_t connection, uint64_t sequence, Response response);
  void Run(std::function<void()> task);
  void Wake();
  // Ends connections that have been idle for that long.
  void CloseIdle(std::chrono::milliseconds idle_for);

  // Connections of this loop, those still to be adopted included.
  size_t load() const { return load_; }

  // How long the thread has been at work without looking at its sockets; 0 while it waits for them.
  // From any thread.
  std::chrono::nanoseconds BusyFor(Clock::Instant now) const;

  // In the loop's thread. Ends the connection that is least of a loss (EvictionOrder). False when
  // all are busy.
  bool EvictOne();

 private:
  using Instant = Clock::Instant;

  struct Entry {
    std::unique_ptr<Connection> connection;
    Instant timer;          // where timers_ has it; never later than its deadline
    bool queued = false;    // in again_
    bool complete = false;  // with a request that has yet to be dispatched
  };
  struct Sent {
    uint64_t connection;
    uint64_t sequence;
    Response response;
  };
  using Entries = std::unordered_map<uint64_t, Entry>;

  void Loop();
  int Await(std::span<epoll_event> events);
  // Whether the thread must be woken for a message that was just left.
  bool MustWake() REQUIRES(mutex_) { return std::exchange(asleep_, false); }
  void TakeMessages();
  void DriveAgain();
  void Open(FileDescriptor socket, const PeerAddress& peer);
  bool Evict(uint64_t id);
  void UpdateEvictionRank(Entries::iterator entry);
  void OnEvent(uint64_t id, uint32_t events);
  void Follow(Entries::iterator entry, Connection::Next next);
  Connection::Next Dispatch(Entries::iterator entry);
  void Close(Entries::iterator entry);
  void FireTimers();
  int Timeout() const;

  const Options options_;
  FileDescriptor epoll_;
  FileDescriptor wake_;

  // In the loop's thread only.
  Entries entries_;
  EvictionOrder order_;
  std::set<std::pair<Instant, uint64_t>> timers_;
  std::deque<uint64_t> again_;
  std::function<void()> watched_;
  uint64_t next_id_;
  Instant now_;
  Instant looked_;    // when epoll last reported
  size_t ready_ = 0;  // connections that it reported and that have not had their turn

  static constexpr Instant::rep kAsleep = std::numeric_limits<Instant::rep>::min();
  std::atomic<Instant::rep> busy_since_{kAsleep};
  std::atomic<size_t> load_{0};
  std::atomic<bool> stop_{false};
  Mutex mutex_;
  bool asleep_ GUARDED_BY(mutex_) = false;
  std::vector<std::function<void()>> tasks_ GUARDED_BY(mutex_);
  std::vector<Sent> sent_ GUARDED_BY(mutex_);
  std::jthread thread_;
};

}  // namespace mindgate::http
