#pragma once

#include <memory>
#include <stop_token>

#include "admission/config_files.h"
#include "base/files.h"
#include "base/log.h"
#include "base/time.h"
#include "kube/access.h"

namespace mindgate::cli {

// The policies in ConfigMaps of a cluster, followed by a watch of their own, in the namespace of
// the credentials. It connects when the first configuration asks, and ends the watch when one does
// without. Once they have been listed, what was known last stays while the API server is away.
//
// Texts and Stop one at a time; a call of Texts that begins a watch waits up to 2 s for the first
// list, so that most programs start with their policies.
class PolicyFollower final : public admission::PolicyConfigMaps {
 public:
  // `clock` and `logger` must outlive it.
  PolicyFollower(kube::AccessFlags flags, const Clock& clock, log::Logger& logger);
  ~PolicyFollower() override;

  Result<admission::PolicyTexts> Texts() override;
  void Stop() override;

  // Written to when Texts has something new; for DirectoryWatch::Options::others.
  int changes() const { return changes_.get(); }

 private:
  class Watch;

  const kube::AccessFlags flags_;
  const Clock& clock_;
  log::Logger& logger_;
  const FileDescriptor changes_;
  std::unique_ptr<Watch> watch_;  // null: nobody asks
};

}  // namespace mindgate::cli
