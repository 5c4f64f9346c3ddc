#pragma once

#include <chrono>
#include <string>

#include "cli/console/flags.h"
#include "cli/console/streams.h"
#include "kube/access.h"

namespace mindgate::cli {

struct DeleteOptions {
  kube::AccessFlags cluster = {};
  std::string name = {};
  bool keep_store = false;
  bool no_wait = false;
  bool yes = false;
  DryRun dry_run = DryRun::kNone;
  std::chrono::seconds timeout{300};
  std::chrono::seconds wait_for_lock{0};
};

// Deletes an application and waits until it is gone. An application that does not exist is deleted
// already.
int RunDelete(const DeleteOptions& options, Streams& io);

}  // namespace mindgate::cli
