#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "fake_transport.h"
#include "json/decode.h"
#include "kube/client.h"

namespace mindgate::kube::testing {

// One Lease in memory, with the optimistic locking of an API server. One thread at a time.
class LeaseServer {
 public:
  // What a replica does from afar: the spec is `spec` now.
  void Put(const Json& spec) {
    if (lease_.is_null()) {
      lease_ = {{"kind", "Lease"},
                {"apiVersion", "coordination.k8s.io/v1"},
                {"metadata", {{"name", "watcher"}, {"namespace", "ns"}}}};
    }
    lease_["spec"] = spec;
    Touch();
  }
  void Touch() { lease_["metadata"]["resourceVersion"] = std::to_string(++version_); }
  void Delete() { lease_ = nullptr; }
  const Json& lease() const { return lease_; }
  std::string holder() const {
    return std::string(
        json::FindString(json::Find(lease_, "spec"), "holderIdentity").value_or("nobody"));
  }

  HttpAnswer Serve(const HttpCall& call) {
    const Json body = call.body.empty() ? Json() : *json::Decode(call.body);
    const std::string path = call.path.substr(0, call.path.find('?'));
    const std::string all = "/apis/coordination.k8s.io/v1/namespaces/ns/leases";
    if (call.method == "POST" && path == all) {
      if (!lease_.is_null()) return Status(409, "AlreadyExists");
      lease_ = body;
      Touch();
      return Ok(lease_.dump(), 201);
    }
    if (path != all + "/watcher") return Status(404, "NotFound");
    if (lease_.is_null()) return Status(404, "NotFound");
    if (call.method == "PUT") {
      if (body["metadata"]["resourceVersion"] != lease_["metadata"]["resourceVersion"]) {
        return Status(409, "Conflict");
      }
      lease_ = body;
      Touch();
    }
    return Ok(lease_.dump());
  }

 private:
  Json lease_;
  int version_ = 0;
};

}  // namespace mindgate::kube::testing
