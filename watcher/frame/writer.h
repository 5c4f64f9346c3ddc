#pragma once

#include "kube/client.h"

namespace mindgate::watcher {

// The client that changes the cluster, as controllers hold it: they hand it on to a LeaderClient,
// which sends nothing destructive, or to the DisruptionGate, and can send nothing themselves. The
// client must have LeaderClient::kOptions and outlive all copies.
class Writer {
 public:
  Writer(kube::Client& client) : client_(&client) {}  // NOLINT(google-explicit-constructor)

 private:
  friend class LeaderClient;
  friend class DestructiveClient;

  kube::Client* client_;
};

}  // namespace mindgate::watcher
