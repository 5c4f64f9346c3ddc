#include "http/listener.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <optional>
#include <system_error>

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

}  // namespace mindgate::http
