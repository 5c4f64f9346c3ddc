#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "base/clock.h"
#include "base/file_descriptor.h"
#include "webhook/connection.h"

namespace mindgate::webhook {

class EventLoop;

// Where the answer to one request goes. Cheap to copy; must not outlive the loop nor its budget,
// which counts the request's bytes until the last copy has gone.
class Responder {
 public:
  Responder(EventLoop& loop, uint64_t connection, uint64_t sequence, ByteLease bytes)
      : loop_(&loop),
        connection_(connection),
        sequence_(sequence),
        bytes_(std::make_shared<const ByteLease>(std::move(bytes))) {}

  // From any thread. An answer to a connection that has gone, or that came after its deadline, is
  // dropped.
  void Send(Response response) const;

 private:
  EventLoop* loop_;
  uint64_t connection_;
  uint64_t sequence_;
  std::shared_ptr<const ByteLease> bytes_;
};

// One thread with its own epoll set and its own connections: no connection is ever touched by two
// threads, so none needs a lock, and an idle one costs its memory and nothing else. Edge-triggered:
// one epoll_ctl in the life of a connection instead of two per request (EPOLLONESHOT would need
// them), at the price that each is driven until its socket has nothing more.
class EventLoop {
 public:
  // Called in the loop's thread; must not block. `deadline` is when the connection gives up.
  using Handler =
      std::function<void(Request request, Clock::Instant deadline, Responder responder)>;
  // Null refuses the connection.
  using MakeTransport = std::function<std::unique_ptr<Transport>(FileDescriptor socket)>;

  struct Options {
    std::string name;
    size_t max_connections = 1024;
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
  void Adopt(FileDescriptor socket);
  void Send(uint64_t connection, uint64_t sequence, Response response);
  void Run(std::function<void()> task);
  void Wake();
  // Ends connections that have been idle for that long.
  void CloseIdle(std::chrono::milliseconds idle_for);

  // Connections of this loop, those still to be adopted included.
  size_t load() const { return load_; }

  // In the loop's thread. Ends the connection that is least of a loss: the oldest of those that
  // never brought a request, else the one that has been idle longest. False when all are busy.
  bool EvictOne();

 private:
  using Instant = Clock::Instant;

  struct Entry {
    std::unique_ptr<Connection> connection;
    Instant timer;        // where timers_ has it; never later than its deadline
    bool queued = false;  // in again_
  };
  using Entries = std::unordered_map<uint64_t, Entry>;

  void Loop();
  void RunTasks();
  void Open(FileDescriptor socket);
  void OnEvent(uint64_t id, uint32_t events);
  void Follow(Entries::iterator entry, Connection::Next next);
  void Close(Entries::iterator entry);
  void FireTimers();
  int Timeout() const;

  const Options options_;
  FileDescriptor epoll_;
  FileDescriptor wake_;

  // In the loop's thread only.
  Entries entries_;
  std::set<std::pair<Instant, uint64_t>> timers_;
  std::deque<uint64_t> again_;
  std::function<void()> watched_;
  uint64_t next_id_;
  Instant now_;

  std::atomic<size_t> load_{0};
  std::atomic<bool> stop_{false};
  std::mutex mutex_;
  std::vector<std::function<void()>> tasks_;  // guarded by mutex_
  std::jthread thread_;
};

}  // namespace mindgate::webhook
