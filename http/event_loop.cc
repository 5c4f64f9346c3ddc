#include "http/event_loop.h"

#include <sys/eventfd.h>

#include <algorithm>
#include <array>
#include <system_error>
#include <utility>

#include "base/threads.h"

namespace mindgate::http {
namespace {

constexpr uint64_t kWakeId = 0;
constexpr uint64_t kWatchedId = 1;
constexpr uint64_t kFirstConnection = 2;

constexpr int kEvictionAttempts = 4;

bool IsConnection(uint64_t id) { return id >= kFirstConnection; }

bool Add(int epoll, int fd, uint32_t events, uint64_t id) {
  epoll_event event{};
  event.events = events;
  event.data.u64 = id;
  return ::epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) == 0;
}

}  // namespace

void Responder::Send(Response response) const {
  loop_->Send(connection_, sequence_, std::move(response));
}

EventLoop::EventLoop(Options options)
    : options_(std::move(options)),
      epoll_(::epoll_create1(EPOLL_CLOEXEC)),
      wake_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)),
      next_id_(kFirstConnection),
      now_(options_.clock->Now()),
      looked_(now_) {
  if (!epoll_.valid() || !wake_.valid() ||
      !Add(epoll_.get(), wake_.get(), EPOLLIN | EPOLLET, kWakeId)) {
    throw std::system_error(errno, std::system_category(), "cannot set up an event loop");
  }
}

EventLoop::~EventLoop() { Stop(); }

void EventLoop::Watch(int fd, std::function<void()> ready) {
  watched_ = std::move(ready);
  if (!Add(epoll_.get(), fd, EPOLLIN, kWatchedId)) {
    throw std::system_error(errno, std::system_category(), "cannot watch the listener");
  }
}

void EventLoop::Start() {
  thread_ = StartThread(options_.name, [this] { Loop(); });
}

void EventLoop::Stop() {
  stop_ = true;
  Wake();
  if (thread_.joinable()) thread_.join();
  entries_.clear();
  // Tasks that came too late hold sockets.
  const MutexLock lock(mutex_);
  tasks_.clear();
}

void EventLoop::Wake() {
  const uint64_t one = 1;
  // Cannot fail but by overflow, when it is awake anyway.
  [[maybe_unused]] const ssize_t written = ::write(wake_.get(), &one, sizeof one);
}

void EventLoop::Run(std::function<void()> task) {
  MutexLock lock(mutex_);
  tasks_.push_back(std::move(task));
  const bool must_wake = MustWake();
  lock.Unlock();
  if (must_wake) Wake();
}

void EventLoop::Adopt(FileDescriptor socket, const PeerAddress& peer) {
  ++load_;
  // std::function wants its captures copyable.
  auto shared = std::make_shared<FileDescriptor>(std::move(socket));
  Run([this, shared, peer] { Open(std::move(*shared), peer); });
}

void EventLoop::Send(uint64_t connection, uint64_t sequence, Response response) {
  MutexLock lock(mutex_);
  sent_.push_back({connection, sequence, std::move(response)});
  const bool must_wake = MustWake();
  lock.Unlock();
  if (must_wake) Wake();
}

void EventLoop::CloseIdle(std::chrono::milliseconds idle_for) {
  Run([this, idle_for] {
    std::vector<uint64_t> idle;
    for (const auto& [id, entry] : entries_) {
      const Connection& connection = *entry.connection;
      if (connection.phase() == Phase::kIdle && connection.since() + idle_for <= now_) {
        idle.push_back(id);
      }
    }
    for (const uint64_t id : idle) {
      const auto entry = entries_.find(id);
      Follow(entry, entry->second.connection->CloseIdle(now_));
    }
  });
}

std::chrono::nanoseconds EventLoop::BusyFor(Instant now) const {
  const Instant::rep since = busy_since_;
  if (since == kAsleep) return {};
  return now - Instant(Instant::duration(since));
}

