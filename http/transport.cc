#include "http/transport.h"

#include <openssl/err.h>
#include <openssl/x509v3.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <new>
#include <utility>

namespace mindgate::http {
namespace {

IoResult Failure() {
  const bool wait = errno == EAGAIN || errno == EWOULDBLOCK;
  return {wait ? IoStatus::kWait : IoStatus::kFailed, 0};
}

IoResult ReceiveWith(int flags, int socket, char* buffer, size_t size) {
  ssize_t count = 0;
  do {
    count = ::recv(socket, buffer, size, flags);
  } while (count < 0 && errno == EINTR);
  if (count < 0) return Failure();
  if (count == 0) return {IoStatus::kClosed, 0};
  return {IoStatus::kDone, static_cast<size_t>(count)};
}

}  // namespace

IoResult EdgeSocket::Receive(char* buffer, size_t size) {
  if (empty_) return {IoStatus::kWait, 0};
  const IoResult result = ReceiveWith(0, socket_.get(), buffer, size);
  empty_ = result.status == IoStatus::kWait ||
           (result.status == IoStatus::kDone && result.bytes < size && !ended_);
  return result;
}

IoResult EdgeSocket::Peek(char* buffer, size_t size) const {
  return ReceiveWith(MSG_PEEK, socket_.get(), buffer, size);
}

size_t EdgeSocket::available() const {
  int count = 0;
  return ::ioctl(socket_.get(), FIONREAD, &count) == 0 ? static_cast<size_t>(count) : 0;
}

IoResult EdgeSocket::Send(std::string_view bytes) const {
  ssize_t count = 0;
  do {
    count = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
  } while (count < 0 && errno == EINTR);
  return count > 0 ? IoResult{IoStatus::kDone, static_cast<size_t>(count)} : Failure();
}

void EdgeSocket::EndWriting() const { ::shutdown(socket_.get(), SHUT_WR); }

namespace {

// RFC 8446, 5.1 and 4; RFC 5246, 7.4.
constexpr uint8_t kChangeCipherSpecRecord = 20;
constexpr uint8_t kClientKeyExchange = 16;  // TLS 1.2 only

// Moves bytes from `from` to the end of a header; true when it is whole.
template <size_t N>
bool Fill(std::array<uint8_t, N>& header, size_t& have, std::string_view& from) {
  const size_t count = std::min(N - have, from.size());
  std::copy_n(from.begin(), count, header.begin() + have);
  have += count;
  from.remove_prefix(count);
  return have == N;
}

}  // namespace

bool HandshakeGuard::Take(std::string_view bytes) {
  while (!bytes.empty() && !encrypted_) {
    if (record_left_ == 0) {
      if (!Fill(record_, record_have_, bytes)) return true;
      record_have_ = 0;
      record_left_ = size_t{record_[3]} << 8 | record_[4];
      // In TLS 1.2 it says that what follows is encrypted; in TLS 1.3 it says nothing.
      encrypted_ = record_[0] == kChangeCipherSpecRecord && key_exchange_seen_;
      continue;
    }
    const std::string_view part = bytes.substr(0, record_left_);
    bytes.remove_prefix(part.size());
    record_left_ -= part.size();
    if (record_[0] == kHandshakeRecord && !TakeHandshake(part)) return false;
  }
  return true;
}

bool HandshakeGuard::TakeHandshake(std::string_view bytes) {
  while (!bytes.empty()) {
    if (message_left_ > 0) {
      const size_t count = std::min(message_left_, bytes.size());
      bytes.remove_prefix(count);
      message_left_ -= count;
      continue;
    }
    if (!Fill(message_, message_have_, bytes)) return true;
    message_have_ = 0;
    message_left_ = size_t{message_[1]} << 16 | size_t{message_[2]} << 8 | message_[3];
    if (message_left_ > kMaxMessage) return false;
    if (message_[0] == kClientKeyExchange) key_exchange_seen_ = true;
  }
  return true;
}

namespace {

TlsSocket& SocketOf(BIO* bio) { return *static_cast<TlsSocket*>(BIO_get_data(bio)); }

int Read(BIO* bio, char* buffer, size_t size, size_t* count) {
  BIO_clear_retry_flags(bio);
  TlsSocket& socket = SocketOf(bio);
  *count = 0;
  if (socket.control_messages > TlsSocket::kMaxControlMessages) return -1;
  const IoResult read = socket.edge.Receive(buffer, size);
  if (read.status == IoStatus::kDone && !socket.established &&
      !socket.guard.Take({buffer, read.bytes})) {
    return -1;
  }
  if (read.status == IoStatus::kWait) BIO_set_retry_read(bio);
  // What BIO_eof reports: OpenSSL takes an end without a close_notify for an attack.
  if (read.status == IoStatus::kClosed) BIO_set_flags(bio, BIO_FLAGS_IN_EOF);
  *count = read.bytes;
  return read.status == IoStatus::kDone ? 1 : -1;
}

int Write(BIO* bio, const char* bytes, size_t size, size_t* count) {
  BIO_clear_retry_flags(bio);
  const IoResult write = SocketOf(bio).edge.Send({bytes, size});
  if (write.status == IoStatus::kWait) BIO_set_retry_write(bio);
  *count = write.bytes;
  return write.status == IoStatus::kDone ? 1 : -1;
}

long Control(BIO* bio, int command, long, void*) {
  switch (command) {
    case BIO_CTRL_FLUSH:  // nothing is kept back
      return 1;
    case BIO_CTRL_EOF:
      return BIO_test_flags(bio, BIO_FLAGS_IN_EOF) != 0 ? 1 : 0;
    default:
      return 0;
  }
}

}  // namespace

SocketBio::SocketBio() {
  static const int index = BIO_get_new_index();  // of which OpenSSL has 127
  method_.reset(BIO_meth_new(index | BIO_TYPE_SOURCE_SINK, "TLS socket"));
  if (method_ == nullptr || BIO_meth_set_read_ex(method_.get(), Read) != 1 ||
      BIO_meth_set_write_ex(method_.get(), Write) != 1 ||
      BIO_meth_set_ctrl(method_.get(), Control) != 1) {
    throw std::bad_alloc();
  }
}

BIO* SocketBio::New(TlsSocket& socket) const {
  BIO* bio = BIO_new(method_.get());
  if (bio == nullptr) return nullptr;
  BIO_set_data(bio, &socket);
  BIO_set_init(bio, 1);
  return bio;
}

namespace {

// RFC 8446, 5.1.
constexpr size_t kRecordHeader = 5;
constexpr size_t kMaxRecord = 16 * 1024;

// Lists of a ClientHello that OpenSSL unpacks and keeps for as long as the connection (openssl:
// ssl/statem/extensions_srvr.c, ssl/t1_lib.c, tls1_set_shared_sigalgs): 16 KiB of them would
// take 90 to 720 KB of it. Clients send 60 bytes of one at most.
constexpr size_t kMaxHelloList = 128;
constexpr std::array<unsigned, 6> kHelloLists = {
    TLSEXT_TYPE_status_request,          TLSEXT_TYPE_supported_groups,
    TLSEXT_TYPE_signature_algorithms,    TLSEXT_TYPE_application_layer_protocol_negotiation,
    TLSEXT_TYPE_certificate_authorities, TLSEXT_TYPE_signature_algorithms_cert};

// Before any of them is unpacked.
int OnHello(SSL* ssl, int* alert, void*) {
  for (const unsigned type : kHelloLists) {
    const unsigned char* list = nullptr;
    size_t size = 0;
    if (SSL_client_hello_get0_ext(ssl, type, &list, &size) != 1 || size <= kMaxHelloList) continue;
    *alert = SSL_AD_ILLEGAL_PARAMETER;
    return SSL_CLIENT_HELLO_ERROR;
  }
  return SSL_CLIENT_HELLO_SUCCESS;
}

class TlsTransport final : public Transport {
 public:
  TlsTransport(FileDescriptor socket, const TlsContext& context)
      : socket_(std::move(socket)), context_(context) {}

