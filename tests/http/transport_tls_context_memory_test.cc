// What a peer that has shown nothing yet makes a handshake hold, and a connection keep. Measured
// with OpenSSL 3.0.19 and glibc's allocator: a handshake 42 to 79 KB, an idle connection 14 KB.
// Without the limit of lists in transport.cc an idle connection kept 717 KB after a hello of 16
// KiB that named certificate authorities, 293 KB after one of OCSP responders, 93 KB after one of
// signature algorithms.
#include <gtest/gtest.h>
#include <malloc.h>
#include <openssl/ocsp.h>
#include <sys/socket.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "http/client.h"
#include "http/transport.h"

namespace mindgate::http {
namespace {

using testing::Identity;
using testing::Material;
using testing::TestCa;

#ifdef MINDGATE_SANITIZED
constexpr bool kMalloced = false;  // mallinfo2 does not see a sanitizer's allocator
#else
constexpr bool kMalloced = true;
#endif

size_t MallocedBytes() {
  const struct mallinfo2 info = ::mallinfo2();
  return info.uordblks + info.hblkhd;
}

// What one client sends. Sizes are bytes on the wire, about.
struct Sender {
  std::string name;
  int version = TLS1_3_VERSION;
  bool certificate = false;
  size_t unknown_extension = 0;
  size_t algorithms = 0;
  size_t responders = 0;
  size_t protocols = 0;
  size_t authorities = 0;   // TLS 1.3 only
  size_t certificates = 0;  // beyond its own
  bool hello_only = false;
  size_t missing = 0;  // bytes of what follows the hello that are not sent
};

int AddBytes(SSL*, unsigned, unsigned, const unsigned char** out, size_t* size, X509*, size_t, int*,
             void* bytes) {
  const auto& text = *static_cast<const std::string*>(bytes);
  *out = reinterpret_cast<const unsigned char*>(text.data());
  *size = text.size();
  return text.empty() ? 0 : 1;
}

std::string ProtocolNames(size_t bytes) {
  std::string names;
  while (names.size() + 11 <= bytes) {
    const size_t size = std::min<size_t>(255, bytes - names.size() - 10);
    names += static_cast<char>(size);
    names.append(size, 'x');
  }
  return names + "\x08http/1.1";
}

void SetAlgorithms(SSL_CTX* context, size_t bytes) {
  std::vector<int> pairs;
  for (size_t i = 0; i < bytes / 2; ++i) {
    pairs.push_back(NID_sha256);
    pairs.push_back(EVP_PKEY_EC);
  }
  ASSERT_EQ(SSL_CTX_set1_sigalgs(context, pairs.data(), static_cast<long>(pairs.size())), 1);
}

void SetResponders(SSL* ssl, size_t bytes) {
  constexpr unsigned char kEmptyHash[] = {0xa2, 0x02, 0x04, 0x00};
  auto* responders = sk_OCSP_RESPID_new_null();
  for (size_t i = 0; i < bytes / (2 + sizeof kEmptyHash); ++i) {
    const unsigned char* at = kEmptyHash;
    sk_OCSP_RESPID_push(responders, d2i_OCSP_RESPID(nullptr, &at, sizeof kEmptyHash));
  }
  SSL_set_tlsext_status_type(ssl, TLSEXT_STATUSTYPE_ocsp);
  SSL_set_tlsext_status_ids(ssl, responders);
}

void SetAuthorities(SSL* ssl, size_t bytes) {
  auto* names = sk_X509_NAME_new_null();
  for (size_t i = 0; i < bytes / 4; ++i) sk_X509_NAME_push(names, X509_NAME_new());
  SSL_set0_CA_list(ssl, names);
}

class SenderContext {
 public:
  SenderContext(const Sender& sender, const TestCa& ca)
      : unknown_(sender.unknown_extension, 'x'), context_(SSL_CTX_new(TLS_client_method())) {
    SSL_CTX* context = context_.get();
    SSL_CTX_set_min_proto_version(context, sender.version);
    SSL_CTX_set_max_proto_version(context, sender.version);
    SSL_CTX_add_custom_ext(context, 65000, SSL_EXT_CLIENT_HELLO, AddBytes, nullptr, &unknown_,
                           nullptr, nullptr);
    const std::string protocols = ProtocolNames(sender.protocols);
    SSL_CTX_set_alpn_protos(context, reinterpret_cast<const unsigned char*>(protocols.data()),
                            static_cast<unsigned>(protocols.size()));
    if (sender.algorithms > 0) SetAlgorithms(context, sender.algorithms);
    if (!sender.certificate) return;
    const auto material = Material(ca.Issue("caller"));
    X509* own = material->chain.front().get();
    SSL_CTX_use_certificate(context, own);
    SSL_CTX_use_PrivateKey(context, material->key.get());
    const auto size = static_cast<size_t>(i2d_X509(own, nullptr));
    for (size_t sent = size; sent < sender.certificates; sent += size) {
      X509_up_ref(own);
      SSL_CTX_add_extra_chain_cert(context, own);
    }
  }

  SSL_CTX* get() const { return context_.get(); }

 private:
  std::string unknown_;
  const std::unique_ptr<SSL_CTX, certs::Deleter<SSL_CTX_free>> context_;
};

// The server's side of one connection; what the client held is gone.
class ServerSide {
 public:
  ServerSide(const TlsContext& server, SSL_CTX* context, const Sender& sender) {
    int ends[2] = {-1, -1};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
    client_ = FileDescriptor(ends[0]);
    transport_ = server.Accept(FileDescriptor(ends[1]));
    const SslPtr ssl(SSL_new(context));
    SSL_set_bio(ssl.get(), BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()));
    if (sender.responders > 0) SetResponders(ssl.get(), sender.responders);
    if (sender.authorities > 0) SetAuthorities(ssl.get(), sender.authorities);
    Exchange(ssl.get(), 0);
    if (!sender.hello_only && status_ == IoStatus::kWait) Exchange(ssl.get(), sender.missing);
  }