void EventLoop::Loop() {
  std::array<epoll_event, 256> events;
  while (!stop_) {
    const std::span got(events.data(), static_cast<size_t>(Await(events)));
    looked_ = now_ = options_.clock->Now();
    busy_since_ = now_.time_since_epoch().count();
    ready_ = static_cast<size_t>(std::count_if(
        got.begin(), got.end(), [](const auto& event) { return IsConnection(event.data.u64); }));
    // First, for these are done but for the sending.
    TakeMessages();
    for (const epoll_event& event : got) {
      if (IsConnection(event.data.u64)) --ready_;
      OnEvent(event.data.u64, event.events);
    }
    DriveAgain();
    FireTimers();
  }
}

int EventLoop::Await(std::span<epoll_event> events) {
  int timeout = Timeout();
  busy_since_ = kAsleep;
  {
    const MutexLock lock(mutex_);
    if (!tasks_.empty() || !sent_.empty()) timeout = 0;
    asleep_ = timeout != 0;
  }
  const int count =
      ::epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), timeout);
  return std::max(count, 0);
}

void EventLoop::TakeMessages() {
  std::vector<Sent> sent;
  std::vector<std::function<void()>> tasks;
  {
    const MutexLock lock(mutex_);
    asleep_ = false;
    sent.swap(sent_);
    tasks.swap(tasks_);
  }
  ready_ += sent.size();
  for (Sent& answer : sent) {
    --ready_;
    const auto entry = entries_.find(answer.connection);
    if (entry == entries_.end()) continue;
    Follow(entry,
           entry->second.connection->OnAnswer(answer.sequence, std::move(answer.response), now_));
  }
  for (const auto& task : tasks) task();
}

// Those of one round only: whoever is put back waits for the sockets' turn.
void EventLoop::DriveAgain() {
  for (size_t rest = again_.size(); rest > 0; --rest) {
    const uint64_t id = again_.front();
    again_.pop_front();
    const auto entry = entries_.find(id);
    if (entry == entries_.end()) continue;
    entry->second.queued = false;
    Connection& connection = *entry->second.connection;
    // Its deadline may have come first.
    const bool complete =
        std::exchange(entry->second.complete, false) && connection.phase() == Phase::kExecuting;
    Follow(entry, complete ? Connection::Next::kDispatch : connection.Drive(now_));
  }
}

void EventLoop::OnEvent(uint64_t id, uint32_t events) {
  if (id == kWakeId) return;  // each write is an edge; its count is of no interest
  if (id == kWatchedId) return watched_();
  const auto entry = entries_.find(id);
  if (entry == entries_.end()) return;
  Connection& connection = *entry->second.connection;
  // Reset by the peer: nobody is left to answer.
  const bool gone = (events & (EPOLLERR | EPOLLHUP)) != 0;
  if (gone && connection.phase() == Phase::kExecuting) return Close(entry);
  connection.OnReady(gone || (events & EPOLLRDHUP) != 0);
  Follow(entry, connection.Drive(now_));
}

void EventLoop::Open(FileDescriptor socket, const PeerAddress& peer) {
  if (entries_.size() >= options_.max_connections && !EvictOne()) {
    options_.stats->Add(Drop::kOverCap);
    --load_;
    return;
  }
  const int fd = socket.get();
  std::unique_ptr<Transport> transport = options_.make_transport(std::move(socket));
  if (transport == nullptr) {
    --load_;
    return;
  }
  const uint64_t id = next_id_++;
  auto connection = std::make_unique<Connection>(std::move(transport), *options_.settings,
                                                 *options_.budget, *options_.stats, now_);
  const Instant deadline = connection->deadline();
  const auto entry = entries_.emplace(id, Entry{std::move(connection), deadline}).first;
  timers_.emplace(deadline, id);
  order_.Add(id, peer, now_);
  ++options_.stats->accepted;
  // The kernel limits watches per user.
  if (!Add(epoll_.get(), fd, EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, id)) {
    options_.stats->Add(Drop::kNoDescriptor);
    return Close(entry);
  }
  Follow(entry, entry->second.connection->Drive(now_));
}