  void OnReady(bool ended) override { socket_.edge.OnReady(ended); }

  // A connection costs no memory of OpenSSL's before its first record is whole.
  IoStatus Handshake() override {
    if (ssl_ == nullptr) {
      if (const IoStatus status = AwaitHello(); status != IoStatus::kDone) return status;
      ssl_ = context_.NewSession(socket_);
      if (ssl_ == nullptr) return IoStatus::kFailed;
      SSL_set_msg_callback(ssl_.get(), OnMessage);
      SSL_set_msg_callback_arg(ssl_.get(), &socket_);
    }
    ERR_clear_error();
    const IoStatus status = StatusOf(SSL_accept(ssl_.get()));
    socket_.established = status == IoStatus::kDone;
    return status;
  }

  bool heard() const override { return ssl_ != nullptr; }

  IoResult Read(char* buffer, size_t size) override {
    // Spares OpenSSL the making and dropping of a buffer to find out the same.
    if (socket_.edge.empty() && SSL_has_pending(ssl_.get()) == 0) return {IoStatus::kWait, 0};
    ERR_clear_error();
    size_t count = 0;
    const IoStatus status = StatusOf(SSL_read_ex(ssl_.get(), buffer, size, &count));
    return {status, count};
  }

  IoResult Write(std::string_view bytes) override {
    ERR_clear_error();
    size_t count = 0;
    const IoStatus status = StatusOf(SSL_write_ex(ssl_.get(), bytes.data(), bytes.size(), &count));
    return {status, count};
  }

