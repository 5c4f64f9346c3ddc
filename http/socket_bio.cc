#include "http/socket_bio.h"

#include <new>

namespace mindgate::http {
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
  // What BIO_eof tells: OpenSSL takes an end without a close_notify for an attack.
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

}  // namespace mindgate::http
