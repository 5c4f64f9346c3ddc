#pragma once

#include <memory>
#include <string_view>

#include "base/file_descriptor.h"

namespace mindgate::webhook {

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
  virtual IoStatus Handshake() = 0;
  virtual IoResult Read(char* buffer, size_t size) = 0;
  virtual IoResult Write(std::string_view bytes) = 0;
  // Tells the peer that nothing more will come; reading goes on by Discard.
  virtual void EndWriting() = 0;
  // Reads and drops raw bytes of the socket, after EndWriting.
  virtual IoResult Discard(char* buffer, size_t size) = 0;
};

// One read of a non-blocking socket.
IoResult Receive(int socket, char* buffer, size_t size);

// Over a non-blocking socket.
class PlainTransport final : public Transport {
 public:
  explicit PlainTransport(FileDescriptor socket) : socket_(std::move(socket)) {}

  IoStatus Handshake() override { return IoStatus::kDone; }
  IoResult Read(char* buffer, size_t size) override { return Receive(socket_.get(), buffer, size); }
  IoResult Write(std::string_view bytes) override;
  void EndWriting() override;
  IoResult Discard(char* buffer, size_t size) override { return Read(buffer, size); }

 private:
  FileDescriptor socket_;
};

}  // namespace mindgate::webhook