  void EndWriting() override {
    ERR_clear_error();
    if (!failed_ && socket_.established) SSL_shutdown(ssl_.get());
    socket_.edge.EndWriting();
  }

  IoResult Discard(char* buffer, size_t size) override {
    return socket_.edge.Receive(buffer, size);
  }

 private:
  // Looks at the first record where the kernel keeps it, until it is whole.
  IoStatus AwaitHello() const {
    std::array<char, kRecordHeader> header;
    const IoResult peeked = socket_.edge.Peek(header.data(), header.size());
    if (peeked.status != IoStatus::kDone) return peeked.status;
    const auto byte = [&header](size_t i) { return size_t{static_cast<uint8_t>(header[i])}; };
    if (byte(0) != kHandshakeRecord) return IoStatus::kFailed;
    const bool header_whole = peeked.bytes == header.size();
    const size_t length = header_whole ? byte(3) << 8 | byte(4) : 0;
    if (length > kMaxRecord) return IoStatus::kFailed;
    if (header_whole && socket_.edge.available() >= header.size() + length) return IoStatus::kDone;
    return socket_.edge.ended() ? IoStatus::kClosed : IoStatus::kWait;
  }

  static void OnMessage(int written, int, int type, const void*, size_t, SSL*, void* socket) {
    auto& self = *static_cast<TlsSocket*>(socket);
    if (!self.established) return;
    if ((type == SSL3_RT_HANDSHAKE && written == 0) || type == SSL3_RT_ALERT) {
      ++self.control_messages;
    }
  }

  IoStatus StatusOf(int result) {
    if (result == 1) return IoStatus::kDone;
    switch (SSL_get_error(ssl_.get(), result)) {
      case SSL_ERROR_WANT_READ:
      case SSL_ERROR_WANT_WRITE:
        return IoStatus::kWait;
      case SSL_ERROR_ZERO_RETURN:
        return IoStatus::kClosed;
      default:
        failed_ = true;  // SSL_shutdown must not follow a fatal error
        return IoStatus::kFailed;
    }
  }

  TlsSocket socket_;  // where the SSL's BIO knows it
  const TlsContext& context_;
  SslPtr ssl_;  // null before the first record is whole
  bool failed_ = false;
};

bool HasName(X509* certificate, const std::set<std::string, std::less<>>& names) {
  char common_name[256];
  const int size = X509_NAME_get_text_by_NID(X509_get_subject_name(certificate), NID_commonName,
                                             common_name, sizeof common_name);
  // A name with a NUL inside ends early for C and must not match what it only begins with.
  if (size > 0 && static_cast<size_t>(size) == std::strlen(common_name) &&
      names.contains(std::string_view(common_name))) {
    return true;
  }
  const std::unique_ptr<GENERAL_NAMES, certs::Deleter<GENERAL_NAMES_free>> alternatives(
      static_cast<GENERAL_NAMES*>(
          X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr)));
  for (int i = 0; i < sk_GENERAL_NAME_num(alternatives.get()); ++i) {
    const GENERAL_NAME* name = sk_GENERAL_NAME_value(alternatives.get(), i);
    if (name->type != GEN_DNS) continue;
    const std::string_view text(
        reinterpret_cast<const char*>(ASN1_STRING_get0_data(name->d.dNSName)),
        static_cast<size_t>(ASN1_STRING_length(name->d.dNSName)));
    if (names.contains(text)) return true;
  }
  return false;
}

}  // namespace

