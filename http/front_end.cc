#include "http/front_end.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <system_error>
#include <utility>

#include "base/text.h"

namespace mindgate::http {
namespace {

// kube-apiserver opens connections in bursts, one per review that finds no idle one. With the usual
// 5 of small servers, 50 of 250 simultaneous connects took over a second (a lost SYN is repeated
// after one).
constexpr int kBacklog = 1024;

struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t size = 0;
};

std::optional<SocketAddress> ParseAddress(std::string_view text) {
  const size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const auto port = ParseGoInt(text.substr(colon + 1));
  if (!port || *port < 0 || *port > 65535) return std::nullopt;
  std::string host(text.substr(0, colon));
  const bool bracketed = host.size() >= 2 && host.front() == '[' && host.back() == ']';
  if (bracketed) host = host.substr(1, host.size() - 2);

  SocketAddress address;
  auto* v4 = reinterpret_cast<sockaddr_in*>(&address.storage);
  if (!bracketed && ::inet_pton(AF_INET, host.c_str(), &v4->sin_addr) == 1) {
    v4->sin_family = AF_INET;
    v4->sin_port = htons(static_cast<uint16_t>(*port));
    address.size = sizeof(sockaddr_in);
    return address;
  }
  auto* v6 = reinterpret_cast<sockaddr_in6*>(&address.storage);
  const bool any = host.empty() && !bracketed;
  if (!any && (!bracketed || ::inet_pton(AF_INET6, host.c_str(), &v6->sin6_addr) != 1)) {
    return std::nullopt;
  }
  if (any) v6->sin6_addr = in6addr_any;
  v6->sin6_family = AF_INET6;
  v6->sin6_port = htons(static_cast<uint16_t>(*port));
  address.size = sizeof(sockaddr_in6);
  return address;
}

// For a node without IPv6, where ":9443" must still work.
SocketAddress AnyV4(const SocketAddress& v6) {
  SocketAddress address;
  auto* v4 = reinterpret_cast<sockaddr_in*>(&address.storage);
  v4->sin_family = AF_INET;
  v4->sin_addr.s_addr = htonl(INADDR_ANY);
  v4->sin_port = reinterpret_cast<const sockaddr_in6*>(&v6.storage)->sin6_port;
  address.size = sizeof(sockaddr_in);
  return address;
}

void SetOption(int fd, int level, int name, int value) {
  ::setsockopt(fd, level, name, &value, sizeof value);
}

FileDescriptor OpenReserve() { return FileDescriptor(::open("/dev/null", O_RDONLY | O_CLOEXEC)); }

}  // namespace

Listener::Listener(FileDescriptor socket, uint16_t port)
    : socket_(std::move(socket)), reserve_(OpenReserve()), port_(port) {}

Result<Listener> Listener::Open(std::string_view text) {
  auto address = ParseAddress(text);
  if (!address) {
    return Fail(ErrorCode::kInvalidArgument,
                "listen address " + Quote(text) + " is not ADDRESS:PORT or :PORT");
  }
  const auto failed = [&](std::string_view what) {
    return Fail(ErrorCode::kInvalidArgument, "cannot " + std::string(what) + " " + Quote(text) +
                                                 ": " + std::system_category().message(errno));
  };
  const int type = SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC;
  FileDescriptor socket(::socket(address->storage.ss_family, type, 0));
  if (!socket.valid() && errno == EAFNOSUPPORT && text.starts_with(':')) {
    address = AnyV4(*address);
    socket = FileDescriptor(::socket(AF_INET, type, 0));
  }
  if (!socket.valid()) return failed("open a socket for");
  // Not SO_REUSEPORT: a second process would share the traffic without an error.
  SetOption(socket.get(), SOL_SOCKET, SO_REUSEADDR, 1);
  if (address->storage.ss_family == AF_INET6 && text.starts_with(':')) {
    SetOption(socket.get(), IPPROTO_IPV6, IPV6_V6ONLY, 0);
  }
  // Accepted sockets inherit it. With Nagle's delay a second small write waits 40 ms for an
  // acknowledgement.
  SetOption(socket.get(), IPPROTO_TCP, TCP_NODELAY, 1);
  const auto* generic = reinterpret_cast<const sockaddr*>(&address->storage);
  if (::bind(socket.get(), generic, address->size) != 0) return failed("bind");
  if (::listen(socket.get(), kBacklog) != 0) return failed("listen on");

  SocketAddress bound;
  bound.size = sizeof bound.storage;
  ::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&bound.storage), &bound.size);
  const uint16_t port = bound.storage.ss_family == AF_INET
                            ? reinterpret_cast<const sockaddr_in*>(&bound.storage)->sin_port
                            : reinterpret_cast<const sockaddr_in6*>(&bound.storage)->sin6_port;
  return Listener(std::move(socket), ntohs(port));
}

Listener::Accepted Listener::Accept() {
  SocketAddress peer;
  peer.size = sizeof peer.storage;
  FileDescriptor socket(::accept4(socket_.get(), reinterpret_cast<sockaddr*>(&peer.storage),
                                  &peer.size, SOCK_NONBLOCK | SOCK_CLOEXEC));
  if (socket.valid()) return {Status::kAccepted, std::move(socket), AddressOf(peer.storage)};
  switch (errno) {
    case EMFILE:
    case ENFILE:
    case ENOBUFS:
    case ENOMEM:
      return {Status::kNoDescriptor};
    default:
      // Nobody there, or an error of a connection that has gone (accept(2) passes those on).
      return {Status::kNothing};
  }
}

void Listener::RefuseOne() {
  reserve_.Close();
  FileDescriptor(::accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC)).Close();
  reserve_ = OpenReserve();
}

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

ProbePort::ProbePort(Options options, std::vector<Router::Route> routes)
    : options_(std::move(options)), router_(std::move(routes), options_.on_bug, [this] {
        front_end_->stats().Add(Refusal::kNotFound);
      }) {}

Result<std::unique_ptr<ProbePort>> ProbePort::Open(Options options,
                                                   std::vector<Router::Route> routes) {
  std::unique_ptr<ProbePort> port(new ProbePort(std::move(options), std::move(routes)));
  FrontEnd::Options front_end;
  front_end.name = "probe";
  front_end.listen = port->options_.listen;
  front_end.max_connections = port->options_.max_connections;
  front_end.settings = port->options_.settings;
  front_end.settings.port = Port::kGets;
  front_end.budget = &port->budget_;
  front_end.clock = port->options_.clock;
  front_end.handler = [self = port.get()](const Request& request, const Arrival&,
                                          const Responder&) {
    Response response = self->router_.Serve(request);
    response.close = self->options_.closing();
    return response;
  };
  auto opened = FrontEnd::Open(std::move(front_end));
  if (!opened) return tl::unexpected(std::move(opened).error());
  port->front_end_ = *std::move(opened);
  return port;
}

Response MetricsText(std::string text) {
  return {.content_type = "text/plain; version=0.0.4; charset=utf-8", .body = std::move(text)};
}

}  // namespace mindgate::http
