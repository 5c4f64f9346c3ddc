#pragma once

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <memory>
#include <string>

#include "bench/http_answer.h"
#include "certs/certificate.h"

namespace mindgate::bench {

using SslContext = std::unique_ptr<SSL_CTX, certs::Deleter<SSL_CTX_free>>;

inline SslContext ClientContext() {
  SslContext context(SSL_CTX_new(TLS_client_method()));
  SSL_CTX_set_read_ahead(context.get(), 1);  // a read takes all that is there
  return context;
}

// A client's connection to a port of 127.0.0.1; certificates are not checked. Blocking, with a
// time limit: a server that leaves it without an answer costs that connection and not the run.
class TlsConnection {
 public:
  TlsConnection(SSL_CTX* context, uint16_t port, int patience_seconds = 2)
      : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const int on = 1;
    const timeval patience{patience_seconds, 0};
    ::setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    ::setsockopt(socket_, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    ssl_.reset(SSL_new(context));
    SSL_set_fd(ssl_.get(), socket_);
    good_ = ::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 &&
            SSL_connect(ssl_.get()) == 1;
  }
  ~TlsConnection() {
    ssl_.reset();
    ::close(socket_);
  }
  TlsConnection(const TlsConnection&) = delete;
  TlsConnection& operator=(const TlsConnection&) = delete;

  // False when there was no complete response; the connection is of no use then.
  bool Exchange(const std::string& request) {
    good_ = good_ && SSL_write(ssl_.get(), request.data(), static_cast<int>(request.size())) > 0;
    if (!good_) return false;
    answer_.Clear();
    char chunk[16384];
    int count = 0;
    do {
      count = SSL_read(ssl_.get(), chunk, sizeof chunk);
      if (count <= 0) return good_ = false;
    } while (!answer_.Add({chunk, static_cast<size_t>(count)}));
    return true;
  }

  // The same, with a 200.
  bool Ask(const std::string& request) {
    return good_ = Exchange(request) && answer_.status() == 200;
  }

  bool good() const { return good_; }
  const HttpAnswer& answer() const { return answer_; }
  SSL* ssl() const { return ssl_.get(); }
  int socket() const { return socket_; }

 private:
  int socket_;
  std::unique_ptr<SSL, certs::Deleter<SSL_free>> ssl_;
  HttpAnswer answer_;
  bool good_ = false;
};

}  // namespace mindgate::bench
