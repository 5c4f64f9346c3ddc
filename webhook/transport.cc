#include "webhook/transport.h"

#include <sys/socket.h>

#include <cerrno>

namespace mindgate::webhook {
namespace {

IoResult Failure() {
  const bool wait = errno == EAGAIN || errno == EWOULDBLOCK;
  return {wait ? IoStatus::kWait : IoStatus::kFailed, 0};
}

}  // namespace

IoResult EdgeSocket::Receive(char* buffer, size_t size) {
  if (empty_) return {IoStatus::kWait, 0};
  ssize_t count = 0;
  do {
    count = ::recv(socket_.get(), buffer, size, 0);
  } while (count < 0 && errno == EINTR);
  const IoResult result = count > 0    ? IoResult{IoStatus::kDone, static_cast<size_t>(count)}
                          : count == 0 ? IoResult{IoStatus::kClosed, 0}
                                       : Failure();
  empty_ = result.status == IoStatus::kWait ||
           (result.status == IoStatus::kDone && result.bytes < size && !ended_);
  return result;
}

IoResult EdgeSocket::Send(std::string_view bytes) const {
  ssize_t count = 0;
  do {
    count = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
  } while (count < 0 && errno == EINTR);
  return count > 0 ? IoResult{IoStatus::kDone, static_cast<size_t>(count)} : Failure();
}

void EdgeSocket::EndWriting() const { ::shutdown(socket_.get(), SHUT_WR); }

}  // namespace mindgate::webhook
