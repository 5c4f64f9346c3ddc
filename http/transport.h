#pragma once

#include <netinet/in.h>
#include <openssl/bio.h>
#include <openssl/ssl.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "base/files.h"
#include "base/snapshot.h"
#include "certs/certificate.h"

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

enum class IoStatus {
  kDone,
  kWait,    // nothing more until the socket is ready; epoll will report it
  kClosed,  // the peer ended its side
  kFailed,
};

struct IoResult {
  IoStatus status = IoStatus::kDone;
  size_t bytes = 0;  // in kDone, at least 1
};

// The bytes of one connection, with or without TLS. Never blocks. For one thread.
class Transport {
 public:
  virtual ~Transport() = default;
  // The socket may be readable again; no read finds what comes after a kWait without it. `ended`:
  // the peer has ended its side, or the connection has failed.
  virtual void OnReady(bool ended) = 0;
  virtual IoStatus Handshake() = 0;
  // Whether a first whole message of the peer has been taken up: with TLS its ClientHello.
  virtual bool heard() const = 0;
  virtual IoResult Read(char* buffer, size_t size) = 0;
  virtual IoResult Write(std::string_view bytes) = 0;
  // Signals to the peer that nothing more will come; reading goes on by Discard.
  virtual void EndWriting() = 0;
  // Reads and drops raw bytes of the socket, after EndWriting.
  virtual IoResult Discard(char* buffer, size_t size) = 0;
};

// A non-blocking socket of which epoll reports the edges. A read that brings less than it might
// has emptied the socket, and whatever comes later is a new edge (epoll(7), question 9): until that
// is reported, reads do not ask the kernel, which saves a system call in every request.
class EdgeSocket {
 public:
  explicit EdgeSocket(FileDescriptor socket) : socket_(std::move(socket)) {}

  void OnReady(bool ended) {
    empty_ = false;
    // The end itself is no bytes and must be read although they were few.
    ended_ = ended_ || ended;
  }
  bool empty() const { return empty_; }  // Receive would say kWait at once
  IoResult Receive(char* buffer, size_t size);
  // As Receive, but what is read stays in the socket.
  IoResult Peek(char* buffer, size_t size) const;
  // Bytes that Receive would bring.
  size_t available() const;
  bool ended() const { return ended_; }
  IoResult Send(std::string_view bytes) const;
  void EndWriting() const;

 private:
  FileDescriptor socket_;
  bool empty_ = false;
  bool ended_ = false;
};

// Without TLS.
class PlainTransport final : public Transport {
 public:
  explicit PlainTransport(FileDescriptor socket) : socket_(std::move(socket)) {}

  void OnReady(bool ended) override { socket_.OnReady(ended); }
  IoStatus Handshake() override { return IoStatus::kDone; }
  bool heard() const override { return false; }
  IoResult Read(char* buffer, size_t size) override { return socket_.Receive(buffer, size); }
  IoResult Write(std::string_view bytes) override { return socket_.Send(bytes); }
  void EndWriting() override { socket_.EndWriting(); }
  IoResult Discard(char* buffer, size_t size) override { return Read(buffer, size); }

 private:
  EdgeSocket socket_;
};

// The content type of a TLS record of handshake messages (RFC 8446, 5.1).
inline constexpr uint8_t kHandshakeRecord = 22;

// Watches the plaintext of a TLS handshake that a client sends, before OpenSSL does. OpenSSL
// allocates what the header of a handshake message claims as soon as it has seen it, up to 128 KiB
// (openssl: ssl/statem/statem_srvr.c, CLIENT_HELLO_MAX_LENGTH), before anybody has shown who they
// are: nine bytes would cost a connection 150 KB. Pure; for one connection, from its first byte to
// the end of its handshake.
class HandshakeGuard {
 public:
  // A ClientHello of today has 300 to 1,800 bytes (with post-quantum key shares), a chain of client
  // certificates a few thousand.
  static constexpr size_t kMaxMessage = 16 * 1024;

  // The next bytes of the client. False when they hold a message that claims more than kMaxMessage:
  // they must not reach OpenSSL.
  bool Take(std::string_view bytes);

 private:
  bool TakeHandshake(std::string_view bytes);

  // Encrypted from here on: what looks like a header is none.
  bool encrypted_ = false;
  bool key_exchange_seen_ = false;
  std::array<uint8_t, 5> record_{};  // header: type, version, length
  size_t record_have_ = 0;
  size_t record_left_ = 0;
  std::array<uint8_t, 4> message_{};  // header: type, length
  size_t message_have_ = 0;
  size_t message_left_ = 0;
};

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

// The most that one handshake holds before its peer has shown who it is (42 to 79 KB, by
// tests/http/transport_tls_context_memory_test.cc): 16 KiB of a message and what OpenSSL makes of
// it, its buffers and keys.
inline constexpr size_t kHandshakeBytes = 96 * 1024;

using SslPtr = std::unique_ptr<SSL, certs::Deleter<SSL_free>>;

// Whether callers must show who they are.
struct ClientAuth {
  enum class Mode {
    kNone,      // not asked
    kOptional,  // a certificate that is shown must be good
    kRequired,
  };
  Mode mode = Mode::kNone;
  // Common name or DNS name that a client certificate must have; empty: any that the client CA
  // signed.
  std::set<std::string, std::less<>> names;
};

// Makes server-side TLS connections: TLS 1.2 and 1.3, ALPN http/1.1, no tickets, no session cache,
// no renegotiation. Certificates are read from the snapshot at each handshake, so that a swap needs
// no new context and touches no open connection; without material every handshake fails. Safe from
// many threads.
class TlsContext {
 public:
  // `material` must outlive the context, and that all its connections.
  TlsContext(const Snapshot<certs::TlsMaterial>& material, ClientAuth client_auth);
  TlsContext(const TlsContext&) = delete;
  TlsContext& operator=(const TlsContext&) = delete;

  std::unique_ptr<Transport> Accept(FileDescriptor socket) const;

  // A connection at the start of its handshake, to be freed before `socket`. Null when OpenSSL has
  // no memory.
  SslPtr NewSession(TlsSocket& socket) const;

 private:
  static int OnCertificate(SSL* ssl, void* self);
  static int OnAlpn(SSL* ssl, const unsigned char** out, unsigned char* out_size,
                    const unsigned char* in, unsigned int in_size, void* self);
  static int OnVerify(int verified, X509_STORE_CTX* store);

  const Snapshot<certs::TlsMaterial>& material_;
  const ClientAuth client_auth_;
  const SocketBio bio_;
  std::unique_ptr<SSL_CTX, certs::Deleter<SSL_CTX_free>> context_;
};

}  // namespace mindgate::http
