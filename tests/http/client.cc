#include "http/client.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/pem.h>
#include <sys/socket.h>

#include <array>
#include <csignal>

#include "base/text.h"

namespace mindgate::http::testing {

Client::Client(uint16_t port, const char* from)
    : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  std::signal(SIGPIPE,
              SIG_IGN);  // as every server of ours does: OpenSSL writes without MSG_NOSIGNAL
  const timeval patience{30, 0};
  ::setsockopt(fd(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  ::setsockopt(fd(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  const int on = 1;
  ::setsockopt(fd(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  // The port is chosen with the peer, so that one in TIME_WAIT with another peer can be used again.
  ::setsockopt(fd(), IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof on);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  ::inet_pton(AF_INET, from, &address.sin_addr);
  if (::bind(fd(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    socket_.Close();
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(fd(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    socket_.Close();
}

Client::Client(uint16_t port, const Tls& tls) : Client(port) { Handshake(tls); }

namespace {

std::shared_ptr<SSL_CTX> NewContext(const Client::Tls& tls) {
  std::shared_ptr<SSL_CTX> context(SSL_CTX_new(TLS_client_method()), SSL_CTX_free);
  // TLS 1.0 and 1.1 need this even to be offered.
  SSL_CTX_set_security_level(context.get(), tls.min_version < TLS1_2_VERSION ? 0 : 1);
  SSL_CTX_set_min_proto_version(context.get(), tls.min_version);
  SSL_CTX_set_max_proto_version(context.get(), tls.max_version);
  if (tls.trust != nullptr) {
    const std::unique_ptr<BIO, certs::Deleter<BIO_free>> bio(BIO_new_mem_buf(
        tls.trust->certificate().data(), static_cast<int>(tls.trust->certificate().size())));
    const certs::CertificatePtr ca(PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr));
    X509_STORE_add_cert(SSL_CTX_get_cert_store(context.get()), ca.get());
    SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, nullptr);
  }
  return context;
}

}  // namespace

bool Client::Handshake(const Tls& tls) {
  context_ = tls.like != nullptr ? tls.like->context_ : NewContext(tls);
  ssl_.reset(SSL_new(context_.get()));
  if (!tls.server_name.empty()) SSL_set1_host(ssl(), tls.server_name.c_str());
  if (tls.identity != nullptr) {
    const auto own = Material(*tls.identity);
    SSL_use_cert_and_key(ssl(), own->chain.front().get(), own->key.get(), nullptr, 1);
  }
  if (!tls.alpn.empty()) {
    std::string wire;
    for (const std::string_view protocol : Split(tls.alpn, ',')) {
      wire += static_cast<char>(protocol.size());
      wire += protocol;
    }
    SSL_set_alpn_protos(ssl(), reinterpret_cast<const unsigned char*>(wire.data()),
                        static_cast<unsigned>(wire.size()));
  }
  SSL_set_fd(ssl(), fd());
  ok_ = SSL_connect(ssl()) == 1;
  return ok_;
}

bool Client::Refused() {
  if (!ok_) return true;
  char byte = 0;
  const int count = SSL_read(ssl(), &byte, 1);
  return count <= 0 && SSL_get_error(ssl(), count) == SSL_ERROR_SSL;
}

bool Client::SendRaw(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::send(fd(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (count <= 0) return false;
    bytes.remove_prefix(static_cast<size_t>(count));
  }
  return true;
}

bool Client::Send(std::string_view bytes) {
  if (ssl_ == nullptr) return SendRaw(bytes);
  if (bytes.empty()) return true;
  return SSL_write(ssl(), bytes.data(), static_cast<int>(bytes.size())) ==
         static_cast<int>(bytes.size());
}

std::string Client::ReadSome() {
  if (!buffer_.empty()) return std::exchange(buffer_, {});
  std::array<char, 16384> bytes;
  const ssize_t count = ssl_ == nullptr
                            ? ::recv(fd(), bytes.data(), bytes.size(), 0)
                            : SSL_read(ssl(), bytes.data(), static_cast<int>(bytes.size()));
  return count > 0 ? std::string(bytes.data(), static_cast<size_t>(count)) : std::string();
}

std::string Client::ReadAnswer(bool head_only) {
  std::string answer;
  while (true) {
    const size_t end = answer.find("\r\n\r\n");
    if (end != std::string::npos) {
      const auto length = ParseGoInt(HeaderOf(answer, "Content-Length").value_or("0")).value_or(0);
      const size_t size = end + 4 + (head_only ? 0 : static_cast<size_t>(length));
      if (answer.size() >= size) {
        buffer_ = answer.substr(size);
        return answer.substr(0, size);
      }
    }
    const std::string more = ReadSome();
    if (more.empty()) return {};
    answer += more;
  }
}

std::string Client::ReadToEnd() {
  std::string all;
  for (std::string more = ReadSome(); !more.empty(); more = ReadSome()) all += more;
  return all;
}

void Client::Close() {
  ssl_.reset();
  socket_.Close();
}

void Client::Reset() {
  const linger hard{1, 0};
  ::setsockopt(fd(), SOL_SOCKET, SO_LINGER, &hard, sizeof hard);
  Close();
}

std::string ClientHello() {
  const std::unique_ptr<SSL_CTX, certs::Deleter<SSL_CTX_free>> context(
      SSL_CTX_new(TLS_client_method()));
  const std::unique_ptr<SSL, certs::Deleter<SSL_free>> ssl(SSL_new(context.get()));
  BIO* written = BIO_new(BIO_s_mem());
  SSL_set_bio(ssl.get(), BIO_new(BIO_s_mem()), written);
  SSL_connect(ssl.get());  // wants the answer
  std::string hello(BIO_ctrl_pending(written), '\0');
  BIO_read(written, hello.data(), static_cast<int>(hello.size()));
  return hello;
}

int StatusOf(std::string_view answer) {
  return answer.size() < 12 ? 0 : static_cast<int>(ParseGoInt(answer.substr(9, 3)).value_or(0));
}

std::string BodyOf(std::string_view answer) {
  const size_t end = answer.find("\r\n\r\n");
  return end == std::string_view::npos ? std::string() : std::string(answer.substr(end + 4));
}

std::optional<std::string> HeaderOf(std::string_view answer, std::string_view name) {
  const std::string_view head = answer.substr(0, answer.find("\r\n\r\n"));
  for (std::string_view line : Split(head, '\n')) {
    if (line.ends_with('\r')) line.remove_suffix(1);
    const size_t colon = line.find(':');
    if (colon != std::string_view::npos && EqualIgnoreCase(line.substr(0, colon), name)) {
      return std::string(Trim(line.substr(colon + 1)));
    }
  }
  return std::nullopt;
}

}  // namespace mindgate::http::testing
