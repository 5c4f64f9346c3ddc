#pragma once

#include <openssl/ssl.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/files.h"
#include "certs/certificate.h"
#include "http/test_certs.h"

namespace mindgate::http::testing {

// One connection to 127.0.0.1 that does exactly what it is asked. Blocking; gives up after 30 s,
// which no passing test comes near.
class Client {
 public:
  struct Tls {
    int min_version = TLS1_2_VERSION;
    int max_version = TLS1_3_VERSION;
    std::string alpn = "http/1.1";       // comma separated, empty: no extension
    const Identity* identity = nullptr;  // client certificate
    const TestCa* trust = nullptr;       // verify the server by this CA
    std::string server_name = {};        // verify this name too
    Client* like = nullptr;  // take its settings: making them takes longer than a handshake
  };

  // TCP only; Handshake or plain bytes follow. `from`: its own address, 127.x.x.x.
  explicit Client(uint16_t port, const char* from = "127.0.0.1");
  // With TLS; see ok().
  Client(uint16_t port, const Tls& tls);

  bool Connected() const { return socket_.valid(); }
  bool Handshake(const Tls& tls);
  bool ok() const { return ok_; }  // the handshake succeeded
  // The next bytes to read are a handshake's alert or end: in TLS 1.3 a client hears of its refusal
  // only here.
  bool Refused();

  bool Send(std::string_view bytes);     // over TLS one record for up to 16 KiB
  bool SendRaw(std::string_view bytes);  // past TLS
  // One HTTP answer with a Content-Length, as it came; empty when the connection ended before.
  // `head_only`: the answer to a HEAD.
  std::string ReadAnswer(bool head_only = false);
  std::string ReadToEnd();
  std::string ReadSome();  // one read; empty at the end
  void Close();
  void Reset();  // with RST

  SSL* ssl() { return ssl_.get(); }
  int fd() const { return socket_.get(); }

 private:
  FileDescriptor socket_;
  std::shared_ptr<SSL_CTX> context_;
  std::unique_ptr<SSL, certs::Deleter<SSL_free>> ssl_;
  std::string buffer_;
  bool ok_ = false;
};

// The first message of a handshake, as a client of today sends it.
std::string ClientHello();

int StatusOf(std::string_view answer);
std::string BodyOf(std::string_view answer);
// Value of a header, or nothing.
std::optional<std::string> HeaderOf(std::string_view answer, std::string_view name);

}  // namespace mindgate::http::testing
