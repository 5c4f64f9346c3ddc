#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/file_descriptor.h"
#include "base/result.h"
#include "http/peer_address.h"

namespace mindgate::http {

// A listening TCP socket. For one thread.
class Listener {
 public:
  // ":9443" (all addresses, IPv6 and IPv4), "127.0.0.1:9443" or "[::1]:9443"; port 0 lets the
  // kernel choose.
  static Result<Listener> Open(std::string_view address);

  enum class Status {
    kAccepted,
    kNothing,       // nobody waits, or whoever did has gone
    kNoDescriptor,  // no file descriptor or memory for one more
  };
  struct Accepted {
    Status status;
    FileDescriptor socket = {};  // non-blocking, without Nagle's delay
    PeerAddress peer = {};
  };
  Accepted Accept();

  // After kNoDescriptor: takes the first that waits by a descriptor kept in reserve and closes it,
  // so that it learns at once and does not keep the listener ready forever.
  void RefuseOne();

  int fd() const { return socket_.get(); }
  uint16_t port() const { return port_; }
  void Close() { socket_.Close(); }

 private:
  Listener(FileDescriptor socket, uint16_t port);

  FileDescriptor socket_;
  FileDescriptor reserve_;
  uint16_t port_;
};

}  // namespace mindgate::http
