#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <sys/socket.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/files.h"
#include "base/text.h"
#include "base/time.h"

namespace mindgate::testing {

// Calls a webhook as kube-apiserver does: an HTTP/1.1 pool of kept connections, newest first (Go:
// net/http, Transport), and repeats as client-go has them (rest/with_retry.go). Safe from many
// threads.
class ApiServerClient {
 public:
  struct Options {
    // The port that the Service leads to at this moment, on 127.0.0.1; asked at each dial.
    std::function<uint16_t()> endpoint;
    std::string server_name;  // verified when there is a caBundle
    std::string ca_bundle;    // PEM
    std::string certificate;  // of the client, PEM; empty: anonymous
    std::string key;
    size_t max_idle = 25;  // connections kept per host; 0: each call dials
    std::chrono::milliseconds idle_time{90'000};
    int max_retries = 10;
    int timeout_seconds = 10;  // what ?timeout= says
    const Clock* clock = nullptr;
    // Waits for what Retry-After said when that is not 0; tests move their clock.
    std::function<void(std::chrono::seconds)> wait = [](std::chrono::seconds) {};
  };

  struct Answer {
    int status = 0;  // of the last attempt
    std::string body;
    std::string fault;  // why there is no answer: the call has failed
    int attempts = 0;
    bool ok() const { return fault.empty() && status == 200; }
  };

  explicit ApiServerClient(Options options) : options_(std::move(options)) {
    std::signal(SIGPIPE, SIG_IGN);  // as Go does
    Renew();
  }

  // A changed caBundle or client certificate is a new client with a new pool: the old connections
  // are left to themselves.
  void Trust(std::string ca_bundle) {
    const std::lock_guard lock(mutex_);
    options_.ca_bundle = std::move(ca_bundle);
    Renew();
  }
  void Authenticate(std::string certificate, std::string key) {
    const std::lock_guard lock(mutex_);
    options_.certificate = std::move(certificate);
    options_.key = std::move(key);
    Renew();
  }

  // `path`: "/mutate".
  Answer Post(const std::string& path, const std::string& body) {
    const std::string request =
        "POST " + path + "?timeout=" + std::to_string(options_.timeout_seconds) +
        "s HTTP/1.1\r\nHost: " + options_.server_name +
        ":443\r\nUser-Agent: kube-apiserver-admission\r\nContent-Length: " +
        std::to_string(body.size()) +
        "\r\nAccept: application/json, */*\r\nContent-Type: application/json\r\n"
        "Accept-Encoding: gzip\r\n\r\n" +
        body;
    Answer answer;
    while (true) {
      Exchange exchange = Once(request);
      ++answer.attempts;
      answer.status = exchange.status;
      answer.body = std::move(exchange.body);
      answer.fault = std::move(exchange.fault);
      const bool repeat = answer.fault.empty() && exchange.retry_after >= 0 &&
                          (answer.status == 429 || answer.status >= 500);
      if (!repeat || answer.attempts > options_.max_retries) return answer;
      if (exchange.retry_after > 0) options_.wait(std::chrono::seconds(exchange.retry_after));
    }
  }

  size_t idle() const {
    const std::lock_guard lock(mutex_);
    return idle_.size();
  }
  uint64_t dials() const {
    const std::lock_guard lock(mutex_);
    return dials_;
  }

 private:
  template <auto Free>
  struct Freed {
    template <typename T>
    void operator()(T* value) const {
      Free(value);
    }
  };

  struct Connection {
    FileDescriptor socket;
    std::unique_ptr<SSL, Freed<SSL_free>> ssl;
    std::shared_ptr<SSL_CTX> context;  // of the pool it belongs to
    Clock::Instant idle_since{};
  };

  struct Exchange {
    int status = 0;
    std::string body;
    std::string fault;
    int retry_after = -1;  // no integer, no header: -1
  };

  // With mutex_ held, but in the constructor.
  void Renew() {
    idle_.clear();
    context_.reset(SSL_CTX_new(TLS_client_method()), SSL_CTX_free);
    SSL_CTX_set_min_proto_version(context_.get(), TLS1_2_VERSION);
    if (!options_.ca_bundle.empty()) {
      const auto bio = Bio(options_.ca_bundle);
      while (X509* ca = PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr)) {
        X509_STORE_add_cert(SSL_CTX_get_cert_store(context_.get()), ca);
        X509_free(ca);
      }
      SSL_CTX_set_verify(context_.get(), SSL_VERIFY_PEER, nullptr);
    }
    if (!options_.certificate.empty()) {
      const auto certificate = Bio(options_.certificate);
      const auto key = Bio(options_.key);
      const std::unique_ptr<X509, Freed<X509_free>> leaf(
          PEM_read_bio_X509(certificate.get(), nullptr, nullptr, nullptr));
      const std::unique_ptr<EVP_PKEY, Freed<EVP_PKEY_free>> own(
          PEM_read_bio_PrivateKey(key.get(), nullptr, nullptr, nullptr));
      SSL_CTX_use_cert_and_key(context_.get(), leaf.get(), own.get(), nullptr, 1);
    }
  }

