#include "http/front_end.h"

#include <algorithm>
#include <utility>

namespace mindgate::http {
namespace {

// Connections taken before others of the loop have their turn.
constexpr int kAcceptBurst = 64;

}  // namespace

Result<std::unique_ptr<FrontEnd>> FrontEnd::Open(Options options) {
  auto listener = Listener::Open(options.listen);
  if (!listener) return tl::unexpected(std::move(listener).error());
  return std::unique_ptr<FrontEnd>(new FrontEnd(std::move(options), *std::move(listener)));
}

void FrontEnd::Serve() {
  for (const auto& loop : loops_) loop->Start();
}

FrontEnd::FrontEnd(Options options, Listener listener)
    : options_(std::move(options)), listener_(std::move(listener)), port_(listener_.port()) {
  for (size_t i = 0; i < options_.loops; ++i) {
    EventLoop::Options loop;
    loop.name = options_.name + "-" + std::to_string(i);
    loop.max_connections = std::max<size_t>(1, options_.max_connections / options_.loops);
    loop.max_handshakes =
        std::max<size_t>(1, options_.handshake_bytes / kHandshakeBytes / options_.loops);
    loop.settings = &options_.settings;
    loop.budget = options_.budget;
    loop.stats = &stats_;
    loop.clock = options_.clock;
    loop.handler = options_.handler;
    loop.make_transport = [tls = options_.tls](FileDescriptor socket) {
      return tls != nullptr ? tls->Accept(std::move(socket))
                            : std::make_unique<PlainTransport>(std::move(socket));
    };
    loops_.push_back(std::make_unique<EventLoop>(std::move(loop)));
  }
  // One loop accepts and hands out, so that connections spread evenly: were all loops to accept,
  // the API server's 25 could end up in one of them.
  loops_.front()->Watch(listener_.fd(), [this] { AcceptSome(); });
}

FrontEnd::~FrontEnd() { Stop(); }

void FrontEnd::Stop() {
  for (const auto& loop : loops_) loop->Stop();
}

void FrontEnd::Distribute(FileDescriptor socket, const PeerAddress& peer) {
  const auto least =
      std::min_element(loops_.begin(), loops_.end(),
                       [](const auto& a, const auto& b) { return a->load() < b->load(); });
  (*least)->Adopt(std::move(socket), peer);
}

bool FrontEnd::AcceptSome() {
  for (int i = 0; i < kAcceptBurst; ++i) {
    Listener::Accepted accepted = listener_.Accept();
    switch (accepted.status) {
      case Listener::Status::kAccepted:
        Distribute(std::move(accepted.socket), accepted.peer);
        break;
      case Listener::Status::kNothing:
        return false;
      case Listener::Status::kNoDescriptor:
        // Someone who waits for nothing makes room. When nobody does here, someone of another loop
        // may, later.
        if (loops_.front()->EvictOne()) break;
        for (size_t other = 1; other < loops_.size(); ++other) {
          loops_[other]->Run([loop = loops_[other].get()] { loop->EvictOne(); });
        }
        stats_.Add(Drop::kNoDescriptor);
        listener_.RefuseOne();
        return false;
    }
  }
  return true;
}

void FrontEnd::StopAccepting() {
  loops_.front()->Run([this] {
    // What is left in the backlog would be reset.
    while (listener_.fd() >= 0 && AcceptSome()) {
    }
    listener_.Close();
    accepting_ = false;
  });
}

void FrontEnd::CloseIdle(std::chrono::milliseconds idle_for) {
  for (const auto& loop : loops_) loop->CloseIdle(idle_for);
}

bool FrontEnd::Empty() const {
  return std::all_of(loops_.begin(), loops_.end(),
                     [](const auto& loop) { return loop->load() == 0; });
}

// In this order: whoever was taken last is counted before accepting_ changes.
bool FrontEnd::Finished() const { return !accepting_ && Empty(); }

std::chrono::nanoseconds FrontEnd::BusyFor(Clock::Instant now) const {
  std::chrono::nanoseconds longest{0};
  for (const auto& loop : loops_) longest = std::max(longest, loop->BusyFor(now));
  return longest;
}

void FrontEnd::Wake() {
  for (const auto& loop : loops_) loop->Wake();
}

}  // namespace mindgate::http
