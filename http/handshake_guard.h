#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace mindgate::http {

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

}  // namespace mindgate::http