void EventLoop::Follow(Entries::iterator entry, Connection::Next next) {
  if (next == Connection::Next::kDispatch) next = Dispatch(entry);
  Connection& connection = *entry->second.connection;
  const uint64_t id = entry->first;
  UpdateEvictionRank(entry);
  // A deadline that moved later is found out when the old one fires.
  if (connection.deadline() < entry->second.timer) {
    timers_.erase({entry->second.timer, id});
    entry->second.timer = connection.deadline();
    timers_.emplace(entry->second.timer, id);
  }
  switch (next) {
    case Connection::Next::kWait:
      return;
    case Connection::Next::kDispatch:
      // It has just been answered: others first.
      entry->second.complete = true;
      [[fallthrough]];
    case Connection::Next::kAgain:
      if (!std::exchange(entry->second.queued, true)) again_.push_back(id);
      return;
    case Connection::Next::kClose:
      return Close(entry);
  }
}

Connection::Next EventLoop::Dispatch(Entries::iterator entry) {
  Connection& connection = *entry->second.connection;
  const uint64_t sequence = connection.sequence();
  Connection::Taken taken = connection.TakeRequest();
  const Arrival arrival{looked_, connection.deadline(), ready_ + again_.size() > 0,
                        options_.clock->Now() - looked_};
  std::optional<Response> response =
      options_.handler(std::move(taken.request), arrival,
                       Responder(*this, entry->first, sequence, std::move(taken.bytes)));
  if (!response) return Connection::Next::kWait;
  now_ = options_.clock->Now();
  return connection.OnAnswer(sequence, *std::move(response), now_);
}

// Handshakes take memory before it is known whose they are: when there are as many as may be, one
// makes room for the next. It is closed before `entry` is among them, and so never `entry` itself,
// which the caller goes on with.
void EventLoop::UpdateEvictionRank(Entries::iterator entry) {
  const Stage stage = entry->second.connection->stage();
  const bool begins = stage == Stage::kHandshake && order_.StageOf(entry->first) != stage;
  if (begins && order_.handshakes() >= options_.max_handshakes) {
    options_.stats->Add(Drop::kHandshakeCap);
    Close(entries_.find(*order_.NextHandshake()));
  }
  order_.Set(entry->first, stage, now_);
}

void EventLoop::Close(Entries::iterator entry) {
  order_.Remove(entry->first);
  timers_.erase({entry->second.timer, entry->first});
  entries_.erase(entry);  // closing the socket takes it out of epoll
  --load_;
}

bool EventLoop::EvictOne() {
  // One that wakes up at this very moment is served instead.
  for (int attempt = 0; attempt < kEvictionAttempts; ++attempt) {
    const auto id = order_.Next(now_);
    if (!id) return false;
    if (Evict(*id)) return true;
  }
  return false;
}

bool EventLoop::Evict(uint64_t id) {
  const auto victim = entries_.find(id);
  Connection& connection = *victim->second.connection;
  if (connection.phase() == Phase::kIdle) {
    const Connection::Next next = connection.CloseIdle(now_);
    if (connection.phase() == Phase::kExecuting || connection.phase() == Phase::kReading) {
      Follow(victim, next);
      return false;
    }
  }
  options_.stats->Add(Drop::kEvicted);
  Close(victim);
  return true;
}

void EventLoop::FireTimers() {
  while (!timers_.empty() && timers_.begin()->first <= now_) {
    const uint64_t id = timers_.begin()->second;
    timers_.erase(timers_.begin());
    const auto entry = entries_.find(id);
    const Connection::Next next = entry->second.connection->deadline() <= now_
                                      ? entry->second.connection->OnDeadline(now_)
                                      : Connection::Next::kWait;
    // Back among the timers before anything is done with it: closing takes it out again. A deadline
    // that stands although it has passed is handled in the next round, not in this one.
    entry->second.timer =
        std::max(entry->second.connection->deadline(), now_ + std::chrono::milliseconds(1));
    timers_.emplace(entry->second.timer, id);
    Follow(entry, next);
  }
}

int EventLoop::Timeout() const {
  if (!again_.empty()) return 0;
  if (timers_.empty()) return -1;
  const auto left = timers_.begin()->first - options_.clock->Now();
  // Up, so as not to wake just before the deadline; never more than a minute, far under what
  // overflows.
  const auto ms = std::chrono::ceil<std::chrono::milliseconds>(left).count();
  return static_cast<int>(std::clamp<int64_t>(ms, 0, 60'000));
}

}  // namespace mindgate::http
