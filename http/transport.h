#pragma once

#include <memory>
#include <string_view>
#include <utility>

#include "base/file_descriptor.h"

namespace mindgate::http {

enum class IoStatus {
  kDone,
  kWait,    // nothing more until the socket is ready; epoll will tell
  kClosed,  // the peer ended its side
  kFailed,
};

struct IoResult {
  IoStatus status = IoStatus::kDone;
  size_t bytes = 0;  // in kDone, at least 1
};

// The bytes of one connection, with or without TLS. Never blocks. For one thread.
class Transport {
 public:
  virtual ~Transport() = default;
  // The socket may be readable again; no read finds what comes after a kWait without it. `ended`:
  // the peer has ended its side, or the connection has failed.
  virtual void OnReady(bool ended) = 0;
  virtual IoStatus Handshake() = 0;
  // Whether a first whole message of the peer has been taken up: with TLS its ClientHello.
  virtual bool heard() const = 0;
  virtual IoResult Read(char* buffer, size_t size) = 0;
  virtual IoResult Write(std::string_view bytes) = 0;
  // Tells the peer that nothing more will come; reading goes on by Discard.
  virtual void EndWriting() = 0;
  // Reads and drops raw bytes of the socket, after EndWriting.
  virtual IoResult Discard(char* buffer, size_t size) = 0;
};

// A non-blocking socket of which epoll reports the edges. A read that brings less than it might
// has emptied the socket, and whatever comes later is a new edge (epoll(7), question 9): until that
// is reported, reads do not ask the kernel, which saves a system call in every request.
class EdgeSocket {
 public:
  explicit EdgeSocket(FileDescriptor socket) : socket_(std::move(socket)) {}

  void OnReady(bool ended) {
    empty_ = false;
    // The end itself is no bytes and must be read although they were few.
    ended_ = ended_ || ended;
  }
  bool empty() const { return empty_; }  // Receive would say kWait at once
  IoResult Receive(char* buffer, size_t size);
  // As Receive, but what is read stays in the socket.
  IoResult Peek(char* buffer, size_t size) const;
  // Bytes that Receive would bring.
  size_t available() const;
  bool ended() const { return ended_; }
  IoResult Send(std::string_view bytes) const;
  void EndWriting() const;

 private:
  FileDescriptor socket_;
  bool empty_ = false;
  bool ended_ = false;
};

// Without TLS.
class PlainTransport final : public Transport {
 public:
  explicit PlainTransport(FileDescriptor socket) : socket_(std::move(socket)) {}

  void OnReady(bool ended) override { socket_.OnReady(ended); }
  IoStatus Handshake() override { return IoStatus::kDone; }
  bool heard() const override { return false; }
  IoResult Read(char* buffer, size_t size) override { return socket_.Receive(buffer, size); }
  IoResult Write(std::string_view bytes) override { return socket_.Send(bytes); }
  void EndWriting() override { socket_.EndWriting(); }
  IoResult Discard(char* buffer, size_t size) override { return Read(buffer, size); }

 private:
  EdgeSocket socket_;
};

}  // namespace mindgate::http
