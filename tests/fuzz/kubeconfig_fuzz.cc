// A kubeconfig from any bytes: no crash, every fault with a message, and the same access each time.
// No exec plugin runs: credentials are fetched with the first request only.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <string>

#include "base/files.h"
#include "fuzz/require.h"
#include "kube/kubeconfig.h"

namespace {

using namespace mindgate;
using testing::Require;

// What of an access does not depend on when it was made.
std::string Read(const std::string& path) {
  static const SystemClock clock;
  kube::ConfigErrors errors;
  const kube::Kubeconfig config = kube::LoadKubeconfig({path}, errors);
  if (!errors.empty()) return errors.AsFault().message;
  const auto access = kube::ChooseAccess(config, {}, clock);
  if (!access) {
    Require(!access.error().message.empty());
    return access.error().message;
  }
  Require(access->credentials != nullptr && !access->server.ends_with('/'));
  return access->server + access->authority + access->tls_server_name + access->proxy +
         access->default_namespace + access->origin;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const FileDescriptor file(::memfd_create("kubeconfig", MFD_CLOEXEC));
  Require(::write(file.get(), data, size) == static_cast<ssize_t>(size));
  const std::string path = "/proc/self/fd/" + std::to_string(file.get());
  Require(Read(path) == Read(path));
  return 0;
}
