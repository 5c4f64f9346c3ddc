#include "webhook/transport.h"

#include <sys/socket.h>

#include <cerrno>

namespace mindgate::webhook {
namespace {

IoResult Failure() {
  const bool wait = errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
  return {wait ? IoStatus::kWait : IoStatus::kFailed, 0};
}

}  // namespace

IoResult Receive(int socket, char* buffer, size_t size) {
  const ssize_t count = ::recv(socket, buffer, size, 0);
  if (count > 0) return {IoStatus::kDone, static_cast<size_t>(count)};
  return count == 0 ? IoResult{IoStatus::kClosed, 0} : Failure();
}

IoResult PlainTransport::Write(std::string_view bytes) {
  const ssize_t count = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
  return count > 0 ? IoResult{IoStatus::kDone, static_cast<size_t>(count)} : Failure();
}

void PlainTransport::EndWriting() { ::shutdown(socket_.get(), SHUT_WR); }

}  // namespace mindgate::webhook
