#pragma once

#include <openssl/bio.h>

#include <memory>

#include "certs/tls_material.h"
#include "webhook/transport.h"

namespace mindgate::webhook {

// How OpenSSL reads from and writes to an EdgeSocket. Outlives the BIOs made with it; one serves
// any number of threads.
class SocketBio {
 public:
  SocketBio();

  // To be freed by whoever gets it, before `socket`. Null when OpenSSL has no memory.
  BIO* New(EdgeSocket& socket) const;

 private:
  std::unique_ptr<BIO_METHOD, certs::Deleter<BIO_meth_free>> method_;
};

}  // namespace mindgate::webhook