TlsContext::TlsContext(const Snapshot<certs::TlsMaterial>& material, ClientAuth client_auth)
    : material_(material),
      client_auth_(std::move(client_auth)),
      context_(SSL_CTX_new(TLS_server_method())) {
  SSL_CTX* context = context_.get();
  if (context == nullptr) throw std::bad_alloc();
  SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
  // A resumed session would outlive a change of the client CA, and without a session id context it
  // fails anyway.
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_num_tickets(context, 0);
  SSL_CTX_set_options(context, SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
  // Thousands of parked connections: their record buffers go back between requests.
  SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                                SSL_MODE_RELEASE_BUFFERS);
  // One system call takes what a record's header and its rest would take two for.
  SSL_CTX_set_read_ahead(context, 1);
  // Of client certificates; encrypted ones pass no guard.
  SSL_CTX_set_max_cert_list(context, HandshakeGuard::kMaxMessage);
  // TLS 1.2: forward secrecy and authenticated encryption only.
  SSL_CTX_set_cipher_list(context, "ECDHE+AESGCM:ECDHE+CHACHA20");
  SSL_CTX_set_app_data(context, this);
  SSL_CTX_set_client_hello_cb(context, OnHello, nullptr);
  SSL_CTX_set_cert_cb(context, OnCertificate, this);
  SSL_CTX_set_alpn_select_cb(context, OnAlpn, nullptr);
}

std::unique_ptr<Transport> TlsContext::Accept(FileDescriptor socket) const {
  return std::make_unique<TlsTransport>(std::move(socket), *this);
}

SslPtr TlsContext::NewSession(TlsSocket& socket) const {
  SslPtr ssl(SSL_new(context_.get()));
  BIO* bio = ssl == nullptr ? nullptr : bio_.New(socket);
  if (bio == nullptr) return nullptr;
  SSL_set_bio(ssl.get(), bio, bio);
  SSL_set_accept_state(ssl.get());
  return ssl;
}

int TlsContext::OnCertificate(SSL* ssl, void* self) {
  const auto& context = *static_cast<const TlsContext*>(self);
  const auto material = context.material_.Get();
  if (material == nullptr) return 0;
  const std::unique_ptr<STACK_OF(X509),
                        decltype([](STACK_OF(X509) * stack) { sk_X509_free(stack); })>
      rest(sk_X509_new_null());
  for (size_t i = 1; i < material->chain.size(); ++i) {
    sk_X509_push(rest.get(), material->chain[i].get());
  }
  if (SSL_use_cert_and_key(ssl, material->chain.front().get(), material->key.get(), rest.get(),
                           /*override=*/1) != 1) {
    return 0;
  }
  const ClientAuth& auth = context.client_auth_;
  if (auth.mode == ClientAuth::Mode::kNone) return 1;
  // Required without a CA to verify by refuses everyone: OpenSSL's empty default store trusts
  // nobody.
  if (material->client_ca != nullptr) SSL_set1_verify_cert_store(ssl, material->client_ca.get());
  const bool required = auth.mode == ClientAuth::Mode::kRequired;
  SSL_set_verify(ssl, SSL_VERIFY_PEER | (required ? SSL_VERIFY_FAIL_IF_NO_PEER_CERT : 0), OnVerify);
  return 1;
}

int TlsContext::OnAlpn(SSL*, const unsigned char** out, unsigned char* out_size,
                       const unsigned char* in, unsigned int in_size, void*) {
  static constexpr unsigned char kProtocols[] = "\x08http/1.1";
  unsigned char* chosen = nullptr;
  if (SSL_select_next_proto(&chosen, out_size, kProtocols, sizeof kProtocols - 1, in, in_size) !=
      OPENSSL_NPN_NEGOTIATED) {
    return SSL_TLSEXT_ERR_ALERT_FATAL;
  }
  *out = chosen;
  return SSL_TLSEXT_ERR_OK;
}

int TlsContext::OnVerify(int verified, X509_STORE_CTX* store) {
  if (verified != 1 || X509_STORE_CTX_get_error_depth(store) != 0) return verified;
  const auto* ssl = static_cast<const SSL*>(
      X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx()));
  const auto& context = *static_cast<const TlsContext*>(SSL_CTX_get_app_data(SSL_get_SSL_CTX(ssl)));
  const auto& names = context.client_auth_.names;
  if (names.empty() || HasName(X509_STORE_CTX_get_current_cert(store), names)) return 1;
  X509_STORE_CTX_set_error(store, X509_V_ERR_APPLICATION_VERIFICATION);
  return 0;
}

}  // namespace mindgate::http
