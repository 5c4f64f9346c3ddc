#include "kube/http_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <list>
#include <mutex>
#include <optional>
#include <thread>

#include "base/files.h"
#include "base/text.h"
#include "base/threads.h"

namespace mindgate::kube::testing {
namespace {

template <auto Free>
struct Freed {
  template <typename T>
  void operator()(T* value) const {
    Free(value);
  }
};
using ContextPtr = std::unique_ptr<SSL_CTX, Freed<SSL_CTX_free>>;
using SslPtr = std::unique_ptr<SSL, Freed<SSL_free>>;
using CertificatePtr = std::unique_ptr<X509, Freed<X509_free>>;
using BioPtr = std::unique_ptr<BIO, Freed<BIO_free>>;

BioPtr Memory(const std::string& text) {
  return BioPtr(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

// A certificate that does not verify is let through, as by kube-apiserver, which answers 401 then.
int LetThrough(int, X509_STORE_CTX*) { return 1; }

ContextPtr TlsContext(const HttpServer::Options& options) {
  ContextPtr context(SSL_CTX_new(TLS_server_method()));
  const auto chain = Memory(options.certificate);
  const CertificatePtr leaf(PEM_read_bio_X509(chain.get(), nullptr, nullptr, nullptr));
  SSL_CTX_use_certificate(context.get(), leaf.get());
  while (X509* next = PEM_read_bio_X509(chain.get(), nullptr, nullptr, nullptr)) {
    SSL_CTX_add_extra_chain_cert(context.get(), next);
  }
  const auto key_text = Memory(options.key);
  const std::unique_ptr<EVP_PKEY, Freed<EVP_PKEY_free>> key(
      PEM_read_bio_PrivateKey(key_text.get(), nullptr, nullptr, nullptr));
  SSL_CTX_use_PrivateKey(context.get(), key.get());
  SSL_CTX_set_session_cache_mode(context.get(), SSL_SESS_CACHE_OFF);
  SSL_CTX_set_num_tickets(context.get(), 0);
  if (!options.client_ca.empty()) {
    const auto bundle = Memory(options.client_ca);
    const CertificatePtr ca(PEM_read_bio_X509(bundle.get(), nullptr, nullptr, nullptr));
    X509_STORE_add_cert(SSL_CTX_get_cert_store(context.get()), ca.get());
    SSL_CTX_add_client_CA(context.get(), ca.get());
    SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, LetThrough);
  }
  return context;
}

bool IsLetter(char c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'); }

std::string Decoded(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    unsigned byte = 0;
    if (text[i] == '%' && i + 2 < text.size() &&
        std::from_chars(&text[i + 1], &text[i] + 3, byte, 16).ptr == &text[i] + 3) {
      out += static_cast<char>(byte);
      i += 2;
    } else {
      out += text[i] == '+' ? ' ' : text[i];
    }
  }
  return out;
}

// One accepted socket, plain or TLS; its thread reads and writes, another may shut it down.
class Connection final : public HttpStream {
 public:
  Connection(FileDescriptor socket, SSL_CTX* context) : socket_(std::move(socket)) {
    const int on = 1;
    ::setsockopt(socket_.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (context == nullptr) return;
    ssl_.reset(SSL_new(context));
    SSL_set_fd(ssl_.get(), socket_.get());
  }

  bool Handshake() {
    if (ssl_ == nullptr) return true;
    char first = 0;
    if (::recv(socket_.get(), &first, 1, MSG_PEEK) == 1 && IsLetter(first)) {
      // As Go's server has it.
      ssl_.reset();
      Write("HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n");
      return false;
    }
    return SSL_accept(ssl_.get()) == 1;
  }
  void ShutDown() const { ::shutdown(socket_.get(), SHUT_RDWR); }
  void EndInGoodOrder() {
    if (ssl_ != nullptr) SSL_shutdown(ssl_.get());
  }

  // The next request; nothing when the peer has gone.
  std::optional<HttpRequest> ReadRequest() {
    size_t head_end = 0;
    while ((head_end = read_.find("\r\n\r\n")) == std::string::npos) {
      if (!ReadMore()) return std::nullopt;
      if (!IsLetter(read_[0])) {  // TLS to a plain port, most likely
        Write("HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n400 Bad Request");
        return std::nullopt;
      }
    }
    HttpRequest request = ParseHead(std::string_view(read_).substr(0, head_end));
    read_.erase(0, head_end + 4);
    const auto length = ParseGoInt(request.headers["content-length"]);
    const size_t want = length ? static_cast<size_t>(*length) : 0;
    // libcurl waits for this before a body of 1 MiB and more.
    if (EqualIgnoreCase(request.headers["expect"], "100-continue") && read_.size() < want) {
      if (!Write("HTTP/1.1 100 Continue\r\n\r\n")) return std::nullopt;
    }
    while (read_.size() < want) {
      if (!ReadMore()) return std::nullopt;
    }
    request.body = read_.substr(0, want);
    read_.erase(0, want);
    request.received = std::chrono::steady_clock::now();
    return request;
  }

  bool Write(std::string_view bytes) override {
    while (!bytes.empty()) {
      const size_t piece = std::min<size_t>(bytes.size(), 1 << 20);
      const ssize_t count = ssl_ != nullptr
                                ? SSL_write(ssl_.get(), bytes.data(), static_cast<int>(piece))
                                : ::send(socket_.get(), bytes.data(), piece, MSG_NOSIGNAL);
      if (count <= 0) return false;
      bytes.remove_prefix(static_cast<size_t>(count));
    }
    return true;
  }
  int socket() const override { return socket_.get(); }

 private:
  bool ReadMore() {
    char buffer[16384];
    const ssize_t count = ssl_ != nullptr ? SSL_read(ssl_.get(), buffer, sizeof buffer)
                                          : ::recv(socket_.get(), buffer, sizeof buffer, 0);
    if (count <= 0) return false;
    read_.append(buffer, static_cast<size_t>(count));
    return true;
  }

  HttpRequest ParseHead(std::string_view head) {
    HttpRequest request;
    const std::vector<std::string_view> lines = Split(head, '\n');
    const std::vector<std::string_view> words = Split(Trim(lines[0]), ' ');
    request.method = words[0];
    request.target = words.size() > 1 ? words[1] : "/";
    const std::string_view target = request.target;
    const size_t question = target.find('?');
    request.path = Decoded(target.substr(0, question));
    if (question != std::string_view::npos) {
      for (const std::string_view pair : Split(target.substr(question + 1), '&')) {
        const size_t equals = std::min(pair.find('='), pair.size());
        const std::string_view value = pair.substr(std::min(equals + 1, pair.size()));
        if (!pair.empty()) request.query.emplace(Decoded(pair.substr(0, equals)), Decoded(value));
      }
    }
    for (size_t i = 1; i < lines.size(); ++i) {
      const size_t colon = lines[i].find(':');
      if (colon == std::string_view::npos) continue;
      request.headers[ToLower(lines[i].substr(0, colon))] = Trim(lines[i].substr(colon + 1));
    }
    ReadClientCertificate(request);
    return request;
  }

  void ReadClientCertificate(HttpRequest& request) {
    if (ssl_ == nullptr) return;
    const CertificatePtr shown(SSL_get1_peer_certificate(ssl_.get()));
    if (shown == nullptr) return;
    char name[256] = "";
    X509_NAME_get_text_by_NID(X509_get_subject_name(shown.get()), NID_commonName, name,
                              sizeof name);
    request.bad_client_certificate = SSL_get_verify_result(ssl_.get()) != X509_V_OK;
    if (!request.bad_client_certificate) request.client_certificate = name;
  }

  FileDescriptor socket_;
  SslPtr ssl_;
  std::string read_;  // what came and was not used yet
};

// Chunks over a connection.
class Chunks final : public HttpStream {
 public:
  explicit Chunks(Connection& connection) : connection_(connection) {}
  bool Write(std::string_view bytes) override {
    if (bytes.empty()) return true;
    char size[32];
    const int count = std::snprintf(size, sizeof size, "%zx\r\n", bytes.size());
    return connection_.Write(std::string(size, static_cast<size_t>(count)) + std::string(bytes) +
                             "\r\n");
  }
  int socket() const override { return connection_.socket(); }

 private:
  Connection& connection_;
};

// Returns whether the connection may carry another request.
bool Answer(Connection& connection, const HttpResponse& response) {
  if (response.raw) {
    response.raw(connection);
    return false;
  }
  std::string head = "HTTP/1.1 " + std::to_string(response.status) +
                     " Status\r\nContent-Type: " + response.content_type + "\r\n";
  for (const auto& [name, value] : response.headers) head += name + ": " + value + "\r\n";
  if (!response.stream) {
    head += "Content-Length: " + std::to_string(response.body.size()) + "\r\n\r\n";
    return connection.Write(head + response.body);
  }
  if (!connection.Write(head + "Transfer-Encoding: chunked\r\n\r\n")) return false;
  Chunks chunks(connection);
  return response.stream(chunks) && connection.Write("0\r\n\r\n");
}

}  // namespace

class HttpServer::Impl {
 public:
  Impl(const Options& options, Handler handler) : handler_(std::move(handler)) {
    if (!options.certificate.empty()) context_ = TlsContext(options);
    listener_ = FileDescriptor(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    ::bind(listener_.get(), reinterpret_cast<const sockaddr*>(&address), size);
    ::listen(listener_.get(), 128);
    ::getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    acceptor_ = StartThread("fake-accept", [this] { Accept(); });
  }

  void Stop() {
    {
      const std::lock_guard lock(mutex_);
      if (stopped_) return;
      stopped_ = true;
      for (const auto& served : served_) served->connection.ShutDown();
    }
    ::shutdown(listener_.get(), SHUT_RDWR);  // accept returns
    acceptor_.join();
    served_.clear();  // joins the threads
    listener_.Close();
  }

  uint16_t port() const { return port_; }
  int accepted() const { return accepted_; }

 private:
  struct Served {
    Served(FileDescriptor socket, SSL_CTX* context) : connection(std::move(socket), context) {}
    Connection connection;
    std::atomic<bool> done = false;
    std::jthread thread;  // last: joined before the connection goes
  };

  void Accept() {
    while (true) {
      FileDescriptor socket(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
      const std::lock_guard lock(mutex_);
      if (!socket.valid() || stopped_) return;
      ++accepted_;
      served_.remove_if([](const auto& served) { return served->done.load(); });
      served_.push_back(std::make_unique<Served>(std::move(socket), context_.get()));
      Served* served = served_.back().get();
      served->thread = StartThread("fake-serve", [this, served] {
        Serve(served->connection);
        served->done = true;
      });
    }
  }

  void Serve(Connection& connection) {
    if (connection.Handshake()) {
      bool going_on = true;
      while (going_on) {
        const std::optional<HttpRequest> request = connection.ReadRequest();
        if (!request) break;
        const auto asked = request->headers.find("connection");
        const bool last =
            asked != request->headers.end() && EqualIgnoreCase(asked->second, "close");
        going_on = Answer(connection, handler_(*request)) && !last;
        if (last) connection.EndInGoodOrder();
      }
    }
    connection.ShutDown();
  }

  const Handler handler_;
  ContextPtr context_;
  FileDescriptor listener_;
  uint16_t port_ = 0;
  std::atomic<int> accepted_ = 0;
  std::mutex mutex_;
  std::list<std::unique_ptr<Served>> served_;  // guarded by mutex_ until stopped_
  bool stopped_ = false;                       // guarded by mutex_
  std::jthread acceptor_;
};

HttpServer::HttpServer(Options options, Handler handler)
    : impl_(std::make_unique<Impl>(options, std::move(handler))) {}
HttpServer::~HttpServer() { Stop(); }
void HttpServer::Stop() { impl_->Stop(); }
uint16_t HttpServer::port() const { return impl_->port(); }
int HttpServer::connections() const { return impl_->accepted(); }

}  // namespace mindgate::kube::testing