  static std::unique_ptr<BIO, Freed<BIO_free>> Bio(const std::string& text) {
    return std::unique_ptr<BIO, Freed<BIO_free>>(
        BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
  }

  Exchange Once(const std::string& request) {
    while (true) {
      Connection connection = TakeIdle();
      const bool reused = connection.socket.valid();
      if (!reused) {
        Exchange failed;
        failed.fault = Dial(connection);
        if (!failed.fault.empty()) return failed;
      }
      // The only failure that Go repairs for a POST: nothing had been written yet.
      const int size = static_cast<int>(request.size());
      if (SSL_write(connection.ssl.get(), request.data(), size) != size) {
        if (reused) continue;
        Exchange failed;
        failed.fault = "write failed on a new connection";
        return failed;
      }
      return Read(std::move(connection), reused);
    }
  }

  // The one used last that is neither too old nor ended by the server: Go reads from idle
  // connections all the time, and forgets one as soon as anything comes.
  Connection TakeIdle() {
    const std::lock_guard lock(mutex_);
    while (!idle_.empty()) {
      Connection connection = std::move(idle_.back());
      idle_.pop_back();
      if (options_.clock->Now() - connection.idle_since >= options_.idle_time) continue;
      pollfd waiting{connection.socket.get(), POLLIN | POLLRDHUP, 0};
      if (::poll(&waiting, 1, 0) == 0) return connection;
    }
    return {};
  }

  std::string Dial(Connection& connection) {
    {
      const std::lock_guard lock(mutex_);
      ++dials_;
      connection.context = context_;
    }
    connection.socket = FileDescriptor(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const int fd = connection.socket.get();
    // No passing test comes near.
    const timeval patience{60, 0};
    ::setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    ::setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    const int on = 1;
    ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(options_.endpoint());
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
      return "connect: connection refused";
    }
    connection.ssl.reset(SSL_new(connection.context.get()));
    SSL* ssl = connection.ssl.get();
    SSL_set1_host(ssl, options_.server_name.c_str());
    SSL_set_tlsext_host_name(ssl, options_.server_name.c_str());
    static constexpr unsigned char kProtocols[] = "\x08http/1.1";
    SSL_set_alpn_protos(ssl, kProtocols, sizeof kProtocols - 1);
    SSL_set_fd(ssl, fd);
    return SSL_connect(ssl) == 1 ? "" : "TLS handshake failed";
  }

  Exchange Read(Connection connection, bool reused) {
    Exchange exchange;
    std::string bytes;
    size_t head_end = std::string::npos;
    size_t want = std::string::npos;
    while (bytes.size() < want) {
      char buffer[16384];
      const int count = SSL_read(connection.ssl.get(), buffer, sizeof buffer);
      if (count <= 0) {
        exchange.fault = reused ? "EOF on a reused connection" : "EOF on a new connection";
        return exchange;
      }
      bytes.append(buffer, static_cast<size_t>(count));
      if (head_end != std::string::npos) continue;
      head_end = bytes.find("\r\n\r\n");
      if (head_end == std::string::npos) continue;
      const auto length = ParseGoInt(Header(bytes, "Content-Length"));
      if (!bytes.starts_with("HTTP/1.1 ") || !length) {
        exchange.fault = "malformed answer: " + bytes.substr(0, head_end);
        return exchange;
      }
      want = head_end + 4 + static_cast<size_t>(*length);
    }
    exchange.status = std::atoi(bytes.c_str() + 9);
    exchange.body = bytes.substr(head_end + 4);
    exchange.retry_after = static_cast<int>(ParseGoInt(Header(bytes, "Retry-After")).value_or(-1));
    if (Header(bytes, "Connection") != "close" && bytes.size() == want) Keep(std::move(connection));
    return exchange;
  }

  void Keep(Connection connection) {
    const std::lock_guard lock(mutex_);
    if (idle_.size() >= options_.max_idle || connection.context != context_) return;
    connection.idle_since = options_.clock->Now();
    idle_.push_back(std::move(connection));
  }

  static std::string_view Header(std::string_view answer, std::string_view name) {
    for (std::string_view line : Split(answer.substr(0, answer.find("\r\n\r\n")), '\n')) {
      const size_t colon = line.find(':');
      if (colon != std::string_view::npos && EqualIgnoreCase(line.substr(0, colon), name)) {
        return Trim(line.substr(colon + 1));
      }
    }
    return {};
  }

  Options options_;
  mutable std::mutex mutex_;
  std::shared_ptr<SSL_CTX> context_;  // the rest is guarded by mutex_
  std::vector<Connection> idle_;
  uint64_t dials_ = 0;
};

}  // namespace mindgate::testing
