#pragma once

#include <openssl/bio.h>

#include <memory>
#include <utility>

#include "certs/tls_material.h"
#include "http/handshake_guard.h"
#include "http/transport.h"

namespace mindgate::http {

// The socket of a TLS connection, and what its peer may make OpenSSL do.
struct TlsSocket {
  explicit TlsSocket(FileDescriptor descriptor) : edge(std::move(descriptor)) {}

  // Key updates, attempts to renegotiate and alerts after the handshake: OpenSSL works through them
  // for as long as more arrive, while the loop's other connections wait. No client of a webhook
  // needs any.
  static constexpr int kMaxControlMessages = 8;

  EdgeSocket edge;
  HandshakeGuard guard;
  bool established = false;  // the handshake is over
  int control_messages = 0;  // since then
};

// How OpenSSL reads from and writes to a TlsSocket: what the guard refuses, and whatever follows
// too many control messages, is a failed read. Outlives the BIOs made with it; one serves any
// number of threads.
class SocketBio {
 public:
  SocketBio();

  // To be freed by whoever gets it, before `socket`. Null when OpenSSL has no memory.
  BIO* New(TlsSocket& socket) const;

 private:
  std::unique_ptr<BIO_METHOD, certs::Deleter<BIO_meth_free>> method_;
};

}  // namespace mindgate::http
