#pragma once

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "certs/tls_material.h"

// A client that keeps some TLS connections open and asks on each as soon as it has its answer.
namespace mindgate::bench {

using SslContext = std::unique_ptr<SSL_CTX, certs::Deleter<SSL_CTX_free>>;

// Blocking, with time-outs: a server that leaves a connection without an answer costs that
// connection and not the run. Certificates are not checked.
class TlsConnection {
 public:
  TlsConnection(SSL_CTX* context, uint16_t port) : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const int on = 1;
    const timeval patience{2, 0};
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

  // False when there was no 200 with a whole body; the connection is of no use then.
  bool Ask(const std::string& request) {
    good_ = good_ && SSL_write(ssl_.get(), request.data(), static_cast<int>(request.size())) > 0;
    if (!good_) return false;
    answer_.clear();
    size_t whole = std::string::npos;
    while (answer_.size() < whole) {
      char chunk[16384];
      const int count = SSL_read(ssl_.get(), chunk, sizeof chunk);
      if (count <= 0) return good_ = false;
      answer_.append(chunk, static_cast<size_t>(count));
      const size_t head = answer_.find("\r\n\r\n");
      if (whole == std::string::npos && head != std::string::npos) {
        const size_t length = answer_.find("Content-Length: ");
        whole = head + 4 + std::strtoul(answer_.c_str() + length + 16, nullptr, 10);
      }
    }
    return good_ = answer_.starts_with("HTTP/1.1 200");
  }

  const std::string& answer() const { return answer_; }

 private:
  int socket_;
  std::unique_ptr<SSL, certs::Deleter<SSL_free>> ssl_;
  std::string answer_;
  bool good_ = false;
};

struct LoadResult {
  uint64_t answers = 0;
  double seconds = 0;
  double p50 = 0;  // microseconds
  double p99 = 0;
  size_t starved = 0;  // connections without a single answer
};

// `connections` threads, one each, until `duration` has passed and at least `least` answers came.
inline LoadResult Load(uint16_t port, const std::string& request, size_t connections,
                       std::chrono::milliseconds duration, uint64_t least = 0) {
  using Clock = std::chrono::steady_clock;
  const SslContext context(SSL_CTX_new(TLS_client_method()));
  std::atomic<uint64_t> answers{0};
  std::vector<std::vector<uint32_t>> samples(connections);
  std::vector<std::jthread> threads;
  const auto start = Clock::now();
  const auto ended = [&] { return Clock::now() - start >= duration && answers >= least; };
  for (size_t i = 0; i < connections; ++i) {
    threads.emplace_back([&, i] {
      TlsConnection connection(context.get(), port);
      while (!ended()) {
        const auto asked = Clock::now();
        if (!connection.Ask(request)) return;
        samples[i].push_back(static_cast<uint32_t>(
            std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - asked).count() /
            100));
        ++answers;
      }
    });
  }
  threads.clear();
  LoadResult result;
  result.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  std::vector<uint32_t> all;
  for (const auto& of_one : samples) {
    if (of_one.empty()) ++result.starved;
    all.insert(all.end(), of_one.begin(), of_one.end());
  }
  result.answers = all.size();
  if (all.empty()) return result;
  std::sort(all.begin(), all.end());
  result.p50 = all[all.size() / 2] / 10.0;
  result.p99 = all[all.size() * 99 / 100] / 10.0;
  return result;
}

}  // namespace mindgate::bench
