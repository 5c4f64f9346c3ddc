#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cstdint>

namespace mindgate::http {

// An IPv6 address, or an IPv4 address as IPv6 maps it (RFC 4291, 2.5.5.2): one host is one value,
// whichever socket took its connection.
using PeerAddress = std::array<uint8_t, 16>;

// All zero for anything but IPv4 and IPv6.
inline PeerAddress AddressOf(const sockaddr_storage& peer) {
  PeerAddress address{};
  if (peer.ss_family == AF_INET6) {
    const auto* v6 = reinterpret_cast<const sockaddr_in6*>(&peer);
    std::copy_n(v6->sin6_addr.s6_addr, address.size(), address.begin());
  } else if (peer.ss_family == AF_INET) {
    const auto* v4 = reinterpret_cast<const sockaddr_in*>(&peer);
    address[10] = address[11] = 0xff;
    const auto* bytes = reinterpret_cast<const uint8_t*>(&v4->sin_addr.s_addr);
    std::copy_n(bytes, 4, address.begin() + 12);
  }
  return address;
}

}  // namespace mindgate::http
