#pragma once

#include <openssl/ssl.h>

#include <memory>
#include <set>
#include <string>

#include "base/file_descriptor.h"
#include "base/snapshot.h"
#include "certs/tls_material.h"
#include "http/socket_bio.h"
#include "http/transport.h"

namespace mindgate::http {

// The most that one handshake holds before its peer has shown who it is (42 to 79 KB, by
// tests/http/tls_context_memory_test.cc): 16 KiB of a message and what OpenSSL makes of it, its
// buffers and keys.
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
