#include "http/transport.h"

#include <sys/ioctl.h>
#include <sys/socket.h>

#include <cerrno>

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

}  // namespace mindgate::http