  IoStatus status() const { return status_; }

 private:
  // The client's next flight but for its end, and the answer.
  void Exchange(SSL* ssl, size_t missing) {
    SSL_connect(ssl);
    std::string bytes(BIO_ctrl_pending(SSL_get_wbio(ssl)), '\0');
    ASSERT_GT(bytes.size(), missing);
    BIO_read(SSL_get_wbio(ssl), bytes.data(), static_cast<int>(bytes.size()));
    const auto size = static_cast<ssize_t>(bytes.size() - missing);
    ASSERT_EQ(::send(client_.get(), bytes.data(), static_cast<size_t>(size), 0), size);
    transport_->OnReady(/*ended=*/false);
    status_ = transport_->Handshake();
    // As in an idle connection, whose buffers are given back.
    if (char byte = 0; status_ == IoStatus::kDone) transport_->Read(&byte, 1);
    std::string answer(64 * 1024, '\0');
    const ssize_t answered = ::recv(client_.get(), answer.data(), answer.size(), 0);
    if (answered > 0) BIO_write(SSL_get_rbio(ssl), answer.data(), static_cast<int>(answered));
  }

  FileDescriptor client_;
  std::unique_ptr<Transport> transport_;
  IoStatus status_ = IoStatus::kFailed;
};

struct HandshakeMemory : ::testing::Test {
  // Bytes that each of several connections of such a client holds, all of them in `status`.
  size_t BytesEach(const Sender& sender, IoStatus status) const {
    const TlsContext server(material, {.mode = sender.certificate ? ClientAuth::Mode::kRequired
                                                                  : ClientAuth::Mode::kNone,
                                       .names = {}});
    const SenderContext context(sender, client_ca);
    constexpr size_t kCount = 8;
    std::vector<std::unique_ptr<ServerSide>> held;
    held.reserve(kCount + 1);
    const auto add = [&] {
      held.push_back(std::make_unique<ServerSide>(server, context.get(), sender));
      EXPECT_TRUE(held.back()->status() == status);
    };
    add();  // what OpenSSL makes once
    const size_t before = MallocedBytes();
    for (size_t i = 0; i < kCount; ++i) add();
    return (MallocedBytes() - before) / kCount;
  }

  const TestCa ca{"server ca"};
  const TestCa client_ca{"client ca"};
  Snapshot<certs::TlsMaterial> material{Material(ca.Issue("mindgate.svc"), &client_ca)};
};

constexpr size_t kLongHello =
    15 * 1024;  // with what else is in it, near HandshakeGuard::kMaxMessage

TEST_F(HandshakeMemory, AStalledHandshakeHoldsNoMoreThanItsShare) {
  if (!kMalloced) GTEST_SKIP() << "needs malloc's own count";
  std::vector<Sender> stalls;
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    const std::string tls = version == TLS1_2_VERSION ? "TLS 1.2, " : "TLS 1.3, ";
    stalls.push_back({.name = tls + "a hello", .version = version, .hello_only = true});
    stalls.push_back({.name = tls + "a long hello",
                      .version = version,
                      .unknown_extension = kLongHello,
                      .hello_only = true});
    stalls.push_back({.name = tls + "all but the last byte",
                      .version = version,
                      .unknown_extension = kLongHello,
                      .missing = 1});
    stalls.push_back({.name = tls + "all but the last byte, with a certificate",
                      .version = version,
                      .certificate = true,
                      .unknown_extension = kLongHello,
                      .missing = 1});
    stalls.push_back({.name = tls + "half a chain of certificates",
                      .version = version,
                      .certificate = true,
                      .unknown_extension = kLongHello,
                      .certificates = 15 * 1024,
                      .missing = 4000});
  }
  for (const Sender& stall : stalls) {
    SCOPED_TRACE(stall.name);
    const size_t bytes = BytesEach(stall, IoStatus::kWait);
    EXPECT_LE(bytes, kHandshakeBytes);
    EXPECT_GE(bytes, 32 * 1024) << "they are not counted";
  }
}

TEST_F(HandshakeMemory, AnIdleConnectionKeepsLittleOfItsHello) {
  if (!kMalloced) GTEST_SKIP() << "needs malloc's own count";
  const Sender longest{.name = "lists as long as they may be",
                       .algorithms = 126,
                       .responders = 123,
                       .protocols = 117,
                       .authorities = 124};
  EXPECT_LE(BytesEach({.name = "almost nothing"}, IoStatus::kDone), 20 * 1024);
  EXPECT_LE(BytesEach(longest, IoStatus::kDone), 28 * 1024);
}

TEST_F(HandshakeMemory, LongListsOfAHelloAreRefused) {
  const std::vector<Sender> senders = {
      {.name = "algorithms", .algorithms = 128},
      {.name = "algorithms in TLS 1.2", .version = TLS1_2_VERSION, .algorithms = 128},
      {.name = "responders", .responders = 130},
      {.name = "protocols", .protocols = 130},
      {.name = "authorities", .authorities = 128}};
  for (const Sender& sender : senders) {
    SCOPED_TRACE(sender.name);
    BytesEach(sender, IoStatus::kFailed);
  }
}

}  // namespace
}  // namespace mindgate::http
